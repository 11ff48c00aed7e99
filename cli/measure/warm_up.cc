#include "cli/measure/warm_up.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "cli/output/text.h"

namespace mneme {
namespace {

constexpr double kSignificance = 0.05;
constexpr double kNegligibleChange = 0.01;
constexpr uint64_t kSecondNs = 1'000'000'000;

double percent_of_change(const Trend& trend) {
  return 100 * trend.change / static_cast<double>(kSteadySeconds - 1);
}

}  // namespace

Result<WarmUpRule> warm_up_rule(const std::string& text, double limit_seconds, bool is_limit_given) {
  if (text == kUntilSteady) return WarmUpRule{limit_seconds, true};
  if (is_limit_given)
    return invalid_argument("--warmup-limit is for a warm-up that has no time: give --warmup steady as well");
  WarmUpRule rule;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, rule.seconds);
  if (error != std::errc() || stopped != end || !(rule.seconds >= 0) || !std::isfinite(rule.seconds)) {
    return invalid_argument("--warmup {}: say how many seconds are not measured, from 0 on, or steady", text);
  }
  return rule;
}

std::optional<Steadiness> steadiness_of(std::span<const double> per_second) {
  if (per_second.size() < kSteadySeconds) return std::nullopt;
  const std::span<const double> last = per_second.last(kSteadySeconds);
  Steadiness judged{.trend = trend_of(last)};
  size_t without_commit = 0;
  for (const double value : last) without_commit += value == 0 ? 1 : 0;
  if (without_commit * 2 >= kSteadySeconds) return std::nullopt;
  judged.is_steady =
      judged.trend.probability >= kSignificance || std::abs(judged.trend.change) < kNegligibleChange;
  return judged;
}

Json WarmUpReport::json() const {
  Json json = {{"rule", rule.until_steady ? kUntilSteady : "seconds"}, {"seconds", seconds}};
  if (!rule.until_steady) return json;
  json["limit_seconds"] = rule.seconds;
  json["steady"] = last && last->is_steady;
  json["test"] = "Mann-Kendall";
  json["window_seconds"] = kSteadySeconds;
  json["probability"] = last ? Json(last->trend.probability) : Json();
  json["percent_per_second"] = last ? Json(percent_of_change(last->trend)) : Json();
  return json;
}

std::string WarmUpReport::text() const {
  if (!rule.until_steady) return "";
  const std::string took = seconds_text(seconds);
  if (!last) {
    return fmt::format(
        "  warm-up: {}, the most that is allowed, which is too short to judge the throughput by\n", took);
  }
  const std::string trend =
      fmt::format("{:+.2f}% a second over {} s, Mann-Kendall p = {:.2f}", percent_of_change(last->trend),
                  kSteadySeconds, last->trend.probability);
  if (last->is_steady)
    return fmt::format("  warm-up: {} until the throughput was steady ({})\n", took, trend);
  return fmt::format("  warm-up: {}, the most that is allowed; the throughput was NOT STEADY ({})\n", took,
                     trend);
}

double warm_up_seconds(const MeasuredWindow& window) {
  return static_cast<double>(window.begin_ns() - window.start_ns()) / 1e9;
}

void WarmUpWatch::look(uint64_t now_ns, uint64_t committed, MeasuredWindow& window) {
  if (!rule_.until_steady || window.counts(now_ns) || now_ns < last_ns_ + kSecondNs) return;
  // Once the window's begin is set, what comes until then does not matter.
  if (judged_ && judged_->is_steady) return;
  per_second_.push_back(static_cast<double>(committed - last_committed_) * 1e9 /
                        static_cast<double>(now_ns - last_ns_));
  last_ns_ = now_ns;
  last_committed_ = committed;
  judged_ = steadiness_of(per_second_);
  if (judged_ && judged_->is_steady) window.begin_at(now_ns + kWarmUpNoticeNs);
}

WarmUpReport WarmUpWatch::report(const MeasuredWindow& window) const {
  return {rule_, warm_up_seconds(window), judged_};
}

}  // namespace mneme
