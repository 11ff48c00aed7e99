#include "cli/measure/recovery_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "cli/option/analysis_option.h"
#include "cli/option/execution_option.h"
#include "cli/output/text.h"
#include "engine/transaction/digest.h"

namespace mneme {
namespace {

// When the indexes are built at once.
std::string index_build_text(RecoveryScheme scheme) {
  return builds_indexes_last(scheme) ? "after replay" : "after the checkpoint";
}

std::string_view unit_of(RecoveryStage stage) {
  switch (stage) {
    case RecoveryStage::kReplay:
      return "transactions";
    case RecoveryStage::kCheckpoint:
      return "bytes";
    case RecoveryStage::kLog:
      return "segments";
    default:
      return "steps";
  }
}

ThreadTime sum_of(const std::vector<ThreadTime>& times) {
  ThreadTime sum;
  for (const ThreadTime& time : times) sum.add(time);
  return sum;
}

std::string breakdown_text(const std::vector<ThreadTime>& times) {
  if (times.empty()) return "";
  const ThreadTime sum = sum_of(times);
  const auto percent = [&](double seconds) { return 100 * seconds / sum.total_seconds(); };
  return fmt::format(
      "  the threads' time from the log's loading on: {:.0f}% data loading, {:.0f}% parameter checking, "
      "{:.0f}% dispatch, "
      "{:.0f}% useful work, {:.0f}% scheduling, {:.0f}% waiting\n",
      percent(sum.data_loading_seconds), percent(sum.parameter_checking_seconds),
      percent(sum.dispatch_seconds), percent(sum.useful_work_seconds), percent(sum.scheduling_seconds),
      percent(sum.waiting_seconds));
}

Json thread_time_json(const ThreadTime& time) {
  return {{"data_loading_seconds", time.data_loading_seconds},
          {"parameter_checking_seconds", time.parameter_checking_seconds},
          {"dispatch_seconds", time.dispatch_seconds},
          {"useful_work_seconds", time.useful_work_seconds},
          {"scheduling_seconds", time.scheduling_seconds},
          {"waiting_seconds", time.waiting_seconds}};
}

// `decode_seconds` and `dispatch_seconds` (of pieces: located and appended) are the replayer's own sums; the
// threads' time is there where it was measured.
Json breakdown_json(const RecoveryReport& report) {
  Json json = {{"pieces", report.replay.pieces},
               {"decode_seconds", report.replay.decode_seconds},
               {"dispatch_seconds", report.replay.dispatch_seconds}};
  if (report.thread_times.empty()) return json;
  json["all_threads"] = thread_time_json(sum_of(report.thread_times));
  Json threads = Json::array();
  for (const ThreadTime& time : report.thread_times) threads.push_back(thread_time_json(time));
  json["threads"] = threads;
  return json;
}

}  // namespace

uint32_t default_threads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

void show_progress(RecoverOptions& options, Progress& progress) {
  options.progress = [&progress,
                      begun = std::optional<RecoveryStage>()](const RecoveryProgress& now) mutable {
    if (now.stage == RecoveryStage::kCompilation) {
      if (now.done == 0) progress.say(compiling_text(now.total));
      return;
    }
    if (now.stage != begun) progress.stage("recover", name_of(now.stage), now.total, unit_of(now.stage));
    begun = now.stage;
    Progress::Now told{.done = now.done};
    if (now.lsn) told.lsn = now.lsn->value;
    progress.update(told);
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
       fmt::format("{}, {}, at LSN {}", bytes_text(report.checkpoint_bytes),
                   counted(report.checkpoint_rows, "row"), report.checkpoint_lsn.value)},
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
  text += breakdown_text(report.thread_times);
  text +=
      fmt::format("  applied {}, skipped {}, state digest {}, log ends at LSN {}\n",
                  thousands(report.replay.transactions), thousands(report.skipped), digest, report.end.value);
  return text;
}

Json recovery_json(const RecoveryReport& report, const std::string& digest) {
  const bool runs_calls = replays_calls(report.scheme);
  Json json = {{"command", "recover"},
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
               {"log_memory_bytes", report.log_memory_bytes},
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
               {"skipped", report.skipped},
               {"breakdown", breakdown_json(report)},
               {"peak_rss_bytes", peak_rss_bytes()}};
  if (report.scheme == RecoveryScheme::kClrP) add_analysis(json, report.analysis);
  return json;
}

}  // namespace mneme
