#include "network/message_channel.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mneme {

namespace {

constexpr size_t kMostRefusalBytes = 1000;

// Another machine's words, as a terminal may see them: what is no printable ASCII could be a command to it.
std::string printable(std::string_view text) {
  std::string shown(text.substr(0, kMostRefusalBytes));
  std::ranges::replace_if(
      shown, [](char each) { return each < ' ' || each > '~'; }, '?');
  return shown;
}

}  // namespace

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
  if (auto* refused = std::get_if<RefusedMessage>(&*message)) refused->text = printable(refused->text);
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
