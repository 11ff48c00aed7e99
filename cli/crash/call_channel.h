// CallChannel: calls and their outcomes over a socket pair: what stands between a client that must survive
// and a database process that is about to be killed.
//
// Flow        CallClient (the parent) --request--> CallServer (the child) --reply--> CallClient
// Framing     uint32 bytes that follow, then the message:
//               request  uint64 sequence, then the call as procedures/interpreter/call_codec.h encodes it:
//                        the same bytes that its command record will hold, so client and log can be compared
//                        byte by byte.
//               reply    uint64 sequence, uint8 status, uint64 LSN, then the results.
// Invariants  messages arrive whole, in order, or not at all. What was sent before the sender was killed can
//             still be read: a reply that the server wrote is never lost with it.
// Threads     one an end.
// Errors      a closed peer ends the stream: receive() says kClosed; a malformed frame is a mistake of ours.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace mneme {

enum class ReplyStatus : uint8_t {
  kAcknowledged = 1,  // committed, and its log record is durable
  kReadOnly = 2,      // committed without a record, and all it read is durable
  kRolledBack = 3,    // the procedure raised an exception: nothing of it may be in the log
};

class CallChannel {
 public:
  // Takes the descriptor over.
  explicit CallChannel(int descriptor);
  CallChannel(CallChannel&& other) noexcept;
  CallChannel& operator=(CallChannel&&) = delete;
  ~CallChannel();

  int descriptor() const { return descriptor_; }

  // Puts a message into the send buffer: begin, parts, end.
  ByteBuffer& begin_message();
  void end_message();
  size_t unsent_bytes() const { return outgoing_.size() - sent_; }

  // Writes as much of the send buffer as the socket takes without waiting. False: the peer is gone.
  bool send_some();

  enum class Receive : uint8_t { kMessage, kNothingYet, kClosed };
  // The next whole message, valid until the next call. Never waits.
  Receive receive(ByteSpan& message);

  // Waits until something can be received (or, with bytes unsent, sent), or the time has passed.
  void wait(int timeout_ms) const;

 private:
  int descriptor_;
  ByteBuffer outgoing_;
  size_t sent_ = 0;
  size_t message_start_ = 0;
  std::vector<std::byte> incoming_;
  size_t parsed_ = 0;
  bool closed_ = false;
};

}  // namespace mneme
