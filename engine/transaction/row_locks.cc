#include "engine/transaction/row_locks.h"

#include <new>

#include "base/clock.h"
#include "base/lock_wait_mark.h"

namespace mneme {

void RowLocks::begin() {
  DCHECK(locks_.empty());
  age_ = {monotonic_ns(), worker_};
}

bool RowLocks::lock(const Row& row, LockMode mode, CommitLog& log, bool waits) {
  const auto acquire = [&](RowLock& asked) {
    return waits ? table_.acquire(asked, mode) : table_.try_acquire(asked, mode);
  };
  const uint32_t index = lock_of_row_.find(&row);
  RowLock* lock = nullptr;
  if (index != PointerMap::kNone) {
    lock = locks_[index];
    // A row that we hold has not been written since.
    if (lock->mode >= mode) return true;
    return acquire(*lock);
  }
  lock = new (arena_.allocate(sizeof(RowLock))) RowLock{&row, age_, &waiter_};
  // A lock that is held is noted, whether there is memory for that or not.
  lock_of_row_.make_room();
  if (locks_.size() == locks_.capacity()) locks_.reserve(2 * locks_.size() + 16);
  if (!acquire(*lock)) return false;
  lock_of_row_.insert(&row, static_cast<uint32_t>(locks_.size()));
  locks_.push_back(lock);
  // If the log has failed nothing becomes durable: the commit reports it.
  if (!early_release_ && !(row.word().lsn() < log.durable())) {
    const LockWaitMark::Waiting waiting;
    (void)log.wait_durable(row.word().lsn());
  }
  return true;
}

void RowLocks::release_all() {
  for (RowLock* lock : locks_) table_.release(*lock);
  locks_.clear();
  lock_of_row_.clear();
  arena_.reset();
}

}  // namespace mneme
