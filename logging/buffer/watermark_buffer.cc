#include "logging/buffer/watermark_buffer.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

WatermarkBuffer::WatermarkBuffer(const LogBufferOptions& options)
    : LogBuffer(options),
      tail_(options.begin.value),
      bounds_(options.workers),
      prefix_(options.begin.value) {}

StreamPosition WatermarkBuffer::reserve(WorkerId worker, size_t bytes) {
  DCHECK(worker.value < workers_);
  DCHECK(bounds_.is_clear(worker.value));
  bounds_.publish(worker.value, tail_->load(std::memory_order_relaxed));
  return StreamPosition{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
}

void WatermarkBuffer::publish(WorkerId worker, StreamPosition, size_t) {
  DCHECK(!bounds_.is_clear(worker.value));
  bounds_.clear(worker.value);
}

StreamPosition WatermarkBuffer::contiguous_prefix() {
  *prefix_ = std::max(*prefix_, bounds_.lowest(tail_->load(std::memory_order_acquire)));
  return StreamPosition{*prefix_};
}

bool WatermarkBuffer::quiescent(StreamPosition upto) {
  // Adding nothing, but as a read-modify-write: every reserve() comes before it and is seen, or after it and
  // sees.
  return tail_->fetch_add(0, std::memory_order_acq_rel) == upto.value;
}

std::unique_ptr<LogBuffer> make_watermark_buffer(const LogBufferOptions& options) {
  return std::make_unique<WatermarkBuffer>(options);
}

}  // namespace mneme
