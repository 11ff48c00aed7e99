#include "network/tls_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace mneme {

namespace {

constexpr char kIdentity[] = "mneme-log";
constexpr size_t kReadBytes = size_t{64} << 10;

// OpenSSL's callbacks get the session, and with it the key, from the connection's own data.
const PreSharedKey& key_of(SSL* ssl) {
  return *static_cast<const PreSharedKey*>(SSL_get_app_data(ssl));
}

unsigned put_key(const PreSharedKey& key, unsigned char* to, unsigned most_bytes) {
  if (key.secret.size() > most_bytes) return 0;
  // NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes with a length, no string
  std::memcpy(to, key.secret.data(), key.secret.size());
  return static_cast<unsigned>(key.secret.size());
}

unsigned give_server_key(SSL* ssl, const char* identity, unsigned char* to, unsigned most_bytes) {
  return std::strcmp(identity, kIdentity) == 0 ? put_key(key_of(ssl), to, most_bytes) : 0;
}

unsigned give_client_key(SSL* ssl, const char*, char* identity, unsigned most_identity_bytes,
                         unsigned char* to, unsigned most_bytes) {
  if (sizeof kIdentity > most_identity_bytes) return 0;
  std::memcpy(identity, kIdentity, sizeof kIdentity);
  return put_key(key_of(ssl), to, most_bytes);
}

Error tls_error(std::string_view what) {
  char reason[256] = "the other side ended it";
  if (const unsigned long code = ERR_get_error(); code != 0) ERR_error_string_n(code, reason, sizeof reason);
  ERR_clear_error();
  return failed("{}: {}", what, reason);
}

// One for all sessions of a side: to make one takes far longer than a stranger's first message, and much
// memory. It is never freed, and holds no key.
SSL_CTX* make_context(TlsSide side) {
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  CHECK(context != nullptr);
  CHECK(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1);
  // Session tickets would be another way in, past the key; without a cache nothing is kept of a connection
  // that has ended.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  CHECK(SSL_CTX_set_num_tickets(context, 0) == 1);
  // A key that is given by a callback is used with SHA-256.
  CHECK(SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1);
  if (side == TlsSide::kServer) {
    SSL_CTX_set_psk_server_callback(context, give_server_key);
  } else {
    SSL_CTX_set_psk_client_callback(context, give_client_key);
    // There are no certificates: a server that has not the key must not pass with one.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  return context;
}

SSL_CTX* context_of(TlsSide side) {
  static SSL_CTX* const server = make_context(TlsSide::kServer);
  static SSL_CTX* const client = make_context(TlsSide::kClient);
  return side == TlsSide::kServer ? server : client;
}

}  // namespace

struct TlsSession::Parts {
  SSL* ssl = nullptr;
  BIO* incoming = nullptr;  // owned by `ssl`, as is the other
  BIO* outgoing = nullptr;

  ~Parts() { SSL_free(ssl); }
};

TlsSession::TlsSession(TlsSide side, std::shared_ptr<const PreSharedKey> key)
    : key_(std::move(key)), parts_(std::make_unique<Parts>()) {
  parts_->ssl = SSL_new(context_of(side));
  connect_bytes();
  SSL_set_app_data(parts_->ssl, const_cast<PreSharedKey*>(key_.get()));
  if (side == TlsSide::kServer) {
    SSL_set_accept_state(parts_->ssl);
  } else {
    SSL_set_connect_state(parts_->ssl);
    SSL_do_handshake(parts_->ssl);  // its first message; it can't be done yet
  }
}

TlsSession::TlsSession(std::shared_ptr<const TlsCertificate> certificate)
    : certificate_(std::move(certificate)), parts_(std::make_unique<Parts>()) {
  parts_->ssl = SSL_new(certificate_->context());
  connect_bytes();
  SSL_set_accept_state(parts_->ssl);
}

TlsSession::~TlsSession() = default;

void TlsSession::connect_bytes() {
  parts_->incoming = BIO_new(BIO_s_mem());
  parts_->outgoing = BIO_new(BIO_s_mem());
  CHECK(parts_->ssl != nullptr);
  CHECK(parts_->incoming != nullptr);
  CHECK(parts_->outgoing != nullptr);
  SSL_set_bio(parts_->ssl, parts_->incoming, parts_->outgoing);
}

bool TlsSession::is_established() const {
  return SSL_is_init_finished(parts_->ssl) == 1;
}

Result<void> TlsSession::advance() {
  if (!is_established()) {
    const int status = SSL_do_handshake(parts_->ssl);
    if (status != 1 && SSL_get_error(parts_->ssl, status) != SSL_ERROR_WANT_READ) {
      return tls_error(key_ == nullptr
                           ? "the TLS handshake failed"
                           : "the TLS handshake failed, so the other side has another key or none");
    }
  }
  if (!is_established() || kept_.empty()) return {};
  const std::vector<std::byte> kept = std::exchange(kept_, {});
  return send(kept);
}

Result<void> TlsSession::receive(ByteSpan arrived, std::vector<std::byte>& plain) {
  ERR_clear_error();  // what this thread's other work has left there would be taken for this session's
  CHECK(BIO_write(parts_->incoming, arrived.data(), static_cast<int>(arrived.size())) ==
        static_cast<int>(arrived.size()));
  RETURN_IF_ERROR(advance());
  if (!is_established()) return {};
  for (;;) {
    const size_t end = plain.size();
    plain.resize(end + kReadBytes);
    const int count = SSL_read(parts_->ssl, plain.data() + end, static_cast<int>(kReadBytes));
    plain.resize(end + static_cast<size_t>(std::max(count, 0)));
    if (count > 0) continue;
    if (SSL_get_error(parts_->ssl, count) == SSL_ERROR_WANT_READ) return {};
    return tls_error("the TLS connection broke");
  }
}

Result<void> TlsSession::send(ByteSpan plain) {
  if (!is_established()) {
    kept_.insert(kept_.end(), plain.begin(), plain.end());
    return {};
  }
  if (plain.empty()) return {};
  ERR_clear_error();
  const int count = SSL_write(parts_->ssl, plain.data(), static_cast<int>(plain.size()));
  if (count == static_cast<int>(plain.size())) return {};
  return tls_error("the TLS connection takes no more bytes");
}

void TlsSession::finish() {
  if (is_established()) SSL_shutdown(parts_->ssl);
  ERR_clear_error();
}

size_t TlsSession::outgoing_bytes() const {
  return BIO_ctrl_pending(parts_->outgoing);
}

std::vector<std::byte> TlsSession::take_outgoing() {
  std::vector<std::byte> bytes(outgoing_bytes());
  size_t count = 0;
  if (!bytes.empty()) CHECK(BIO_read_ex(parts_->outgoing, bytes.data(), bytes.size(), &count) == 1);
  CHECK(count == bytes.size());
  return bytes;
}

}  // namespace mneme
