// SocketLoop: several sockets' bytes, moved by one thread: what arrives, what is sent, and who comes and goes.
//
// Flow        listen(), add() ... send() ... wait() -> events
// Invariants  bytes that send() was given leave in its order. After a kClosed event, close() or abort(), a socket's id means
//             nothing any more and comes up never again.
// Threads     wake: any, and signal handlers. The rest: one owner.
// Waiting     wait() alone, until something happens, wake() is called, or the time is over. send() never waits: what the
//             network doesn't take yet is kept, and unsent_bytes() tells how much that is.
// Errors      a broken connection is an event, with a reason.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/strong_id.h"

namespace mneme {

using SocketId = StrongId<struct SocketIdTag, uint64_t>;

struct SocketEvent {
  enum class Kind : uint8_t { kAccepted, kReceived, kClosed };

  Kind kind = Kind::kReceived;
  SocketId socket;
  ByteSpan bytes{};      // of kReceived; they stay until the next wait()
  int error_number = 0;  // of kClosed; 0: the other side hung up
};

class SocketLoop {
 public:
  virtual ~SocketLoop() = default;

  // Takes the descriptor, of a socket that listens: who connects there is accepted.
  virtual void listen(int descriptor) = 0;
  // Takes the descriptor, of a connected socket.
  virtual SocketId add(int descriptor) = 0;
  // May be held back until the next wait().
  virtual void send(SocketId socket, std::vector<std::byte> bytes) = 0;
  virtual size_t unsent_bytes(SocketId socket) const = 0;
  // Ends the connection once what was sent has left, or can't leave any more.
  virtual void close(SocketId socket) = 0;
  // Ends the connection at once: what has not left yet is dropped, with the memory that it takes.
  virtual void abort(SocketId socket) = 0;
  virtual void wait(std::chrono::nanoseconds limit, std::vector<SocketEvent>& events) = 0;
  // Ends the current or the next wait().
  virtual void wake() = 0;
};

enum class SocketMethod : uint8_t {
  kUring,  // io_uring; falls back to kPoll, with a notice, where it is not permitted
  kPoll,
};

struct OpenedLoop {
  std::unique_ptr<SocketLoop> loop;
  std::string notice;  // what had to be done without; empty: nothing
};
Result<OpenedLoop> open_socket_loop(SocketMethod method);

}  // namespace mneme
