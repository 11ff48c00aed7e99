// Worker: what one thread keeps between its transactions: memory, free slots, and what it has to clean up.
//
// Flow        Transaction::commit() leaves tombstones and stale index entries here -> tidy() unlinks them
//             once their LSN is durable -> the slot rests until no transaction can hold it (epoch.h) -> free
//             for the next insert.
// Why         a reader that finds nothing must know on whose deletion it depends: it waits for the LSN of the
//             tombstone that it saw (a stale entry leads to a row that carries the LSN of its change). So
//             both stay until nobody need wait for them.
// Invariants  in the steady state a transaction allocates nothing: every vector here keeps its capacity.
// Threads     one: the thread that runs this worker's transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fifo_queue.h"
#include "base/memory/arena.h"
#include "base/strong_id.h"
#include "engine/schema/change_codec.h"
#include "engine/table/epoch.h"
#include "engine/table/indexed_table.h"
#include "engine/transaction/conflict_cause.h"
#include "engine/transaction/pointer_map.h"
#include "engine/transaction/prefetcher.h"
#include "engine/transaction/row_locks.h"
#include "logging/commit/commit_log.h"

namespace mneme {

// The sets of one transaction; see transaction.h. Under two-phase locking there is no read set.
struct ReadEntry {
  const Row* row;
  RowWord version;
};
struct WriteEntry {
  Row* row;
  IndexedTable* table;
  RowWord expected;  // before this transaction, its claim left out
  std::byte* image;  // the new one, or the last one of an erased row
  ImageParts parts;  // of the image that are there: read, or made
  ImageParts dirty;  // those that are to be written, all of them there
  bool is_erased;
  bool is_claimed;
  bool is_fresh;  // its slot was allocated for it
};
struct LockEntry {
  Row* row;
  RowWord expected;
};
struct CreatedEntry {
  const TableIndex* index;
  IndexedTable* table;
  Row* row;
  IndexKey key;
};

class Worker {
 public:
  Worker(WorkerId id, EpochManager& epochs, std::span<const std::unique_ptr<IndexedTable>> tables);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  WorkerId id() const { return id_; }

  // Unlinks what has become durable, and frees what no transaction can hold any more. Every begin() does some
  // of it; a worker without work calls it now and then. Outside of a transaction.
  void tidy(const CommitLog& log, size_t most = 64);
  // Tidies all that there is, which must be durable. No transaction runs.
  void come_to_rest(const CommitLog& log);
  // The tables are others now, or have others numbers or indexes. It is at rest.
  void follow(const TableChanges& changes);
  // Its transactions lock rows from now on. No transaction runs.
  void lock_rows(LockTable& table, bool early_release) {
    locks_ = std::make_unique<RowLocks>(table, id_, early_release);
  }
  // Attempts that this worker's transactions gave up.
  const ConflictCounts& conflicts() const { return conflicts_; }
  // Rows and index entries that still wait for it.
  size_t untidy() const { return tombstones_.size() + stale_.size() + limbo_.size(); }

 private:
  friend class Transaction;

  // To be unlinked once `lsn` is durable: a deleted row, from all indexes; one entry of a row.
  struct Tombstone {
    Lsn lsn;
    IndexedTable* table;
    Row* row;
  };
  struct StaleEntry {
    Lsn lsn;
    IndexedTable* table;
    Row* row;
    const TableIndex* index;
    IndexKey key;
  };
  struct TableSlots {
    Table* rows;
    SlotCache cache;
  };

  static void free_slot(void* slots, void* row);
  // False: somebody else has the row just now.
  bool unlink(const Tombstone& tombstone);
  bool unlink(const StaleEntry& stale);
  template <typename T>
  void unlink_durable(FifoQueue<T>& queue, Lsn durable, size_t most);

  InsertHint& hint(const TableIndex& index) { return hints_[index.id.value]; }
  SlotCache& slots(const IndexedTable& table) { return slots_[table.definition().id.value].cache; }
  // A slot that was linked by this worker and no longer is.
  void retire(const IndexedTable& table, Row* row);

  // Makes room for the notes on one more row and one more entry. The worker notes what it has linked, claimed
  // or locked only afterwards. With the room made before, running out of memory leaves nothing behind that
  // undo() does not know.
  void make_room() {
    make_room_in(writes_);
    make_room_for_entry();
    write_of_row_.make_room();
    limbo_.make_room(writes_.size() + 1);
  }
  void make_room_for_entry() { make_room_in(created_); }
  // For all that the commit leaves behind.
  void make_room_for_install() {
    size_t entries = created_.size();
    for (const WriteEntry& write : writes_) entries += write.is_claimed ? write.table->indexes().size() : 0;
    tombstones_.make_room(writes_.size());
    stale_.make_room(entries);
  }
  template <typename T>
  static void make_room_in(std::vector<T>& list) {
    if (list.size() == list.capacity()) list.reserve(2 * list.size() + 16);
  }

  void count(ConflictCause cause) { ++conflicts_[static_cast<size_t>(cause)]; }

  const WorkerId id_;
  EpochManager& epochs_;
  Limbo limbo_;
  std::vector<TableSlots> slots_;  // by table
  std::vector<InsertHint> hints_;  // by index
  // About in order of LSN: what could not be unlinked when its turn came is put off to the end.
  FifoQueue<Tombstone> tombstones_;
  FifoQueue<StaleEntry> stale_;
  ConflictCounts conflicts_{};

  // The running transaction's.
  Arena arena_;
  std::vector<ReadEntry> reads_;
  std::vector<WriteEntry> writes_;
  std::vector<CreatedEntry> created_;
  std::vector<NodeVersion> nodes_;
  std::vector<LockEntry> lock_order_;
  NodeChanges changes_;
  PointerMap write_of_row_;
  PointerMap node_of_word_;
  Prefetcher prefetcher_;
  ChangeRecord record_;              // where rows are logged
  std::unique_ptr<RowLocks> locks_;  // under two-phase locking
};

}  // namespace mneme
