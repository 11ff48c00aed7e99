#include "engine/transaction/schema_latch.h"

#include <algorithm>
#include <thread>

#include "base/check.h"

namespace mneme {

namespace {

// A transaction takes microseconds; a block whose user thinks takes longer than any interval.
constexpr std::chrono::microseconds kInsidePollInterval{50};

// Stands in the slot of a transaction that rests.
constexpr uint32_t kNoThread = UINT32_MAX;

// Never 0, and never that of another thread, be it one that has ended.
uint32_t this_thread() {
  static std::atomic<uint32_t> last{0};  // relaxed: a number of its own is all that it gives
  static thread_local const uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace

// Relaxed: it looks for what this thread has stored, or another that handed a session over to it in between.
bool SchemaLatch::is_inside() const {
  const uint32_t thread = this_thread();
  return std::ranges::any_of(inside_, [thread](const CachePadded<std::atomic<uint32_t>>& inside) {
    return inside->load(std::memory_order_relaxed) == thread;
  });
}

void SchemaLatch::go_on(WorkerId slot) {
  DCHECK(inside_[slot.value]->load(std::memory_order_relaxed) != 0);
  inside_[slot.value]->store(this_thread(), std::memory_order_relaxed);
}

bool SchemaLatch::try_enter(WorkerId slot) {
  std::atomic<uint32_t>& inside = *inside_[slot.value];
  const uint32_t before = inside.exchange(this_thread(), std::memory_order_acq_rel);
  DCHECK(before == 0);
  if (!is_closed_.load(std::memory_order_acquire)) return true;
  inside.store(0, std::memory_order_release);
  has_refused_.store(true, std::memory_order_relaxed);
  return false;
}

void SchemaLatch::rest(WorkerId slot) {
  DCHECK(inside_[slot.value]->load(std::memory_order_relaxed) != 0);
  inside_[slot.value]->store(kNoThread, std::memory_order_relaxed);
}

SchemaLatch::Entered SchemaLatch::enter(WorkerId slot) {
  for (;;) {
    if (try_enter(slot)) return Entered::kInside;
    if (is_inside()) return Entered::kOwnBlock;
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return !is_closed_.load(std::memory_order_acquire); });
  }
}

void SchemaLatch::leave(WorkerId slot) {
  DCHECK(inside_[slot.value]->load(std::memory_order_relaxed) != 0);
  inside_[slot.value]->store(0, std::memory_order_release);
}

void SchemaLatch::set_closed(bool closed) {
  const std::lock_guard lock(mutex_);
  is_closed_.store(closed, std::memory_order_release);
  if (!closed) opened_.notify_all();
}

SchemaLatch::Change::Stopped SchemaLatch::Change::stop(std::optional<std::chrono::milliseconds> longest,
                                                       uint32_t slots) {
  const auto begin = std::chrono::steady_clock::now();
  const uint32_t thread = this_thread();
  latch_.set_closed(true);
  for (uint32_t slot = 0; slot < slots; ++slot) {
    for (;;) {
      const uint32_t inside = latch_.inside_[slot]->fetch_or(0, std::memory_order_acq_rel);
      if (inside == 0) break;
      if (inside == thread) return Stopped::kOwnBlock;
      if (slot < latch_.workers_ && longest && std::chrono::steady_clock::now() - begin >= *longest)
        return Stopped::kTimedOut;
      std::this_thread::sleep_for(kInsidePollInterval);
    }
  }
  return Stopped::kStopped;
}

SchemaLatch::Change::~Change() {
  latch_.set_closed(false);
}

}  // namespace mneme
