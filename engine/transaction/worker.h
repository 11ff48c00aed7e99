// Worker: what one thread keeps between its transactions: their scratch, free slots, and what it has to clean
// up.
//
// Flow        Transaction::commit() leaves tombstones and stale index entries here -> tidy() unlinks them
//             once their LSN is durable -> the slot rests until no transaction can hold it (epoch.h) -> free
//             for the next insert.
// Why         a reader that finds nothing must know on which deletion it depends: it waits for the LSN of the
//             tombstone that it saw (a stale entry leads to a row that carries the LSN of its change). So
//             both stay until no reader need wait for them.
// Invariants  in the steady state nothing here allocates: every list keeps its capacity.
// Threads     one: the thread that runs this worker's transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fifo_queue.h"
#include "base/strong_id.h"
#include "engine/table/epoch.h"
#include "engine/table/indexed_table.h"
#include "engine/transaction/conflict_cause.h"
#include "engine/transaction/row_locks.h"
#include "engine/transaction/transaction_scratch.h"
#include "logging/commit/commit_log.h"

namespace mneme {

class Database;

class Worker {
 public:
  Worker(WorkerId id, EpochManager& epochs, std::span<const std::unique_ptr<IndexedTable>> tables);
  // The tables are still there.
  ~Worker() { limbo_.free_all(); }
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

  // The running transaction's notes.
  TransactionScratch& scratch() { return scratch_; }
  const TransactionScratch& scratch() const { return scratch_; }
  // nullptr without two-phase locking.
  RowLocks* row_locks() const { return locks_.get(); }
  // Without two-phase locking: what its transactions keep for themselves. Nothing waits for the log here.
  RowLocks& claims(Database& database);
  // Around a transaction: while it lasts, no slot is reused whose row it may have found.
  void enter() { epochs_.enter(id_); }
  void leave() { epochs_.leave(id_); }
  void count(ConflictCause cause) { ++conflicts_[static_cast<size_t>(cause)]; }
  InsertHint& hint(const TableIndex& index) { return hints_[index.id.value]; }
  SlotCache& slots(const IndexedTable& table) { return slots_[table.definition().id.value].cache; }
  // Frees, once no transaction can hold it, a slot that was linked by this worker and no longer is.
  void retire(const IndexedTable& table, Row* row);
  // Gives a text back, which no row has any more, once no transaction can hold it. There is room for it.
  void retire(LongText& text);
  // Makes room for one more row, in the scratch and for its slot's retirement.
  void make_room() {
    scratch_.make_room();
    limbo_.make_room(scratch_.writes.size() + 1);
  }
  // Makes room for all unlink_later() calls of the commit.
  void make_room_for_install() {
    size_t entries = 0;
    size_t words = 0;
    const auto count = [&](const TableIndex& index) {
      if (index.is_primary) return;
      ++entries;
      words += index.index->key_words();
    };
    for (const CreatedEntry& created : scratch_.created) count(*created.index);
    for (const WriteEntry& write : scratch_.writes) {
      if (write.is_claimed && !write.is_fresh) std::ranges::for_each(write.table->indexes(), count);
    }
    size_t texts = 0;
    for (const WriteEntry& write : scratch_.writes) texts += write.table->layout().long_columns().size();
    if (texts > 0) limbo_.make_room(scratch_.writes.size() + texts);
    tombstones_.make_room(scratch_.writes.size());
    stale_.make_room(entries);
    stale_words_.make_room(words);
  }
  // Unlinks, once `lsn` is durable: a deleted row, from all indexes; one entry of a row.
  void unlink_later(Lsn lsn, IndexedTable* table, Row* row) { tombstones_.push({lsn, table, row}); }
  void unlink_later(Lsn lsn, IndexedTable* table, Row* row, const TableIndex* index,
                    std::span<const uint64_t> key) {
    stale_.push({lsn, table, row, index});
    for (const uint64_t word : key) stale_words_.push(word);
  }

 private:
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
    const TableIndex* index;  // the key's words are in stale_words_
  };
  struct TableSlots {
    Table* rows;
    SlotCache cache;
  };

  static void free_slot(void* slots, void* row);
  void collect();
  // False: somebody else has the row just now.
  bool unlink(const Tombstone& tombstone);
  bool unlink(const StaleEntry& stale, const IndexKey& key);
  void unlink_durable_tombstones(Lsn durable, size_t most);
  void unlink_durable_entries(Lsn durable, size_t most);

  const WorkerId id_;
  EpochManager& epochs_;
  Limbo limbo_;
  size_t retired_text_bytes_ = 0;  // since the limbo was looked through last
  std::vector<TableSlots> slots_;  // by table
  std::vector<InsertHint> hints_;  // by index
  // About in order of LSN: what could not be unlinked when its turn came is put off to the end.
  FifoQueue<Tombstone> tombstones_;
  FifoQueue<StaleEntry> stale_;
  FifoQueue<uint64_t> stale_words_;  // of one's key after the other
  ConflictCounts conflicts_{};

  TransactionScratch scratch_;
  std::unique_ptr<RowLocks> locks_;   // under two-phase locking
  std::unique_ptr<RowLocks> claims_;  // without it, once a transaction asks for it
};

}  // namespace mneme
