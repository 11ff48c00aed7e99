// Wrong: the queue is full with one entry less than it has room for.
// Must fail: Rule: full() says that no more has room
// Acknowledgement queue: a worker's transactions that are committed in memory and wait to be durable (flush
// pipelining), so that the worker runs the next one instead of waiting for the device.
//
// Flow        push() after commit -> ... -> poll(log.durable()) releases the transactions that may be
//             acknowledged to the client
// Invariants  entries leave in the order they came; one leaves only when its own LSN and those of all before
//             it are below the durable LSN. A transaction that wrote nothing waits for the highest LSN that
//             it read, so LSNs in the queue need not rise: such an entry may wait a little longer than it
//             must, never shorter.
// Threads     one worker owns a queue.
// Waiting     none. A full queue refuses push(): the caller waits on CommitLog::wait_durable(front().lsn) and
//             polls.
// Source      Aether, section 4 (flush pipelining); acknowledging read-only work late: architecture, decision
//             3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/function_ref.h"
#include "logging/record/lsn.h"

namespace mneme {

class AckQueue {
 public:
  struct Entry {
    Lsn lsn;            // acknowledged once this is below the durable LSN
    uint64_t begin_ns;  // when the transaction began (base/clock.h)
    uint64_t tag;       // the caller's: which transaction this is
  };

  // Room for `capacity` entries, rounded up to a power of two.
  explicit AckQueue(size_t capacity) {
    size_t slots = 1;
    while (slots < capacity) slots *= 2;
    entries_.resize(slots);
  }

  bool empty() const { return head_ == tail_; }
  bool full() const { return tail_ - head_ + 1 >= entries_.size(); }
  size_t size() const { return tail_ - head_; }
  // The entry that leaves next.
  const Entry& front() const {
    CHECK(!empty());
    return entries_[head_ & (entries_.size() - 1)];
  }

  void push(const Entry& entry) {
    CHECK(!full());
    entries_[tail_++ & (entries_.size() - 1)] = entry;
  }

  // Releases every entry that may be acknowledged at this durable LSN, in order. Returns how many.
  size_t poll(Lsn durable, FunctionRef<void(const Entry&)> acknowledge) {
    size_t released = 0;
    while (!empty() && front().lsn < durable) {
      acknowledge(front());
      ++head_;
      ++released;
    }
    return released;
  }

 private:
  std::vector<Entry> entries_;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
};

}  // namespace mneme
