#include "logging/buffer/consolidation_array.h"

#include "base/check.h"
#include "base/spin.h"

namespace mneme {

ConsolidationArray::ConsolidationArray(uint32_t slots, uint32_t workers)
    : slots_(slots),
      pool_size_(slots + workers),
      pool_(std::make_unique<CachePadded<Slot>[]>(pool_size_)),
      array_(std::make_unique<CachePadded<Atomic<Slot*>>[]>(slots)) {
  CHECK(slots_ > 0);
  for (uint32_t index = 0; index < slots_; ++index) {
    Slot& slot = take_free();
    slot.index_ = index;
    slot.state_.store(kReady, std::memory_order_relaxed);
    array_[index]->store(&slot, std::memory_order_relaxed);
  }
}

ConsolidationArray::Place ConsolidationArray::join(uint64_t random, size_t bytes) {
  DCHECK(bytes > 0);
  for (uint32_t tries = 0;; ++tries) {
    Slot& slot = *array_[(random + tries) % slots_]->load(std::memory_order_relaxed);
    int64_t before = slot.state_.load(std::memory_order_relaxed);
    while (before >= kReady) {
      if (slot.state_.compare_exchange_weak(before, before + static_cast<int64_t>(bytes),
                                            std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return {&slot, static_cast<uint64_t>(before - kReady)};
      }
    }
    spin_pause(tries);
  }
}

ConsolidationArray::Slot& ConsolidationArray::take_free() {
  for (uint32_t tries = 0;; ++tries) {
    Slot& slot = *pool_[next_in_pool_];
    next_in_pool_ = (next_in_pool_ + 1) % pool_size_;
    // Acquire: the last member to leave has read the region, and it may be written anew.
    if (slot.state_.load(std::memory_order_acquire) == kFree) return slot;
    DCHECK(tries <= pool_size_);
  }
}

uint64_t ConsolidationArray::close(Slot& slot) {
  Slot& fresh = take_free();
  fresh.index_ = slot.index_;
  fresh.state_.store(kReady, std::memory_order_release);
  array_[slot.index_]->store(&fresh, std::memory_order_relaxed);
  const int64_t before = slot.state_.exchange(kPending, std::memory_order_acq_rel);
  DCHECK(before > kReady);
  return static_cast<uint64_t>(before - kReady);
}

void ConsolidationArray::notify(Slot& slot, const Region& region) {
  slot.region_ = region;
  slot.state_.store(kDone - static_cast<int64_t>(region.bytes), std::memory_order_release);
}

ConsolidationArray::Region ConsolidationArray::await(const Slot& slot) const {
  // Above kDone it is open or pending; the group cannot be done while the caller has not left.
  for (uint32_t tries = 0; slot.state_.load(std::memory_order_acquire) > kDone; ++tries) spin_pause(tries);
  return slot.region_;
}

bool ConsolidationArray::leave(Slot& slot, size_t bytes) {
  const int64_t before = slot.state_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_acq_rel);
  DCHECK(before < kDone);
  DCHECK(before + static_cast<int64_t>(bytes) <= kDone);
  return before + static_cast<int64_t>(bytes) == kDone;
}

void ConsolidationArray::free(Slot& slot) {
  DCHECK(slot.state_.load(std::memory_order_relaxed) == kDone);
  slot.state_.store(kFree, std::memory_order_release);
}

}  // namespace mneme
