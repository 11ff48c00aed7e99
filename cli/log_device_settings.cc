#include "cli/log_device_settings.h"

#include "cli/duration_text.h"
#include "cli/number_checks.h"

namespace mneme {

void LogDeviceSettings::add_options(CLI::App& command) {
  command
      .add_option(
          "--log-device", device_,
          "file; null: drops everything; lossy: a file behind a volatile write cache, for crash tests; "
          "lossy-unsynced: and no sync is ever done, so that a crash test must fail")
      ->capture_default_str();
  command
      .add_option("--device-latency", latency_,
                  "as 100us: no flush of the log takes less, however fast the device is")
      ->capture_default_str();
  command
      .add_option(
          "--flush-interval", flush_interval_us_,
          "microseconds for which records gather for one flush; 0: greedy, the next flush begins when the "
          "device is free")
      ->check(not_negative())
      ->capture_default_str();
  command
      .add_option("--flush-bytes", flush_bytes_,
                  "send them sooner when so many bytes have gathered; without it 256 KiB")
      ->check(positive());
  command.add_option("--flush-records", flush_records_, "send them sooner when about so many have gathered")
      ->check(positive());
}

const std::vector<const char*>& LogDeviceSettings::options() {
  static const std::vector<const char*> kOptions{"--log-device", "--device-latency", "--flush-interval",
                                                 "--flush-bytes", "--flush-records"};
  return kOptions;
}

Result<void> LogDeviceSettings::choose(const CLI::App& command, DurableLogOptions& log) const {
  const Result<LogDeviceKind> kind = log_device_kind(device_);
  if (!kind) return kind.error();
  log.device = *kind;
  const Result<std::chrono::nanoseconds> latency = duration_of("--device-latency", latency_);
  if (!latency) return latency.error();
  log.device_latency = *latency;
  for (const char* option : {"--flush-bytes", "--flush-records"}) {
    if (flush_interval_us_ == 0 && command.count(option) > 0) {
      return invalid_argument(
          "{} bounds what --flush-interval gathers, and 0 gathers nothing: leave one of them out", option);
    }
  }
  log.group.interval = std::chrono::microseconds(flush_interval_us_);
  log.group.bytes = flush_bytes_;
  log.group.records = flush_records_;
  return {};
}

std::vector<std::string> LogDeviceSettings::arguments() const {
  std::vector<std::string> arguments{"--log-device",     device_,
                                     "--device-latency", latency_,
                                     "--flush-interval", std::to_string(flush_interval_us_)};
  const auto add = [&](const char* option, uint64_t value) {
    if (value == 0) return;
    arguments.push_back(option);
    arguments.push_back(std::to_string(value));
  };
  add("--flush-bytes", flush_bytes_);
  add("--flush-records", flush_records_);
  return arguments;
}

}  // namespace mneme
