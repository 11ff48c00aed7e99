#include "cli/option/log_device_settings.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "base/check.h"
#include "cli/option/log_buffer_settings.h"
#include "cli/option/option_table.h"
#include "cli/output/duration_text.h"
#include "logging/layout/distributed_log.h"
#include "logging/layout/epoch_log.h"
#include "logging/record/block_format.h"
#include "logging/remote/log_servers.h"

namespace mneme {

namespace {

struct MethodName {
  IoMethod value;
  const char* name;
};
constexpr MethodName kMethods[] = {{IoMethod::kUring, "uring"},
                                   {IoMethod::kPolledUring, "uring-polled"},
                                   {IoMethod::kThreads, "threads"},
                                   {IoMethod::kInline, "inline"}};

struct SyncName {
  IoSync value;
  const char* name;
};
constexpr SyncName kSyncs[] = {{IoSync::kFlush, "flush"}, {IoSync::kWriteThrough, "write-through"}};

const std::vector<std::string> kDefaultStripes{"stripe-1", "stripe-2"};

// The device to which a flusher writes the log's files.
LogDeviceKind written_to(LogDeviceKind kind, LogLayout layout) {
  return layout == LogLayout::kDistributed ? traits_of(kind).destaged_to.value_or(kind) : kind;
}

struct UsedBy {
  const char* option;
  bool LogDeviceTraits::*has_use;
};
// An epoch's end flushes what loggers have, and nothing else.
constexpr const char* kNotOfLoggers[] = {"--flush-interval", "--flush-bytes",  "--flush-records",
                                         "--log-server",     "--log-key",      "--log-files",
                                         "--log-stream",     "--log-replicas", "--log-patience"};
constexpr UsedBy kUsedBy[] = {
    {"--log-directory", &LogDeviceTraits::is_striped},   {"--io", &LogDeviceTraits::has_io},
    {"--io-registered", &LogDeviceTraits::has_io},       {"--io-sync", &LogDeviceTraits::has_segments},
    {"--io-unit", &LogDeviceTraits::has_units},          {"--io-depth", &LogDeviceTraits::has_flusher},
    {"--flush-interval", &LogDeviceTraits::has_flusher}, {"--flush-bytes", &LogDeviceTraits::has_flusher},
    {"--flush-records", &LogDeviceTraits::has_flusher},  {"--log-server", &LogDeviceTraits::has_servers},
    {"--log-key", &LogDeviceTraits::has_servers},        {"--log-files", &LogDeviceTraits::has_servers},
    {"--log-stream", &LogDeviceTraits::is_replicated},   {"--log-replicas", &LogDeviceTraits::is_replicated},
    {"--log-patience", &LogDeviceTraits::is_replicated}};

template <typename Names, typename Value>
const char* name_in(const Names& names, Value value) {
  return std::ranges::find_if(names, [&](const auto& each) { return each.value == value; })->name;
}

}  // namespace

LogDeviceSettings::LogDeviceSettings(std::string device, IoMethod method)
    : device_(std::move(device)),
      io_method_(name_in(kMethods, method)),
      io_sync_(name_in(kSyncs, io_.sync)) {}

void LogDeviceSettings::add_options(CLI::App& command) {
  const OptionTaker take(command);
  take("--log-device", device_);
  take("--log-server", remote_.servers);
  take("--log-key", remote_.key_file);
  take("--log-files", remote_.files);
  take("--log-stream", remote_.stream);
  take("--log-replicas", remote_.replicas);
  take("--log-patience", patience_seconds_);
  take("--log-directory", directories_);
  take("--device-latency", latency_);
  take("--io", io_method_);
  take("--io-sync", io_sync_);
  take("--io-registered", io_registered_);
  take("--io-depth", io_.depth);
  take("--io-unit", io_.unit_bytes);
  take("--flush-interval", flush_interval_);
  take("--flush-bytes", flush_bytes_);
  take("--flush-records", flush_records_);
}

Result<void> LogDeviceSettings::check_use(const CLI::App& command, LogDeviceKind kind,
                                          const DurableLogOptions& log) const {
  const LogLayout layout = log.layout.value_or(LogLayout::kStream);
  const bool has_streams = layout != LogLayout::kStream;
  const LogDeviceTraits& device = traits_of(kind);
  const LogDeviceTraits& written = traits_of(written_to(kind, layout));
  for (const UsedBy& each : kUsedBy) {
    const bool is_streams =
        has_streams && each.has_use == &LogDeviceTraits::is_striped && written.has_segments;
    if (command.count(each.option) > 0 && !(written.*each.has_use) && !is_streams) {
      return invalid_argument("the log device {} has no use for {}: leave it out", device_, each.option);
    }
  }
  for (const char* option : kNotOfLoggers) {
    if (layout != LogLayout::kEpoch || command.count(option) == 0) continue;
    return invalid_argument(
        "--log-buffer epoch flushes at an epoch's end, and has no use for {}: leave it out", option);
  }
  if (!device.has_flusher && layout == LogLayout::kDistributed)
    RETURN_IF_ERROR(check_streams_in_memory(command, log));
  if (!device.has_flusher && layout != LogLayout::kDistributed) {
    for (const char* option : option_names(OptionGroup::kLogBuffer)) {
      if (command.count(option) == 0) continue;
      return invalid_argument(
          "{} chooses how records are gathered for a flusher, and on {} each worker makes its own "
          "durable: leave it out",
          option, device_);
    }
  }
  if (device.has_servers && remote_.servers.empty()) {
    return device.has_log_servers
               ? invalid_argument(
                     "--log-device remote needs --log-server HOST:PORT or unix:PATH: start one by `mneme "
                     "logd`")
               : invalid_argument("--log-device {} needs --log-server HOST:PORT[,...]", device_);
  }
  if (command.count("--log-stream") > 0) RETURN_IF_ERROR(check_stream_name(remote_.stream));
  const bool by_system_calls = io_method_ == "threads" || io_method_ == "inline";
  if (by_system_calls && command.count("--io-registered") > 0) {
    return invalid_argument("--io {} has no use for --io-registered: leave it out", io_method_);
  }
  if (written.has_io && io_method_ == "inline" && command.count("--io-depth") > 0) {
    return invalid_argument("--io inline has one write in flight: leave --io-depth out");
  }
  return check_directories(has_streams);
}

Result<void> LogDeviceSettings::check_streams_in_memory(const CLI::App& command,
                                                        const DurableLogOptions& log) const {
  if (command.count("--flush-records") > 0) {
    return invalid_argument(
        "on {} streams are destaged by bytes, and no worker waits for it: leave --flush-records out",
        device_);
  }
  if (command.count("--flush-interval") == 0) return {};
  if (log.streams.commit.value_or(StreamCommit::kPassive) != StreamCommit::kPassive) {
    return invalid_argument(
        "--flush-interval is how often the daemon of --group-commit passive looks, and {} has none: leave it "
        "out",
        name_of(*log.streams.commit));
  }
  if (flush_interval_ == "0") {
    return invalid_argument(
        "--flush-interval is how often the daemon of passive group commit looks: a microsecond at least");
  }
  return {};
}

Result<void> LogDeviceSettings::check_directories(bool has_streams) const {
  if (directories_.size() == 1 && !has_streams) {
    return invalid_argument("one --log-directory makes no stripes: name several");
  }
  std::set<std::string> seen;
  for (const std::string& each : directories_) {
    const std::filesystem::path path(each);
    if (each.empty() || each == "." || each.ends_with('/') || path.lexically_normal() != path ||
        *path.begin() == "..") {
      return invalid_argument(
          "--log-directory {}: name a directory by its absolute path, or one inside the data directory",
          each);
    }
    if (!seen.insert(each).second) return invalid_argument("--log-directory {} is named twice", each);
  }
  return {};
}

Result<IoOptions> LogDeviceSettings::io() const {
  IoOptions io = io_;
  const auto method = std::ranges::find(kMethods, io_method_, &MethodName::name);
  CHECK(method != std::end(kMethods));
  const auto sync = std::ranges::find(kSyncs, io_sync_, &SyncName::name);
  CHECK(sync != std::end(kSyncs));
  if (io.unit_bytes % kBlockBytes != 0 || io.unit_bytes > kLargestUnitBytes) {
    return invalid_argument("--io-unit {}: a multiple of {} up to {}", io.unit_bytes, kBlockBytes,
                            kLargestUnitBytes);
  }
  io.method = method->value;
  io.sync = sync->value;
  io.registered = io_registered_ == "on";
  return io;
}

Result<std::chrono::microseconds> LogDeviceSettings::flush_interval() const {
  if (flush_interval_ == "auto") return kChosenInterval;
  uint32_t number = 0;
  const char* end = flush_interval_.data() + flush_interval_.size();
  const auto read = std::from_chars(flush_interval_.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) {
    return invalid_argument("--flush-interval {}: say auto, or a number of microseconds", flush_interval_);
  }
  return std::chrono::microseconds(number);
}

Result<std::optional<std::chrono::nanoseconds>> LogDeviceSettings::latency() const {
  if (latency_ == "auto") return std::optional<std::chrono::nanoseconds>();
  const Result<std::chrono::nanoseconds> latency = duration_of("--device-latency", latency_);
  if (!latency) return latency.error();
  return std::optional(*latency);
}

Result<void> LogDeviceSettings::choose(const CLI::App& command, DurableLogOptions& log) const {
  const Result<LogDeviceKind> kind = log_device_kind(device_);
  if (!kind) return kind.error();
  RETURN_IF_ERROR(check_use(command, *kind, log));
  const Result<IoOptions> chosen = io();
  if (!chosen) return chosen.error();
  const Result<std::optional<std::chrono::nanoseconds>> least = latency();
  if (!least) return least.error();
  log.device = *kind;
  const LogDeviceTraits& device = traits_of(*kind);
  if (device.has_servers) {
    log.device_options.remote = remote_;
    if (device.has_log_servers) {
      const auto servers = log_server_addresses(remote_.servers);
      if (!servers) return servers.error();
      log.device_options.remote.servers = text_of(*servers);
    }
    log.device_options.remote.silence = std::chrono::seconds(patience_seconds_);
    // The manifest names it for later commands, wherever those are started.
    if (!remote_.key_file.empty())
      log.device_options.remote.key_file = std::filesystem::absolute(remote_.key_file).string();
  }
  log.device_options.directories = directories_.empty() ? kDefaultStripes : directories_;
  if (!directories_.empty()) log.stream_directories = directories_;
  log.device_options.io = *chosen;
  log.device_options.latency = *least;
  const Result<std::chrono::microseconds> interval = flush_interval();
  if (!interval) return interval.error();
  log.group.interval = *interval;
  log.group.bytes = flush_bytes_;
  log.group.records = flush_records_;
  if (log.layout == LogLayout::kEpoch) return check_epoch_options(log);
  return log.layout == LogLayout::kDistributed ? check_stream_options(log) : Result<void>();
}

std::vector<std::string> LogDeviceSettings::arguments(LogLayout layout) const {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, std::string value) {
    arguments.push_back(option);
    arguments.push_back(std::move(value));
  };
  add("--log-device", device_);
  add("--device-latency", latency_);
  const Result<LogDeviceKind> named = log_device_kind(device_);
  if (!named.ok()) return arguments;  // choose() says so
  const LogDeviceTraits& written = traits_of(written_to(*named, layout));
  if (!written.has_flusher) return arguments;
  if (!written.has_io || io_method_ != "inline") add("--io-depth", std::to_string(io_.depth));
  if (flush_interval_ != "auto") add("--flush-interval", flush_interval_);
  if (flush_bytes_ > 0) add("--flush-bytes", std::to_string(flush_bytes_));
  if (flush_records_ > 0) add("--flush-records", std::to_string(flush_records_));
  for (const std::string& directory : directories_) add("--log-directory", directory);
  if (written.has_units) add("--io-unit", std::to_string(io_.unit_bytes));
  if (written.has_segments) add("--io-sync", io_sync_);
  if (written.has_servers) {
    add("--log-server", remote_.servers);
    add("--log-files", std::to_string(remote_.files));
    if (!remote_.key_file.empty()) add("--log-key", remote_.key_file);
  }
  if (written.is_replicated) {
    if (!remote_.stream.empty()) add("--log-stream", remote_.stream);
    add("--log-replicas", std::to_string(remote_.replicas));
    add("--log-patience", std::to_string(patience_seconds_));
  }
  if (written.has_io) {
    add("--io", io_method_);
    if (io_method_.starts_with("uring")) add("--io-registered", io_registered_);
  }
  return arguments;
}

}  // namespace mneme
