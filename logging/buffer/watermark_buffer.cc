#include "logging/buffer/watermark_buffer.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

WatermarkBuffer::WatermarkBuffer(const LogBufferOptions& options)
    : LogBuffer(options),
      tail_(options.begin.value),
      bounds_(std::make_unique<CachePadded<Atomic<uint64_t>>[]>(options.workers)),
      prefix_(options.begin.value) {
  for (uint32_t worker = 0; worker < workers_; ++worker) {
    bounds_[worker]->store(kNoBound, std::memory_order_relaxed);
  }
}

Lsn WatermarkBuffer::reserve(WorkerId worker, size_t bytes) {
  DCHECK(worker.value < workers_);
  Atomic<uint64_t>& bound = *bounds_[worker.value];
  DCHECK(bound.load(std::memory_order_relaxed) == kNoBound);
  // Relaxed: an old value is a lower bound too, since the tail only rises.
  bound.store(tail_->load(std::memory_order_relaxed), std::memory_order_release);
  return Lsn{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
}

void WatermarkBuffer::publish(WorkerId worker, Lsn, size_t) {
  DCHECK(bounds_[worker.value]->load(std::memory_order_relaxed) != kNoBound);
  bounds_[worker.value]->store(kNoBound, std::memory_order_release);
}

Lsn WatermarkBuffer::contiguous_prefix() {
  uint64_t lowest = tail_->load(std::memory_order_acquire);
  for (uint32_t worker = 0; worker < workers_; ++worker) {
    lowest = std::min(lowest, bounds_[worker]->load(std::memory_order_acquire));
  }
  *prefix_ = std::max(*prefix_, lowest);
  return Lsn{*prefix_};
}

bool WatermarkBuffer::quiescent(Lsn upto) {
  // Adding nothing, but as a read-modify-write: every reserve() comes before it and is seen, or after it and
  // sees.
  return tail_->fetch_add(0, std::memory_order_acq_rel) == upto.value;
}

}  // namespace mneme
