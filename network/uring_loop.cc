#include "network/uring_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "network/server_address.h"

namespace mneme {

namespace {

constexpr unsigned kEntries = 256;
// How long a loop that ends waits for the kernel to release its buffers.
constexpr int kMostFarewells = 20;
constexpr std::chrono::milliseconds kFarewell{50};

}  // namespace

Result<std::unique_ptr<UringLoop>> UringLoop::open() {
  std::unique_ptr<UringLoop> loop(new UringLoop);
  int status = io_uring_queue_init(kEntries, &loop->ring_, IORING_SETUP_COOP_TASKRUN);
  if (status == -EINVAL) status = io_uring_queue_init(kEntries, &loop->ring_, 0);
  if (status < 0) return failed("io_uring is not available: {}", std::strerror(-status));
  loop->ring_is_open_ = true;
  loop->wake_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (loop->wake_descriptor_ < 0) return failed("cannot make an eventfd: {}", std::strerror(errno));
  return loop;
}

UringLoop::~UringLoop() {
  if (!ring_is_open_) return;
  if (listening_ >= 0) ::shutdown(listening_, SHUT_RDWR);
  for (auto& [id, socket] : sockets_) {
    socket.is_closing = true;
    socket.queued.clear();
    ::shutdown(socket.descriptor, SHUT_RDWR);
  }
  // The kernel may still fill the sockets' buffers.
  std::vector<SocketEvent> events;
  std::erase_if(sockets_, [](auto& each) {
    const bool is_idle = !each.second.receives && !each.second.sends;
    if (is_idle) ::close(each.second.descriptor);
    return is_idle;
  });
  for (int i = 0; i < kMostFarewells && !sockets_.empty(); ++i) wait(kFarewell, events);
  io_uring_queue_exit(&ring_);
  for (auto& [id, socket] : sockets_) ::close(socket.descriptor);
  if (listening_ >= 0) ::close(listening_);
  if (wake_descriptor_ >= 0) ::close(wake_descriptor_);
}

void UringLoop::listen(int descriptor) {
  listening_ = descriptor;
}

SocketId UringLoop::add(int descriptor) {
  const SocketId id{next_id_++};
  Socket& socket = sockets_[id];
  socket.descriptor = descriptor;
  return id;
}

void UringLoop::send(SocketId socket, std::vector<std::byte> bytes) {
  const auto at = sockets_.find(socket);
  if (at == sockets_.end() || bytes.empty()) return;
  std::vector<std::byte>& queued = at->second.queued;
  if (queued.empty()) {
    queued = std::move(bytes);
  } else {
    queued.insert(queued.end(), bytes.begin(), bytes.end());
  }
}

size_t UringLoop::unsent_bytes(SocketId socket) const {
  const auto at = sockets_.find(socket);
  return at == sockets_.end() ? 0 : at->second.queued.size() + at->second.sending.size() - at->second.sent;
}

uint64_t UringLoop::sent_bytes(SocketId socket) const {
  const auto at = sockets_.find(socket);
  return at == sockets_.end() ? 0 : at->second.sent_before + at->second.sent;
}

int UringLoop::descriptor(SocketId socket) const {
  const auto at = sockets_.find(socket);
  return at == sockets_.end() ? -1 : at->second.descriptor;
}

void UringLoop::close(SocketId socket) {
  const auto at = sockets_.find(socket);
  if (at == sockets_.end()) return;
  at->second.is_closing = true;
  drop_if_idle(socket);
}

void UringLoop::abort(SocketId socket) {
  const auto at = sockets_.find(socket);
  if (at == sockets_.end()) return;
  at->second.is_closing = true;
  at->second.queued = {};
  ::shutdown(at->second.descriptor, SHUT_RDWR);  // ends a send
  drop_if_idle(socket);
}

io_uring_sqe* UringLoop::next_request() {
  io_uring_sqe* request = io_uring_get_sqe(&ring_);
  if (request == nullptr) {
    io_uring_submit(&ring_);
    request = io_uring_get_sqe(&ring_);
  }
  CHECK(request != nullptr);  // the kernel has taken the others
  return request;
}

void UringLoop::begin_send(SocketId id, Socket& socket) {
  io_uring_sqe* request = next_request();
  io_uring_prep_send(request, socket.descriptor, socket.sending.data() + socket.sent,
                     socket.sending.size() - socket.sent, MSG_NOSIGNAL);
  request->user_data = id.value << 2 | kSend;
  socket.sends = true;
}

void UringLoop::prepare_requests() {
  if (!polls_) {
    io_uring_sqe* request = next_request();
    io_uring_prep_poll_add(request, wake_descriptor_, POLLIN);
    request->user_data = kWake;
    polls_ = true;
  }
  if (listening_ >= 0 && !accepts_ && monotonic_ns() >= accepts_from_ns_) {
    io_uring_sqe* request = next_request();
    io_uring_prep_accept(request, listening_, nullptr, nullptr, SOCK_CLOEXEC);
    request->user_data = kAccept;
    accepts_ = true;
  }
  for (auto& [id, socket] : sockets_) {
    if (!socket.receives && !socket.is_closing) {
      io_uring_sqe* request = next_request();
      socket.received.resize(socket.receive_bytes);
      io_uring_prep_recv(request, socket.descriptor, socket.received.data(), socket.received.size(), 0);
      request->user_data = id.value << 2 | kReceive;
      socket.receives = true;
    }
    if (!socket.sends && !socket.queued.empty()) {
      socket.sending = std::exchange(socket.queued, {});
      begin_send(id, socket);
    }
  }
}

// Hangs up a socket that its owner has closed once nothing is left to send, and releases it once nothing is
// in flight.
void UringLoop::drop_if_idle(SocketId id) {
  const auto at = sockets_.find(id);
  Socket& socket = at->second;
  if (!socket.is_closing || socket.sends || !socket.queued.empty()) return;
  if (socket.receives) {
    ::shutdown(socket.descriptor, SHUT_RDWR);  // ends the receive
    return;
  }
  ::close(socket.descriptor);
  sockets_.erase(at);
}

void UringLoop::end_receive(SocketId id, Socket& socket, int status, std::vector<SocketEvent>& events) {
  socket.receives = false;
  const bool is_over = status <= 0 && status != -EINTR && status != -EAGAIN;
  if (!socket.is_closing && status > 0) {
    socket.receive_bytes = next_receive_bytes(socket.receive_bytes, static_cast<size_t>(status));
    events.push_back(
        {SocketEvent::Kind::kReceived, id, ByteSpan(socket.received).first(static_cast<size_t>(status))});
  }
  if (!socket.is_closing && is_over) {
    events.push_back({SocketEvent::Kind::kClosed, id, {}, -status});
    socket.is_closing = true;
    socket.queued.clear();
    ::shutdown(socket.descriptor, SHUT_RDWR);  // ends a send
  }
  drop_if_idle(id);
}

void UringLoop::end_send(SocketId id, Socket& socket, int status) {
  socket.sends = false;
  if (status > 0) {
    socket.sent += static_cast<size_t>(status);
    if (socket.sent < socket.sending.size()) return begin_send(id, socket);
  } else if (status == -EINTR || status == -EAGAIN) {
    return begin_send(id, socket);
  } else {
    // The connection is broken: its receive says so.
    socket.queued.clear();
    ::shutdown(socket.descriptor, SHUT_RDWR);
  }
  socket.sending.clear();
  socket.sent_before += std::exchange(socket.sent, 0);
  drop_if_idle(id);
}

void UringLoop::end_accept(int status, std::vector<SocketEvent>& events) {
  accepts_ = false;
  if (is_short_of_room(-status)) {
    events.push_back({.kind = SocketEvent::Kind::kNotAccepted, .socket = {}, .error_number = -status});
    accepts_from_ns_ = monotonic_ns() + static_cast<uint64_t>(std::chrono::nanoseconds(kAcceptPause).count());
  }
  if (status < 0) return;  // the peer gave up; others are accepted
  prepare_socket(status);
  events.push_back({SocketEvent::Kind::kAccepted, add(status)});
}

void UringLoop::complete(const io_uring_cqe& completion, std::vector<SocketEvent>& events) {
  const auto step = static_cast<Step>(completion.user_data & 3);
  const SocketId id{completion.user_data >> 2};
  if (step == kAccept) return end_accept(completion.res, events);
  if (step == kWake) {
    uint64_t count;
    [[maybe_unused]] const ssize_t bytes = ::read(wake_descriptor_, &count, sizeof count);
    polls_ = false;
    return;
  }
  const auto at = sockets_.find(id);
  CHECK(at != sockets_.end());
  if (step == kReceive) return end_receive(id, at->second, completion.res, events);
  end_send(id, at->second, completion.res);
}

void UringLoop::wait(std::chrono::nanoseconds limit, std::vector<SocketEvent>& events) {
  prepare_requests();
  if (const uint64_t now = monotonic_ns(); listening_ >= 0 && now < accepts_from_ns_) {
    limit = std::min(limit, std::chrono::nanoseconds(accepts_from_ns_ - now));
  }
  __kernel_timespec time{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
  io_uring_cqe* completion = nullptr;
  // The result is of no use: time is over, a signal came, or completions are there, and those are looked for
  // below.
  io_uring_submit_and_wait_timeout(&ring_, &completion, 1, &time, nullptr);
  while (io_uring_peek_cqe(&ring_, &completion) == 0) {
    const io_uring_cqe taken = *completion;
    io_uring_cqe_seen(&ring_, completion);
    complete(taken, events);
  }
}

void UringLoop::wake() {
  const uint64_t one = 1;
  // Full means that a wake is pending already.
  [[maybe_unused]] const ssize_t bytes = ::write(wake_descriptor_, &one, sizeof one);
}

}  // namespace mneme
