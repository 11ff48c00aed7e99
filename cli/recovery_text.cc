#include "cli/recovery_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/execution_option.h"
#include "cli/text.h"
#include "engine/digest.h"

namespace mneme {
namespace {

// When the indexes are built at once.
std::string index_build_text(RecoveryScheme scheme) {
  return builds_indexes_last(scheme) ? "after replay" : "after the checkpoint";
}

}  // namespace

uint32_t default_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

void show_progress(RecoverOptions& options, Progress& progress) {
  options.progress = [&progress](RecoveryStage stage, uint64_t done, uint64_t total) {
    if (stage == RecoveryStage::kCompilation) {
      if (done == 0) progress.say(compiling_text(total));
      return;
    }
    if (done == 0) {
      progress.stage(fmt::format("recover: {}", name_of(stage)), total,
                     stage == RecoveryStage::kReplay ? "transactions" : "steps");
    }
    progress.update(done);
  };
}

std::string digest_text(const Database& database, uint32_t threads) {
  return digest_of(database, threads).to_string();
}

std::string recovery_text(const RecoveryReport& report, const std::string& digest) {
  const std::string scheme(name_of(report.scheme));
  std::string text = fmt::format("Recovered by {} with {}\n", scheme, counted(report.threads, "thread"));
  std::vector<std::vector<std::string>> rows = {
      {"manifest", seconds_text(report.manifest_seconds), ""},
      {"catalog", seconds_text(report.catalog_seconds), ""},
      {"checkpoint", seconds_text(report.checkpoint_seconds),
       fmt::format("{}, {}, at LSN {}", bytes_text(report.checkpoint_bytes), counted(report.checkpoint_rows, "row"),
                   report.checkpoint_lsn.value)},
      {"log load", seconds_text(report.log_load_seconds), bytes_text(report.log_bytes)}};
  if (replays_calls(report.scheme)) {
    rows.push_back({"analysis", seconds_text(report.analysis_seconds), ""});
    rows.push_back(
        {"machine code", seconds_text(report.compilation_seconds), std::string(name_of(report.execution))});
  }
  rows.push_back({"replay", seconds_text(report.replay_seconds),
                  fmt::format("{}, {}/s", counted(report.replay.transactions, "transaction"),
                              thousands(static_cast<uint64_t>(report.replay_tps())))});
  rows.push_back({"index build", seconds_text(report.index_build_seconds), index_build_text(report.scheme)});
  if (report.schema_changes > 0) {
    rows.push_back({"schema", seconds_text(report.schema_seconds), counted(report.schema_changes, "change")});
  }
  rows.push_back({"total", seconds_text(report.total_seconds), ""});
  text += table_text(rows);
  if (!report.dropped_reason.empty()) text += fmt::format("  {}\n", report.dropped_reason);
  if (report.holes > 0) {
    text += fmt::format("  {} of {} in the log, where crashes took records that nobody was told of\n",
                        counted(report.holes, "hole"), bytes_text(report.hole_bytes));
  }
  text += fmt::format("  state digest {}, log ends at LSN {}\n", digest, report.end.value);
  return text;
}

Json recovery_json(const RecoveryReport& report, const std::string& digest) {
  const bool runs_calls = replays_calls(report.scheme);
  return {{"command", "recover"},
          {"scheme", std::string(name_of(report.scheme))},
          {"replay", runs_calls ? Json(std::string(name_of(report.level))) : Json()},
          {"replay_order", runs_calls ? Json() : Json(std::string(name_of(report.order)))},
          {"threads", report.threads},
          {"execution", runs_calls ? Json(std::string(name_of(report.execution))) : Json()},
          {"manifest_seconds", report.manifest_seconds},
          {"catalog_seconds", report.catalog_seconds},
          {"checkpoint_seconds", report.checkpoint_seconds},
          {"checkpoint_bytes", report.checkpoint_bytes},
          {"checkpoint_lsn", report.checkpoint_lsn.value},
          {"log_load_seconds", report.log_load_seconds},
          {"log_bytes", report.log_bytes},
          {"log_file_bytes", report.log_file_bytes},
          {"dropped_bytes", report.dropped_bytes},
          {"dropped_reason", report.dropped_reason},
          {"log_holes", report.holes},
          {"log_hole_bytes", report.hole_bytes},
          {"analysis_seconds", report.analysis_seconds},
          {"compilation_seconds", report.compilation_seconds},
          {"replay_seconds", report.replay_seconds},
          {"index_build_seconds", report.index_build_seconds},
          {"index_build", index_build_text(report.scheme)},
          {"schema_changes", report.schema_changes},
          {"schema_seconds", report.schema_seconds},
          {"total_seconds", report.total_seconds},
          {"transactions", report.replay.transactions},
          {"replay_tps", report.replay_tps()},
          {"adhoc_transactions", runs_calls ? Json(report.replay.ad_hoc) : Json()},
          {"barriers", report.scheme == RecoveryScheme::kClrP ? Json(report.replay.barriers) : Json()},
          {"durable_lsn", report.end.value},
          {"state_digest", digest},
          {"breakdown",
           {{"pieces", report.replay.pieces},
            {"decode_seconds", report.replay.decode_seconds},
            {"dispatch_seconds", report.replay.dispatch_seconds}}},
          {"peak_rss_bytes", peak_rss_bytes()}};
}

}  // namespace mneme
