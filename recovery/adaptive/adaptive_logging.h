// AdaptiveLogging: a thread that watches the calls of a run, and chooses which procedures are logged by the
// rows that they change (--log adaptive).
//
// Flow        a window of samples (procedures/session/call_choices.h) -> LogAdviser -> CallChoices -> a rest
// Correctness a log of calls may hold records of rows anywhere, and every scheme that replays calls takes
//             both, in commit order. So whatever is chosen, and whenever, recovery finds the same state: a
//             choice changes how long it takes.
// Time        the first window opens at once, with more samples than the others. A rest is so long that the
//             thread works a thirtieth of the time at most. A window that fills slowly is judged after some
//             seconds with what there is.
// Log         its records are calls (RecordContent::kCommand).
// Threads     choices(): any, through sessions. The rest: one owner.
// Errors      a window that cannot be judged, for want of memory say, leaves the choices as they are.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "recovery/adaptive/log_adviser.h"

namespace mneme {

struct AdaptiveReport {
  struct OfProcedure {
    RowChoice reason;
    uint64_t calls = 0;      // that were logged by their rows
    bool is_chosen = false;  // still, at the end
  };
  uint64_t windows = 0;              // that were judged
  std::vector<OfProcedure> by_rows;  // procedures that were ever chosen, in the order of their first time
};

class AdaptiveLogging {
 public:
  // The program and the schema outlive it.
  AdaptiveLogging(const Program& program, const Schema& schema, const AdviserOptions& options);
  ~AdaptiveLogging();

  // For SessionOptions::choices. Sessions end before this does.
  CallChoices* choices() { return &choices_; }

  // Ends the thread. Sessions that have ended are counted.
  AdaptiveReport finish();

 private:
  static constexpr size_t kFirstWindow = 4096;
  static constexpr size_t kWindow = 1024;
  static constexpr size_t kFewestSamples = 64;

  void watch();
  void judge(std::span<const CallSample> samples);

  CallChoices choices_;
  LogAdviser adviser_;  // the thread's, until it is joined
  const size_t procedures_;
  uint64_t windows_ = 0;  // likewise
  // Written once, by finish(), and read by the thread. Relaxed: it hands nothing over.
  std::atomic<bool> is_stopped_{false};
  std::thread thread_;
};

}  // namespace mneme
