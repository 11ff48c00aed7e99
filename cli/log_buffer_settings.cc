#include "cli/log_buffer_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/duration_text.h"
#include "cli/number_checks.h"

namespace mneme {

namespace {

struct ModeName {
  GrasshopperMode mode;
  const char* name;
};
constexpr ModeName kModes[] = {
    {GrasshopperMode::kBoth, "both"}, {GrasshopperMode::kCrawl, "crawl"}, {GrasshopperMode::kHop, "hop"}};

bool has_consolidation_array(LogBufferKind kind) {
  return kind == LogBufferKind::kConsolidation || kind == LogBufferKind::kHybrid ||
         kind == LogBufferKind::kDelegated || kind == LogBufferKind::kSocket;
}

bool is_grasshopper(LogBufferKind kind) {
  return kind == LogBufferKind::kGrasshopper;
}

bool is_scan(LogBufferKind kind) {
  return kind == LogBufferKind::kScan;
}

struct TunedBy {
  const char* option;
  bool (*has_use)(LogBufferKind kind);
};
constexpr TunedBy kTunedBy[] = {{"--slots", has_consolidation_array},
                                {"--grasshopper", is_grasshopper},
                                {"--hop-distance", is_grasshopper},
                                {"--scan-bits", is_scan}};
constexpr const char* kOfEpochs[] = {"--loggers", "--epoch"};

}  // namespace

std::string_view buffer_name(const DurableLogOptions& log) {
  if (log.layout == LogLayout::kEpoch) return name_of(LogLayout::kEpoch);
  return is_nvm(log.device) ? "none" : name_of(log.buffer);
}

LogBufferSettings::LogBufferSettings()
    : epoch_(fmt::format("{}ms", std::chrono::duration_cast<std::chrono::milliseconds>(kDefaultEpoch).count())) {}

const std::vector<const char*>& LogBufferSettings::options() {
  static const std::vector<const char*> kOptions{"--log-buffer", "--slots", "--grasshopper", "--hop-distance",
                                                 "--scan-bits",  "--loggers", "--epoch"};
  return kOptions;
}

void LogBufferSettings::add_options(CLI::App& command) {
  std::string names = "default";
  for (const LogBufferKind kind : log_buffer_kinds()) names += ", " + std::string(name_of(kind));
  command
      .add_option("--log-buffer", name_,
                  "how threads put records in order: " + names +
                      "; or epoch: workers in groups, each with a logger and files of its own")
      ->capture_default_str();
  command
      .add_option("--loggers", loggers_,
                  "of epoch: so many; without it one for eight workers, and at least one for each directory")
      ->check(positive());
  command.add_option("--epoch", epoch_, "of epoch: as 5ms: how long an epoch lasts at most")
      ->capture_default_str();
  command
      .add_option("--slots", tuning_.slots,
                  "of a consolidation array (consolidation, hybrid, delegated, socket)")
      ->check(positive())
      ->capture_default_str();
  command.add_option("--grasshopper", grasshopper_, "both; crawl or hop alone, to be compared")
      ->capture_default_str();
  command
      .add_option("--hop-distance", tuning_.hop_bytes,
                  "bytes, a power of two: grasshopper's ranges; without it 4 MiB, or a quarter of the ring")
      ->check(positive());
  command
      .add_option("--scan-bits", tuning_.scan_bits,
                  "1: scan sets and tests its bitmap bit by bit; 64: word by word")
      ->capture_default_str();
}

Result<std::vector<LogBufferKind>> LogBufferSettings::kinds(const CLI::App& command, bool all_allowed) const {
  std::vector<LogBufferKind> named;
  if (is_epoch()) {
    return invalid_argument(
        "--log-buffer epoch is no buffer, but a layout of the whole log: measure it with mneme run");
  }
  if (all_allowed && name_ == "all") {
    named = log_buffer_kinds();
  } else {
    const Result<LogBufferKind> kind = log_buffer_kind(name_);
    if (!kind) return kind.error();
    named = {*kind};
  }
  for (const TunedBy& each : kTunedBy) {
    if (command.count(each.option) > 0 && std::ranges::none_of(named, each.has_use)) {
      return invalid_argument("the log buffer {} has no use for {}: leave it out", name_of(named.front()),
                              each.option);
    }
  }
  for (const char* option : kOfEpochs) {
    if (command.count(option) > 0) {
      return invalid_argument("the log buffer {} has no use for {}: leave it out, or choose epoch",
                              name_of(named.front()), option);
    }
  }
  return named;
}

Result<LogBufferTuning> LogBufferSettings::tuning() const {
  LogBufferTuning tuning = tuning_;
  const auto mode = std::ranges::find(kModes, grasshopper_, &ModeName::name);
  if (mode == std::end(kModes)) {
    return invalid_argument("--grasshopper {}: there are both, crawl and hop", grasshopper_);
  }
  tuning.grasshopper = mode->mode;
  return tuning;
}

Result<void> LogBufferSettings::choose(const CLI::App& command, DurableLogOptions& log) const {
  if (is_epoch()) return choose_epochs(command, log);
  // Without a name, a directory keeps the layout that it has.
  if (name_ != "default") log.layout = LogLayout::kStream;
  const Result<std::vector<LogBufferKind>> kind = kinds(command, /*all_allowed=*/false);
  if (!kind) return kind.error();
  const Result<LogBufferTuning> chosen = tuning();
  if (!chosen) return chosen.error();
  log.buffer = kind->front();
  log.tuning = *chosen;
  return {};
}

Result<void> LogBufferSettings::choose_epochs(const CLI::App& command, DurableLogOptions& log) const {
  for (const TunedBy& each : kTunedBy) {
    if (command.count(each.option) > 0) {
      return invalid_argument("--log-buffer epoch has no use for {}: leave it out", each.option);
    }
  }
  const Result<std::chrono::nanoseconds> interval = duration_of("--epoch", epoch_);
  if (!interval) return interval.error();
  log.layout = LogLayout::kEpoch;
  log.epoch.loggers = loggers_;
  log.epoch.interval = std::chrono::duration_cast<std::chrono::microseconds>(*interval);
  if (log.epoch.interval.count() == 0) {
    return invalid_argument("--epoch {}: an epoch lasts a microsecond at least", epoch_);
  }
  return {};
}

std::vector<std::string> LogBufferSettings::arguments() const {
  if (is_epoch()) {
    std::vector<std::string> of_epochs{"--log-buffer", name_, "--epoch", epoch_};
    if (loggers_ > 0) of_epochs.insert(of_epochs.end(), {"--loggers", std::to_string(loggers_)});
    return of_epochs;
  }
  const Result<LogBufferKind> kind = log_buffer_kind(name_);
  std::vector<std::string> arguments{"--log-buffer", name_};
  const auto add = [&](const char* option, const std::string& value) {
    arguments.push_back(option);
    arguments.push_back(value);
  };
  if (kind.ok() && has_consolidation_array(*kind)) add("--slots", std::to_string(tuning_.slots));
  if (kind.ok() && is_grasshopper(*kind)) add("--grasshopper", grasshopper_);
  if (kind.ok() && is_grasshopper(*kind) && tuning_.hop_bytes > 0) {
    add("--hop-distance", std::to_string(tuning_.hop_bytes));
  }
  if (kind.ok() && is_scan(*kind)) add("--scan-bits", std::to_string(tuning_.scan_bits));
  return arguments;
}

}  // namespace mneme
