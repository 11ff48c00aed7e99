// Your part of chapter 5: how workers reserve places in the log, and how the flusher finds out up to where
// there is no hole. Read logging/buffer/watermark_buffer.h and bound_set.h first.
//
// This starter has no bounds. A worker draws a place, and the flusher takes all that was drawn, written or
// not.
#include <algorithm>

#include "base/check.h"
#include "logging/buffer/watermark_buffer.h"

namespace mneme {

WatermarkBuffer::WatermarkBuffer(const LogBufferOptions& options)
    : LogBuffer(options),
      tail_(options.begin.value),
      bounds_(options.workers),
      prefix_(options.begin.value) {}

// Draws the next `bytes` bytes: the position of the worker's record.
StreamPosition WatermarkBuffer::reserve(WorkerId worker, size_t bytes) {
  (void)worker;
  return StreamPosition{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
}

// The worker's record is written.
void WatermarkBuffer::publish(WorkerId worker, StreamPosition, size_t) {
  (void)worker;
}

// The flusher's: everything below is written.
StreamPosition WatermarkBuffer::contiguous_prefix() {
  return StreamPosition{tail_->load(std::memory_order_acquire)};
}

// Whether nothing is reserved at or past `upto`. This one is the engine's own: it adds nothing, but as a
// read-modify-write. So each reserve() comes before it and is seen, or after it and sees what the flusher
// wrote before.
bool WatermarkBuffer::quiescent(StreamPosition upto) {
  return tail_->fetch_add(0, std::memory_order_acq_rel) == upto.value;
}

std::unique_ptr<LogBuffer> make_watermark_buffer(const LogBufferOptions& options) {
  return std::make_unique<WatermarkBuffer>(options);
}

}  // namespace mneme
