// LogContentSettings: the options that say what a log's records hold of transactions: --log, --tuple-image,
// --adhoc, --hints, and what --log adaptive goes by.
//
// The first two are settled when a database is made, and kept in its manifest; the share of ad-hoc
// transactions and the hints are a run's. So is --log adaptive: it makes a log of calls, or goes on with one.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "logging/record/record_content.h"
#include "procedures/session/session.h"
#include "recovery/adaptive/adaptive_logging.h"

namespace mneme {

struct LogContent {
  RecordContent records = RecordContent::kCommand;
  TupleImage tuple_image = TupleImage::kFull;
  bool hints = false;  // whether the run's calls are logged with hints (analyzer/hints/told_procedures.h)
};

struct LogContentSettings {
  std::string log = "command";
  std::string tuple_image = "full";
  uint32_t ad_hoc_percent = 0;
  std::string hints = "on";
  uint32_t replay_cores;  // --log adaptive: of the recovery that it makes shorter
  double log_growth = AdviserOptions().most_growth;

  LogContentSettings();

  // For run and crash, which may log adaptively.
  void add_options(CLI::App& command);
  // --adhoc alone, for a server on a database that was made before.
  void add_ad_hoc_option(CLI::App& command);
  // For the process that a crash test kills.
  void add_run_options(CLI::App& command);
  bool is_off() const { return log == "off"; }
  bool is_adaptive() const { return log == "adaptive"; }
  // Whether calls are logged, and with hints.
  bool has_hints() const { return hints == "on" && (log == "command" || is_adaptive()); }
  // The content of the log of a database that is to be made. The log must not be off.
  Result<LogContent> content() const;
  // For a database that was made before, whose manifest overrules what was not said: an option that says
  // otherwise is refused.
  Result<void> keep(const CLI::App& command, const std::string& directory);
  // Fails if an option of the log is given where there is none.
  Result<void> check_off(const CLI::App& command) const;
  // Fails if an option of --log adaptive is given with another log, or --hints with a log of rows.
  Result<void> check_adaptive(const CLI::App& command) const;
  // What add_run_options() takes.
  std::vector<std::string> run_arguments() const;
  void choose(SessionOptions& session, uint64_t seed) const {
    session.ad_hoc_percent = ad_hoc_percent;
    session.ad_hoc_seed = seed;
  }
  // Starts to choose how calls are logged, and adds that to the sessions' options. Returns nullptr if the log
  // is not adaptive.
  std::unique_ptr<AdaptiveLogging> start_adaptive(const Program& program, const Database& database,
                                                  SessionOptions& session) const;

 private:
  Result<void> check_hints(const CLI::App& command) const;

  bool may_adapt_ = false;  // the command has these options
};

}  // namespace mneme
