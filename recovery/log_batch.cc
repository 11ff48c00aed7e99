#include "recovery/log_batch.h"

#include "base/check.h"
#include "procedures/call_codec.h"

namespace mneme {

Result<void> LogBatch::load(const Program& program, CommandSource& source, uint32_t limit) {
  arena_.reset();
  records_.clear();
  RETURN_IF_ERROR(source.read(limit, arena_, records_));
  if (calls_.size() < records_.size()) calls_.resize(records_.size());
  for (size_t i = 0; i < records_.size(); ++i) {
    const Result<void> decoded = decode_call(program, records_[i].payload, arena_, calls_[i]);
    if (!decoded) {
      return damaged(
          "the log's record at LSN {} holds no call of this database's procedures: {}; recovery stops here "
          "and "
          "has changed nothing on disk",
          records_[i].lsn.value, decoded.error().message);
    }
  }
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
