// LogBufferSettings: which log buffer, and how it is tuned, or a layout of several streams in its place, as
// options on the command line.
//
// Invariants  an option that the chosen buffer has no use for is an error, never ignored.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "logging/buffer/log_buffer_factory.h"
#include "logging/commit/log_options.h"

namespace mneme {

// The buffer's name, for people; "none" where workers write to the device by themselves, a layout's where it
// has several streams.
std::string_view buffer_name(const DurableLogOptions& log);

// When records of streams in persistent memory count as durable; "none" where there are no such.
std::string_view stream_commit_name(const DurableLogOptions& log);

class LogBufferSettings {
 public:
  LogBufferSettings();

  void add_options(CLI::App& command);

  const std::string& name() const { return name_; }
  // Whether records go to several streams, each with a buffer.
  bool is_distributed() const { return name_ == name_of(LogLayout::kDistributed); }
  // After parsing. The kinds that are named: one, the streams', or with `all`, where it is allowed, all of
  // them.
  Result<std::vector<LogBufferKind>> kinds(const CLI::App& command, bool all_allowed) const;
  Result<LogBufferTuning> tuning() const;
  // After parsing. The one buffer that a durable log is to use, or layout. Comes before
  // LogDeviceSettings::choose().
  Result<void> choose(const CLI::App& command, DurableLogOptions& log) const;
  // The same choice, as arguments of another process.
  std::vector<std::string> arguments() const;

 private:
  Result<void> choose_epochs(const CLI::App& command, DurableLogOptions& log) const;
  Result<void> choose_streams(DurableLogOptions& log) const;
  // The tuning of one stream's buffer.
  std::vector<std::string> tuning_arguments(LogBufferKind kind) const;
  bool is_epoch() const { return name_ == name_of(LogLayout::kEpoch); }

  std::string name_ = "default";
  uint32_t loggers_ = 0;  // 0: chosen
  std::string epoch_;
  uint32_t streams_ = 0;  // 0: chosen
  std::string stream_buffer_ = "default";
  std::string partition_ = "transaction";
  std::vector<std::string> stream_latencies_;
  std::string group_commit_ = "auto";
  std::string grasshopper_ = "both";
  LogBufferTuning tuning_;
};

}  // namespace mneme
