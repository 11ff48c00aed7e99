#include "logging/log_buffer.h"

#include "base/check.h"

namespace mneme {

LogBuffer::LogBuffer(const LogBufferOptions& options)
    : workers_(options.workers),
      headroom_bytes_(options.workers * options.largest_record_bytes),
      ring_(options.ring_bytes),
      released_(options.begin.value) {
  CHECK(workers_ > 0);
  CHECK(2 * headroom_bytes_ <= options.ring_bytes);
}

bool LogBuffer::await_space() {
  const auto has_room = [this] {
    return reserved().value + headroom_bytes_ <=
           released_->load(std::memory_order_acquire) + ring_.capacity();
  };
  if (has_room()) [[likely]]
    return !closed_.load(std::memory_order_acquire);
  space_.await([&] { return has_room() || closed_.load(std::memory_order_acquire); });
  return !closed_.load(std::memory_order_acquire);
}

void LogBuffer::release(Lsn upto) {
  DCHECK(upto.value >= released_->load(std::memory_order_relaxed));
  released_->store(upto.value, std::memory_order_release);
  space_.notify_all();
}

void LogBuffer::close() {
  closed_.store(true, std::memory_order_release);
  space_.notify_all();
}

}  // namespace mneme
