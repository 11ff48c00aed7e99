#include "cli/log_buffer_settings.h"

#include <algorithm>

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

}  // namespace

std::string_view buffer_name(const DurableLogOptions& log) {
  return is_nvm(log.device) ? "none" : name_of(log.buffer);
}

const std::vector<const char*>& LogBufferSettings::options() {
  static const std::vector<const char*> kOptions{"--log-buffer", "--slots", "--grasshopper", "--hop-distance",
                                                 "--scan-bits"};
  return kOptions;
}

void LogBufferSettings::add_options(CLI::App& command) {
  std::string names = "default";
  for (const LogBufferKind kind : log_buffer_kinds()) names += ", " + std::string(name_of(kind));
  command.add_option("--log-buffer", name_, "how threads put records in order: " + names)
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
  const Result<std::vector<LogBufferKind>> kind = kinds(command, /*all_allowed=*/false);
  if (!kind) return kind.error();
  const Result<LogBufferTuning> chosen = tuning();
  if (!chosen) return chosen.error();
  log.buffer = kind->front();
  log.tuning = *chosen;
  return {};
}

std::vector<std::string> LogBufferSettings::arguments() const {
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
