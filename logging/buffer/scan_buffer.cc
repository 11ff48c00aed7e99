#include "logging/buffer/scan_buffer.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace mneme {

ScanBuffer::ScanBuffer(const LogBufferOptions& options)
    : LogBuffer(options),
      step_bits_(options.tuning.scan_bits),
      tail_(options.begin.value),
      words_(std::make_unique<Atomic<uint64_t>[]>(options.ring_bytes / 64)),
      prefix_(options.begin.value) {
  CHECK(step_bits_ == 1 || step_bits_ == 64);
}

StreamPosition ScanBuffer::reserve(WorkerId, size_t bytes) {
  return StreamPosition{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
}

// `bits` bits of a word, the first of them that of `position`.
uint64_t ScanBuffer::mask_of(uint64_t position, uint64_t bits) {
  DCHECK(position % 64 + bits <= 64);
  return (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1) << position % 64;
}

void ScanBuffer::publish(WorkerId, StreamPosition position, size_t bytes) {
  for (uint64_t end = position.value + bytes; end > position.value;) {
    const uint64_t begin = std::max(position.value, (end - 1) / step_bits_ * step_bits_);
    const uint64_t mask = mask_of(begin, end - begin);
    const uint64_t before = word_of(begin).fetch_or(mask, std::memory_order_release);
    DCHECK((before & mask) == 0);
    end = begin;
  }
}

// How many bits are set from that of `position` on, within a step.
uint64_t ScanBuffer::bits_set_from(uint64_t position) const {
  const uint64_t ahead = word_of(position).load(std::memory_order_acquire) >> position % 64;
  return std::min<uint64_t>(static_cast<uint64_t>(std::countr_one(ahead)), step_bits_);
}

StreamPosition ScanBuffer::contiguous_prefix() {
  // It ends where nothing is published; at the latest a ring further on, since the caller alone releases.
  while (const uint64_t set = bits_set_from(*prefix_)) {
    word_of(*prefix_).fetch_and(~mask_of(*prefix_, set), std::memory_order_relaxed);
    *prefix_ += set;
  }
  return StreamPosition{*prefix_};
}

bool ScanBuffer::quiescent(StreamPosition upto) {
  return tail_->fetch_add(0, std::memory_order_acq_rel) == upto.value;
}

std::unique_ptr<LogBuffer> make_scan_buffer(const LogBufferOptions& options) {
  return std::make_unique<ScanBuffer>(options);
}

}  // namespace mneme
