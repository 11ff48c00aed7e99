#include "network/tls_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <string_view>

#include "base/check.h"
#include "network/secret_file.h"

namespace mneme {
namespace {

constexpr size_t kMostKeyBytes = size_t{1} << 20;
// The name of PostgreSQL's protocol as a TLS client sends it (ALPN), behind its length.
constexpr std::string_view kProtocol = "\x0apostgresql";

std::string last_reason() {
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_peek_last_error(), reason.data(), reason.size());
  ERR_clear_error();
  return reason.data();
}

// OpenSSL would ask for a passphrase on the terminal.
int give_no_passphrase(char*, int, int, void*) {
  return -1;
}

// A client that names protocols must name PostgreSQL's among them. So a browser that an attacker sends here
// gets no connection that it takes for one to another server with this certificate.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned offered_bytes, void*) {
  unsigned char* found = nullptr;
  const int status =
      SSL_select_next_proto(&found, chosen_bytes, reinterpret_cast<const unsigned char*>(kProtocol.data()),
                            static_cast<unsigned>(kProtocol.size()), offered, offered_bytes);
  *chosen = found;
  return status == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

SSL_CTX* make_context() {
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  CHECK(context != nullptr);
  CHECK(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
  CHECK(SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1);  // of TLS 1.2
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Without tickets and a cache nothing is kept of a connection that has ended.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  CHECK(SSL_CTX_set_num_tickets(context, 0) == 1);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);  // an idle client's take 34 KiB
  SSL_CTX_set_default_passwd_cb(context, give_no_passphrase);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  return context;
}

// RFC 5929: the digest is that of the certificate's signature, but SHA-256 in the place of MD5 and SHA-1.
std::string end_point_of(X509* certificate) {
  int digest = NID_undef;
  if (OBJ_find_sigid_algs(X509_get_signature_nid(certificate), &digest, nullptr) != 1) return {};
  if (digest == NID_md5 || digest == NID_sha1) digest = NID_sha256;
  const EVP_MD* const method = EVP_get_digestbynid(digest);
  if (method == nullptr) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  if (X509_digest(certificate, method, hash.data(), &size) != 1) return {};
  return {reinterpret_cast<const char*>(hash.data()), size};
}

}  // namespace

TlsCertificate::~TlsCertificate() {
  SSL_CTX_free(context_);
}

Result<std::shared_ptr<const TlsCertificate>> TlsCertificate::read(const std::string& certificate_path,
                                                                   const std::string& key_path) {
  const std::shared_ptr<TlsCertificate> made(new TlsCertificate(make_context()));
  SSL_CTX* const context = made->context_;
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, certificate_path.c_str()) != 1) {
    return invalid_argument(
        "cannot read the certificate {}: {}. Name a file in PEM, which begins with the server's own "
        "certificate",
        certificate_path, last_reason());
  }
  const Result<std::string> text = read_secret_file(key_path, kMostKeyBytes);
  if (!text) return text.error();
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(text->data(), static_cast<int>(text->size())), BIO_free);
  CHECK(bytes != nullptr);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(bytes.get(), nullptr, give_no_passphrase, nullptr), EVP_PKEY_free);
  if (key == nullptr) {
    return invalid_argument(
        "cannot read a private key from {}: {}. Name a file in PEM, whose key has no passphrase", key_path,
        last_reason());
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return invalid_argument(
        "the key in {} does not fit the certificate in {}: {}. Name the two of one server", key_path,
        certificate_path, last_reason());
  }
  made->end_point_ = end_point_of(SSL_CTX_get0_certificate(context));
  return std::shared_ptr<const TlsCertificate>(made);
}

}  // namespace mneme
