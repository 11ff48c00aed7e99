// Database: a catalog's tables and indexes in memory, the workers that run transactions on them, and the log.
//
// Changes     to another catalog take the time for what it has that the former had not: prepare() makes that,
//             take() swaps it in.
// Flow        Database(catalog) -> load or recover through UnloggedWriter -> attach_log -> Transaction on
//             each Worker.
// Invariants  no transaction runs before a log is attached, none while an UnloggedWriter writes.
// Threads     constant after construction, but for take(), when no thread uses it, and for what tables,
//             indexes and workers allow.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/memory/huge_pages.h"
#include "engine/schema/change_codec.h"
#include "engine/schema/schema.h"
#include "engine/table/access_gate.h"
#include "engine/table/epoch.h"
#include "engine/table/indexed_table.h"
#include "engine/table/unloaded_rows.h"
#include "engine/transaction/concurrency.h"
#include "engine/transaction/lock_table.h"
#include "engine/transaction/number_sources.h"
#include "engine/transaction/worker.h"
#include "logging/commit/commit_log.h"
#include "logging/record/record_content.h"

namespace mneme {

class VersionKeeper;

class Database {
 private:
  // A catalog and what is derived from it.
  struct Meaning {
    explicit Meaning(Catalog made) : catalog(std::move(made)), schema(catalog), change_codec(schema) {}
    Meaning(Catalog made, const Meaning& former)
        : catalog(std::move(made)),
          schema(catalog, &former.schema),
          change_codec(schema, &former.change_codec, &former.schema) {}

    const Catalog catalog;
    const Schema schema;
    const ChangeCodec change_codec;
  };

 public:
  Database(Catalog catalog, uint32_t worker_count, PageSize pages = PageSize::kHuge);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const Catalog& catalog() const { return meaning_->catalog; }
  const Schema& schema() const { return meaning_->schema; }

  IndexedTable& table(TableId id) { return *tables_[id.value]; }
  const IndexedTable& table(TableId id) const { return *tables_[id.value]; }
  size_t table_count() const { return tables_.size(); }
  // The table that an index belongs to, and the index there.
  IndexedTable& table_of(IndexId id) { return *tables_[catalog().index(id).table.value]; }
  const TableIndex& index(IndexId id) const { return *indexes_[id.value]; }

  // Holds the tables and indexes that another catalog has and this database lacks. A table stays if both have
  // it, under any name: it has columns of the same types and the same primary key, and keeps its rows and
  // the indexes that both have. One that was emptied since, or remade, which gets rows, is made anew.
  class Prepared {
   public:
    struct NewIndex {
      const IndexedTable& table;  // with rows
      const TableIndex& index;    // without entries
    };
    // Copies rows into the tables that were remade, before their indexes are filled. `restores`: indexes
    // are built, and free slots found, later (Table::restore). `value_of_added`: what the rows get in a
    // column that the former table lacks; called once for each. `convert` changes a value into one of the
    // column's new type, or returns false; `generate` makes the value of a generated column that the former
    // table lacks. Fails where one of them does, on a NULL in a column that is NOT NULL now, and for want of
    // memory.
    struct Copied {
      enum class Status : uint8_t { kDone, kNull, kNoValue, kNoRoom, kNoMemory } status = Status::kDone;
      std::string table{};
      std::string column{};  // kNull, kNoRoom: an index has it, or its type is shorter than the value
    };
    struct Converted {
      const Type& from;
      const Type& to;
      Value& value;  // which is not NULL
    };
    struct Generated {
      const TableDefinition& table;
      ColumnId column;
      const RowLayout& layout;
      const std::byte* image;  // with the values of all columns that are not generated
      Value& value;
    };
    Copied copy_rows(bool restores, FunctionRef<Value(const Column&)> value_of_added,
                     FunctionRef<bool(const Converted&)> convert,
                     FunctionRef<bool(const Generated&)> generate);
    // Returns the new indexes of tables that stay or were remade. The caller fills them before take().
    std::vector<NewIndex> new_indexes() const;

