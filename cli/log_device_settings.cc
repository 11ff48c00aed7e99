#include "cli/log_device_settings.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "cli/duration_text.h"
#include "cli/log_buffer_settings.h"
#include "cli/number_checks.h"
#include "logging/block_format.h"
#include "logging/epoch_log.h"

namespace mneme {

namespace {

struct MethodName {
  IoMethod value;
  const char* name;
};
constexpr MethodName kMethods[] = {
    {IoMethod::kUring, "uring"}, {IoMethod::kPolledUring, "uring-polled"}, {IoMethod::kThreads, "threads"}};

struct SyncName {
  IoSync value;
  const char* name;
};
constexpr SyncName kSyncs[] = {{IoSync::kFlush, "flush"}, {IoSync::kWriteThrough, "write-through"}};

const std::vector<std::string> kDefaultStripes{"stripe-1", "stripe-2"};

bool is_striped(LogDeviceKind kind) {
  return kind == LogDeviceKind::kStriped;
}
bool is_file(LogDeviceKind kind) {
  return kind == LogDeviceKind::kFile || kind == LogDeviceKind::kStriped;
}
bool has_segments(LogDeviceKind kind) {
  return kind != LogDeviceKind::kNull && !is_nvm(kind);
}
bool has_flusher(LogDeviceKind kind) {
  return !is_nvm(kind);
}

struct UsedBy {
  const char* option;
  bool (*has_use)(LogDeviceKind kind);
};
// An epoch's end flushes what loggers have, and nothing else.
constexpr const char* kNotOfLoggers[] = {"--flush-interval", "--flush-bytes", "--flush-records"};
constexpr UsedBy kUsedBy[] = {{"--log-directory", is_striped},   {"--io", is_file},
                              {"--io-registered", is_file},      {"--io-sync", has_segments},
                              {"--io-unit", has_segments},       {"--io-depth", has_flusher},
                              {"--flush-interval", has_flusher}, {"--flush-bytes", has_flusher},
                              {"--flush-records", has_flusher}};

template <typename Names, typename Value>
const char* name_in(const Names& names, Value value) {
  return std::ranges::find_if(names, [&](const auto& each) { return each.value == value; })->name;
}

}  // namespace

LogDeviceSettings::LogDeviceSettings(std::string device)
    : device_(std::move(device)),
      io_method_(name_in(kMethods, io_.method)),
      io_sync_(name_in(kSyncs, io_.sync)) {}

void LogDeviceSettings::add_options(CLI::App& command) {
  command
      .add_option(
          "--log-device", device_,
          "file; striped: over several directories; null: drops everything; lossy: a file behind a "
          "volatile write cache, for crash tests; lossy-unsynced: and no sync is ever done, so that a "
          "crash test must fail; nvm: emulated persistent memory, to which each worker writes its records; "
          "nvm-lossy: behind caches that a crash empties; nvm-lossy-unfenced: and they are never written "
          "back")
      ->capture_default_str();
  command.add_option("--log-directory", directories_,
                     "of the striped device, one for each stripe; of --log-buffer epoch, for the loggers in turns: "
                     "absolute, or inside the data directory; without it stripe-1 and stripe-2 there, or itself");
  command
      .add_option("--device-latency", latency_,
                  "as 100us: no flush of the log takes less, however fast the device is; auto: 1.2us of nvm, "
                  "nothing is added to others")
      ->capture_default_str();
  command
      .add_option("--io", io_method_,
                  "uring; uring-polled: a thread of the kernel's takes a processor and saves system calls; "
                  "threads: pwrite and fdatasync")
      ->capture_default_str();
  command
      .add_option(
          "--io-sync", io_sync_,
          "flush: an fdatasync after each write; write-through: writes that are durable when they end")
      ->capture_default_str();
  command
      .add_option("--io-registered", io_registered_,
                  "on: io_uring knows the log's buffers and files beforehand; off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command.add_option("--io-depth", io_.depth, "writes in flight at most")
      ->check(CLI::Range(uint32_t{1}, kMostInFlight))
      ->capture_default_str();
  command
      .add_option("--io-unit", io_.unit_bytes,
                  "bytes of one write, at most: a multiple of 4096; so many are sent at once")
      ->check(positive())
      ->capture_default_str();
  command
      .add_option(
          "--flush-interval", flush_interval_,
          "microseconds for which records gather for one flush; 0: greedy, the next flush begins when "
          "the last one ends; auto: 250 where the log has a processor to itself, 2000 where workers need "
          "them all. A synchronous commit does not wait for it")
      ->capture_default_str();
  command
      .add_option("--flush-bytes", flush_bytes_,
                  "send them sooner when so many bytes have gathered; without it --io-unit")
      ->check(positive());
  command.add_option("--flush-records", flush_records_, "send them sooner when about so many have gathered")
      ->check(positive());
}

const std::vector<const char*>& LogDeviceSettings::options() {
  static const std::vector<const char*> kOptions{"--log-device",  "--log-directory", "--device-latency",
                                                 "--io",          "--io-sync",       "--io-registered",
                                                 "--io-depth",    "--io-unit",       "--flush-interval",
                                                 "--flush-bytes", "--flush-records"};
  return kOptions;
}

Result<void> LogDeviceSettings::check_use(const CLI::App& command, LogDeviceKind kind, bool has_loggers) const {
  for (const UsedBy& each : kUsedBy) {
    const bool is_loggers = has_loggers && each.has_use == is_striped && has_segments(kind);
    if (command.count(each.option) > 0 && !each.has_use(kind) && !is_loggers) {
      return invalid_argument("the log device {} has no use for {}: leave it out", device_, each.option);
    }
  }
  for (const char* option : kNotOfLoggers) {
    if (!has_loggers || command.count(option) == 0) continue;
    return invalid_argument("--log-buffer epoch flushes at an epoch's end, and has no use for {}: leave it out", option);
  }
  if (is_nvm(kind)) {
    for (const char* option : LogBufferSettings::options()) {
      if (command.count(option) == 0) continue;
      return invalid_argument(
          "{} chooses how records are gathered for a flusher, and on {} each worker makes its own "
          "durable: leave it out",
          option, device_);
    }
  }
  if (io_method_ == "threads" && command.count("--io-registered") > 0) {
    return invalid_argument("--io threads has no use for --io-registered: leave it out");
  }
  return check_directories(has_loggers);
}

Result<void> LogDeviceSettings::check_directories(bool has_loggers) const {
  if (directories_.size() == 1 && !has_loggers) {
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
  if (method == std::end(kMethods)) {
    return invalid_argument("--io {}: there are uring, uring-polled and threads", io_method_);
  }
  const auto sync = std::ranges::find(kSyncs, io_sync_, &SyncName::name);
  if (sync == std::end(kSyncs)) {
    return invalid_argument("--io-sync {}: there are flush and write-through", io_sync_);
  }
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
  RETURN_IF_ERROR(check_use(command, *kind, log.layout == LogLayout::kEpoch));
  const Result<IoOptions> chosen = io();
  if (!chosen) return chosen.error();
  const Result<std::optional<std::chrono::nanoseconds>> least = latency();
  if (!least) return least.error();
  log.device = *kind;
  log.directories = directories_.empty() ? kDefaultStripes : directories_;
  if (!directories_.empty()) log.epoch.directories = directories_;
  log.io = *chosen;
  log.device_latency = *least;
  const Result<std::chrono::microseconds> interval = flush_interval();
  if (!interval) return interval.error();
  log.group.interval = *interval;
  log.group.bytes = flush_bytes_;
  log.group.records = flush_records_;
  return log.layout == LogLayout::kEpoch ? check_epoch_options(log) : Result<void>();
}

std::vector<std::string> LogDeviceSettings::arguments() const {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, std::string value) {
    arguments.push_back(option);
    arguments.push_back(std::move(value));
  };
  add("--log-device", device_);
  add("--device-latency", latency_);
  const Result<LogDeviceKind> kind = log_device_kind(device_);
  if (!kind.ok()) return arguments;  // choose() says so
  if (!has_flusher(*kind)) return arguments;
  add("--io-depth", std::to_string(io_.depth));
  if (flush_interval_ != "auto") add("--flush-interval", flush_interval_);
  if (flush_bytes_ > 0) add("--flush-bytes", std::to_string(flush_bytes_));
  if (flush_records_ > 0) add("--flush-records", std::to_string(flush_records_));
  for (const std::string& directory : directories_) add("--log-directory", directory);
  if (has_segments(*kind)) {
    add("--io-sync", io_sync_);
    add("--io-unit", std::to_string(io_.unit_bytes));
  }
  if (is_file(*kind)) {
    add("--io", io_method_);
    if (io_method_ != "threads") add("--io-registered", io_registered_);
  }
  return arguments;
}

}  // namespace mneme
