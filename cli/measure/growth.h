// Growth: how a run's log, memory and throughput change while it is measured: a long run shows leaks, and a
// throughput that falls with the data.
//
// Samples     one a second; once there are kMostSamples, every second one is left out, and they come half as
//             often. So they span the run however long it is.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/output/output.h"

namespace mneme {

struct GrowthSample {
  double second = 0;  // since the measurement began
  uint64_t log_bytes = 0;
  uint64_t memory_bytes = 0;    // of rows and indexes, free room included
  uint64_t row_slots = 0;       // in use, or given back
  uint64_t resident_bytes = 0;  // of the process
};

class Growth {
 public:
  static constexpr size_t kMostSamples = 600;
  // The text speaks of runs that are as long.
  static constexpr double kLongSeconds = 60;

  // `second`: since the measurement began. Calls `measure` where a sample is due.
  void look(double second, const std::function<GrowthSample()>& measure);
  // Adds the last sample, of the measurement's end.
  void finish(double second, const std::function<GrowthSample()>& measure);

  const std::vector<GrowthSample>& samples() const { return samples_; }

  // `throughput`: of each whole second.
  Json json(std::span<const double> throughput) const;
  // A line for a long run, else nothing.
  std::string text(std::span<const double> throughput) const;

 private:
  std::vector<GrowthSample> samples_;
  double interval_seconds_ = 1;
};

}  // namespace mneme