   private:
    friend class Database;
    struct Part {
      TableChanges::Changed changed;
      IndexedTable* stays = nullptr;   // and gets the shape
      IndexedTable* remade = nullptr;  // whose rows `made` gets
      std::optional<IndexedTable::Shape> shape;
      std::unique_ptr<IndexedTable> made;  // where no table stays
    };

    std::unique_ptr<const Meaning> meaning_;
    std::vector<Part> parts_;
  };
  Prepared prepare(Catalog catalog);
  // Cannot fail. The log is durable, and no thread uses the database.
  void take(Prepared&& prepared);

  NumberSources& sequences() { return sequences_; }

  // Transactions that begin from here on ask it; nullptr: none. It must outlive those that have begun.
  void set_gate(AccessGate* gate) { gate_.store(gate, std::memory_order_release); }
  AccessGate* gate() const { return gate_.load(std::memory_order_acquire); }

  // UnloggedWriters load from there what they look for; nullptr: all rows are in their tables. Transactions
  // leave it to the gate. It must outlive the writers that were made while it was set, or be taken away
  // while none works.
  void set_unloaded(UnloadedRows* rows) { unloaded_.store(rows, std::memory_order_release); }
  UnloadedRows* unloaded() const { return unloaded_.load(std::memory_order_acquire); }

  uint32_t worker_count() const { return static_cast<uint32_t>(workers_.size()); }
  Worker& worker(WorkerId id) { return *workers_[id.value]; }
  // For a checkpoint beside transactions (online_checkpointer.h).
  EpochManager& epochs() { return epochs_; }
  VersionKeeper& versions() { return *versions_; }

  // Optimistic until this is called, which is before the first transaction.
  void set_concurrency(const Concurrency& concurrency);
  // What optimistic transactions' SELECT ... FOR UPDATE have kept. Any thread.
  LockTable& claims();
  // `log` must outlive the transactions.
  // `content`: what the records of transactions are to hold. `image`: of updated rows, where they hold rows.
  void attach_log(CommitLog& log, RecordContent content = RecordContent::kCommand,
                  TupleImage image = TupleImage::kFull) {
    log_ = &log;
    content_ = content;
    tuple_image_ = image;
  }
  CommitLog& log() { return *log_; }
  RecordContent record_content() const { return content_; }
  TupleImage tuple_image() const { return tuple_image_; }
  const ChangeCodec& change_codec() const { return meaning_->change_codec; }

  // Allocated for rows and indexes.
  size_t memory_bytes() const { return memory_.bytes_allocated(); }
  // The memory itself, to be touched before transactions grow into it.
  HugePageSource& memory() { return memory_; }
  // A table's part of that. Walks all rows; the database is at rest.
  struct TableMemory {
    TableId table;
    // The bytes of its live rows' images, each as wide as its columns can get, and of their long texts.
    size_t row_bytes = 0;
    size_t long_text_bytes = 0;  // of that; they lie on the heap, outside of memory_bytes()
    size_t chunk_bytes = 0;      // of its slots, free ones included
    std::vector<size_t> index_bytes;
  };
  std::vector<TableMemory> memory_by_table() const;
  // Why rows or index nodes are not on huge pages, for the program to show.
  std::optional<std::string> memory_notice() const { return memory_.notice(); }

 private:
  std::unique_ptr<const Meaning> meaning_;
  HugePageSource memory_;
  EpochManager epochs_;
  NumberSources sequences_;
  std::vector<std::unique_ptr<IndexedTable>> tables_;
  std::vector<const TableIndex*> indexes_;  // by IndexId
  std::unique_ptr<LockTable> locks_;        // under two-phase locking
  std::once_flag makes_claims_;
  std::unique_ptr<LockTable> claims_;  // of optimistic transactions, once one asks for it (row_locks.h)
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<VersionKeeper> versions_;
  // Written by whoever opens the database (release), read by transactions that begin (acquire), which see
  // what was done to the rows before it was taken away.
  std::atomic<AccessGate*> gate_{nullptr};
  // Written by whoever opens the database (release), read by writers at each look-up (acquire).
  std::atomic<UnloadedRows*> unloaded_{nullptr};
  CommitLog* log_ = nullptr;
  RecordContent content_ = RecordContent::kCommand;
  TupleImage tuple_image_ = TupleImage::kFull;
};

}  // namespace mneme
