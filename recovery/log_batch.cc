#include "recovery/log_batch.h"

#include <algorithm>

#include "base/check.h"
#include "procedures/call_codec.h"
#include "recovery/row_links.h"

namespace mneme {

Result<void> LogBatch::load(const Program& program, const ChangeCodec& codec, std::span<const RecordView> records,
                            uint32_t limit, StandsAlone stands_alone) {
  arena_.reset();
  transactions_.clear();
  changes_.clear();
  ad_hoc_count_ = 0;
  stands_alone_ = false;
  for (const RecordView& record : records.first(std::min<size_t>(limit, records.size()))) {
    if (const std::optional<ByteSpan> call = call_of(record.kind, record.payload)) {
      RETURN_IF_ERROR(add_call(program, record, *call));
      continue;
    }
    RETURN_IF_ERROR(add_changes(codec, record));
    if (!stands_alone(changes(size() - 1))) continue;
    stands_alone_ = size() == 1;
    if (!stands_alone_) {
      --ad_hoc_count_;
      transactions_.pop_back();
    }
    return {};
  }
  return {};
}

Result<void> LogBatch::add_call(const Program& program, const RecordView& record, ByteSpan payload) {
  const size_t transaction = transactions_.size();
  transactions_.push_back({.lsn = record.lsn});
  if (calls_.size() <= transaction) calls_.resize(transaction + 1);
  const Result<void> decoded = decode_call(program, payload, arena_, calls_[transaction]);
  if (decoded) return {};
  return damaged(
      "the log's record at LSN {} holds no call of this database's procedures: {}; recovery stops here "
      "and has changed nothing on disk",
      record.lsn.value, decoded.error().message);
}

Result<void> LogBatch::add_changes(const ChangeCodec& codec, const RecordView& record) {
  const std::optional<LoggedChanges> logged = changes_of(record.kind, record.payload);
  if (!logged) return no_rows_error(record.lsn);
  Transaction& transaction = transactions_.emplace_back();
  transaction = {record.lsn, true, static_cast<uint32_t>(changes_.size()), 0};
  ++ad_hoc_count_;
  ChangeReader reader(codec, *logged);
  LoggedChange change;
  while (reader.next(change.row)) {
    if (change.row.action == ChangeAction::kUpdate || change.row.action == ChangeAction::kPatch) {
      const std::optional<ColumnBits> changed = codec.changed_columns(change.row.table, change.row.columns);
      if (!changed) return no_rows_error(record.lsn);
      change.changed = *changed;
    }
    changes_.push_back(change);
    ++transaction.change_count;
  }
  if (reader.bad()) return no_rows_error(record.lsn);
  return {};
}

Error replay_error(const ir::Procedure& procedure, Lsn lsn, const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::kOutOfMemory:
      return failed(
          "no memory is left to replay {} at LSN {}; nothing on disk was changed: recover with more memory",
          procedure.name, lsn.value);
    case Outcome::Kind::kRaised:
      return damaged(
          "replay stopped at LSN {}: {} raised {} ({}) at line {}, but a logged transaction has committed; "
          "the log "
          "does not fit the checkpoint, or Mneme has a bug; nothing on disk was changed",
          lsn.value, procedure.name, outcome.message, outcome.sqlstate, outcome.where.line);
    case Outcome::Kind::kConflict:
    case Outcome::Kind::kCompleted:
      break;
  }
  // Replay's access takes no locks, so nothing can be in its way.
  CHECK(false);
}

}  // namespace mneme
