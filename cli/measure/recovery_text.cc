#include "cli/measure/recovery_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "cli/option/analysis_option.h"
#include "cli/option/execution_option.h"
#include "cli/output/text.h"
#include "engine/transaction/digest.h"

namespace mneme {
namespace {

// When the indexes are built at once.
std::string index_build_text(const RecoveryScheme& scheme) {
  return scheme.builds_indexes_last ? "after replay" : "after the checkpoint";
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
  Json json = {{"pieces", report.replay.statistics.pieces},
               {"decode_seconds", report.replay.statistics.decode_seconds},
               {"dispatch_seconds", report.replay.statistics.dispatch_seconds}};
  if (report.replay.thread_times.empty()) return json;
  json["all_threads"] = thread_time_json(sum_of(report.replay.thread_times));
  Json threads = Json::array();
  for (const ThreadTime& time : report.replay.thread_times) threads.push_back(thread_time_json(time));
  json["threads"] = threads;
  return json;
}

// What an interrupted recovery had replayed.
std::string partial_text(const RecoveryReport& report) {
  const ReplayStatistics& done = report.replay.statistics;
  std::string text = fmt::format("  applied {} of the {} that the log holds", thousands(done.transactions),
                                 counted(report.log.records, "record"));
  if (done.replayed_to) text += fmt::format(", all up to LSN {}", done.replayed_to->value);
  return text + "; the directory was not changed\n";
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
  const std::string scheme(report.scheme->name);
  const std::string threads = counted(report.threads, "thread");
  std::string text = report.interrupted_in
                         ? fmt::format("Recovery by {} with {}, interrupted in the stage {}\n", scheme,
                                       threads, name_of(*report.interrupted_in))
                         : fmt::format("Recovered by {} with {}\n", scheme, threads);
  std::vector<std::vector<std::string>> rows = {
      {"manifest", seconds_text(report.opening.manifest_seconds), ""},
      {"catalog", seconds_text(report.opening.catalog_seconds), ""},
      {"checkpoint", seconds_text(report.checkpoint.seconds),
       fmt::format("{}, {}, at LSN {}", bytes_text(report.checkpoint.bytes),
                   counted(report.checkpoint.rows, "row"), report.checkpoint.lsn.value)},
      {"log load", seconds_text(report.log.seconds), bytes_text(report.log.record_bytes)}};
  if (report.scheme->replays_calls()) {
    rows.push_back({"analysis", seconds_text(report.analysis.seconds), ""});
    rows.push_back(
        {"machine code", seconds_text(report.code.seconds), std::string(name_of(report.code.execution))});
  }
  rows.push_back({"replay", seconds_text(report.replay.seconds),
                  fmt::format("{}, {}/s", counted(report.replay.statistics.transactions, "transaction"),
                              thousands(static_cast<uint64_t>(report.replay.tps())))});
  rows.push_back({"index build", seconds_text(report.indexes.seconds), index_build_text(*report.scheme)});
  if (report.schema.changes > 0) {
    rows.push_back({"schema", seconds_text(report.schema.seconds), counted(report.schema.changes, "change")});
  }
  rows.push_back({"total", seconds_text(report.total_seconds), ""});
  text += table_text(rows);
  if (!report.log.dropped_reason.empty()) text += fmt::format("  {}\n", report.log.dropped_reason);
  if (report.log.holes > 0) {
    text += fmt::format("  {} of {} in the log, where crashes took records that nobody was told of\n",
                        counted(report.log.holes, "hole"), bytes_text(report.log.hole_bytes));
  }
  text += breakdown_text(report.replay.thread_times);
  if (report.interrupted_in) return text + partial_text(report);
  text += fmt::format("  applied {}, skipped {}, state digest {}, log ends at LSN {}\n",
                      thousands(report.replay.statistics.transactions), thousands(report.log.skipped), digest,
                      report.log.end.value);
  return text;
}

namespace {

Json serial_json(const std::vector<SerialTable>& tables) {
  Json all = Json::array();
  for (const SerialTable& serial : tables) {
    const LostColumn& lost = serial.lost;
    all.push_back({{"block", serial.block},
                   {"table", serial.table},
                   {"column", lost.column},
                   {"statement", lost.statement.empty() ? Json() : Json(lost.statement)},
                   {"line", lost.line == 0 ? Json() : Json(lost.line)},
                   {"reason", lost.reason},
                   {"advice", lost.advice},
                   {"lane_seconds", serial.lane_seconds}});
  }
  return all;
}

}  // namespace

Json recovery_json(const RecoveryReport& report, const std::string& digest) {
  const bool runs_calls = report.scheme->replays_calls();
  Json json = {
      {"command", "recover"},
      {"scheme", std::string(report.scheme->name)},
      {"replay", runs_calls ? Json(std::string(name_of(report.replay.level))) : Json()},
      {"replay_order", runs_calls ? Json() : Json(std::string(name_of(report.replay.order)))},
      {"threads", report.threads},
      {"execution", runs_calls ? Json(std::string(name_of(report.code.execution))) : Json()},
      {"manifest_seconds", report.opening.manifest_seconds},
      {"catalog_seconds", report.opening.catalog_seconds},
      {"checkpoint_seconds", report.checkpoint.seconds},
      {"checkpoint_bytes", report.checkpoint.bytes},
      {"checkpoint_lsn", report.checkpoint.lsn.value},
      {"log_load_seconds", report.log.seconds},
      {"log_bytes", report.log.record_bytes},
      {"log_file_bytes", report.log.file_bytes},
      {"log_memory_bytes", report.log.memory_bytes},
      {"dropped_bytes", report.log.dropped_bytes},
      {"dropped_reason", report.log.dropped_reason},
      {"log_holes", report.log.holes},
      {"log_hole_bytes", report.log.hole_bytes},
      {"analysis_seconds", report.analysis.seconds},
      {"compilation_seconds", report.code.seconds},
      {"replay_seconds", report.replay.seconds},
      {"index_build_seconds", report.indexes.seconds},
      {"index_build", index_build_text(*report.scheme)},
      {"schema_changes", report.schema.changes},
      {"schema_seconds", report.schema.seconds},
      {"total_seconds", report.total_seconds},
      {"transactions", report.replay.statistics.transactions},
      {"replay_tps", report.replay.tps()},
      {"adhoc_transactions", runs_calls ? Json(report.replay.statistics.ad_hoc) : Json()},
      {"barriers", report.scheme->cuts_calls ? Json(report.replay.statistics.barriers) : Json()},
      {"partial", report.interrupted_in.has_value()},
      {"interrupted_in", report.interrupted_in ? Json(name_of(*report.interrupted_in)) : Json()},
      {"log_records", report.log.records},
      {"replayed_to_lsn",
       report.replay.statistics.replayed_to ? Json(report.replay.statistics.replayed_to->value) : Json()},
      {"durable_lsn", report.log.end.value},
      {"state_digest", digest.empty() ? Json() : Json(digest)},
      {"skipped", report.log.skipped},
      {"breakdown", breakdown_json(report)},
      {"peak_rss_bytes", peak_rss_bytes()}};
  if (report.scheme->cuts_calls) {
    add_analysis(json, report.analysis.options);
    json["serial_because"] = serial_json(report.replay.serial_because);
    Json& kernels = json["kernels"] = Json::object();
    for (const KernelTime& kernel : report.replay.kernels)
      kernels[kernel.block] = {{"pieces", kernel.pieces},
                               {"nanoseconds", std::llround(kernel.seconds * 1e9)}};
  }
  return json;
}

}  // namespace mneme
