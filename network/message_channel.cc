#include "network/message_channel.h"

#include <utility>

namespace mneme {

MessageChannel::MessageChannel(TlsSide side, std::shared_ptr<const PreSharedKey> key)
    : tls_(key == nullptr ? nullptr : std::make_unique<TlsSession>(side, std::move(key))) {}

Result<void> MessageChannel::receive(ByteSpan arrived) {
  if (tls_ == nullptr) {
    decoder_.feed(arrived);
    return {};
  }
  plain_.clear();
  Result<void> received = tls_->receive(arrived, plain_);
  decoder_.feed(plain_);
  return received;
}

Result<std::optional<LogMessage>> MessageChannel::next() {
  auto frame = decoder_.next();
  if (!frame.ok()) return frame.error();
  if (!*frame) return std::optional<LogMessage>();
  auto message = decode_message(**frame);
  if (!message.ok()) return message.error();
  return std::optional(std::move(*message));
}

Result<void> MessageChannel::send(const LogMessage& message) {
  append_message(outgoing_, message);
  if (tls_ == nullptr) return {};
  const std::vector<std::byte> frame = std::exchange(outgoing_, {});
  return tls_->send(frame);
}

size_t MessageChannel::outgoing_bytes() const {
  return tls_ == nullptr ? outgoing_.size() : tls_->outgoing_bytes();
}

std::vector<std::byte> MessageChannel::take_outgoing() {
  return tls_ == nullptr ? std::exchange(outgoing_, {}) : tls_->take_outgoing();
}

}  // namespace mneme
