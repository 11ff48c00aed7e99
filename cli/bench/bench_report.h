// BenchReport: what a bench measured on each of its targets, as text, as JSON and as a page.
//
// JSON        {"command":"bench","workload","seed","clients","rounds",...,"targets":[TARGET],"comparison"}.
//             TARGET has `mneme run`'s fields for all of its rounds together, "by_the_book" among them, and
//             "rounds":[...] with each;
//             "throughput_tps" is the median of the rounds. With one target its fields stand beside
//             "command", too, so that a reader of run's result reads this one.
// Intervals   "throughput_interval" is the 95% interval of the rounds' median, by the bootstrap: null for one
//             round, and too narrow for fewer than ten.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/bench_driver.h"
#include "cli/bench/target_connection.h"
#include "cli/bench/target_database.h"
#include "cli/measure/by_the_book.h"
#include "cli/output/output.h"
#include "workloads/shared/workload.h"

namespace mneme {

struct TargetReport {
  Target target;
  ServerDescription server;
  std::vector<std::pair<std::string, std::string>> settings;  // of the server
  std::optional<double> load_seconds;                         // of the last load; nothing: --no-load
  std::vector<RoundReport> rounds;
  std::optional<BookReport> book;  // of all rounds; nothing: no round has ended
  std::optional<std::vector<Check>> checks;
  std::vector<TableState> tables;

  RoundReport all_rounds() const;  // the rounds after each other
  double median_throughput() const;
};

struct TableComparison {
  std::string table;
  size_t target = 0;   // that differs from the first
  std::string detail;  // the first difference
};

struct BenchReport {
  std::string workload;
  std::string scale_field;
  uint32_t scale = 1;
  uint64_t seed = 1;
  BenchOptions options;
  std::vector<std::string> procedures;  // by ProcedureId
  std::vector<TargetReport> targets;
  bool audits = false;  // the text shows each line of `book`
  bool compares_tables = false;
  std::vector<TableComparison> differences;
  bool is_partial = false;

  Json json() const;
  std::string text() const;
  // The names of the checks that fail, each with its target.
  std::vector<std::string> broken() const;
};

}  // namespace mneme
