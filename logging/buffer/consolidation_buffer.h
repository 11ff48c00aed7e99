// The consolidation buffer (C): groups instead of single workers compete for the lock, which is held over the
// fill.
//
// Flow        reserve: as GroupedBuffer.  publish: the last of the group raises the prefix and gives up the
//                                         lock.
// Invariants  at most one group has records reserved and unpublished; its members fill side by side.
// Waiting     reserve() waits while another group has records reserved and unpublished. A stopped worker
//             stops all.
// Source      Aether, section 5.1 and appendix A.2, Algorithm 2.
#pragma once

#include "logging/buffer/grouped_buffer.h"

namespace mneme {

class ConsolidationBuffer : public GroupedBuffer {
 public:
  using GroupedBuffer::GroupedBuffer;

 protected:
  void drawn(Region&) override {}  // the lock is held until the region is released
  void release_region(WorkerId, const Region& region) override {
    raise_prefix(region.begin, region.bytes);
    lock_->unlock();
  }
};

}  // namespace mneme
