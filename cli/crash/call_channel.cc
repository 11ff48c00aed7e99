#include "cli/crash/call_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace mneme {

CallChannel::CallChannel(int descriptor) : descriptor_(descriptor) {
  const int flags = fcntl(descriptor_, F_GETFL);
  CHECK(flags >= 0);
  CHECK(fcntl(descriptor_, F_SETFL, flags | O_NONBLOCK) == 0);
}

CallChannel::CallChannel(CallChannel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      outgoing_(std::move(other.outgoing_)),
      sent_(other.sent_),
      incoming_(std::move(other.incoming_)),
      parsed_(other.parsed_),
      closed_(other.closed_) {}

CallChannel::~CallChannel() {
  if (descriptor_ >= 0) close(descriptor_);
}

ByteBuffer& CallChannel::begin_message() {
  message_start_ = outgoing_.size();
  outgoing_.put<uint32_t>(0);
  return outgoing_;
}

void CallChannel::end_message() {
  const size_t bytes = outgoing_.size() - message_start_ - sizeof(uint32_t);
  store(outgoing_.data() + message_start_, static_cast<uint32_t>(bytes));
}

bool CallChannel::send_some() {
  while (sent_ < outgoing_.size()) {
    const ssize_t wrote =
        send(descriptor_, outgoing_.data() + sent_, outgoing_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN;
    }
    sent_ += static_cast<size_t>(wrote);
  }
  outgoing_.clear();
  sent_ = 0;
  return true;
}

CallChannel::Receive CallChannel::receive(ByteSpan& message) {
  for (;;) {
    const size_t have = incoming_.size() - parsed_;
    if (have >= sizeof(uint32_t)) {
      const auto bytes = load<uint32_t>(incoming_.data() + parsed_);
      if (have >= sizeof(uint32_t) + bytes) {
        message = {incoming_.data() + parsed_ + sizeof(uint32_t), bytes};
        parsed_ += sizeof(uint32_t) + bytes;
        return Receive::kMessage;
      }
    }
    if (closed_) return Receive::kClosed;
    incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<ptrdiff_t>(parsed_));
    parsed_ = 0;
    constexpr size_t kReadBytes = 64 * 1024;
    const size_t at = incoming_.size();
    incoming_.resize(at + kReadBytes);
    const ssize_t got = recv(descriptor_, incoming_.data() + at, kReadBytes, MSG_DONTWAIT);
    incoming_.resize(at + static_cast<size_t>(got > 0 ? got : 0));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) closed_ = true;
    if (got < 0 && errno == EAGAIN) return Receive::kNothingYet;
  }
}

void CallChannel::wait(int timeout_ms) const {
  pollfd poll_for{descriptor_, static_cast<short>(unsent_bytes() > 0 ? POLLIN | POLLOUT : POLLIN), 0};
  poll(&poll_for, 1, timeout_ms);
}

}  // namespace mneme
