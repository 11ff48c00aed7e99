// LogContentSettings: the options that say what a log's records hold of transactions: --log, --tuple-image,
// --adhoc.
//
// The first two are settled when a database is made, and kept in its manifest; the share of ad-hoc
// transactions is a run's.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "logging/record/record_content.h"
#include "procedures/session/session.h"

namespace mneme {

struct LogContent {
  RecordContent records = RecordContent::kCommand;
  TupleImage tuple_image = TupleImage::kFull;
};

struct LogContentSettings {
  std::string log = "command";
  std::string tuple_image = "full";
  uint32_t ad_hoc_percent = 0;

  void add_options(CLI::App& command);
  // --adhoc alone, for a server on a database that was made before.
  void add_ad_hoc_option(CLI::App& command);
  bool is_off() const { return log == "off"; }
  // The content of the log of a database that is to be made. The log must not be off.
  Result<LogContent> content() const;
  // For a database that was made before, whose manifest overrules what was not said: an option that says
  // otherwise is refused.
  Result<void> keep(const CLI::App& command, const std::string& directory);
  // Fails if an option of the log is given where there is none.
  Result<void> check_off(const CLI::App& command) const;
  void choose(SessionOptions& session, uint64_t seed) const {
    session.ad_hoc_percent = ad_hoc_percent;
    session.ad_hoc_seed = seed;
  }
};

}  // namespace mneme
