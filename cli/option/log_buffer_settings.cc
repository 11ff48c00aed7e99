#include "cli/option/log_buffer_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/option/number_checks.h"
#include "cli/output/duration_text.h"

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
  return is_nvm(log.device) ? "none" : name_of(log.buffer);
}

std::string_view stream_commit_name(const DurableLogOptions& log) {
  if (log.layout != LogLayout::kDistributed || !is_nvm(log.device)) return "none";
  return name_of(log.streams.commit.value_or(StreamCommit::kPassive));
}

LogBufferSettings::LogBufferSettings()
    : epoch_(fmt::format("{}ms",
                         std::chrono::duration_cast<std::chrono::milliseconds>(kDefaultEpoch).count())) {}

const std::vector<const char*>& LogBufferSettings::options() {
  static const std::vector<const char*> kOptions{
      "--log-buffer", "--slots",   "--grasshopper",   "--hop-distance", "--scan-bits",      "--loggers",
      "--epoch",      "--streams", "--stream-buffer", "--partition",    "--stream-latency", "--group-commit"};
  return kOptions;
}

void LogBufferSettings::add_options(CLI::App& command) {
  std::string names = "default";
  for (const LogBufferKind kind : log_buffer_kinds()) names += ", " + std::string(name_of(kind));
  command
      .add_option("--log-buffer", name_,
                  "how threads put records in order: " + names +
                      "; or epoch: workers in groups, each with a logger and files of its own; or "
                      "distributed: several "
                      "streams, one a socket")
      ->capture_default_str();
  command
      .add_option("--loggers", loggers_,
                  "of epoch: so many; without it one for eight workers, and at least one for each directory")
      ->check(positive());
  command.add_option("--epoch", epoch_, "of epoch: as 5ms: how long an epoch lasts at most")
      ->capture_default_str();
  command
      .add_option("--streams", streams_,
                  "of distributed: so many; without it one a NUMA node, and at least two. Workers write to a "
                  "stream of "
                  "their node; on a machine with one, streams are dealt to them in turns")
      ->check(positive());
  command
      .add_option("--stream-buffer", stream_buffer_,
                  "of distributed: each stream's, one of the buffers above")
      ->capture_default_str();
  command
      .add_option("--partition", partition_,
                  "of distributed: transaction: a record goes to its worker's stream; page: the changes of a "
                  "row to its "
                  "page's, a range of row slots")
      ->capture_default_str();
  command
      .add_option(
          "--stream-latency", stream_latencies_,
          "of distributed, as 0,2ms: as --device-latency, for the streams in turns, so that some are slower")
      ->delimiter(',');
  command
      .add_option("--group-commit", group_commit_,
                  "of distributed on persistent memory (--log-device nvm): passive: workers fence their "
                  "records, and a daemon "
                  "finds out up to where all have; durable-cache: caches survive a crash, too, so there is "
                  "nothing to fence; "
                  "none: whoever has fenced his own record is told that it is durable, so that a crash test "
                  "must fail")
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
      ->check(CLI::IsMember({uint32_t{1}, uint32_t{64}}))
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
    const Result<LogBufferKind> kind = log_buffer_kind(is_distributed() ? stream_buffer_ : name_);
    if (!kind) return kind.error();
    named = {*kind};
  }
  for (const TunedBy& each : kTunedBy) {
    if (command.count(each.option) > 0 && std::ranges::none_of(named, each.has_use)) {
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
  return is_distributed() ? choose_streams(log) : Result<void>();
}

Result<void> LogBufferSettings::choose_streams(DurableLogOptions& log) const {
  log.layout = LogLayout::kDistributed;
  log.streams.count = streams_;
  if (partition_ == "page") {
    log.streams.partition = StreamPartition::kPage;
  } else if (partition_ != "transaction") {
    return invalid_argument("--partition {}: there are transaction and page", partition_);
  }
  if (group_commit_ != "auto") {
    const auto commit =
        std::ranges::find(kStreamCommits, group_commit_, [](StreamCommit each) { return name_of(each); });
    if (commit == std::end(kStreamCommits)) {
      return invalid_argument("--group-commit {}: there are passive, durable-cache and none", group_commit_);
    }
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
  if (has_consolidation_array(kind)) add("--slots", std::to_string(tuning_.slots));
  if (is_grasshopper(kind)) add("--grasshopper", grasshopper_);
  if (is_grasshopper(kind) && tuning_.hop_bytes > 0) add("--hop-distance", std::to_string(tuning_.hop_bytes));
  if (is_scan(kind)) add("--scan-bits", std::to_string(tuning_.scan_bits));
  return arguments;
}

}  // namespace mneme
