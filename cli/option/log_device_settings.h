// LogDeviceSettings: where the log becomes durable, and when its records are sent there, as options on the
// command line.
//
// Invariants  an option that the chosen device has no use for is an error, never ignored.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "logging/commit/log_options.h"

namespace mneme {

class LogDeviceSettings {
 public:
  // `device` and `method` are what there is without --log-device and --io.
  explicit LogDeviceSettings(std::string device = "file", IoMethod method = IoMethod::kUring);

  void add_options(CLI::App& command);

  const std::string& device() const { return device_; }
  // After parsing. `log` says already how many workers there are, and which buffer.
  Result<void> choose(const CLI::App& command, DurableLogOptions& log) const;
  // The same choice, as arguments of another process, of a log of this layout.
  std::vector<std::string> arguments(LogLayout layout) const;

 private:
  Result<void> check_use(const CLI::App& command, LogDeviceKind kind, const DurableLogOptions& log) const;
  Result<void> check_streams_in_memory(const CLI::App& command, const DurableLogOptions& log) const;
  Result<void> check_directories(bool has_streams) const;
  Result<IoOptions> io() const;
  Result<std::optional<std::chrono::nanoseconds>> latency() const;
  Result<std::chrono::microseconds> flush_interval() const;

  std::string device_;
  std::string latency_ = "auto";
  std::string flush_interval_ = "auto";
  uint64_t flush_bytes_ = 0;
  uint64_t flush_records_ = 0;
  std::vector<std::string> directories_;
  IoOptions io_;  // before the two that are named after its values
  std::string io_method_;
  std::string io_sync_;
  std::string io_registered_ = "on";
  RemoteLogOptions remote_;
  uint32_t patience_seconds_ = 30;
};

}  // namespace mneme
