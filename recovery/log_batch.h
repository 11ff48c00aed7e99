// LogBatch: the transactions of one stretch of the log, decoded, in commit order: what is dispatched and replayed as a unit.
//
// Invariants  texts and arrays of the calls are valid until the next load(), and point into the records, as changes do.
//             The steady state allocates nothing.
//             An ad-hoc transaction has no call, but the changes that it made. One that stands alone is a batch by
//             itself.
// Threads     one owner while it loads; then constant, for any thread.
// Errors      bytes that encode no call of the program, or no rows of its tables: kDamaged, with the record's LSN.
#pragma once

#include <span>
#include <vector>

#include "base/arena.h"
#include "base/function_ref.h"
#include "base/prefetch.h"
#include "base/result.h"
#include "engine/change_codec.h"
#include "logging/log_reader.h"
#include "procedures/call.h"
#include "procedures/interpreter.h"
#include "procedures/program.h"

namespace mneme {

// A row that an ad-hoc transaction changed.
struct LoggedChange {
  RowChange row;
  ColumnBits changed{ByteSpan()};  // of an update or a patch: of ChangeCodec::rest
};

class LogBatch {
 public:
  using StandsAlone = FunctionRef<bool(std::span<const LoggedChange>)>;

  // Replaces the batch by the first `limit` records, or fewer: up to the next transaction that stands alone.
  Result<void> load(const Program& program, const ChangeCodec& codec, std::span<const RecordView> records,
                    uint32_t limit, StandsAlone stands_alone);

  uint32_t size() const { return static_cast<uint32_t>(transactions_.size()); }
  Lsn lsn(uint32_t transaction) const { return transactions_[transaction].lsn; }

  bool is_ad_hoc(uint32_t transaction) const { return transactions_[transaction].is_ad_hoc; }
  uint32_t ad_hoc_count() const { return ad_hoc_count_; }
  bool stands_alone() const { return stands_alone_; }
  // Of one that is not ad hoc.
  const Call& call(uint32_t transaction) const { return calls_[transaction]; }
  // Asks for what call() will return, and once that is there, for its arguments.
  void prefetch_call(uint32_t transaction) const { prefetch_lines(&calls_[transaction], sizeof(Call)); }
  void prefetch_arguments(uint32_t transaction) const {
    prefetch_lines(calls_[transaction].arguments.data(),
                   calls_[transaction].arguments.size() * sizeof(Argument));
  }
  // Of one that is.
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

  Result<void> add_call(const Program& program, const RecordView& record, ByteSpan payload);
  Result<void> add_changes(const ChangeCodec& codec, const RecordView& record);

  Arena arena_;
  std::vector<Transaction> transactions_;
  std::vector<Call> calls_;  // may be longer than transactions_: calls are kept for their vectors
  std::vector<LoggedChange> changes_;
  uint32_t ad_hoc_count_ = 0;
  bool stands_alone_ = false;
};

// Why replay can't go on after `outcome` of the transaction at `lsn`: the log and the rows do not fit each other.
Error replay_error(const ir::Procedure& procedure, Lsn lsn, const Outcome& outcome);

}  // namespace mneme
