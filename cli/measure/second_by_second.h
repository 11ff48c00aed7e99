// A run second by second: as JSON, and as a log of histograms.
#pragma once

#include <string>
#include <vector>

#include "cli/measure/driver.h"
#include "cli/output/output.h"

namespace mneme {

// [{"second","committed","p50_us","p95_us","p99_us","max_us"}], of all seconds in which calls counted, the
// last of which may be cut short. A second without a committed call has null latencies.
Json per_second_json(const RunReport& report);
// The committed calls of each whole second of the window.
std::vector<double> throughput_per_second(const RunReport& report);
// The same since the database began to be opened, `seconds_before` the window: nothing was committed in so
// many seconds, rounded.
Json throughput_since_open_json(const RunReport& report, double seconds_before);

// The latencies of each second and procedure as an interval log of HdrHistogram (measurement/latency/
// hdr_log.h), of a run with DriverOptions::seconds_by_procedure.
std::string histogram_log(const RunReport& report, const Program& program);

}  // namespace mneme
