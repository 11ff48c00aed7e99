// KeyInstaller: installs the logged changes of rows, all changes of one key together. It is the last step of
// LLR-P (shuffle_replayer.h).
//
// Flow        a key's changes, in commit order, and the key's live row -> install(). It collects the rows
//             that it creates; the caller adds these to the indexes together: made() -> index_filler.h,
//             forget_made()
// Invariants  one installer gets all changes of a key, in one call. So the first change shows whether the row
//             existed before the log, and the last one whether it exists after it. A row that the log inserts
//             and finally erases is never created. A new row is written before any index refers to it, and no
//             tombstone is needed. A row ends live at the LSN of its last change, as a transaction leaves it.
// Order       forward: the images of all changes are written, one after the other; an image may hold only the
//             changed columns. Reverse: only the newest image is read and written; it must hold all columns.
// Threads     an installer has one owner. Several may work on one database if no key comes to two of them.
// Errors      damage: an inserted row exists already, an updated or erased row does not exist, or the bytes
//             of an image are no row. Also: memory is exhausted.
// Source      PACMAN (SIGMOD 2017), section 4.5, and appendix A.2, the reverse order.
#pragma once

#include <span>
#include <vector>

#include "engine/transaction/database.h"
#include "logging/reading/log_reader.h"
#include "recovery/log/replay.h"
#include "recovery/log/row_links.h"
#include "recovery/rows/change_buckets.h"

namespace mneme {

class KeyInstaller {
 public:
  // `records`: the replayed records, of which ShuffledChange::record is the index.
  KeyInstaller(Database& database, std::span<const RecordView> records, ReplayOrder order);
  // Gives the unused slots back to the tables, for other threads.
  ~KeyInstaller();
  KeyInstaller(const KeyInstaller&) = delete;
  KeyInstaller& operator=(const KeyInstaller&) = delete;

  using Changes = std::span<const ShuffledChange* const>;

  // Returns whether the first change inserts the row. If not, the caller looks up the row by the key.
  static bool make_row(Changes changes) { return changes.front()->action() == ChangeAction::kInsert; }
  // `row` is the live row under the key, or nullptr. After a failure failed_at() returns the LSN of the
  // change at fault.
  InstallOutcome install(TableId table, Changes changes, Row* row);
  Lsn failed_at() const { return failed_at_; }

  // Returns the rows of one table that install() has created and that are in no index yet.
  std::span<Row* const> made() const { return made_; }
  void forget_made() { made_.clear(); }

 private:
  InstallOutcome check(Changes changes, bool is_there);
  InstallOutcome make(TableId table, Changes changes);
  InstallOutcome change(TableId table, Changes changes, Row* row);
  InstallOutcome erase(TableId table, Row* row);
  bool write(TableId table, Changes changes, std::byte* image, ImageOwner owner);
  Lsn lsn_of(const ShuffledChange* change) const { return records_[change->record].lsn; }

  Database& database_;
  const ChangeCodec& codec_;
  const std::span<const RecordView> records_;
  const bool is_reverse_;
  RowLinks links_;
  std::vector<SlotCache> slots_;  // by table
  std::vector<Row*> made_;
  std::vector<std::byte> image_;
  Lsn failed_at_;
};

}  // namespace mneme
