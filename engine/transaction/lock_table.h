// LockTable: shared and exclusive locks on rows, for two-phase locking. Wait-die: no transaction deadlocks,
// none starves.
//
// Flow        acquire(), as often as a transaction meets a row -> release() of all of them once it has ended
//             (row_locks.h)
// Rule        A transaction that asks for a lock that a holder rules out waits if it is older than every
//             such holder; else it dies: the call says no, the transaction is undone, releases what it holds
//             and is run again, as old as it was. It also dies where an older one waits for a lock that rules
//             out its own.
// Deadlock    A waiter is older than every transaction that it waits for. That stays so: a lock that is
//             granted while others wait for the row, to one older than they, makes them look again, and then
//             they die. No transaction waits for a waiter as such. So waits-for goes from older to younger
//             only, and has no cycle.
// Starvation  An age is kept until the transaction has committed, and a waiter lets no younger one pass whose
//             lock rules out its own. So the oldest of all never dies, and gets every lock when its
//             holders have ended. What locks do not order, rows put where another has searched an index, is
//             left to pauses (conflict_pause.h).
// Layout      Buckets by row address, one cache line each: a latch, and a list of the locks that are held or
//             waited for. The entries lie in their owners' memory. Not in row headers: a word there would
//             cost each row of the optimistic default 8 bytes, and holders' ages need more than a word. Not
//             in the row word either, where readers would write a cache line that optimistic readers share.
// Threads     any; a RowLock belongs to one thread, which alone may call for it.
// Waiting     for latches, a few instructions long; in acquire(), asleep, until those in the way have ended.
// Source      Rosenkrantz, Stearns, Lewis, "System Level Concurrency Control for Distributed Database
//             Systems" (TODS 1978).
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>

#include "base/cache_line.h"
#include "base/strong_id.h"
#include "engine/index/row.h"

namespace mneme {

enum class LockMode : uint8_t { kNone, kShared, kExclusive };

// When a transaction began, over all its attempts: the lesser is the older. No two running ones have the
// same.
struct TransactionAge {
  uint64_t begin_ns = 0;
  WorkerId worker;

  auto operator<=>(const TransactionAge&) const = default;
};

// Where a worker sleeps until a lock that it waits for may have become free.
class LockWaiter {
 public:
  uint32_t wakes() const { return wakes_->load(std::memory_order_acquire); }
  // Returns once wake() was called since wakes() was `seen`.
  void sleep(uint32_t seen) const { wakes_->wait(seen, std::memory_order_acquire); }
  void wake() {
    wakes_->fetch_add(1, std::memory_order_release);
    wakes_->notify_one();
  }

 private:
  // Raised by the worker that changes a row's locks, under the bucket's latch (release), and read by the one
  // worker that sleeps here (acquire). The latch orders the locks themselves; a wake too many only makes it
  // look once more.
  CachePadded<std::atomic<uint32_t>> wakes_{0u};
};

// One transaction's lock on one row. `mode` and `wanted` are the table's, under the row's latch.
struct RowLock {
  const Row* row;
  TransactionAge age;
  LockWaiter* waiter;
  LockMode mode = LockMode::kNone;
  LockMode wanted = LockMode::kNone;  // what its owner waits for
  RowLock* next = nullptr;
};

class LockTable {
 public:
  LockTable();
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  // Takes the lock, or makes the one that is held exclusive. False: its owner must die; the lock is what it
  // was. `lock` stays where it is until it is released.
  bool acquire(RowLock& lock, LockMode mode);
  // The same for an owner that neither waits nor dies: false where another lock, or one that is waited for,
  // is in the way.
  bool try_acquire(RowLock& lock, LockMode mode);
  void release(RowLock& lock);

 private:
  static constexpr size_t kBuckets = size_t{1} << 14;

  class Bucket;
  enum class Verdict : uint8_t { kGrant, kWait, kDie };

  Bucket& bucket_of(const Row* row) const;

  const std::unique_ptr<Bucket[]> buckets_;
};

}  // namespace mneme
