#include "server/session/notifications.h"

namespace mneme {

namespace {

constexpr size_t kBytesAMessage = 128;  // beside its texts

size_t bytes_of_message(const NotifyMessage& message) {
  return kBytesAMessage + message.channel.size() + message.payload.size();
}

}  // namespace

Notifications::Box::~Box() {
  while (take()) {
  }
}

std::optional<Notifications::Arrived> Notifications::Box::take() {
  const std::lock_guard lock(mutex_);
  if (arrived_.empty()) return std::nullopt;
  Arrived first = std::move(arrived_.front());
  arrived_.pop_front();
  if (arrived_.empty()) has_any_.store(false, std::memory_order_release);
  bytes_.fetch_sub(bytes_of_message(first.message), std::memory_order_relaxed);
  return first;
}

void Notifications::Box::add(const Arrived& arrived) {
  const std::lock_guard lock(mutex_);
  arrived_.push_back(arrived);
  bytes_.fetch_add(bytes_of_message(arrived.message), std::memory_order_relaxed);
  has_any_.store(true, std::memory_order_release);
}

std::shared_ptr<Notifications::Box> Notifications::listen(uint32_t session, const std::string& channel) {
  const std::lock_guard lock(mutex_);
  Listener& listener = listeners_[session];
  if (listener.box == nullptr) listener.box = std::make_shared<Box>(bytes_);
  listener.channels.insert(channel);
  return listener.box;
}

void Notifications::unlisten(uint32_t session, const std::string& channel) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(session);
  if (found != listeners_.end()) found->second.channels.erase(channel);
}

void Notifications::unlisten_all(uint32_t session) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(session);
  if (found != listeners_.end()) found->second.channels.clear();
}

std::set<std::string> Notifications::channels_of(uint32_t session) const {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(session);
  return found == listeners_.end() ? std::set<std::string>() : found->second.channels;
}

void Notifications::end_session(uint32_t session) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(session);
}

bool Notifications::has_room(std::span<const NotifyMessage> messages) const {
  const std::lock_guard lock(mutex_);
  size_t wanted = bytes_.load(std::memory_order_relaxed);
  for (const auto& [session, listener] : listeners_) {
    for (const NotifyMessage& message : messages) {
      if (listener.channels.contains(message.channel)) wanted += bytes_of_message(message);
    }
  }
  return wanted <= kMostBytes;
}

void Notifications::publish(const Turn&, uint32_t sender, std::span<const NotifyMessage> messages,
                            std::optional<Lsn> lsn) {
  bool reaches_any = false;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [session, listener] : listeners_) {
      for (const NotifyMessage& message : messages) {
        if (!listener.channels.contains(message.channel)) continue;
        listener.box->add({sender, message, lsn});
        reaches_any = true;
      }
    }
  }
  if (reaches_any) wake_();
}

}  // namespace mneme
