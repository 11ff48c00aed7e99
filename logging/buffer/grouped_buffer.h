// GroupedBuffer: a buffer whose workers reserve as groups where they meet at the tail's lock.
//
// Flow        reserve: take the lock if it is free, and draw; else join a group, whose leader draws for all.
//             publish: the last of a group to finish releases the group's region; a worker that reserved
//             alone releases its own.
// Invariants  a region, one record or a group's, is drawn once, under the lock, and released once, when all
//             of it is written.
// Threads     as LogBuffer says.
// Waiting     reserve() waits for the lock, or for the group's leader, which waits for the lock.
// Order       consolidation_array.h. A worker that draws alone does so under the same lock.
// Source      Aether, appendix A.2, Algorithm 2.
#pragma once

#include <memory>
#include <vector>

#include "base/cache_line.h"
#include "logging/buffer/consolidation_array.h"
#include "logging/buffer/locked_tail_buffer.h"

namespace mneme {

class GroupedBuffer : public LockedTailBuffer {
 public:
  // `arrays`: how many consolidation arrays, each with `options.tuning.slots` slots.
  explicit GroupedBuffer(const LogBufferOptions& options, uint32_t arrays = 1);

  StreamPosition reserve(WorkerId worker, size_t bytes) override;
  void publish(WorkerId worker, StreamPosition position, size_t bytes) override;

 protected:
  using Region = ConsolidationArray::Region;

  // The region is drawn, and its drawer holds the lock: where is it given up? May set the region's ticket.
  virtual void drawn(Region& region) = 0;
  // All of the region is written: raises the prefix when it is its turn.
  virtual void release_region(WorkerId worker, const Region& region) = 0;
  // In which array the worker looks for others.
  virtual uint32_t array_of(WorkerId) { return 0; }

  // A number of the worker's own that changes with each call.
  uint64_t random(WorkerId worker);

 private:
  // A worker's own, between its reserve() and its publish().
  struct Member {
    ConsolidationArray* array = nullptr;  // null: it drew alone
    ConsolidationArray::Slot* slot = nullptr;
    Region alone;
    uint64_t random = 0;
  };

  std::vector<std::unique_ptr<ConsolidationArray>> arrays_;
  const std::unique_ptr<CachePadded<Member>[]> members_;
};

}  // namespace mneme
