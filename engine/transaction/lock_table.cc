#include "engine/transaction/lock_table.h"

#include "base/check.h"
#include "base/lock_wait_mark.h"
#include "base/spin.h"

namespace mneme {

namespace {

bool rules_out(LockMode one, LockMode other) {
  if (one == LockMode::kNone || other == LockMode::kNone) return false;
  return one == LockMode::kExclusive || other == LockMode::kExclusive;
}

}  // namespace

class alignas(kCacheLineBytes) LockTable::Bucket {
 public:
  void latch() {
    for (uint32_t tries = 0; latched_.exchange(true, std::memory_order_acquire);) {
      // Looks without writing, so that waiters don't pull the line from each other.
      while (latched_.load(std::memory_order_relaxed)) spin_pause(tries++);
    }
  }
  void unlatch() { latched_.store(false, std::memory_order_release); }

  // The rest under the latch.
  void link(RowLock& lock) {
    lock.next = first_;
    first_ = &lock;
  }
  void unlink(const RowLock& lock) {
    RowLock** at = &first_;
    while (*at != &lock) at = &(*at)->next;
    *at = lock.next;
  }

  // Decides whether `asker` gets the lock, waits for it, or dies.
  Verdict judge(const RowLock& asker) const {
    Verdict verdict = Verdict::kGrant;
    for (const RowLock* other = first_; other != nullptr; other = other->next) {
      if (other->row != asker.row || other == &asker) continue;
      const bool is_older = other->age < asker.age;
      if (is_older && (rules_out(other->mode, asker.wanted) || rules_out(other->wanted, asker.wanted))) {
        return Verdict::kDie;
      }
      if (rules_out(other->mode, asker.wanted)) verdict = Verdict::kWait;
    }
    return verdict;
  }

  // `changed` has just been granted or given up: the waiters that it rules out look again.
  void wake_ruled_out(const RowLock& changed) const {
    for (const RowLock* other = first_; other != nullptr; other = other->next) {
      if (other->row == changed.row && rules_out(changed.mode, other->wanted)) other->waiter->wake();
    }
  }

 private:
  // Exchanged by the worker that takes the latch (acquire), stored by the worker that releases it (release):
  // the list is its holder's.
  std::atomic<bool> latched_{false};
  RowLock* first_ = nullptr;
};

LockTable::LockTable() : buckets_(std::make_unique<Bucket[]>(kBuckets)) {
  static_assert(sizeof(Bucket) == kCacheLineBytes);
}

LockTable::~LockTable() = default;

LockTable::Bucket& LockTable::bucket_of(const Row* row) const {
  // Rows lie on words.
  const uint64_t hash = (reinterpret_cast<uint64_t>(row) >> 3) * 0x9e3779b97f4a7c15u;
  return buckets_[(hash >> 40) % kBuckets];
}

bool LockTable::acquire(RowLock& lock, LockMode mode) {
  DCHECK(mode > lock.mode);
  Bucket& bucket = bucket_of(lock.row);
  bucket.latch();
  if (lock.mode == LockMode::kNone) bucket.link(lock);
  lock.wanted = mode;
  Verdict verdict;
  while ((verdict = bucket.judge(lock)) == Verdict::kWait) {
    const uint32_t wakes = lock.waiter->wakes();
    bucket.unlatch();
    {
      const LockWaitMark::Waiting waiting;
      lock.waiter->sleep(wakes);
    }
    bucket.latch();
  }
  lock.wanted = LockMode::kNone;
  if (verdict == Verdict::kGrant) {
    lock.mode = mode;
    // Younger ones that wait would now wait for an older one.
    bucket.wake_ruled_out(lock);
  } else if (lock.mode == LockMode::kNone) {
    bucket.unlink(lock);
  }
  bucket.unlatch();
  return verdict == Verdict::kGrant;
}

bool LockTable::try_acquire(RowLock& lock, LockMode mode) {
  DCHECK(mode > lock.mode);
  Bucket& bucket = bucket_of(lock.row);
  bucket.latch();
  if (lock.mode == LockMode::kNone) bucket.link(lock);
  lock.wanted = mode;
  const bool is_free = bucket.judge(lock) == Verdict::kGrant;
  lock.wanted = LockMode::kNone;
  if (is_free) {
    lock.mode = mode;
    bucket.wake_ruled_out(lock);
  } else if (lock.mode == LockMode::kNone) {
    bucket.unlink(lock);
  }
  bucket.unlatch();
  return is_free;
}

void LockTable::release(RowLock& lock) {
  Bucket& bucket = bucket_of(lock.row);
  bucket.latch();
  bucket.unlink(lock);
  bucket.wake_ruled_out(lock);
  lock.mode = LockMode::kNone;
  bucket.unlatch();
}

}  // namespace mneme
