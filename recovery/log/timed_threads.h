// TimedThreads: runs the phases of a replay, each once on every thread, and measures where the threads' time
// went.
//
// Invariants  a phase ends once all threads have run its job; a thread that is done before the last one
//             waits.
// Threads     run() and times(): the caller's, which takes part in the work.
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/function_ref.h"
#include "base/parallel.h"
#include "recovery/log/thread_time.h"

namespace mneme {

class TimedThreads {
 public:
  explicit TimedThreads(size_t threads) : times_(threads) {}

  // `part`: what the job's time counts as.
  void run(double ThreadTime::*part, FunctionRef<void(size_t)> job) {
    const size_t threads = times_.size();
    std::vector<double> took(threads);
    const uint64_t begin = monotonic_ns();
    for_each_in_parallel(threads, threads, [&](size_t t) {
      const uint64_t job_begin = monotonic_ns();
      job(t);
      took[t] = seconds_since(job_begin);
    });
    const double all = seconds_since(begin);
    for (size_t t = 0; t < threads; ++t) {
      times_[t].*part += took[t];
      times_[t].waiting_seconds += all - took[t];
    }
  }

  const std::vector<ThreadTime>& times() const { return times_; }

 private:
  std::vector<ThreadTime> times_;
};

}  // namespace mneme
