#include "network/poll_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "network/server_address.h"

namespace mneme {

namespace {

timespec time_of(std::chrono::nanoseconds limit) {
  return {limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
}

}  // namespace

Result<std::unique_ptr<PollLoop>> PollLoop::open() {
  const int wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor < 0) return failed("cannot make an eventfd: {}", std::strerror(errno));
  return std::unique_ptr<PollLoop>(new PollLoop(wake_descriptor));
}

PollLoop::~PollLoop() {
  for (auto& [id, socket] : sockets_) ::close(socket.descriptor);
  if (listening_ >= 0) ::close(listening_);
  ::close(wake_descriptor_);
}

void PollLoop::listen(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  listening_ = descriptor;
}

SocketId PollLoop::add(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  const SocketId id{next_id_++};
  sockets_.emplace(id, Socket{.descriptor = descriptor, .unsent = {}, .received = {}});
  return id;
}

int PollLoop::send_some(Socket& socket) {
  while (socket.sent < socket.unsent.size()) {
    const ssize_t count = ::send(socket.descriptor, socket.unsent.data() + socket.sent,
                                 socket.unsent.size() - socket.sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? 0 : errno;
    socket.sent += static_cast<size_t>(count);
  }
  socket.sent_before += socket.sent;
  socket.unsent.clear();
  socket.sent = 0;
  return 0;
}

void PollLoop::send(SocketId socket, std::vector<std::byte> bytes) {
  const auto at = sockets_.find(socket);
  if (at == sockets_.end() || bytes.empty()) return;
  Socket& to = at->second;
  to.unsent.insert(to.unsent.end(), bytes.begin(), bytes.end());
  send_some(to);  // an error comes up again in wait()
}

size_t PollLoop::unsent_bytes(SocketId socket) const {
  const auto at = sockets_.find(socket);
  return at == sockets_.end() ? 0 : at->second.unsent.size() - at->second.sent;
}

uint64_t PollLoop::sent_bytes(SocketId socket) const {
  const auto at = sockets_.find(socket);
  return at == sockets_.end() ? 0 : at->second.sent_before + at->second.sent;
}

int PollLoop::descriptor(SocketId socket) const {
  const auto at = sockets_.find(socket);
  return at == sockets_.end() ? -1 : at->second.descriptor;
}

void PollLoop::drop(SocketId id) {
  const auto at = sockets_.find(id);
  ::close(at->second.descriptor);
  sockets_.erase(at);
}

void PollLoop::close(SocketId socket) {
  const auto at = sockets_.find(socket);
  if (at == sockets_.end()) return;
  at->second.is_closing = true;
  if (send_some(at->second) != 0 || at->second.unsent.empty()) drop(socket);
}

void PollLoop::abort(SocketId socket) {
  if (sockets_.contains(socket)) drop(socket);
}

void PollLoop::accept_all(std::vector<SocketEvent>& events) {
  for (size_t i = 0; i < kMostAcceptedAtOnce; ++i) {
    const int descriptor = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0 && is_short_of_room(errno)) {
      events.push_back({.kind = SocketEvent::Kind::kNotAccepted, .socket = {}, .error_number = errno});
      accepts_from_ns_ =
          monotonic_ns() + static_cast<uint64_t>(std::chrono::nanoseconds(kAcceptPause).count());
    }
    if (descriptor < 0) return;  // none is left, or one that gave up; the others will be reported again
    prepare_socket(descriptor);
    events.push_back({SocketEvent::Kind::kAccepted, add(descriptor)});
  }
}

void PollLoop::serve(SocketId id, short ready, std::vector<SocketEvent>& events) {
  Socket& socket = sockets_.at(id);
  const int send_error = (ready & POLLOUT) != 0 ? send_some(socket) : 0;
  if (socket.is_closing) {
    if (send_error != 0 || socket.unsent.empty() || (ready & (POLLERR | POLLHUP)) != 0) drop(id);
    return;
  }
  ssize_t count = 1;
  int error_number = send_error;
  if (send_error == 0 && (ready & (POLLIN | POLLERR | POLLHUP)) != 0) {
    socket.received.resize(socket.receive_bytes);
    count = ::recv(socket.descriptor, socket.received.data(), socket.received.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) error_number = errno;
    if (count > 0) {
      socket.receive_bytes = next_receive_bytes(socket.receive_bytes, static_cast<size_t>(count));
      events.push_back(
          {SocketEvent::Kind::kReceived, id, ByteSpan(socket.received).first(static_cast<size_t>(count))});
    }
  }
  if (count > 0 && error_number == 0) return;
  events.push_back({SocketEvent::Kind::kClosed, id, {}, error_number});
  drop(id);
}

void PollLoop::wait(std::chrono::nanoseconds limit, std::vector<SocketEvent>& events) {
  std::vector<pollfd> watched{{wake_descriptor_, POLLIN, 0}};
  const uint64_t now = monotonic_ns();
  const bool accepts = listening_ >= 0 && now >= accepts_from_ns_;
  if (accepts) watched.push_back({listening_, POLLIN, 0});
  if (listening_ >= 0 && !accepts) limit = std::min(limit, std::chrono::nanoseconds(accepts_from_ns_ - now));
  const size_t first_socket = watched.size();
  std::vector<SocketId> ids;
  for (const auto& [id, socket] : sockets_) {
    const short wanted =
        static_cast<short>((socket.is_closing ? 0 : POLLIN) | (socket.unsent.empty() ? 0 : POLLOUT));
    watched.push_back({socket.descriptor, wanted, 0});
    ids.push_back(id);
  }
  const timespec time = time_of(limit);
  if (::ppoll(watched.data(), watched.size(), &time, nullptr) <= 0) return;
  if (watched.front().revents != 0) {
    uint64_t count;
    [[maybe_unused]] const ssize_t bytes = ::read(wake_descriptor_, &count, sizeof count);
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const short ready = watched[first_socket + i].revents;
    if (ready != 0) serve(ids[i], ready, events);
  }
  if (accepts && watched[1].revents != 0) accept_all(events);
}

void PollLoop::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(wake_descriptor_, &one, sizeof one);
}

}  // namespace mneme
