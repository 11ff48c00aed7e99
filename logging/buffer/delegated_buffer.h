// The delegated buffer (CDE): as the hybrid one, but a worker that has written before its turn leaves the
// release of its region to a predecessor that has not.
//
// Flow        reserve: as GroupedBuffer; the drawn region joins the release queue.
//             publish: delegate the release, or release the region and all delegated ones that follow.
// Waiting     publish() waits for its turn one time in 32, else for no other worker; reserve() waits when
//             thousands of regions wait behind a stopped worker (release_queue.h).
// Source      Aether, section 5.2 and appendix A.6, Algorithm 5.
#pragma once

#include "logging/buffer/grouped_buffer.h"
#include "logging/buffer/release_queue.h"

namespace mneme {

class DelegatedBuffer : public GroupedBuffer {
 public:
  using GroupedBuffer::GroupedBuffer;

 protected:
  void drawn(Region& region) override {
    region.ticket = queue_.join(region.begin, region.bytes);
    lock_->unlock();
  }
  void release_region(WorkerId worker, const Region& region) override {
    uint64_t ticket = region.ticket;
    if (queue_.delegate(ticket, random(worker) % 32 == 0)) return;
    for (bool mine = true; mine; ++ticket) {
      raise_prefix(queue_.begin(ticket), queue_.bytes(ticket));
      mine = queue_.handoff(ticket);
    }
  }

 private:
  ReleaseQueue queue_;
};

}  // namespace mneme
