// NodeLock: the first word of an index node: its version, and the lock of the thread that changes it.
//
// Version     bit 0 locked, from kChange on a count of changes; bits between are the node's own. Never falls,
//             not even when the block is recycled (node_pool.h).
// Orders      all loads acquire, all stores release. A reader that has loaded a word written under a lock
//             sees the lock, or what came after it, when it then loads the version again: no fences (Leis et
//             al., "The ART of Practical Synchronization", 2016, section 3, with fences replaced).
// Waiting     unlocked_version(): for the lock's owner, which holds it for one change.
#pragma once

#include <cstdint>

#include "base/spin.h"
#include "engine/index/node_pool.h"

namespace mneme {

template <uint64_t kChangeStep>
class NodeLock {
 public:
  static constexpr uint64_t kLocked = 1;
  static constexpr uint64_t kChange = kChangeStep;

  NodeLock() = default;
  explicit NodeLock(NodeWord* block) : block_(block) {}
  bool operator==(const NodeLock&) const = default;
  explicit operator bool() const { return block_ != nullptr; }
  NodeWord* block() const { return block_; }

  uint64_t version() const { return block_[0].load(std::memory_order_acquire); }
  uint64_t unlocked_version() const {
    uint64_t v = version();
    for (uint32_t tries = 0; (v & kLocked) != 0; ++tries) {
      spin_pause(tries);
      v = version();
    }
    return v;
  }
  bool try_lock(uint64_t version) const {
    return block_[0].compare_exchange_strong(version, version | kLocked, std::memory_order_acquire,
                                             std::memory_order_relaxed);
  }
  void unlock_unchanged(uint64_t version) const { block_[0].store(version, std::memory_order_release); }
  uint64_t unlock_changed(uint64_t version) const {
    block_[0].store(version + kChange, std::memory_order_release);
    return version + kChange;
  }

 protected:
  NodeWord* block_ = nullptr;
};

}  // namespace mneme
