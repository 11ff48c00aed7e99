// Results of runs, as `mneme --json` wrote them, to be compared: which of their fields are settings, which
// are measured, and by which a run is judged.
//
// Fields      a field's path is its names with dots between: "latency_us.p99". Lists are left out, but for
//             logbench's "results": there a buffer's name stands for its place, "results.scan.inserts_per_s".
//             Texts, truth values and null are settings, and so are numbers that an option or the machine
//             decides; other numbers are measured.
// Headline    the metrics that a comparison is judged by: run: throughput, or, of calls that come at a rate,
//             the median and the 99th percentile of the latency; recover: the whole time; logbench: inserts
//             a second; crash: each scheme's time. Where a result has instructions_per_call, which
//             scripts/regress --instructions adds, that alone: such a run's times are the counter's.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mneme {

struct ResultFields {
  std::string path;     // of the file
  std::string command;  // "run"
  std::string started;  // in UTC, as ISO 8601 has it, so that texts are in the order of times; may be empty
  bool has_rate = false;
  bool is_counted = false;                      // has instructions_per_call
  std::map<std::string, std::string> settings;  // by path, as text
  std::map<std::string, double> measured;       // by path
};

// The fields of one result. Fails if it is of no command that can be compared.
Result<ResultFields> result_fields(const std::string& path, const nlohmann::ordered_json& result);

// The result in a file, or those in all files *.json of a folder, in the order of their names. Fails if there
// is none, one is no result, or they are of different commands.
Result<std::vector<ResultFields>> read_results(const std::string& path);

struct MetricKind {
  bool is_higher_better;
  bool is_headline;
};
// Nothing if neither more nor less of it is better.
std::optional<MetricKind> metric_kind(const ResultFields& result, std::string_view path);

}  // namespace mneme
