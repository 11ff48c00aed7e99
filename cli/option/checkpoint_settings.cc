#include "cli/option/checkpoint_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <thread>

#include "cli/option/option_table.h"
#include "cli/output/text.h"

namespace mneme {
namespace {

// Where every processor has a worker: what a checkpoint takes then, it takes from them.
constexpr double kShareBesideWorkers = 0.06;
constexpr std::string_view kOfReplay = "replay:";

// A number above 0.
std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0)) return std::nullopt;
  return value;
}

}  // namespace

void CheckpointSettings::add_options(CLI::App& command, bool keeps_archive) {
  const OptionTaker take(command);
  take("--checkpoint-every", every_);
  take("--checkpoint-share", share_);
  take("--checkpoint-threads", threads_);
  if (!keeps_archive) take("--log-archive", archive_);
}

Result<void> CheckpointSettings::choose(const CLI::App& command, DurableLogOptions& log) {
  if (every_ == "off") {
    for (const char* option : option_names(OptionGroup::kCheckpoint)) {
      if (option == std::string_view("--checkpoint-every") || !is_given(command, option)) continue;
      return invalid_argument(
          "{} concerns checkpoints, and none are taken: give --checkpoint-every, or leave it out", option);
    }
    return {};
  }
  of_replay_ = every_.starts_with(kOfReplay);
  const auto seconds = positive_number(std::string_view(every_).substr(of_replay_ ? kOfReplay.size() : 0));
  if (!seconds) {
    return invalid_argument("--checkpoint-every {}: give seconds, as 30, or replay:SECONDS, or off", every_);
  }
  const auto percent = positive_number(share_);
  if (share_ != "auto" && (!percent || *percent > 100)) {
    return invalid_argument("--checkpoint-share {}: give percent, above 0 and up to 100, or auto", share_);
  }
  seconds_ = *seconds;
  log.helpers = 1;
  return {};
}

Result<void> CheckpointSettings::take_when_full(DurableLogOptions& log) {
  if (!archive_.empty()) {
    return invalid_argument(
        "--log-archive gets the log's files, and a log on other machines has none: leave it out");
  }
  log.helpers = 1;
  when_full_ = true;
  return {};
}

std::vector<std::string> CheckpointSettings::arguments() const {
  if (!are_taken()) return {};
  std::vector<std::string> arguments{"--checkpoint-every",   every_,
                                     "--checkpoint-share",   share_,
                                     "--checkpoint-threads", std::to_string(threads_)};
  if (!archive_.empty()) arguments.insert(arguments.end(), {"--log-archive", archive_});
  return arguments;
}

double CheckpointSettings::share(uint32_t workers) const {
  if (share_ != "auto") return *positive_number(share_) / 100;
  // The log's flusher needs one, too.
  return workers + threads_ < std::thread::hardware_concurrency() ? 1 : kShareBesideWorkers / threads_;
}

std::unique_ptr<CheckpointSchedule> CheckpointSettings::start(WorkingDatabase& database,
                                                              const RecoveryReport& recovered,
                                                              const Output* output) const {
  if (!are_taken() && !when_full_) return nullptr;
  CheckpointScheduleOptions options;
  options.seconds = are_taken() ? seconds_ : std::numeric_limits<double>::infinity();
  options.of_replay = of_replay_;
  options.replayed_transactions = recovered.replay.statistics.transactions;
  options.replay_tps = recovered.replay.tps();
  options.checkpoint.threads = threads_;
  options.checkpoint.share = share(database.database().worker_count());
  options.checkpoint.archive = archive_;
  if (output != nullptr) {
    options.failed = [output](const Error& error) {
      output->notice(fmt::format("a checkpoint failed: {}", error.message));
    };
  }
  return std::make_unique<CheckpointSchedule>(database, std::move(options));
}

uint64_t checkpoint_bytes(const std::vector<TakenCheckpoint>& taken) {
  uint64_t sum = 0;
  for (const TakenCheckpoint& checkpoint : taken) sum += checkpoint.bytes;
  return sum;
}

Json checkpoints_json(const std::vector<TakenCheckpoint>& taken, uint64_t measured_from_ns) {
  Json list = Json::array();
  for (const TakenCheckpoint& each : taken) {
    list.push_back({{"lsn", each.lsn.value},
                    {"begin_seconds",
                     (static_cast<double>(each.begin_ns) - static_cast<double>(measured_from_ns)) / 1e9},
                    {"seconds", each.seconds},
                    {"capture_seconds", each.capture_seconds},
                    {"bytes", each.bytes},
                    {"rows", each.rows},
                    {"kept_images", each.kept_images},
                    {"kept_bytes", each.kept_bytes},
                    {"peak_kept_bytes", each.peak_kept_bytes},
                    {"removed_segments", each.removed_segments}});
  }
  return list;
}

std::string checkpoints_text(const std::vector<TakenCheckpoint>& taken) {
  uint64_t kept_images = 0;
  double seconds = 0;
  for (const TakenCheckpoint& each : taken) {
    kept_images += each.kept_images;
    seconds += each.seconds;
  }
  const auto count = static_cast<double>(taken.size());
  return fmt::format("  checkpoints: {}, each of {} in {}, with {} older images\n", taken.size(),
                     bytes_text(taken.back().bytes), seconds_text(seconds / count),
                     thousands(static_cast<uint64_t>(static_cast<double>(kept_images) / count)));
}

}  // namespace mneme
