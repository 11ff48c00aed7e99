// MessageChannel: one connection's messages, from and to the bytes on its socket, enciphered where there is a
// key.
//
// Flow        bytes that arrived -> receive() -> next() ...; send() -> take_outgoing() -> the socket
// Threads     one owner. Never waits: it has no socket.
// Errors      a wrong key, garbage, a frame that is no message: a sentence. The connection is of no use then.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "network/frame.h"
#include "network/log_protocol.h"
#include "network/tls_session.h"

namespace mneme {

class MessageChannel {
 public:
  // Without a key the bytes travel in the clear.
  MessageChannel(TlsSide side, std::shared_ptr<const PreSharedKey> key);

  Result<void> receive(ByteSpan arrived);
  // A refusal's words are printable ASCII, and not too many. What bytes it points to stays until the next
  // receive(). Nothing: no whole message is there.
  Result<std::optional<LogMessage>> next();
  Result<void> send(const LogMessage& message);
  // Takes the bytes that are to go to the socket. To be called after receive(), too, as the handshake
  // answers.
  std::vector<std::byte> take_outgoing();
  size_t outgoing_bytes() const;

 private:
  std::unique_ptr<TlsSession> tls_;  // none: in the clear
  FrameDecoder decoder_;
  std::vector<std::byte> outgoing_;  // in the clear
  std::vector<std::byte> plain_;     // of one receive()
};

}  // namespace mneme
