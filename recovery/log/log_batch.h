// LogBatch: the transactions of one stretch of the log, decoded, in commit order: what is dispatched and
// replayed as a unit.
//
// Invariants  texts and arrays of the calls are valid until the next load(), and point into the records, as
//             changes do. The steady state allocates nothing. An ad-hoc transaction has no call, but the
//             changes that it made.
// Threads     one owner while it loads; then constant, for any thread.
// Errors      bytes that encode no call of the program, or no rows of its tables: kDamaged, with the record's
//             LSN.
#pragma once

#include <span>
#include <vector>

#include "base/memory/arena.h"
#include "base/memory/prefetch.h"
#include "base/result.h"
#include "engine/schema/change_codec.h"
#include "logging/reading/log_reader.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call.h"
#include "procedures/interpreter/interpreter.h"

namespace mneme {

// A row that an ad-hoc transaction changed.
struct LoggedChange {
  RowChange row;
  ColumnBits changed{ByteSpan()};  // of an update or a patch: of ChangeCodec::rest
};

// Fills `changed` of a change whose row has been read. False: the row's bytes are none.
bool find_changed_columns(const ChangeCodec& codec, LoggedChange& change);

class LogBatch {
 public:
  // Replaces the batch by these.
  Result<void> load(const Program& program, const ChangeCodec& codec, std::span<const RecordView> records);
  // The same, but calls are left to load_call().
  Result<void> load_changes(const ChangeCodec& codec, std::span<const RecordView> records);
  // Decodes a transaction's call, from its record. Several threads may, of different transactions, each with
  // an arena of its own: the call is valid as long as this batch and the arena's memory.
  Result<void> load_call(const Program& program, const RecordView& record, uint32_t transaction,
                         Arena& arena);

  uint32_t size() const { return static_cast<uint32_t>(transactions_.size()); }
  Lsn lsn(uint32_t transaction) const { return transactions_[transaction].lsn; }

  bool is_ad_hoc(uint32_t transaction) const { return transactions_[transaction].is_ad_hoc; }
  uint32_t ad_hoc_count() const { return ad_hoc_count_; }
  // Returns the call of a transaction that is not ad hoc.
  const Call& call(uint32_t transaction) const { return calls_[transaction]; }
  // Returns the call's procedure: a batch's procedures lie side by side, as its calls do not.
  ProcedureId procedure(uint32_t transaction) const { return procedures_[transaction]; }
  // Prefetches its first arguments. INOUT parameters, which replay does not read, come last.
  void prefetch_arguments(uint32_t transaction) const {
    prefetch_first_lines<kPrefetchedLines>(calls_[transaction].arguments.data());
  }
  // Returns the changes of an ad-hoc transaction.
  std::span<const LoggedChange> changes(uint32_t transaction) const {
    const Transaction& of = transactions_[transaction];
    return std::span(changes_).subspan(of.first_change, of.change_count);
  }

 private:
  struct Transaction {
    Lsn lsn;
    bool is_ad_hoc = false;
    uint32_t first_change = 0;
    uint32_t change_count = 0;
  };

  static constexpr size_t kPrefetchedLines = 6;

  void clear();
  Result<void> add_changes(const ChangeCodec& codec, const RecordView& record);

  Arena arena_;
  std::vector<Transaction> transactions_;
  std::vector<Call> calls_;              // may be longer than transactions_: calls are kept for their vectors
  std::vector<ProcedureId> procedures_;  // as long as calls_
  std::vector<LoggedChange> changes_;
  uint32_t ad_hoc_count_ = 0;
};

// Returns the outcome of a run that completed, once its last rows have been inserted (ReplayAccess::end_run).
Outcome end_of_run(AccessStatus inserted);

// Why replay can't go on after `outcome` of the transaction at `lsn`: the log and the rows do not fit each
// other.
Error replay_error(const ir::Procedure& procedure, Lsn lsn, const Outcome& outcome);

}  // namespace mneme
