// The hybrid buffer (CD): groups compete for the lock, and hold it for the reservation alone.
//
// Flow        reserve: as GroupedBuffer.
//             publish: the last of the group waits for all earlier regions, and raises the prefix.
// Waiting     publish() of a group's last member waits until every region before its own is published.
// Source      Aether, section 5.3.
#pragma once

#include "logging/buffer/grouped_buffer.h"

namespace mneme {

class HybridBuffer : public GroupedBuffer {
 public:
  using GroupedBuffer::GroupedBuffer;

 protected:
  void drawn(Region&) override { lock_->unlock(); }
  void release_region(WorkerId, const Region& region) override {
    await_turn(region.begin);
    raise_prefix(region.begin, region.bytes);
  }
};

}  // namespace mneme
