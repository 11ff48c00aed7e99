// CallTally: what one worker's calls came to, of those that count.
// MeasuredWindow: which calls of a run count, and in which second.
//
// Rule        a call counts in the window in which it ends, wherever it began or was due. A run that is
//             overloaded ends calls that were due in the warm-up: they count, with all of their wait.
// End         no call begins at the window's end or after it. Calls that began before are counted until the
//             last of them has ended, in seconds past the window's.
// Invariants  the calls of all seconds together are all that are counted.
// Units       nanoseconds of the monotonic clock, which the caller reads: neither class looks at a clock.
// Threads     a window's begin may be brought forward by one thread, while others ask; a tally has one owner,
//             but for committed().
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/histogram.h"
#include "engine/transaction/conflict_cause.h"
#include "measurement/latency/latency_series.h"

namespace mneme {

class MeasuredWindow {
 public:
  // Without a duration it has no end.
  MeasuredWindow(uint64_t start_ns, uint64_t warmup_ns, std::optional<uint64_t> duration_ns)
      : start_ns_(start_ns), duration_ns_(duration_ns), begin_ns_(start_ns + warmup_ns) {}

  // Lets the window begin then, if that is earlier. A time that is yet to come, so that all threads know of
  // it by then.
  void begin_at(uint64_t ns) {
    if (ns < begin_ns()) begin_ns_.store(ns, std::memory_order_relaxed);
  }

  uint64_t start_ns() const { return start_ns_; }
  uint64_t begin_ns() const { return begin_ns_.load(std::memory_order_relaxed); }
  // Whether a call may begin.
  bool may_begin(uint64_t now_ns) const { return now_ns < end_ns(); }
  // Whether what ends now counts.
  bool counts(uint64_t now_ns) const { return now_ns >= begin_ns(); }
  // The second, from 0, of an end that counts.
  size_t second_of(uint64_t now_ns) const { return (now_ns - begin_ns()) / kSecondNs; }
  // The length of what was measured, if the last call that counts ended at `last_end_ns`, 0 if none did, and
  // the run at `now_ns`: all of the window, and the time in which late calls ended.
  double measured_seconds(uint64_t last_end_ns, uint64_t now_ns) const;

 private:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kSecondNs = 1'000'000'000;

  uint64_t end_ns() const { return duration_ns_ ? begin_ns() + *duration_ns_ : kNever; }

  const uint64_t start_ns_;
  const std::optional<uint64_t> duration_ns_;
  // Relaxed: it carries nothing else.
  std::atomic<uint64_t> begin_ns_;
};

struct ProcedureReport {
  uint64_t committed = 0;
  uint64_t aborted = 0;        // attempts that met a conflict
  uint64_t user_aborts = 0;    // calls that raised
  ConflictCounts conflicts{};  // why attempts were aborted
  Histogram latency_ns;

  void add(const ProcedureReport& other);
};

class CallTally {
 public:
  // `by_procedure`: the seconds keep each procedure's latencies apart, and not only all together.
  CallTally(const MeasuredWindow& window, size_t procedures, bool by_procedure);

  // Attempts of a call met conflicts, of these causes.
  void conflicted(size_t procedure, uint32_t attempts, const ConflictCounts& causes, uint64_t now_ns);
  // A call that began, or was due, at `begin_ns` was acknowledged.
  void ended(size_t procedure, bool committed, uint64_t begin_ns, uint64_t now_ns);

  const std::vector<ProcedureReport>& procedures() const { return procedures_; }
  LatencySeries& series() { return series_; }
  // When the last call that counts ended; 0: none did.
  uint64_t last_end_ns() const { return last_end_ns_; }
  // Calls that were committed, the warm-up's included. Any thread may look.
  uint64_t committed() const { return committed_.load(std::memory_order_relaxed); }

 private:
  const MeasuredWindow& window_;
  const bool by_procedure_;
  std::vector<ProcedureReport> procedures_;
  LatencySeries series_;
  uint64_t last_end_ns_ = 0;
  // Written by the owner, read by others to show progress. Relaxed: a number to look at.
  std::atomic<uint64_t> committed_{0};
};

}  // namespace mneme
