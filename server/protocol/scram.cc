#include "server/protocol/scram.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/check.h"

namespace mneme {
namespace {

constexpr std::string_view kPrefix = "SCRAM-SHA-256$";
constexpr uint32_t kMostIterations = 1'000'000;

using Hash = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
std::string text_of(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

std::string hmac(std::string_view key, std::string_view text) {
  Hash hash;
  unsigned size = hash.size();
  const unsigned char* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text),
                                   text.size(), hash.data(), &size);
  CHECK(made != nullptr);
  return text_of(hash);
}

std::string sha256(std::string_view text) {
  Hash hash;
  SHA256(bytes_of(text), text.size(), hash.data());
  return text_of(hash);
}

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > 1024) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), bytes_of(text),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  const size_t padding = text.size() - text.find_last_not_of('=') - 1;
  if (padding > 2) return std::nullopt;
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

// The value of the attribute, which begins the text; the text goes on behind its comma.
std::optional<std::string_view> take(std::string_view& text, char attribute) {
  if (text.size() < 2 || text[0] != attribute || text[1] != '=') return std::nullopt;
  const size_t end = std::min(text.find(','), text.size());
  const std::string_view value = text.substr(2, end - 2);
  text.remove_prefix(std::min(end + 1, text.size()));
  return value;
}

Error malformed() {
  return invalid_argument("malformed SCRAM message: see RFC 5802");
}

}  // namespace

ScramVerifier ScramVerifier::of_password(std::string_view password, std::string_view salt,
                                         uint32_t iterations) {
  Hash salted;
  const int made = PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), bytes_of(salt),
                                     static_cast<int>(salt.size()), static_cast<int>(iterations),
                                     EVP_sha256(), static_cast<int>(salted.size()), salted.data());
  CHECK(made == 1);
  ScramVerifier verifier;
  verifier.iterations = iterations;
  verifier.salt = salt;
  verifier.stored_key = sha256(hmac(text_of(salted), "Client Key"));
  verifier.server_key = hmac(text_of(salted), "Server Key");
  return verifier;
}

Result<ScramVerifier> ScramVerifier::parse(std::string_view text) {
  const auto fail = [] {
    return invalid_argument("a SCRAM verifier is written SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY");
  };
  if (!text.starts_with(kPrefix)) return fail();
  text.remove_prefix(kPrefix.size());
  const size_t salt_at = text.find(':');
  const size_t keys_at = text.find('$');
  const size_t server_at = text.rfind(':');
  if (keys_at == text.npos || salt_at >= keys_at || server_at <= keys_at) return fail();
  ScramVerifier verifier;
  const auto [end, error] = std::from_chars(text.data(), text.data() + salt_at, verifier.iterations);
  if (error != std::errc() || end != text.data() + salt_at || verifier.iterations == 0 ||
      verifier.iterations > kMostIterations)
    return fail();
  const auto salt = from_base64(text.substr(salt_at + 1, keys_at - salt_at - 1));
  const auto stored = from_base64(text.substr(keys_at + 1, server_at - keys_at - 1));
  const auto server = from_base64(text.substr(server_at + 1));
  if (!salt || !stored || !server || stored->size() != SHA256_DIGEST_LENGTH ||
      server->size() != SHA256_DIGEST_LENGTH)
    return fail();
  verifier.salt = *salt;
  verifier.stored_key = *stored;
  verifier.server_key = *server;
  return verifier;
}

ScramVerifier ScramVerifier::of_nobody(std::string_view name, std::string_view secret) {
  ScramVerifier verifier;
  verifier.iterations = 4096;
  verifier.salt = hmac(secret, name).substr(0, 16);
  verifier.stored_key = std::string(SHA256_DIGEST_LENGTH, '\0');
  verifier.server_key = verifier.stored_key;
  verifier.is_nobody = true;
  return verifier;
}

Result<std::string> ScramServer::first(std::string_view message, bool is_bound) {
  constexpr std::string_view kBound = "p=tls-server-end-point,";
  // p: the client binds; n: it can't, or doesn't want to; y: it could, and thinks that the server can't.
  if (message.starts_with("p=") != is_bound || (is_bound && !message.starts_with(kBound)))
    return invalid_argument(
        "the SCRAM message asks for a channel binding that this connection does not offer");
  if (!is_bound && !message.starts_with("n,") && !message.starts_with("y,")) return malformed();
  // Somebody between the two has changed what the server offers.
  if (message.starts_with("y,") && offers_binding())
    return invalid_argument("SCRAM channel binding is offered, and the client was told that it is not");
  const size_t flag_bytes = is_bound ? kBound.size() : 2;
  std::string_view rest = message.substr(flag_bytes);
  if (rest.starts_with("a=")) return invalid_argument("SCRAM for another user (authzid) is not supported");
  if (!rest.starts_with(",")) return malformed();
  rest.remove_prefix(1);
  binding_ = to_base64(std::string(message.substr(0, flag_bytes + 1)) + (is_bound ? end_point_ : ""));
  client_first_bare_ = rest;
  if (!take(rest, 'n')) return malformed();  // PostgreSQL takes the name of the startup packet
  const auto nonce = take(rest, 'r');
  if (!nonce || nonce->empty()) return malformed();
  nonce_ = std::string(*nonce) + nonce_;
  server_first_ = fmt::format("r={},s={},i={}", nonce_, to_base64(verifier_.salt), verifier_.iterations);
  return server_first_;
}

Result<std::string> ScramServer::last(std::string_view message) {
  const size_t proof_at = message.rfind(",p=");
  if (proof_at == message.npos) return malformed();
  const std::string_view without_proof = message.substr(0, proof_at);
  std::string_view rest = message;
  const auto binding = take(rest, 'c');
  const auto nonce = take(rest, 'r');
  const auto proof = from_base64(message.substr(proof_at + 3));
  if (!binding || !nonce || *nonce != nonce_ || !proof || proof->size() != SHA256_DIGEST_LENGTH)
    return malformed();
  if (*binding != binding_) return invalid_argument("the SCRAM channel binding is of another connection");
  const std::string signed_text = fmt::format("{},{},{}", client_first_bare_, server_first_, without_proof);
  const std::string signature = hmac(verifier_.stored_key, signed_text);
  std::string client_key(SHA256_DIGEST_LENGTH, '\0');
  for (size_t i = 0; i < client_key.size(); ++i)
    client_key[i] = static_cast<char>((*proof)[i] ^ signature[i]);
  const std::string shown = sha256(client_key);
  const bool is_right = CRYPTO_memcmp(shown.data(), verifier_.stored_key.data(), shown.size()) == 0;
  if (!is_right || verifier_.is_nobody) return failed("the password is wrong, or there is no such user");
  return "v=" + to_base64(hmac(verifier_.server_key, signed_text));
}

}  // namespace mneme
