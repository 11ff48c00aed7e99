#include "logging/buffer/log_buffer.h"

#include "base/check.h"

namespace mneme {

LogBuffer::LogBuffer(const LogBufferOptions& options)
    : workers_(options.workers),
      headroom_bytes_(options.workers * options.largest_record_bytes),
      ring_(options.ring_memory == nullptr ? LogRing(options.ring_bytes)
                                           : LogRing(options.ring_bytes, options.ring_memory)),
      released_(options.begin.value) {
  CHECK(workers_ > 0);
  CHECK(2 * headroom_bytes_ <= options.ring_bytes);
}

bool LogBuffer::has_room(WorkerId) const {
  return reserved().value + headroom_bytes_ <= released().value + ring_.capacity();
}

bool LogBuffer::await_space(WorkerId worker) {
  if (!has_room(worker)) [[unlikely]]
    space_.await([&] { return has_room(worker) || closed_.load(std::memory_order_acquire); });
  return !closed_.load(std::memory_order_acquire);
}

void LogBuffer::write(WorkerId, StreamPosition at, ByteSpan bytes) {
  ring_.write(at, bytes);
}

void LogBuffer::write_record(WorkerId worker, StreamPosition at, ByteSpan header, ByteSpan payload) {
  write(worker, at, header);
  write(worker, at + header.size(), payload);
}

void LogBuffer::read(StreamPosition at, std::span<std::byte> into) const {
  ring_.read(at, into);
}

void LogBuffer::release(StreamPosition upto) {
  DCHECK(upto >= released());
  DCHECK(upto <= contiguous_prefix());
  released_->store(upto.value, std::memory_order_release);
  space_.notify_all();
}

void LogBuffer::close() {
  closed_.store(true, std::memory_order_release);
  space_.notify_all();
}

}  // namespace mneme
