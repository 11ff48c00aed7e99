// Transaction: runs as if alone, at the place in the serial order that its LSN says: commit order is log
// order.
//
// Flow        begin -> find, scan, insert, update, erase -> commit: make the log record -> wait for log space
//             -> lock the written rows' words, in order of address -> reserve the LSN -> validate -> write
//             the rows, unlock their words with the new LSN -> fill the log record; of a log that leaves
//             holes (commit_log.h), fill it first, then write the rows. Or roll_back (the user's: validated
//             as well, since its caller will act on what it read), or abort.
// Protocols   Optimistic, in Silo's manner, with one change, the order: the version of each row that was read
//             is validated. Or two-phase locking (row_locks.h, Database::set_concurrency): rows are locked
//             before they are read, and need no validation. The rest is the same for both, so one class runs
//             both: index nodes are validated, and words are locked, be it only against Worker::tidy().
// Invariants  all that may fail but validation is settled before the reservation: duplicate keys and
//             allocation by insert() and update(). Every inserted row stands in every index by then, claimed
//             and not live, and is locked with the rest; so does the new entry of a changed indexed column. A
//             transaction that fails validation fills its reserved place with a skip record. What a record
//             holds of rows (change_codec.h) are the images that will be installed: a part of one that was
//             only read to make the record whole must stand, by its version, when the row is locked.
// Waiting     commit() waits for log space before it locks any word. Claims (row.h) are held across that
//             wait, but no transaction waits for a claim: readers pass it, writers give up. So are the locks
//             of two-phase locking, but the device, which makes space, waits for none of them. Waits for
//             words are bounded, then kConflict.
// Threads     a Transaction belongs to its Worker's thread.
// Source      Tu et al., "Speedy Transactions in Multicore In-Memory Databases" (SOSP'13), sections 4.4 to
//             4.7.
//
// Why the LSN is the place in the serial order. Let T1 and T2 be in conflict, both committed.
//   write -> write, write -> read: T2 locks, or reads, what T1 installed after reserving: T1 reserved first.
//   read -> write: T1 read x and T2 overwrote it. T1's validation, which follows T1's reservation, did not
//       see T2's lock of x, which T2 took before reserving. Reservations are read-modify-writes (acquire and
//       release) of one counter: had T2 reserved first, its lock would be visible to T1's validation.
//   absence: what T1 found absent is covered by the version of a row that was not live (a tombstone, a row
//       being inserted) and by a node version (index.h) under which no other entry stood. T2 makes it present
//       by locking such a row, or by putting an entry into the node, both before it reserves: as above. That
//       a deleted row is unlinked changes the node's version too.
//   another key: an entry whose row has another key in its index by now (indexed_table.h) counts as absent,
//       and the row is validated.
// Under two-phase locking rows need less: the second transaction in a conflict over a row gets its lock when
// the first has released it, after reserving. A transaction that wrote nothing takes no LSN. All that it read
// stands when it validates, so it has a place between the highest LSN that it read and the first that
// overwrites any of it: had the writer W of something it read reserved after an overwriter O of something
// else, O's lock would have been visible to W's reservation, so to W's reader, and to its validation. It may
// be acknowledged once highest_read() is durable.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "engine/transaction/database.h"
#include "engine/transaction/row_access.h"
#include "engine/transaction/worker.h"

