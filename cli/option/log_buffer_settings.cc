#include "cli/option/log_buffer_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "cli/option/option_table.h"
#include "cli/output/duration_text.h"

namespace mneme {

namespace {

struct ModeName {
  GrasshopperMode mode;
  const char* name;
};
constexpr ModeName kModes[] = {
    {GrasshopperMode::kBoth, "both"}, {GrasshopperMode::kCrawl, "crawl"}, {GrasshopperMode::kHop, "hop"}};

struct TunedBy {
  const char* option;
  bool LogBufferTraits::*has_use;
};
constexpr TunedBy kTunedBy[] = {{"--slots", &LogBufferTraits::has_slots},
                                {"--grasshopper", &LogBufferTraits::hops},
                                {"--hop-distance", &LogBufferTraits::hops},
                                {"--scan-bits", &LogBufferTraits::has_scan_bits}};
constexpr StreamCommit kStreamCommits[] = {StreamCommit::kPassive, StreamCommit::kDurableCache,
                                           StreamCommit::kNone};
constexpr const char* kOfEpochs[] = {"--loggers", "--epoch"};
constexpr const char* kOfStreams[] = {"--streams", "--stream-buffer", "--partition", "--stream-latency",
                                      "--group-commit"};

template <typename Options>
Result<void> check_unused(const CLI::App& command, const Options& options, std::string_view buffer,
                          LogLayout whose) {
  for (const char* option : options) {
    if (command.count(option) == 0) continue;
    return invalid_argument("the log buffer {} has no use for {}: leave it out, or choose {}", buffer, option,
                            name_of(whose));
  }
  return {};
}

}  // namespace

std::string_view buffer_name(const DurableLogOptions& log) {
  if (log.layout && *log.layout != LogLayout::kStream) return name_of(*log.layout);
  return !traits_of(log.device).has_flusher ? "none" : name_of(log.buffer);
}

std::string_view stream_commit_name(const DurableLogOptions& log) {
  if (log.layout != LogLayout::kDistributed || traits_of(log.device).has_flusher) return "none";
  return name_of(log.streams.commit.value_or(StreamCommit::kPassive));
}

LogBufferSettings::LogBufferSettings()
    : epoch_(fmt::format("{}ms",
                         std::chrono::duration_cast<std::chrono::milliseconds>(kDefaultEpoch).count())) {}

void LogBufferSettings::add_options(CLI::App& command) {
  const OptionTaker take(command);
  take("--log-buffer", name_);
  take("--slots", tuning_.slots);
  take("--grasshopper", grasshopper_);
  take("--hop-distance", tuning_.hop_bytes);
  take("--scan-bits", tuning_.scan_bits);
  take("--loggers", loggers_);
  take("--epoch", epoch_);
  take("--streams", streams_);
  take("--stream-buffer", stream_buffer_);
  take("--partition", partition_);
  take("--stream-latency", stream_latencies_);
  take("--group-commit", group_commit_);
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
    const Result<LogBufferKind> kind = log_buffer_kind(is_distributed() ? stream_buffer_ : name_);
    if (!kind) return kind.error();
    named = {*kind};
  }
  for (const TunedBy& each : kTunedBy) {
    if (command.count(each.option) > 0 &&
        std::ranges::none_of(named, [&](LogBufferKind kind) { return traits_of(kind).*each.has_use; })) {
      return invalid_argument("the log buffer {} has no use for {}: leave it out", name_of(named.front()),
                              each.option);
    }
  }
  RETURN_IF_ERROR(check_unused(command, kOfEpochs, name_of(named.front()), LogLayout::kEpoch));
  if (!is_distributed()) {
    RETURN_IF_ERROR(check_unused(command, kOfStreams, name_of(named.front()), LogLayout::kDistributed));
  }
  return named;
}

Result<LogBufferTuning> LogBufferSettings::tuning() const {
  LogBufferTuning tuning = tuning_;
  const auto mode = std::ranges::find(kModes, grasshopper_, &ModeName::name);
  CHECK(mode != std::end(kModes));
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
  return is_distributed() ? choose_streams(log) : Result<void>();
}

Result<void> LogBufferSettings::choose_streams(DurableLogOptions& log) const {
  log.layout = LogLayout::kDistributed;
  log.streams.count = streams_;
  if (partition_ == "page") log.streams.partition = StreamPartition::kPage;
  if (group_commit_ != "auto") {
    const auto commit =
        std::ranges::find(kStreamCommits, group_commit_, [](StreamCommit each) { return name_of(each); });
    CHECK(commit != std::end(kStreamCommits));
    log.streams.commit = *commit;
  }
  for (const std::string& each : stream_latencies_) {
    const Result<std::chrono::nanoseconds> latency = duration_of("--stream-latency", each);
    if (!latency) return latency.error();
    log.streams.latencies.push_back(*latency);
  }
  return {};  // with the device it is checked there
}

Result<void> LogBufferSettings::choose_epochs(const CLI::App& command, DurableLogOptions& log) const {
  for (const TunedBy& each : kTunedBy) {
    if (command.count(each.option) > 0) {
      return invalid_argument("--log-buffer epoch has no use for {}: leave it out", each.option);
    }
  }
  RETURN_IF_ERROR(check_unused(command, kOfStreams, name_, LogLayout::kDistributed));
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
  std::vector<std::string> arguments{"--log-buffer", name_};
  if (is_distributed()) {
    arguments.insert(arguments.end(), {"--stream-buffer", stream_buffer_, "--partition", partition_});
    if (group_commit_ != "auto") arguments.insert(arguments.end(), {"--group-commit", group_commit_});
    if (streams_ > 0) arguments.insert(arguments.end(), {"--streams", std::to_string(streams_)});
    if (!stream_latencies_.empty()) {
      arguments.insert(arguments.end(),
                       {"--stream-latency", fmt::format("{}", fmt::join(stream_latencies_, ","))});
    }
  }
  const Result<LogBufferKind> kind = log_buffer_kind(is_distributed() ? stream_buffer_ : name_);
  if (!kind.ok()) return arguments;
  const std::vector<std::string> tuned = tuning_arguments(*kind);
  arguments.insert(arguments.end(), tuned.begin(), tuned.end());
  return arguments;
}

std::vector<std::string> LogBufferSettings::tuning_arguments(LogBufferKind kind) const {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::string& value) {
    arguments.push_back(option);
    arguments.push_back(value);
  };
  const LogBufferTraits& traits = traits_of(kind);
  if (traits.has_slots) add("--slots", std::to_string(tuning_.slots));
  if (traits.hops) add("--grasshopper", grasshopper_);
  if (traits.hops && tuning_.hop_bytes > 0) add("--hop-distance", std::to_string(tuning_.hop_bytes));
  if (traits.has_scan_bits) add("--scan-bits", std::to_string(tuning_.scan_bits));
  return arguments;
}

}  // namespace mneme
