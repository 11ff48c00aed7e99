#include "cli/measure/second_by_second.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "measurement/latency/hdr_log.h"
#include "measurement/machine/build.h"
#include "measurement/machine/host.h"

namespace mneme {

Json per_second_json(const RunReport& report) {
  Json seconds = Json::array();
  const size_t count = std::max(seconds_of(report.series), static_cast<size_t>(std::ceil(report.seconds)));
  for (size_t second = 0; second < count; ++second) {
    const HdrHistogram latencies = latencies_in(report.series, second);
    const auto us = [&](uint64_t ns) {
      return latencies.count() == 0 ? Json() : Json(static_cast<double>(ns) / 1000);
    };
    seconds.push_back({{"second", second},
                       {"committed", latencies.count()},
                       {"p50_us", us(latencies.quantile(0.5))},
                       {"p95_us", us(latencies.quantile(0.95))},
                       {"p99_us", us(latencies.quantile(0.99))},
                       {"max_us", us(latencies.max())}});
  }
  return seconds;
}

std::string histogram_log(const RunReport& report, const Program& program) {
  const int64_t begun_ns = date_ns() - static_cast<int64_t>(monotonic_ns() - report.measured_from_ns);
  HdrLog log(static_cast<double>(begun_ns) / 1e9, version_text(this_build()));
  for (size_t second = 0; second < seconds_of(report.series); ++second) {
    for (size_t procedure = 0; procedure < program.procedures.size(); ++procedure) {
      const HdrHistogram latencies = latencies_in(report.series, second, procedure);
      const auto begin = static_cast<double>(second);
      if (latencies.count() > 0)
        log.add(program.procedures[procedure].name, begin, std::clamp(report.seconds - begin, 0.0, 1.0),
                latencies);
    }
  }
  return log.text();
}

std::vector<double> throughput_per_second(const RunReport& report) {
  std::vector<double> throughput;
  for (size_t second = 0; second < report.whole_seconds; ++second)
    throughput.push_back(static_cast<double>(latencies_in(report.series, second).count()));
  return throughput;
}

Json throughput_since_open_json(const RunReport& report, double seconds_before) {
  Json throughput = Json::array();
  for (double second = 0.5; second < seconds_before; ++second) throughput.push_back(0.0);
  for (const double each : throughput_per_second(report)) throughput.push_back(each);
  return throughput;
}

}  // namespace mneme
