// Frames: a client's bytes, cut into the messages of PostgreSQL's protocol.
//
// Flow        receive() -> next() ...; before the first message of the session itself: startup packets, which
//             have no type
// Bounds      a startup packet has 10,000 bytes at most, as in PostgreSQL. A message before the client is
//             authenticated, too; later ones have kMostMessageBytes.
// Memory      what has arrived and was not taken yet: waiting_bytes(), which its owner bounds.
// Threads     one owner.
// Errors      next(): a length that can't be. The connection is of no use then.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace mneme {

// A query, the values of one Bind, a piece of a COPY.
inline constexpr size_t kMostMessageBytes = size_t{64} << 20;
inline constexpr size_t kMostStartupBytes = 10'000;

struct ClientMessage {
  char type = 0;  // 0: a startup packet
  ByteSpan body;  // until the next receive() or take()
};

class FrameReader {
 public:
  void receive(ByteSpan arrived);

  // The next message, which stays the next one until take(). Nothing: it is not whole yet.
  Result<std::optional<ClientMessage>> next();
  void take();
  size_t waiting_bytes() const { return bytes_.size() - at_; }

  // The client has sent its startup packet: messages with a type follow. And: it is who it says.
  void expect_messages() { has_types_ = true; }
  void trust() { most_bytes_ = kMostMessageBytes; }

  // A request's messages are handled together, once the last of them is there: a Sync, a Flush, or one that
  // stands for itself. Returns whether such a one is among the whole messages, or so many bytes that
  // one can't wait for it.
  bool has_request();
  // The Execute messages of the request that the next message belongs to, and whether it ends with a Sync.
  // Call it after has_request().
  struct Request {
    uint32_t executes = 0;
    bool has_sync = false;
  };
  Request request() const { return requests_.empty() ? Request{2, false} : requests_.front().request; }

 private:
  struct Found {
    size_t end;  // of the request, counted from the beginning of all bytes
    Request request;
  };
  static constexpr size_t kMostAhead = size_t{1} << 20;

  void scan();

  std::vector<std::byte> bytes_;
  size_t at_ = 0;       // of the next message in bytes_
  size_t dropped_ = 0;  // bytes before bytes_
  size_t scanned_ = 0;  // counted from the beginning
  Request open_;        // the request whose end has not been scanned
  std::vector<Found> requests_;
  size_t next_bytes_ = 0;  // of the message that next() returned
  bool has_types_ = false;
  size_t most_bytes_ = kMostStartupBytes;
};

}  // namespace mneme
