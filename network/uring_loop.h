// UringLoop: a SocketLoop by io_uring: what is to be sent and received, and the wait for it, are one system
// call.
//
// Invariants  a socket has one receive and one send in flight at most, and is closed once neither is.
// Threads, waiting, errors  as SocketLoop says.
#pragma once

#include <liburing.h>

#include <map>

#include "network/socket_loop.h"

namespace mneme {

class UringLoop : public SocketLoop {
 public:
  // An error where the kernel or the container refuses io_uring.
  static Result<std::unique_ptr<UringLoop>> open();
  ~UringLoop() override;

  void listen(int descriptor) override;
  SocketId add(int descriptor) override;
  void send(SocketId socket, std::vector<std::byte> bytes) override;
  size_t unsent_bytes(SocketId socket) const override;
  uint64_t sent_bytes(SocketId socket) const override;
  int descriptor(SocketId socket) const override;
  void close(SocketId socket) override;
  void abort(SocketId socket) override;
  void wait(std::chrono::nanoseconds limit, std::vector<SocketEvent>& events) override;
  void wake() override;

 private:
  // The purpose of a request, as a part of its user data.
  enum Step : uint64_t { kReceive = 0, kSend = 1, kAccept = 2, kWake = 3 };
  struct Socket {
    int descriptor = -1;
    std::vector<std::byte> received;
    size_t receive_bytes = kFirstReceiveBytes;  // of the next receive
    std::vector<std::byte> sending;             // in flight
    size_t sent = 0;                            // of `sending`
    uint64_t sent_before = 0;                   // of what was in flight before
    std::vector<std::byte> queued;
    bool receives = false;  // a receive is in flight
    bool sends = false;
    bool is_closing = false;  // its owner knows it no more
  };

  UringLoop() = default;
  io_uring_sqe* next_request();
  void prepare_requests();
  void begin_send(SocketId id, Socket& socket);
  void complete(const io_uring_cqe& completion, std::vector<SocketEvent>& events);
  void end_receive(SocketId id, Socket& socket, int status, std::vector<SocketEvent>& events);
  void end_send(SocketId id, Socket& socket, int status);
  void end_accept(int status, std::vector<SocketEvent>& events);
  void drop_if_idle(SocketId id);

  io_uring ring_{};
  bool ring_is_open_ = false;
  int wake_descriptor_ = -1;
  int listening_ = -1;
  bool accepts_ = false;          // an accept is in flight
  uint64_t accepts_from_ns_ = 0;  // before it none is begun
  bool polls_ = false;            // so is the poll for wakes
  uint64_t next_id_ = 0;
  std::map<SocketId, Socket> sockets_;
};

}  // namespace mneme