namespace mneme {

enum class CommitStatus : uint8_t {
  kCommitted,
  kConflict,   // nothing happened; run it again
  kLogFailed,  // nothing happened, and nothing will until the log is mended (CommitLog::failure)
  kTooLarge,   // nothing happened, nor ever will: its record would be longer than a record may be
  kUnnamed,    // likewise: it changed a row without a primary key, and records name rows in two ways
};

struct CommitOutcome {
  CommitStatus status;
  // Committed: its own LSN if it wrote, else the highest that it read. Acknowledge it once that is durable.
  Lsn lsn;
  bool wrote = false;
};

class Transaction final : public RowAccess {
 public:
  Transaction(Database& database, Worker& worker)
      : database_(database), worker_(worker), scratch_(worker.scratch()) {}
  ~Transaction() override { abort(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // The transaction before has ended.
  void begin();
  // The same transaction once more, after a conflict.
  void begin_again();

  AccessStatus find_parts(IndexId index, const IndexKey& key, ImageParts parts, Purpose purpose,
                          RowRef& row) override;
  AccessStatus scan_parts(IndexId index, const KeyRange& range, Direction direction, ImageParts parts,
                          Purpose purpose, FunctionRef<bool(const RowRef&)> visit) override;
  AccessStatus lock_row(const RowRef& row, RowLockStrength strength, RowLockWait wait) override;
  AccessStatus insert(TableId table, std::span<const Value> values) override;
  std::byte* new_image(TableId table) override;
  AccessStatus insert_image(TableId table, std::byte* image) override;
  AccessStatus update(TableId table, RowRef& row, std::span<const ColumnValue> changes) override;
  AccessStatus change_parts(TableId table, RowRef& row, ImageParts changed, std::byte*& image) override;
  AccessStatus erase(TableId table, RowRef& row) override;
  KeyRefusal refusal() const override { return refusal_; }
  // All stages at once. A caller that can do something else between them uses a Prefetcher of its own.
  void prefetch(std::span<const RowLookup> lookups) override;
  // The next round of what was fetched since the transaction began; prefetcher() has what was found.
  void prefetch_more(std::span<const RowLookup> lookups);
  const Prefetcher& prefetcher() const { return scratch_.prefetcher; }

  // `call`: its encoding, where the log holds calls (Database::record_content) and the transaction wrote
  // anything.
  CommitOutcome commit(ByteSpan call) { return commit(call, database_.record_content()); }
  // The same for a transaction that no call stands for, or none that would do the same again: whatever else
  // the log holds, its record holds the rows that it changed, alone (PACMAN, section 4.5), with their
  // locations if others' do.
  CommitOutcome commit_ad_hoc() {
    return commit(
        {}, holds_locations(database_.record_content()) ? RecordContent::kPhysical : RecordContent::kLogical);
  }
  // What commit_ad_hoc() would put into the log for what was changed so far, where it would log rows by their
  // keys; `record` is valid until the transaction ends or makes its record. Returns kCommitted, although
  // nothing is committed: kConflict, kTooLarge, kUnnamed as commit() would, and the transaction goes on.
  CommitStatus ad_hoc_record(ByteSpan& record) { return make_record({}, RecordContent::kLogical, record); }
  // Undoes the transaction on its user's behalf. kCommitted: it read a consistent state, and may be reported.
  CommitOutcome roll_back();
  // Undoes it, to run it again or not at all.
  void abort();

  // What a transaction had changed at some point. Valid until the transaction ends.
  class Savepoint {
   private:
    friend class Transaction;
    struct Saved {
      const std::byte* image;
      ImageParts parts;
      ImageParts dirty;
      bool is_erased;
    };
    std::vector<Saved> writes;
  };
  Savepoint savepoint();
  // Takes back what was changed since. Rows read since stay read, and entries of indexes stay until the
  // transaction ends. False: a row that was changed has been changed by another transaction meanwhile; this
  // one can't commit.
  [[nodiscard]] bool roll_back_to(const Savepoint& savepoint);
  std::unique_ptr<Mark> mark() override;
  [[nodiscard]] bool go_back_to(const Mark& mark) override;
  // Whether all that was read still stands, so that it may be told of an error. The transaction goes on.
  bool has_read_consistently() { return validate(false); }

  bool is_running() const { return running_; }
  bool wrote() const { return !scratch_.writes.empty(); }
  Lsn highest_read() const;

 private:
  // A row's copy in the arena: RowRef::handle points here, RowRef::image behind it, or to the image of our
  // own write of the row. The image has room for all of its parts, but only those that were asked for are
  // filled, so that it costs no more cache lines than they do.
  struct alignas(16) Copy {
    Row* row;
    RowWord version;
    ImageParts parts;
    std::byte* image() { return reinterpret_cast<std::byte*>(this + 1); }
  };

  WriteEntry* own_write(const Row* row);
  WriteEntry& add_write(IndexedTable& table, Row* row, RowWord expected, std::byte* image, ImageParts parts);
  // The entry for a row that was found, made where there is none yet. Its image holds `parts`, and those that
  // were asked for when the row was found. nullptr: a conflict, counted.
  WriteEntry* write_of(IndexedTable& table, const RowRef& ref, ImageParts parts);
  // Reads what the entry's image lacks of `parts`; false when the row has changed since it was first read.
  bool complete(WriteEntry& write, ImageParts parts);

  // The row as this transaction sees it: kOk, kAbsent (erased, not live) or kConflict. From then on it counts
  // as read.
  AccessStatus visit(IndexedTable& table, Row* row, ImageParts parts, Purpose purpose, RowRef& ref);
  // Under two-phase locking, before a row's word is looked at. False: a conflict, counted.
  bool lock(const Row* row, LockMode mode) {
    if (locks_ == nullptr || locks_->lock(*row, mode, database_.log())) return true;
    worker_.count(ConflictCause::kWaitDie);
    return false;
  }
  // Notes the version that was read: under optimistic control, the row must still have it at the commit.
  void note_read(const Row* row, RowWord version) {
    if (locks_ == nullptr) {
      scratch_.reads.push_back({row, version});
    } else {
      highest_seen_ = std::max(highest_seen_, version.lsn());
    }
  }
  // Where lock_row() keeps rows.
  RowLocks& kept_rows() {
    if (locks_ != nullptr) return *locks_;
    if (claims_ == nullptr) {
      claims_ = &worker_.claims(database_);
      claims_->begin();
    }
    return *claims_;
  }
  // False: the node has changed since it was first seen.
  bool watch(const NodeVersion& node);
  void apply_own_changes();
  AccessStatus conflict(ConflictCause cause) {
    worker_.count(cause);
    return AccessStatus::kConflict;
  }
  AccessStatus find_by_entries(const TableIndex& index, const IndexKey& key, ImageParts parts,
                               Purpose purpose, RowRef& ref);

  AccessStatus insert_image(IndexedTable& table, std::byte* image, Row*& row);
  AccessStatus claim_key(IndexedTable& table, std::byte* image, WriteEntry*& write);
  AccessStatus take_over(IndexedTable& table, Row* row, std::byte* image, WriteEntry*& write);
  AccessStatus link_new_row(IndexedTable& table, std::byte* image, Row*& existing, WriteEntry*& write);
  // Puts the entries of `image` into the indexes in which they differ from those of `old_image` (nullptr: in
  // all).
  AccessStatus add_entries(Row* row, IndexedTable& table, const std::byte* image, const std::byte* old_image);
  AccessStatus add_entry(Row* row, IndexedTable& table, const TableIndex& index, const IndexKey& key);
  AccessStatus check_unique(const Row* row, const TableIndex& index, const std::byte* image);
  AccessStatus refuse_key(const TableIndex& index, const std::byte* image) {
    refusal_ = {index.id, image};
    return AccessStatus::kDuplicateKey;
  }
  bool claim(WriteEntry& write);
  AccessStatus update_keys(IndexedTable& table, WriteEntry& write, std::byte* image, RowRef& row);
  AccessStatus move(IndexedTable& table, WriteEntry& write, std::byte* image, RowRef& row);

  CommitOutcome commit(ByteSpan call, RecordContent content);
  // The record's payload, before any word is locked, as its size must be known when its place is reserved.
  // Where rows are logged, reads what is missing of the written rows' images, and what they were before.
  CommitStatus make_record(ByteSpan call, RecordContent content, ByteSpan& payload);
  // Completes the images that the record will hold, and counts them.
  CommitStatus complete_images(RecordContent content, uint32_t& count);
  // Whether the record names the row by all the values that it had: it has neither a key nor a location.
  static bool is_named_by_values(const WriteEntry& write, RecordContent content);
  // Put a row's former self, or an updated row, into the record. False: it is not any more what this
  // transaction changed.
  bool put_former_row(const WriteEntry& write);
  // Before an update: whether the row may be changed.
  bool ask_gate(TableId table, std::span<const ColumnValue> changes, ImageParts parts, bool keys_change);
  bool put_update(const WriteEntry& write, const RowLocation* location);
  bool lock_writes();
  void unlock_writes();
  // `locked`: the written rows are locked, by us.
  bool validate(bool locked);
  void install(Lsn lsn);
  void exchange_texts(const WriteEntry& write);
  // For a checkpoint that is being taken: what the written rows were, where they are older than `boundary`.
  void keep_versions(Lsn boundary, Lsn lsn);
  void note_stale_entries(const WriteEntry& write, Lsn lsn);
  void undo();
  void end();

  Database& database_;
  Worker& worker_;
  TransactionScratch& scratch_;  // the worker's
  RowLocks* locks_ = nullptr;    // the worker's, under two-phase locking
  RowLocks* claims_ = nullptr;   // the worker's, without it, once this transaction has asked for a row
  AccessGate* gate_ = nullptr;   // the database's when this began
  bool running_ = false;
  Lsn highest_seen_;  // of versions that the read set doesn't hold
  KeyRefusal refusal_;
};

}  // namespace mneme
