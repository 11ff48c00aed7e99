// SocketLoop: several sockets' bytes, moved by one thread: what arrives, what is sent, and which peers come
// and go.
//
// Flow        listen(), add() ... send() ... wait() -> events
// Invariants  bytes that send() was given leave in its order. After a kClosed event, close() or abort(), a
//             socket's id means nothing any more and comes up never again.
// Threads     wake: any, and signal handlers. The rest: one owner.
// Waiting     wait() alone, until something happens, wake() is called, or the time is over. send() never
//             waits: bytes that the network doesn't take yet are kept, and unsent_bytes() returns how many
//             those are.
// Memory      a connection keeps what was not sent yet, and a buffer of kFirstReceiveBytes, which grows as
//             much arrives at once.
// Errors      a broken connection is an event, with a reason. So is a connection that can't be accepted, as
//             no more files may be open or memory is short: the loop doesn't try again before kAcceptPause is
//             over, as it would fail and fail.
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
  enum class Kind : uint8_t { kAccepted, kReceived, kClosed, kNotAccepted };

  Kind kind = Kind::kReceived;
  SocketId socket;
  ByteSpan bytes{};      // of kReceived; they stay until the next wait()
  int error_number = 0;  // of kNotAccepted, which has no socket, and of kClosed; 0: the other side hung up
};

inline constexpr size_t kFirstReceiveBytes = size_t{16} << 10;
inline constexpr size_t kMostReceiveBytes = size_t{256} << 10;
inline constexpr std::chrono::milliseconds kAcceptPause{100};
// So many wait() accepts at most, so that new peers don't keep it from the present ones.
inline constexpr size_t kMostAcceptedAtOnce = 64;

// Whether accept() failed for the want of something that this machine may have again later.
bool is_short_of_room(int error_number);
// The size of the buffer for the next receive, after one of so many bytes.
size_t next_receive_bytes(size_t buffer_bytes, size_t received_bytes);

class SocketLoop {
 public:
  virtual ~SocketLoop() = default;

  // Takes the descriptor, of a socket that listens: peers that connect there are accepted.
  virtual void listen(int descriptor) = 0;
  // Takes the descriptor, of a connected socket.
  virtual SocketId add(int descriptor) = 0;
  // May be held back until the next wait().
  virtual void send(SocketId socket, std::vector<std::byte> bytes) = 0;
  virtual size_t unsent_bytes(SocketId socket) const = 0;
  // Returns how many of the bytes sent have left. The number stands still while the other side doesn't read.
  virtual uint64_t sent_bytes(SocketId socket) const = 0;
  // To ask the system about the connection; -1: it is gone.
  virtual int descriptor(SocketId socket) const = 0;
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
