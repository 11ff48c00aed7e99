#include "recovery/log/log_batch.h"

#include "base/check.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/ir/sql_error.h"
#include "recovery/log/row_links.h"

namespace mneme {

bool find_changed_columns(const ChangeCodec& codec, LoggedChange& change) {
  if (change.row.action != ChangeAction::kUpdate && change.row.action != ChangeAction::kPatch) return true;
  const std::optional<ColumnBits> changed = codec.changed_columns(change.row.table, change.row.columns);
  if (changed) change.changed = *changed;
  return changed.has_value();
}

void LogBatch::clear() {
  arena_.reset();
  transactions_.clear();
  changes_.clear();
  ad_hoc_count_ = 0;
}

Result<void> LogBatch::load(const Program& program, const ChangeCodec& codec,
                            std::span<const RecordView> records) {
  RETURN_IF_ERROR(load_changes(codec, records));
  for (uint32_t t = 0; t < size(); ++t) {
    if (!is_ad_hoc(t)) RETURN_IF_ERROR(load_call(program, records[t], t, arena_));
  }
  return {};
}

Result<void> LogBatch::load_changes(const ChangeCodec& codec, std::span<const RecordView> records) {
  clear();
  for (const RecordView& record : records) {
    if (call_of(record.kind, record.payload))
      transactions_.push_back({.lsn = record.lsn});
    else
      RETURN_IF_ERROR(add_changes(codec, record));
  }
  if (calls_.size() < transactions_.size()) {
    calls_.resize(transactions_.size());
    procedures_.resize(transactions_.size());
  }
  return {};
}

Result<void> LogBatch::load_call(const Program& program, const RecordView& record, uint32_t transaction,
                                 Arena& arena) {
  Call& call = calls_[transaction];
  const Result<void> decoded = decode_call(program, *call_of(record.kind, record.payload), arena, call);
  procedures_[transaction] = call.procedure;
  if (decoded) {
    const ir::Procedure& procedure = program.procedure(call.procedure);
    if (!procedure.is_logged_by_rows()) return {};
    // The dependency graph does not allow for it.
    return damaged(
        "the log's record at LSN {} is a call of {}, which is logged by the rows that it changes ({}); "
        "recovery "
        "stops here and has changed nothing on disk",
        record.lsn.value, procedure.name, procedure.by_chance);
  }
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
    if (!find_changed_columns(codec, change)) return no_rows_error(record.lsn);
    changes_.push_back(change);
    ++transaction.change_count;
  }
  if (reader.bad()) return no_rows_error(record.lsn);
  return {};
}

Outcome end_of_run(AccessStatus inserted) {
  if (inserted == AccessStatus::kOk) return {};
  if (inserted == AccessStatus::kDuplicateKey) {
    return {
        Outcome::Kind::kRaised, sqlstate::kUnique, "duplicate key value violates a unique constraint", {}};
  }
  return {Outcome::Kind::kOutOfMemory, "", "", {}};
}

Error replay_error(const ir::Procedure& procedure, Lsn lsn, const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::kOutOfMemory:
      return failed(
          "no memory is left to replay {} at LSN {}; nothing on disk was changed: recover with more memory",
          procedure.name, lsn.value);
    case Outcome::Kind::kRaised:
      return damaged(
          "replay stopped at LSN {}: {} raised {} ({}){}, but a logged transaction has committed; "
          "the log "
          "does not fit the checkpoint, or Mneme has a bug; nothing on disk was changed",
          lsn.value, procedure.name, outcome.message, outcome.sqlstate,
          outcome.where.line > 0 ? fmt::format(" at line {}", outcome.where.line) : "");
    case Outcome::Kind::kOutsideHint:
      return damaged(
          "replay stopped at LSN {}: {} touches a row at line {} whose key is not in the record's hint; "
          "nothing on disk was changed: recover with --scheme clr, which needs no hints",
          lsn.value, procedure.name, outcome.where.line);
    case Outcome::Kind::kConflict:
    case Outcome::Kind::kStopped:
    case Outcome::Kind::kCompleted:
      break;
  }
  // Replay's access takes no locks, so nothing can be in its way, and nothing asks it to stop.
  CHECK(false);
}

}  // namespace mneme
