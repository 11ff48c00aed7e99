#include "network/socket_loop.h"

#include <algorithm>
#include <cerrno>

#include "network/poll_loop.h"
#include "network/uring_loop.h"

namespace mneme {

bool is_short_of_room(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOBUFS ||
         error_number == ENOMEM;
}

size_t next_receive_bytes(size_t buffer_bytes, size_t received_bytes) {
  return received_bytes < buffer_bytes ? buffer_bytes : std::min(2 * buffer_bytes, kMostReceiveBytes);
}

Result<OpenedLoop> open_socket_loop(SocketMethod method) {
  OpenedLoop opened;
  if (method == SocketMethod::kUring) {
    auto uring = UringLoop::open();
    if (uring.ok()) {
      opened.loop = std::move(*uring);
      return opened;
    }
    opened.notice =
        fmt::format("{}: the network is served by poll instead, which is slower", uring.error().message);
  }
  auto poll = PollLoop::open();
  if (!poll.ok()) return poll.error();
  opened.loop = std::move(*poll);
  return opened;
}

}  // namespace mneme
