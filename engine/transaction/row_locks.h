// RowLocks: the locks of one worker's transaction, under two-phase locking.
//
// Flow        begin(), once for all attempts -> lock() before each row is read or changed -> release_all() at
//             the end
// Locked      a row that is read: shared. One that is to be changed, or found in order to be: exclusive, as
//             is one that is inserted, before it stands in any index, and a deleted one whose key is inserted
//             again. What isn't there has no lock: that no row stands where none was found is validated at
//             the commit, by the versions of index nodes, as for optimistic transactions (transaction.h).
//             Key-range locks would make two inserts beside each other, which commute, wait for each other
//             until both are committed. The price is that a scan among inserts may have to be run again
//             however old it is.
// Early lock release
//             With it, all locks go once the transaction's record has its LSN and lies in the log's buffer: a
//             transaction that reads what it wrote gets a later LSN, or none and then waits for the highest
//             that it read, and is acknowledged no earlier (Aether, section 3.1). Without it, what was
//             written stays locked until it is durable. The lock is then the row's own word, which holds its
//             last writer's LSN: while that is not durable the row is locked on that writer's behalf, and
//             lock() waits for the device. So a worker leaves its transactions' locks behind and runs the
//             next ones, no list of them is kept, and they vanish as the durable LSN rises. A waiter for
//             such a lock is in no circle: the writer has ended, and waits for nothing. Shared
//             locks go at once in either case, as in strict two-phase locking: no transaction can conclude
//             anything from them that is not durable.
// Invariants  locks are taken until the LSN is drawn, and none is released before.
// Claims      Optimistic transactions have a RowLocks, too, on a table of its own: for rows that
//             SELECT ... FOR UPDATE and its kind have kept (RowAccess::lock_row). They only tell other such
//             statements which rows to leave out, or that NOWAIT fails. A write asks for none of them, so
//             nothing that is right depends on them: versions decide at the commit, as for all optimistic
//             transactions.
// Threads     the worker's.
// Waiting     lock(): for younger transactions, and for the device without early lock release.
// Source      Johnson et al., "Aether" (VLDB'10), section 3; DeWitt et al., "Implementation Techniques for
//             Main Memory Database Systems" (SIGMOD'84).
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory/arena.h"
#include "engine/transaction/lock_table.h"
#include "engine/transaction/pointer_map.h"
#include "logging/commit/commit_log.h"

namespace mneme {

class RowLocks {
 public:
  RowLocks(LockTable& table, WorkerId worker, bool early_release)
      : table_(table), worker_(worker), early_release_(early_release) {}
  RowLocks(const RowLocks&) = delete;
  RowLocks& operator=(const RowLocks&) = delete;

  // A new transaction, the youngest of all.
  void begin();

  // False: the transaction must die. True: the row is locked in this mode, or already was in a stronger one.
  bool lock(const Row& row, LockMode mode, CommitLog& log) { return lock(row, mode, log, /*waits=*/true); }
  // False: another transaction has the row, and this one goes on without it. Waits for the device, as lock()
  // does.
  bool try_lock(const Row& row, LockMode mode, CommitLog& log) {
    return lock(row, mode, log, /*waits=*/false);
  }
  void release_all();

 private:
  bool lock(const Row& row, LockMode mode, CommitLog& log, bool waits);

  LockTable& table_;
  const WorkerId worker_;
  const bool early_release_;
  TransactionAge age_;
  LockWaiter waiter_;
  Arena arena_;  // of the locks, which stay where they are
  std::vector<RowLock*> locks_;
  PointerMap lock_of_row_;
};

}  // namespace mneme
