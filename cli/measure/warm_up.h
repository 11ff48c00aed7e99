// WarmUp: what a run does before it is measured: it works for a given time, or until its throughput is
// steady.
//
// Steady      the throughput of the last kWindow seconds has no trend: the test of Mann and Kendall finds
//             none at 5%, or one that changes the throughput by less than 1% over these seconds, which a long
//             and quiet series shows whatever its cause (measurement/statistics/trend.h). Asked anew each
//             second.
// Limit       a run that is not steady by then is measured all the same, and its report says so.
// Units       seconds; throughput in commits a second.
// Threads     one owner, which reads the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/measure/call_tally.h"
#include "cli/output/output.h"
#include "measurement/statistics/trend.h"

namespace mneme {

struct WarmUpRule {
  double seconds = 0;  // the most, of one that lasts until the throughput is steady
  bool until_steady = false;
};
constexpr std::string_view kUntilSteady = "steady";
constexpr double kWarmUpLimitSeconds = 60;

// `text`: seconds, or "steady", which lasts for `limit_seconds` at most. Refuses a limit that is given for
// seconds.
Result<WarmUpRule> warm_up_rule(const std::string& text, double limit_seconds, bool is_limit_given);

struct Steadiness {
  bool is_steady = false;
  Trend trend;  // of the last seconds, a step being a second
};
constexpr size_t kSteadySeconds = 10;
// `per_second`: the throughput of each second so far. Nothing where there are too few of them to judge, or
// the median one has no commit.
std::optional<Steadiness> steadiness_of(std::span<const double> per_second);

struct WarmUpReport {
  WarmUpRule rule;
  double seconds = 0;                   // that it took
  std::optional<Steadiness> last = {};  // of one until steady: the last judgement; nothing: none was possible

  Json json() const;
  // A line; empty for one of a given time.
  std::string text() const;
};

// How long before a window's begin its threads know of it: they look at it with each call.
constexpr uint64_t kWarmUpNoticeNs = 10'000'000;

// The warm-up so far, or all of it.
double warm_up_seconds(const MeasuredWindow& window);

// Judges a run that warms up until it is steady, once a second.
class WarmUpWatch {
 public:
  WarmUpWatch(const WarmUpRule& rule, uint64_t start_ns) : rule_(rule), last_ns_(start_ns) {}

  // `committed`: by all workers so far. Lets the window begin if the throughput is steady.
  void look(uint64_t now_ns, uint64_t committed, MeasuredWindow& window);
  WarmUpReport report(const MeasuredWindow& window) const;

 private:
  const WarmUpRule rule_;
  std::vector<double> per_second_;
  std::optional<Steadiness> judged_;
  uint64_t last_ns_;
  uint64_t last_committed_ = 0;
};

}  // namespace mneme
