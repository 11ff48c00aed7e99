// LogAdviser: decides which procedures' calls are logged by the rows that they change, because replay could
// not spread these calls over its threads.
//
// Flow        samples of a window -> SampledSchedule -> the replay's length with the choices made so far -> a
//             procedure on the longest path is tried the other way -> choices()
// Length      the longest path or, if this is more, all work divided by the cores. A replay that is bounded
//             by its work gains nothing by rows, and nothing is tried.
// To rows     the procedure that shortens the replay most, and then the next, as long as each shortens it by
//             AdviserOptions::least_gain, and the sample's log stays within most_growth of one of calls.
//             Where no procedure does so by itself, all on the path together are tried.
// Back        a procedure that has come to be worth less than kept_gain, or whose rows make no record.
// Barriers    are in the estimate, and so is the order of additions, which a log with any rows gives back. So
//             a log that would lose by this what it gains is left alone.
// Invariants  the choices follow from the samples alone, and their order: no clock is read.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "recovery/adaptive/sampled_schedule.h"

namespace mneme {

struct AdviserOptions {
  uint32_t cores = 1;      // of the replay
  double most_growth = 4;  // bytes of the log by those of a log of calls
  double least_gain = 0.1;
  double kept_gain = 0.03;
  bool log_has_rows = false;  // whatever is chosen: of other transactions
};

// Why a procedure is logged by its rows. Paths are parts of the work of the sample as it was logged before.
struct RowChoice {
  ProcedureId procedure;
  double path_before = 0;
  double path_after = 0;
  double call_bytes = 0;  // of a record in the mean, as a call, and as rows
  double row_bytes = 0;
};

class LogAdviser {
 public:
  LogAdviser(const Program& program, const Schema& schema, const AdviserOptions& options);

  // Judges a window's samples, in commit order, which must be valid until it returns. Fails if they are none
  // of the program's calls.
  Result<void> judge(std::span<const CallSample> samples);

  // By procedure.
  const std::vector<bool>& choices() const { return by_rows_; }
  // Returns an entry for each procedure that has ever been chosen: the reason of its last choice.
  std::span<const RowChoice> reasons() const { return reasons_; }

 private:
  struct Records {
    uint64_t count = 0;
    uint64_t call_bytes = 0;
    uint64_t row_bytes = 0;
    bool has_both = true;  // each may be logged either way
  };

  void count(std::span<const CallSample> samples);
  void take_back();
  void choose_more();
  ScheduleEstimate estimate(const std::vector<bool>& by_rows) {
    return schedule_.estimate(by_rows, options_.log_has_rows || ever_chosen_);
  }
  bool is_affordable(const ScheduleEstimate& estimate) const;
  void explain(ProcedureId procedure, const ScheduleEstimate& before, const ScheduleEstimate& after);
  bool choose_one(ScheduleEstimate& now, std::span<const ProcedureId> candidates);
  bool choose_together(ScheduleEstimate& now, std::span<const ProcedureId> candidates);

  const AdviserOptions options_;
  SampledSchedule schedule_;
  std::vector<bool> by_rows_;
  bool ever_chosen_ = false;      // then the log has rows, whatever is chosen from now on
  std::vector<Records> records_;  // by procedure, of the window
  std::vector<RowChoice> reasons_;
};

}  // namespace mneme
