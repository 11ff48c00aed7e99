#include "tests/adding_one/ticket_buffer.h"

#include <memory>

#include "base/spin.h"

namespace mneme {

TicketBuffer::TicketBuffer(const LogBufferOptions& options)
    : LogBuffer(options), tail_(options.begin.value), prefix_(options.begin.value) {}

StreamPosition TicketBuffer::reserve(WorkerId, size_t bytes) {
  const uint64_t ticket = next_->fetch_add(1, std::memory_order_acq_rel);
  for (uint32_t tries = 0; served_->load(std::memory_order_acquire) != ticket; ++tries) spin_pause(tries);
  return StreamPosition{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
}

void TicketBuffer::publish(WorkerId, StreamPosition at, size_t bytes) {
  prefix_->store(at.value + bytes, std::memory_order_release);
  served_->fetch_add(1, std::memory_order_acq_rel);
}

// A worker that comes later draws its LSN behind this read-modify-write, and sees what the flusher did
// before.
bool TicketBuffer::quiescent(StreamPosition upto) {
  return tail_->fetch_add(0, std::memory_order_acq_rel) == upto.value;
}

std::unique_ptr<LogBuffer> make_ticket_buffer(const LogBufferOptions& options) {
  return std::make_unique<TicketBuffer>(options);
}

}  // namespace mneme
