// KeyInstaller: installs all changes that a log holds of a row, key by key: the last step of LLR-P.
//
// Flow        a key's changes, in commit order, and the row that stands there -> install(); the rows that
//             this made come into indexes together: take_made() -> index_filler.h
// Invariants  a key's changes come once, all of them, to one installer. So the first one tells whether the
//             row was there before, the last one whether it is there in the end: a row that came and went
//             leaves no trace, one that is new is written before it stands in any index, and no tombstone is
//             needed. Rows end live at the LSN of their last change, as transactions leave them.
// Order       forward: every image is written, one after the other; changes may hold the changed columns
//             alone. Reverse: the newest image, and no other is looked at.
// Threads     one owner each; any number on one database, with keys of their own.
// Errors      a row that is there and should not be, or the other way round, or bytes that are no row:
//             damage.
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
  // `records`: the ones that changes name.
  KeyInstaller(Database& database, std::span<const RecordView> records, ReplayOrder order);
  // Passes free slots on to others.
  ~KeyInstaller();
  KeyInstaller(const KeyInstaller&) = delete;
  KeyInstaller& operator=(const KeyInstaller&) = delete;

  using Changes = std::span<const ShuffledChange* const>;

  // Returns whether the changes make the row. Otherwise the caller finds it by their key.
  static bool make_row(Changes changes) { return changes.front()->action() == ChangeAction::kInsert; }
  // `row`: the live one under the key, or nullptr. If it fails, failed_at() returns the LSN of the change.
  InstallOutcome install(TableId table, Changes changes, Row* row);
  Lsn failed_at() const { return failed_at_; }

  // The rows of one table that were made and stand in no index yet.
  std::span<Row* const> made() const { return made_; }
  void forget_made() { made_.clear(); }

 private:
  InstallOutcome check(Changes changes, bool is_there);
  InstallOutcome make(TableId table, Changes changes);
  InstallOutcome change(TableId table, Changes changes, Row* row);
  InstallOutcome erase(TableId table, Row* row);
  bool write(TableId table, Changes changes, std::byte* image);
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
