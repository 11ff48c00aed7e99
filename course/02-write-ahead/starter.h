// Your part of chapter 2: the queue of a worker's transactions that are committed in memory and wait to be
// durable.
//
// Flow        push() after commit -> ... -> poll(log.durable()) calls `acknowledge` for the transactions that
//             may be acknowledged to the client
// Invariants  entries leave in the order they came; one leaves only when its own LSN and those of all before
//             it are below the durable LSN. A transaction that wrote nothing waits for the highest LSN that
//             it read, so LSNs in the queue need not rise.
// Threads     one worker owns a queue.
//
// This starter acknowledges all that is in the queue whenever it is polled, durable or not, as a database
// with asynchronous commit does. It also takes memory for each entry, and has no bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

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
  explicit AckQueue(size_t /*capacity*/) {}

  bool empty() const { return entries_.empty(); }
  bool full() const { return false; }
  size_t size() const { return entries_.size(); }
  // The entry that leaves next.
  const Entry& front() const {
    CHECK(!empty());
    return entries_.front();
  }

  // The queue is not full. Takes no memory: a worker comes by here with every transaction.
  void push(const Entry& entry) { entries_.push_back(entry); }

  // Releases every entry that may be acknowledged at this durable LSN, in order. Returns how many.
  size_t poll(Lsn /*durable*/, FunctionRef<void(const Entry&)> acknowledge) {
    size_t released = 0;
    while (!empty()) {
      acknowledge(front());
      entries_.pop_front();
      ++released;
    }
    return released;
  }

 private:
  std::deque<Entry> entries_;
};

}  // namespace mneme
