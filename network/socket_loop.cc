#include "network/socket_loop.h"

#include "network/poll_loop.h"
#include "network/uring_loop.h"

namespace mneme {

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
