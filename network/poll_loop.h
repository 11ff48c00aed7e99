// PollLoop: a SocketLoop by poll, where io_uring is not to be had.
//
// Threads, waiting, errors  as SocketLoop says.
#pragma once

#include <map>

#include "base/file/file.h"
#include "network/socket_loop.h"

namespace mneme {

class PollLoop : public SocketLoop {
 public:
  static Result<std::unique_ptr<PollLoop>> open();
  ~PollLoop() override;

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
  struct Socket {
    int descriptor;
    std::vector<std::byte> unsent;
    size_t sent = 0;  // of `unsent`
    bool is_closing = false;
    std::vector<std::byte> received;
    size_t receive_bytes = kFirstReceiveBytes;  // of the next receive
    uint64_t sent_before = 0;                   // of former `unsent`
  };

  explicit PollLoop(int wake_descriptor) : wake_descriptor_(wake_descriptor) {}
  // 0, or the error that ends the connection.
  static int send_some(Socket& socket);
  void accept_all(std::vector<SocketEvent>& events);
  void serve(SocketId id, short ready, std::vector<SocketEvent>& events);
  void drop(SocketId id);

  const int wake_descriptor_;
  int listening_ = -1;
  uint64_t accepts_from_ns_ = 0;  // before it none is accepted
  uint64_t next_id_ = 0;
  std::map<SocketId, Socket> sockets_;
};

}  // namespace mneme
