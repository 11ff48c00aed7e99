// TlsSession: one connection's TLS (OpenSSL) on bytes that its owner moves.
//
// Two kinds   by a pre-shared key, without certificates (TLS 1.3): between an engine and its log servers.
//             by the server's certificate (TLS 1.2 or later): the server's side of a client's connection.
// Flow        what arrived -> receive() -> plain bytes; plain bytes -> send() -> take_outgoing(), which goes
//             to the network
// Invariants  no plain byte leaves or enters before the handshake is done; by a pre-shared key it has shown
//             that both sides have the key. Keys of a connection are fresh (psk_dhe_ke, ECDHE): an attacker
//             that learns the secret later cannot read what was recorded.
// Threads     one owner. Never waits: it has no socket.
// Errors      a wrong key, bytes that are no TLS, a changed record, the other side's goodbye: a sentence, and
//             the session is over. Plain bytes that came before it are returned all the same, and
//             take_outgoing() has what the other side is told of it.
#pragma once

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "network/pre_shared_key.h"
#include "network/tls_certificate.h"

namespace mneme {

enum class TlsSide : uint8_t { kServer, kClient };

class TlsSession {
 public:
  TlsSession(TlsSide side, std::shared_ptr<const PreSharedKey> key);
  // The server's side.
  explicit TlsSession(std::shared_ptr<const TlsCertificate> certificate);
  ~TlsSession();

  // Appends the plain bytes of what arrived.
  Result<void> receive(ByteSpan arrived, std::vector<std::byte>& plain);
  // Before the handshake is done it keeps them.
  Result<void> send(ByteSpan plain);
  // Says to the other side that nothing follows, so that it can distinguish this end from a connection that
  // somebody cut.
  void finish();
  // Takes the bytes that are to go to the network since the last call.
  std::vector<std::byte> take_outgoing();
  size_t outgoing_bytes() const;

  bool is_established() const;

 private:
  struct Parts;

  void connect_bytes();
  Result<void> advance();

  const std::shared_ptr<const PreSharedKey> key_;  // one of the two
  const std::shared_ptr<const TlsCertificate> certificate_{};
  const std::unique_ptr<Parts> parts_;
  std::vector<std::byte> kept_;  // plain bytes that wait for the handshake
};

}  // namespace mneme
