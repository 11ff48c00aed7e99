#include "cli/measure/growth.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/output/text.h"
#include "measurement/statistics/trend.h"

namespace mneme {
namespace {

// The trend's test looks at all pairs of values.
constexpr size_t kMostTrendValues = 600;
constexpr double kShortestSeconds = 1;

double per_minute(const std::vector<GrowthSample>& samples, uint64_t GrowthSample::*part) {
  const double seconds = samples.back().second - samples.front().second;
  const double grown = static_cast<double>(samples.back().*part) - static_cast<double>(samples.front().*part);
  return seconds > 0 ? 60 * grown / seconds : 0;
}

struct ThroughputTrend {
  double percent_per_minute = 0;
  double probability = 1;
};

// Returns the trend of the seconds' values. A long run's seconds are averaged in stretches first.
ThroughputTrend trend_of_throughput(std::span<const double> throughput) {
  const size_t width = (throughput.size() + kMostTrendValues - 1) / kMostTrendValues;
  std::vector<double> means;
  for (size_t begin = 0; width > 0 && begin + width <= throughput.size(); begin += width) {
    double sum = 0;
    for (const double value : throughput.subspan(begin, width)) sum += value;
    means.push_back(sum / static_cast<double>(width));
  }
  if (means.size() < 2) return {};
  const Trend trend = trend_of(means);
  const double minutes = static_cast<double>((means.size() - 1) * width) / 60;
  return {100 * trend.change / minutes, trend.probability};
}

std::string growth_text(uint64_t first, uint64_t last, double a_minute) {
  const std::string rate = bytes_text(static_cast<uint64_t>(std::abs(a_minute)));
  return fmt::format("{} to {} ({}{} a minute)", bytes_text(first), bytes_text(last),
                     a_minute < 0 ? "-" : "+", rate);
}

}  // namespace

void Growth::look(double second, const std::function<GrowthSample()>& measure) {
  if (!samples_.empty() && second < samples_.back().second + interval_seconds_) return;
  samples_.push_back(measure());
  samples_.back().second = second;
  if (samples_.size() < kMostSamples) return;
  interval_seconds_ *= 2;
  size_t kept = 0;
  for (size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
  samples_.resize(kept);
}

void Growth::finish(double second, const std::function<GrowthSample()>& measure) {
  if (!samples_.empty() && second <= samples_.back().second) return;
  samples_.push_back(measure());
  samples_.back().second = second;
}

Json Growth::json(std::span<const double> throughput) const {
  Json samples = Json::array();
  for (const GrowthSample& sample : samples_) {
    samples.push_back({{"second", sample.second},
                       {"log_bytes", sample.log_bytes},
                       {"memory_bytes", sample.memory_bytes},
                       {"row_slots", sample.row_slots},
                       {"rss_bytes", sample.resident_bytes}});
  }
  Json json = {{"samples", samples}};
  // What a fraction of a second gains says nothing of a minute.
  if (samples_.size() < 2 || samples_.back().second - samples_.front().second < kShortestSeconds) return json;
  json["log_bytes_per_minute"] = per_minute(samples_, &GrowthSample::log_bytes);
  json["memory_bytes_per_minute"] = per_minute(samples_, &GrowthSample::memory_bytes);
  json["row_slots_per_minute"] = per_minute(samples_, &GrowthSample::row_slots);
  json["rss_bytes_per_minute"] = per_minute(samples_, &GrowthSample::resident_bytes);
  const ThroughputTrend trend = trend_of_throughput(throughput);
  json["throughput_trend"] = {{"percent_per_minute", trend.percent_per_minute},
                              {"test", "Mann-Kendall"},
                              {"probability", trend.probability}};
  return json;
}

std::string Growth::text(std::span<const double> throughput) const {
  if (samples_.size() < 2) return "";
  const GrowthSample& first = samples_.front();
  const GrowthSample& last = samples_.back();
  if (last.second - first.second < kLongSeconds) return "";
  const ThroughputTrend trend = trend_of_throughput(throughput);
  const auto part = [&](uint64_t GrowthSample::*member) {
    return growth_text(first.*member, last.*member, per_minute(samples_, member));
  };
  return fmt::format(
      "  growth in {}: log {}; rows and indexes {}; process {}; throughput {:+.2f}% a minute (Mann-Kendall p "
      "= "
      "{:.2f})\n",
      seconds_text(last.second - first.second), part(&GrowthSample::log_bytes),
      part(&GrowthSample::memory_bytes), part(&GrowthSample::resident_bytes), trend.percent_per_minute,
      trend.probability);
}

}  // namespace mneme
