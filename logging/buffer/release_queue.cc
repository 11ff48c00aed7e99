#include "logging/buffer/release_queue.h"

#include "base/check.h"
#include "base/spin.h"

namespace mneme {

ReleaseQueue::ReleaseQueue(uint32_t nodes)
    : size_(nodes), nodes_(std::make_unique<CachePadded<Node>[]>(nodes)) {
  CHECK(size_ >= 2);  // a node and its successor
  node(0).status.store(Status::kTurn, std::memory_order_relaxed);
}

uint64_t ReleaseQueue::join(StreamPosition begin, uint64_t bytes) {
  const uint64_t ticket = joined_++;
  // Waits for room. One node stays free, because the turn may wait in the node behind the last region's.
  for (uint32_t tries = 0; ticket + 1 - left_->load(std::memory_order_acquire) >= size_; ++tries)
    spin_pause(tries);
  Node& joining = node(ticket);
  joining.begin = begin;
  joining.bytes = bytes;
  Status expected = Status::kFree;
  const bool waits = joining.status.compare_exchange_strong(
      expected, Status::kWaiting, std::memory_order_acq_rel, std::memory_order_acquire);
  DCHECK(waits || expected == Status::kTurn);
  return ticket;
}

bool ReleaseQueue::delegate(uint64_t ticket, bool stay) {
  Node& mine = node(ticket);
  Status status = mine.status.load(std::memory_order_acquire);
  if (status == Status::kWaiting && !stay &&
      mine.status.compare_exchange_strong(status, Status::kDelegated, std::memory_order_acq_rel,
                                          std::memory_order_acquire)) {
    return true;
  }
  for (uint32_t tries = 0; status != Status::kTurn; ++tries) {
    DCHECK(status == Status::kWaiting);
    spin_pause(tries);
    status = mine.status.load(std::memory_order_acquire);
  }
  return false;
}

bool ReleaseQueue::handoff(uint64_t ticket) {
  node(ticket).status.store(Status::kFree, std::memory_order_relaxed);
  left_->store(ticket + 1, std::memory_order_release);
  const Status before = node(ticket + 1).status.exchange(Status::kTurn, std::memory_order_acq_rel);
  DCHECK(before != Status::kTurn);
  return before == Status::kDelegated;
}

}  // namespace mneme
