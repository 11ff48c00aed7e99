#include "recovery/database/recover.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "analyzer/dependency_graph.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/memory/available_memory.h"
#include "engine/schema/change_codec.h"
#include "logging/directory/directory_lock.h"
#include "logging/directory/newest_manifest.h"
#include "recovery/calls/call_replayer.h"
#include "recovery/calls/schedule_recorder.h"
#include "recovery/database/checkpoint_loader.h"
#include "recovery/database/late_indexes.h"
#include "recovery/database/schema_change.h"
#include "recovery/database/unloaded_checkpoint.h"
#include "recovery/demand/demand_recovery.h"
#include "recovery/log/replayed_indexes.h"
#include "recovery/log/replayer.h"
#include "recovery/log/whole_log.h"
#include "recovery/rows/index_builder.h"

namespace mneme {
namespace {

constexpr std::array<std::string_view, 3> kLevelNames = {"static", "synchronous", "pipelined"};
constexpr std::array<std::string_view, 2> kOrderNames = {"forward", "reverse"};

// The place of `name` in `names`, as an enumerator.
template <typename Enum>
Result<Enum> named(std::string_view what, std::string_view name, std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  return invalid_argument("{} is no {}: choose one of {}", name, what, fmt::join(names, ", "));
}

void tell(const RecoverOptions& options, const RecoveryProgress& progress) {
  if (options.progress) options.progress(progress);
}

// Returns how long a log may be, in bytes, so that its calls fit into memory once they are decoded and have
// lanes. The calls of TPC-C take some forty times what their log does.
uint64_t most_demand_bytes() {
  constexpr uint64_t kMemoryOfCalls = 64;
  constexpr uint64_t kUnknownMemory = uint64_t{4} << 30;
  return available_memory_bytes().value_or(kUnknownMemory) / kMemoryOfCalls;
}

// Objects of graphs that no folder of their own keeps: of analyses that were asked for, for example. Each
// takes up to a MiB.
constexpr size_t kMostKeptForUser = 64;

// Returns `recovered` as what was done until it was interrupted in the stage.
RecoveredDatabase interrupted_in(RecoveryStage stage, RecoveredDatabase recovered, uint64_t total_begin_ns) {
  recovered.report.interrupted_in = stage;
  recovered.report.total_seconds = seconds_since(total_begin_ns);
  return recovered;
}

// Returns whether all are built, and recovery was not interrupted meanwhile.
Result<bool> build_indexes(RecoveredDatabase& recovered, const RecoverOptions& options) {
  const uint64_t begin_ns = monotonic_ns();
  uint64_t stretches = 0;
  const auto progress = [&](uint64_t done, uint64_t total) {
    stretches = total;
    tell(options, {RecoveryStage::kIndexes, done, total, {}});
  };
  const Result<bool> built = mneme::build_indexes(*recovered.database, options.replay.threads, progress,
                                                  options.replay.is_interrupted);
  recovered.report.indexes.seconds = recovered.report.end_stage("index build", begin_ns);
  // The last stretch may have been another thread's.
  if (built && *built) tell(options, {RecoveryStage::kIndexes, stretches, stretches, {}});
  return built;
}

// Loads the checkpoint, and builds the indexes that the scheme has before its replay. Returns in which stage
// it was interrupted, if it was.
Result<std::optional<RecoveryStage>> load_base(RecoveredDatabase& recovered, const std::string& directory,
                                               const RecoverOptions& options) {
  RecoveryReport& report = recovered.report;
  const uint64_t begin_ns = monotonic_ns();
  const Result<LoadedCheckpoint> checkpoint = load_checkpoint(
      *recovered.database, directory, recovered.manifest, options.replay.threads,
      [&](uint64_t done, uint64_t bytes) {
        tell(options, {RecoveryStage::kCheckpoint, done, bytes, {}});
      },
      options.replay.is_interrupted);
  if (!checkpoint) return checkpoint.error();
  report.checkpoint.seconds = report.end_stage("checkpoint", begin_ns);
  report.checkpoint.bytes = checkpoint->bytes;
  report.checkpoint.rows = checkpoint->rows;
  report.checkpoint.lsn = recovered.manifest.checkpoint_lsn;
  if (checkpoint->is_partial) return std::optional(RecoveryStage::kCheckpoint);
  if (!report.scheme->builds_indexes_last) {
    const Result<bool> built = build_indexes(recovered, options);
    if (!built) return built.error();
    if (!*built) return std::optional(RecoveryStage::kIndexes);
  }
  return std::optional<RecoveryStage>();
}

// Opens the checkpoint, to be loaded while transactions run, if its file says which keys its chunks have, and
// the log holds calls alone: rows of ad-hoc transactions are replayed, and schemas are changed, by code that
// takes tables to be whole. Loads it in other cases, and where the log holds nothing. Returns as load_base().
Result<std::optional<RecoveryStage>> open_base(RecoveredDatabase& recovered, const std::string& directory,
                                               const RecoverOptions& options) {
  const std::vector<RecordView>& records = recovered.log.records;
  const bool holds_calls_alone = std::ranges::all_of(
      records, [](const RecordView& record) { return call_of(record.kind, record.payload).has_value(); });
  if (!recovered.log.is_kept || records.empty() || !holds_calls_alone)
    return load_base(recovered, directory, options);
  RecoveryReport& report = recovered.report;
  const uint64_t begin_ns = monotonic_ns();
  Result<std::unique_ptr<UnloadedCheckpoint>> opened =
      UnloadedCheckpoint::open(*recovered.database, directory, recovered.manifest);
  if (!opened) return opened.error();
  if (*opened == nullptr) return load_base(recovered, directory, options);
  report.checkpoint.seconds = report.end_stage("checkpoint", begin_ns);
  report.checkpoint.bytes = (*opened)->file_bytes();
  report.checkpoint.rows = (*opened)->rows();
  report.checkpoint.lsn = recovered.manifest.checkpoint_lsn;
  recovered.base = *std::move(opened);
  return std::optional<RecoveryStage>();
}

// Returns the indexes that replay only writes to, whatever the log holds, as long as it changes no schema.
std::vector<IndexId> indexes_to_build_last(const RecoveredDatabase& recovered,
                                           const RecoverOptions& options) {
  // A database that is opened on demand has readers before its log is replayed.
  if (!recovered.report.scheme->cuts_calls || options.on_demand) return {};
  const Program& program = *recovered.program;
  const auto unread_by = [&](const AnalysisOptions& analysis) {
    return unread_indexes(analyze(program, analysis), program.catalog);
  };
  if (options.analysis) return unread_by(*options.analysis);
  // Only the log says which of the two it will be.
  std::vector<IndexId> unread = unread_by(AnalysisOptions());
  const std::vector<IndexId> unread_beside_rows = unread_by(AnalysisOptions::for_ad_hoc());
  std::erase_if(unread, [&](IndexId id) {
    return std::ranges::find(unread_beside_rows, id) == unread_beside_rows.end();
  });
  return unread;
}

Result<void> build_late_indexes(LateIndexes& late, RecoveredDatabase& recovered,
                                const RecoverOptions& options) {
  if (late.empty()) return {};
  const uint64_t begin_ns = monotonic_ns();
  RETURN_IF_ERROR(late.build(options.replay.threads));
  recovered.report.indexes.seconds += recovered.report.end_stage("index build", begin_ns);
  return {};
}

// The reverse order passes over a row's older images, and so needs whole ones.
Result<ReplayOrder> order_of_rows(const RecoveryScheme& scheme, std::optional<ReplayOrder> wanted,
                                  TupleImage image) {
  const bool needs_order = image == TupleImage::kChanged && !scheme.replays_calls();
  if (needs_order && wanted == ReplayOrder::kReverse) {
    return invalid_argument(
        "the reverse order passes over a row's older images, and this log's updates hold the changed columns "
        "alone "
        "(--tuple-image changed): replay it forward");
  }
  return wanted.value_or(needs_order ? ReplayOrder::kForward : ReplayOrder::kReverse);
}

// Analyses the stretch's procedures, and returns what replays the stretch while the database is used. It has
// folders and a report of its own: those of the setting are gone by then.
// `base`: of the checkpoint, if it is not loaded.
Result<std::shared_ptr<DemandRecovery>> rest_of(const ReplayerSetting& setting, const RecordStream& stretch,
                                                const RecoverOptions& wanted,
                                                std::unique_ptr<UnloadedBase> base) {
  if (stretch.kept().empty()) {
    return invalid_argument(
        "to open a database while its log is replayed takes the log's calls in memory, and these {} records "
        "take more than there is: recover it first (--open recovered)",
        stretch.size());
  }
  RecoveryReport& report = setting.report;
  const uint32_t threads = std::max(setting.options.threads, 1U);
  auto bulk = std::make_unique<BulkReplay>(setting, stretch.kept());
  report.analysis = bulk->report().analysis;
  report.code = bulk->report().code;
  report.stages.insert(report.stages.end(), bulk->report().stages.begin(), bulk->report().stages.end());
  for (const std::string& notice : bulk->report().notices) report.add_notice(notice);

  struct Own {
    NativeFolders folders;
    RecoveryReport report;
  };
  const auto load_code = [own = std::make_shared<Own>(setting.folders), &database = setting.database,
                          &program = setting.program, execution = setting.execution, records = stretch.size(),
                          all = setting.log_records](std::span<const NativeUnit> units) {
    return load_units({.database = database,
                       .program = program,
                       .options = {},
                       .tables_from = {},
                       .execution = execution,
                       .folders = own->folders,
                       .log_records = all,
                       .report = own->report},
                      units, records);
  };
  ReplayOptions options = setting.options;
  options.threads = wanted.workers + threads;
  options.batch_transactions = DemandReplay::kBatchTransactions;
  auto opener = std::make_unique<DemandOpener>(
      DemandOpener::Setting{.database = setting.database,
                            .program = setting.program,
                            .analysis = DemandOpener::analysis_for(stretch.has_rows()),
                            .options = options,
                            .threads = threads,
                            .load_code = load_code},
      stretch.kept());
  return std::make_shared<DemandRecovery>(
      setting.database, std::move(bulk), std::move(opener),
      DemandRecovery::Setting{
          .workers = wanted.workers, .threads = threads, .most_bulk_seconds = wanted.most_bulk_seconds},
      std::move(base));
}

// `stretch`: of the log; no record in it changes the schema. `done_before`: how many records lie before it.
// `from`: versions below it are of the checkpoint's, or count as such.
Result<ReplayStatistics> replay_stretch(RecoveredDatabase& recovered, RecordStream& stretch,
                                        uint64_t done_before, Lsn from, const RecoverOptions& options,
                                        const NativeFolders& folders) {
  RecoveryReport& report = recovered.report;
  const uint64_t total = recovered.log.record_count();
  ReplayerSetting setting{.database = *recovered.database,
                          .program = *recovered.program,
                          .options = options.replay,
                          .tables_from = from,
                          .analysis = options.analysis,
                          .execution = options.execution,
                          .folders = folders,
                          .visit = options.visit,
                          .records_before = done_before,
                          .log_records = total,
                          .progress = options.progress,
                          .report = report};
  setting.options.order = report.replay.order;
  if (options.on_demand && setting.is_last_of_log(stretch.size()) && stretch.size() > 0) {
    Result<std::shared_ptr<DemandRecovery>> rest =
        rest_of(setting, stretch, options, std::move(recovered.base));
    if (!rest) return rest.error();
    recovered.rest = *std::move(rest);
    return ReplayStatistics();
  }
  const std::unique_ptr<Replayer> replayer = make_replayer(*report.scheme, setting);
  replayer->prepare(stretch);

  std::optional<Lsn> last_lsn;
  Replayer::Progress progress;
  if (options.progress) {
    progress = [&](uint64_t done, std::optional<Lsn> last) {
      last_lsn = last;
      const std::optional<Lsn> shown = last ? last : replayer->position(stretch.kept(), done);
      options.progress({RecoveryStage::kReplay, done_before + done, total, shown});
    };
    progress(0, std::nullopt);
  }
  const uint64_t begin_ns = monotonic_ns();
  auto statistics = replayer->replay(stretch, progress);
  report.replay.seconds += report.end_stage("replay", begin_ns);
  if (statistics && !statistics->is_partial && progress) progress(stretch.size(), last_lsn);
  return statistics;
}

// A record that changes the schema ends a stretch: all before it has been replayed, and what follows is
// another program's, with an analysis and machine code of its own.
Result<ReplayStatistics> replay_log(RecoveredDatabase& recovered, const std::string& directory,
                                    const RecoverOptions& options, const NativeFolders& folders,
                                    LateIndexes& late) {
  ReplayStatistics total;
  // Former engines put all rows at LSN 0 when tables or indexes changed: their logs call what a row was then
  // version 0.
  Lsn from = recovered.manifest.checkpoint_lsn;
  LogStretches stretches(directory, recovered.log);
  // Gives the database the tables of the program. Changes of the schema without rows between them make them
  // once.
  const auto follow_schema = [&] {
    return change_tables(*recovered.database, recovered.program->catalog,
                         !recovered.report.scheme->builds_indexes_last, options.replay.threads);
  };
  for (uint64_t done = 0;; ++done) {
    RecordStream stretch = stretches.next_stretch();
    const uint64_t records = stretch.size();
    // What changes the schema may bring procedures that read other indexes, and takes tables at their word.
    if (records < recovered.log.record_count()) RETURN_IF_ERROR(build_late_indexes(late, recovered, options));
    const auto replay = [&]() -> Result<void> {
      const Result<ReplayStatistics> replayed =
          replay_stretch(recovered, stretch, done, from, options, folders);
      if (!replayed) return replayed.error();
      total.add(*replayed);
      return {};
    };
    if (records > 0) {
      RETURN_IF_ERROR(follow_schema());
      RETURN_IF_ERROR(replay());
    }
    if (total.is_partial) return total;
    const Result<std::optional<RecordView>> change = stretches.next_change();
    if (!change) return change.error();
    // Nothing is analysed and compiled for the nothing between two changes of the schema; for the last
    // program it is.
    if (records == 0 && !*change) {
      RETURN_IF_ERROR(follow_schema());
      RETURN_IF_ERROR(replay());
    }
    done += records;
    recovered.report.log.memory_bytes = stretches.peak_memory_bytes();
    if (!*change) return total;
    const uint64_t begin_ns = monotonic_ns();
    Result<std::unique_ptr<Program>> program = program_after(*recovered.program, **change);
    if (!program) return program.error();
    // A table that is dropped or renamed leaves its name before another one gets it. What is only added can
    // wait for the next rows.
    const bool follows = is_to_be_followed(recovered.program->catalog, (*program)->catalog);
    if (follows) RETURN_IF_ERROR(follow_schema());
    if (!same_tables((*program)->catalog, recovered.program->catalog)) from = (*change)->lsn;
    recovered.program = std::move(*program);
    if (follows) RETURN_IF_ERROR(follow_schema());
    ++recovered.report.schema.changes;
    recovered.report.schema.seconds += recovered.report.end_stage("schema", begin_ns);
  }
}

// Returns what the schedule recorder has measured, or else the scheme itself. Every thread took part in the
// log's loading as long as it lasted.
std::vector<ThreadTime> thread_times(const RecoveryReport& report, const ScheduleRecorder* recorder) {
  std::vector<ThreadTime> times;
  if (recorder != nullptr) times = recorder->thread_times();
  if (times.empty()) times = report.replay.statistics.threads;
  for (ThreadTime& time : times) time.data_loading_seconds += report.log.seconds;
  return times;
}

}  // namespace

Result<ReplayLevel> replay_level(std::string_view name) {
  return named<ReplayLevel>("level of replay", name, kLevelNames);
}
std::string_view name_of(ReplayLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}
Result<ReplayOrder> replay_order(std::string_view name) {
  return named<ReplayOrder>("order of replay", name, kOrderNames);
}
std::string_view name_of(ReplayOrder order) {
  return kOrderNames[static_cast<size_t>(order)];
}

NativeFolders user_folders(std::vector<std::string> look) {
  NativeFolders folders;
  folders.keep = NativeFolders::of_user();
  folders.look = std::move(look);
  folders.most_kept = kMostKeptForUser;
  return folders;
}

std::string native_folder(const std::string& directory) {
  return directory + "/native";
}

Result<std::unique_ptr<Program>> read_catalog(const std::string& directory, const Manifest& manifest) {
  const std::string path = directory + "/" + manifest.checkpoint_catalog_file;
  if (!std::filesystem::exists(path))
    return damaged(
        "{} is missing, which says what the log's calls mean; nothing was changed: put the file back from a "
        "copy of the directory",
        path);
  const Result<std::string> text = read_text_in(directory, manifest.checkpoint_catalog_file);
  if (!text) return text.error();
  Result<std::unique_ptr<Program>> program = compile(*text, path);
  if (!program)
    return damaged("{} is not what was written: {}; nothing was changed: put the original file back", path,
                   program.error().message);
  if ((*program)->hash() != manifest.checkpoint_catalog_hash) {
    return damaged(
        "{} is not the catalog that {}/MANIFEST names; nothing was changed: put the original file back", path,
        directory);
  }
  return program;
}

Result<RecoveredDatabase> recover(const std::string& directory, const RecoverOptions& options) {
  if (!holds_database(directory)) return read_manifest(directory).error();
  const Result<DirectoryLock> lock = DirectoryLock::for_reading(directory);
  if (!lock) return lock.error();
  // The directory stays as it is.
  return recover_locked(directory, options,
                        user_folders({native_folder(directory), NativeFolders::of_program()}));
}

Result<RecoveredDatabase> recover_locked(const std::string& directory, const RecoverOptions& options,
                                         const NativeFolders& folders) {
  const uint64_t total_begin_ns = monotonic_ns();
  RecoveredDatabase recovered;
  RecoveryReport& report = recovered.report;
  Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  RETURN_IF_ERROR(check_is_newest(directory, *manifest));
  if (!options.log_archive.empty()) manifest = with_archive(std::move(*manifest), options.log_archive);
  if (!manifest) return manifest.error();
  report.opening.manifest_seconds = report.end_stage("manifest", total_begin_ns);
  report.scheme =
      options.scheme != nullptr ? options.scheme : &default_scheme(manifest->records, manifest->tuple_image);
  const RecoveryScheme& scheme = *report.scheme;
  RETURN_IF_ERROR(check_served(scheme, manifest->records, manifest->tuple_image));
  if (options.on_demand && !scheme.cuts_calls) {
    return invalid_argument(
        "to open a database while its log is replayed takes clr-p, which knows what each row waits for, and "
        "{} is chosen: leave out --open on-demand",
        scheme.name);
  }
  report.replay.level = options.replay.level;
  const Result<ReplayOrder> order = order_of_rows(scheme, options.order, manifest->tuple_image);
  if (!order) return order.error();
  report.replay.order = *order;
  report.threads = scheme.is_parallel ? options.replay.threads : 1;
  recovered.manifest = std::move(*manifest);
  const uint64_t catalog_begin_ns = monotonic_ns();
  Result<std::unique_ptr<Program>> program = read_catalog(directory, recovered.manifest);
  if (!program) return program.error();
  recovered.program = std::move(*program);
  report.opening.catalog_seconds = report.end_stage("catalog", catalog_begin_ns);

  recovered.database = std::make_unique<Database>(recovered.program->catalog, options.workers);
  LateIndexes late(*recovered.database);
  late.leave_out(indexes_to_build_last(recovered, options));
  if (!options.on_demand) {
    const Result<std::optional<RecoveryStage>> ended = load_base(recovered, directory, options);
    if (!ended) return ended.error();
    if (*ended) return interrupted_in(**ended, std::move(recovered), total_begin_ns);
  }

  const uint64_t log_begin_ns = monotonic_ns();
  LogReadOptions read;
  read.threads = options.replay.threads;
  read.from = recovered.manifest.checkpoint_lsn;
  // Rows are replayed key by key, or from the end: all of them are at hand.
  if (scheme.replays_calls() && !options.keep_log) {
    read.most_kept_bytes = options.on_demand ? options.most_demand_log_bytes.value_or(most_demand_bytes())
                                             : options.most_kept_log_bytes;
    read.window_bytes = options.log_window_bytes;
  }
  read.progress = [&](uint64_t done, uint64_t segments) {
    tell(options, {RecoveryStage::kLog, done, segments, {}});
  };
  Result<LogContents> log = read_log(directory, recovered.manifest, read);
  if (!log) return log.error();
  recovered.log = std::move(*log);
  report.log.seconds = report.end_stage("log load", log_begin_ns);
  report.log.records = recovered.log.record_count();
  report.log.record_bytes = recovered.log.record_bytes;
  report.log.file_bytes = recovered.log.file_bytes;
  report.log.dropped_bytes = recovered.log.dropped_bytes;
  report.log.dropped_reason = recovered.log.dropped_reason;
  report.log.holes = recovered.log.holes.size();
  report.log.hole_bytes = recovered.log.hole_bytes();
  report.log.end = recovered.log.end;
  report.log.skipped = recovered.log.skips;
  if (options.replay.interrupted())
    return interrupted_in(RecoveryStage::kLog, std::move(recovered), total_begin_ns);
  if (options.on_demand) {
    // Only the log says whether the checkpoint can wait.
    const Result<std::optional<RecoveryStage>> ended = open_base(recovered, directory, options);
    if (!ended) return ended.error();
    if (*ended) return interrupted_in(**ended, std::move(recovered), total_begin_ns);
  }

  Result<ReplayStatistics> statistics = replay_log(recovered, directory, options, folders, late);
  if (!statistics) return statistics.error();
  RETURN_IF_ERROR(build_late_indexes(late, recovered, options));
  report.replay.statistics = *statistics;
  report.replay.thread_times = thread_times(report, options.replay.recorder);
  if (statistics->is_partial)
    return interrupted_in(RecoveryStage::kReplay, std::move(recovered), total_begin_ns);
  if (scheme.builds_indexes_last && options.indexes) {
    const Result<bool> built = build_indexes(recovered, options);
    if (!built) return built.error();
    if (!*built) return interrupted_in(RecoveryStage::kIndexes, std::move(recovered), total_begin_ns);
  }
  report.total_seconds = seconds_since(total_begin_ns);
  return recovered;
}

}  // namespace mneme
