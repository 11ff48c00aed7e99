// TlsSession: TLS 1.3 by a pre-shared key (OpenSSL), without certificates, on bytes that its owner moves.
//
// Flow        what arrived -> receive() -> plain bytes; plain bytes -> send() -> take_outgoing(), which goes
//             to the network
// Invariants  no plain byte leaves or enters before the handshake has shown that both sides have the key.
//             Keys of a connection are fresh (psk_dhe_ke): an attacker that learns the secret later cannot
//             read what was recorded.
// Threads     one owner. Never waits: it has no socket.
// Errors      a wrong key, bytes that are no TLS, a changed record: a sentence, and the session is over.
#pragma once

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "network/pre_shared_key.h"

namespace mneme {

enum class TlsSide : uint8_t { kServer, kClient };

class TlsSession {
 public:
  TlsSession(TlsSide side, std::shared_ptr<const PreSharedKey> key);
  ~TlsSession();

  // Appends the plain bytes of what arrived.
  Result<void> receive(ByteSpan arrived, std::vector<std::byte>& plain);
  // Before the handshake is done it keeps them.
  Result<void> send(ByteSpan plain);
  // Takes the bytes that are to go to the network since the last call.
  std::vector<std::byte> take_outgoing();
  size_t outgoing_bytes() const;

  bool is_established() const;

 private:
  struct Parts;

  Result<void> advance();

  const std::shared_ptr<const PreSharedKey> key_;
  const std::unique_ptr<Parts> parts_;
  std::vector<std::byte> kept_;  // plain bytes that wait for the handshake
};

}  // namespace mneme
