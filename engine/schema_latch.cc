#include "engine/schema_latch.h"

#include <chrono>
#include <thread>

#include "base/check.h"

namespace mneme {

namespace {

// A transaction takes microseconds; a block whose user thinks takes longer than any interval.
constexpr std::chrono::microseconds kInsidePollInterval{50};

}  // namespace

void SchemaLatch::enter(WorkerId slot) {
  std::atomic<uint32_t>& inside = *inside_[slot.value];
  for (;;) {
    const uint32_t before = inside.exchange(1, std::memory_order_acq_rel);
    DCHECK(before == 0);
    if (!is_closed_.load(std::memory_order_acquire)) return;
    inside.store(0, std::memory_order_release);
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return !is_closed_.load(std::memory_order_acquire); });
  }
}

void SchemaLatch::leave(WorkerId slot) {
  DCHECK(inside_[slot.value]->load(std::memory_order_relaxed) == 1);
  inside_[slot.value]->store(0, std::memory_order_release);
}

void SchemaLatch::set_closed(bool closed) {
  const std::lock_guard lock(mutex_);
  is_closed_.store(closed, std::memory_order_release);
  if (!closed) opened_.notify_all();
}

void SchemaLatch::Change::stop() {
  latch_.set_closed(true);
  for (CachePadded<std::atomic<uint32_t>>& inside : latch_.inside_) {
    while (inside->fetch_or(0, std::memory_order_acq_rel) != 0) std::this_thread::sleep_for(kInsidePollInterval);
  }
}

SchemaLatch::Change::~Change() {
  latch_.set_closed(false);
}

}  // namespace mneme
