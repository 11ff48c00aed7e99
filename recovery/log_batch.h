// LogBatch: the calls of one stretch of the log, decoded, in commit order: what is dispatched and replayed as a unit.
//
// Invariants  payloads, texts and arrays of the calls are valid until the next load(); the steady state allocates
//             nothing.
// Threads     one owner while it loads; then constant, for any thread.
// Errors      bytes that encode no call of the program: kDamaged, with the record's LSN.
#pragma once

#include <span>
#include <vector>

#include "base/arena.h"
#include "base/result.h"
#include "procedures/call.h"
#include "procedures/interpreter.h"
#include "procedures/program.h"
#include "recovery/command_source.h"

namespace mneme {

class LogBatch {
 public:
  // Replaces the batch by the next `limit` calls, or fewer where the log ends.
  Result<void> load(const Program& program, CommandSource& source, uint32_t limit);

  uint32_t size() const { return static_cast<uint32_t>(records_.size()); }
  Lsn lsn(uint32_t transaction) const { return records_[transaction].lsn; }
  const Call& call(uint32_t transaction) const { return calls_[transaction]; }

 private:
  Arena arena_;
  std::vector<CommandRecord> records_;
  std::vector<Call> calls_;  // may be longer than records_: calls are kept for their vectors
};

// Why replay can't go on after `outcome` of the transaction at `lsn`: the log and the rows do not fit each other.
Error replay_error(const ir::Procedure& procedure, Lsn lsn, const Outcome& outcome);

}  // namespace mneme
