#include "recovery/database/recover.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "analyzer/dependency_graph.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "engine/schema/change_codec.h"
#include "logging/directory/directory_lock.h"
#include "logging/directory/newest_manifest.h"
#include "recovery/calls/parallel_replayer.h"
#include "recovery/calls/schedule_recorder.h"
#include "recovery/calls/slice_units.h"
#include "recovery/database/schema_change.h"
#include "recovery/log/whole_log.h"
#include "recovery/rows/checkpoint_loader.h"
#include "recovery/rows/index_builder.h"
#include "recovery/rows/location_replayer.h"
#include "recovery/rows/shuffle_replayer.h"
#include "recovery/rows/unordered_replayer.h"

namespace mneme {
namespace {

constexpr std::array<std::string_view, 3> kLevelNames = {"static", "synchronous", "pipelined"};
constexpr std::array<std::string_view, 2> kOrderNames = {"forward", "reverse"};
constexpr std::array<std::string_view, 6> kStageNames = {"checkpoint",  "log",    "analysis",
                                                         "compilation", "replay", "indexes"};

// The place of `name` in `names`, as an enumerator.
template <typename Enum>
Result<Enum> named(std::string_view what, std::string_view name, std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  return invalid_argument("{} is no {}: choose one of {}", name, what, fmt::join(names, ", "));
}

class Stopwatch {
 public:
  double seconds() const { return static_cast<double>(monotonic_ns() - begin_ns_) * 1e-9; }
  uint64_t begin_ns() const { return begin_ns_; }

 private:
  const uint64_t begin_ns_ = monotonic_ns();
};

double end_stage(RecoveryReport& report, std::string_view name, const Stopwatch& watch) {
  const uint64_t end_ns = monotonic_ns();
  report.stages.push_back({name, watch.begin_ns(), end_ns});
  return static_cast<double>(end_ns - watch.begin_ns()) * 1e-9;
}

void tell(const RecoverOptions& options, const RecoveryProgress& progress) {
  if (options.progress) options.progress(progress);
}

// Calls between two changes of the schema that are worth seconds of compiling.
constexpr size_t kFewestToCompile = 20'000;
// Machine code of graphs that no folder of their own has: of analyses that were asked for, say. Each takes up
// to a MiB.
constexpr size_t kMostKeptForUser = 64;

// Whether a stretch of so many records, between two changes of the schema, is too short to compile for.
bool is_short_stretch(const RecoveredDatabase& recovered, uint64_t records) {
  return records < recovered.log.record_count() && records < kFewestToCompile;
}

// Whether an analysis, which looks at every procedure, would take longer than such a stretch one record after
// the other. So calls between changes of the schema cost their number, and not that of the procedures. The
// last program is analysed in any case: the report tells it.
bool is_too_short_to_analyse(const RecoveredDatabase& recovered, uint64_t records, uint64_t done_before) {
  return records < recovered.program->procedures.size() &&
         done_before + records < recovered.log.record_count();
}

void add_notice(RecoveryReport& report, const std::string& notice) {
  if (std::ranges::find(report.notices, notice) == report.notices.end()) report.notices.push_back(notice);
}

// Replay of calls that machine code was wanted for, and not compiled.
void note_interpreted_calls(RecoveredDatabase& recovered, uint64_t records,
                            const Result<ReplayStatistics>& replayed, const RecoverOptions& options) {
  const bool had_calls = replayed && replayed->transactions > replayed->ad_hoc;
  if (had_calls && options.execution == Execution::kNative && is_short_stretch(recovered, records)) {
    add_notice(recovered.report,
               "between changes of the schema, procedures that were called a few times were interpreted");
  }
}

// The units as machine code, if that is wanted; the report says what came of it. `records` is how many are to
// be replayed.
CompiledUnits load_units(RecoveredDatabase& recovered, std::span<const NativeUnit> units, uint64_t records,
                         const RecoverOptions& options, const NativeFolders& folders) {
  if (options.execution == Execution::kInterpreted || units.empty() || is_short_stretch(recovered, records))
    return {};
  const Stopwatch watch;
  CompiledUnits code = CompiledUnits::load(*recovered.program, recovered.database->schema(), units, folders,
                                           [&](size_t count) {
                                             tell(options, {RecoveryStage::kCompilation, 0, count, {}});
                                           });
  if (code.was_compiled()) tell(options, {RecoveryStage::kCompilation, units.size(), units.size(), {}});
  RecoveryReport& report = recovered.report;
  report.compilation_seconds += end_stage(report, "machine code", watch);
  report.execution = code.execution();
  if (code.was_compiled() && folders.keep.empty()) {
    report.notices.push_back(
        "machine code was compiled for this once: neither XDG_CACHE_HOME nor HOME says where to keep it");
  }
  for (const std::string& notice : code.notices()) add_notice(report, notice);
  return code;
}

Result<void> build_indexes(RecoveredDatabase& recovered, const RecoverOptions& options) {
  const Stopwatch watch;
  uint64_t stretches = 0;
  const auto progress = [&](uint64_t done, uint64_t total) {
    stretches = total;
    tell(options, {RecoveryStage::kIndexes, done, total, {}});
  };
  const Result<void> built = mneme::build_indexes(*recovered.database, options.replay.threads, progress);
  recovered.report.index_build_seconds = end_stage(recovered.report, "index build", watch);
  // The last stretch may have been another thread's.
  if (built) tell(options, {RecoveryStage::kIndexes, stretches, stretches, {}});
  return built;
}

// `from`: versions below it are of the checkpoint's, or count as such.
Result<ReplayStatistics> replay_rows(RecoveredDatabase& recovered, std::span<const RecordView> records,
                                     Lsn from, const ReplayOptions& replay) {
  Database& database = *recovered.database;
  switch (recovered.report.scheme) {
    case RecoveryScheme::kLlrP:
      return replay_shuffled(database, records, replay);
    case RecoveryScheme::kPlr:
      return replay_by_location(database, records, from, replay);
    default:
      return replay_unordered(database, records, replay);
  }
}

// Whoever passes over a row's older images needs whole ones.
Result<ReplayOrder> order_of_rows(RecoveryScheme scheme, std::optional<ReplayOrder> wanted,
                                  TupleImage image) {
  const bool needs_order = image == TupleImage::kChanged && !replays_calls(scheme);
  if (needs_order && wanted == ReplayOrder::kReverse) {
    return invalid_argument(
        "the reverse order passes over a row's older images, and this log's updates hold the changed columns "
        "alone "
        "(--tuple-image changed): replay it forward");
  }
  return wanted.value_or(needs_order ? ReplayOrder::kForward : ReplayOrder::kReverse);
}

// "γ: stock, order_line", and what no block touches last.
std::vector<std::string> block_labels(const DependencyGraph& graph, const Catalog& catalog) {
  std::vector<std::string> labels;
  for (const Block& block : graph.blocks) {
    std::vector<std::string_view> tables;
    for (const TableId table : block.tables) tables.push_back(catalog.table(table).name);
    labels.push_back(fmt::format("{}: {}", block.name, fmt::join(tables, ", ")));
  }
  labels.push_back("what no procedure touches");
  return labels;
}

AnalysisOptions default_analysis(const RecordStream& stretch) {
  return stretch.has_rows() ? AnalysisOptions::for_ad_hoc() : AnalysisOptions();
}

constexpr std::string_view kReplayStage = "replay";

// `stretch`: of the log; no record in it changes the schema. `done_before`: how many records lie before it.
// `from`: as in replay_rows().
Result<ReplayStatistics> replay_stretch(RecoveredDatabase& recovered, RecordStream& stretch,
                                        uint64_t done_before, Lsn from, const RecoverOptions& options,
                                        const NativeFolders& folders) {
  ReplayOptions replay = options.replay;
  replay.order = recovered.report.order;
  // Rows are replayed of a log that is kept.
  const std::span<const RecordView> rows = stretch.kept();
  // Who shuffles rows is through with the log when half of it is done, and then goes key by key.
  const bool is_shuffled = recovered.report.scheme == RecoveryScheme::kLlrP;
  const bool from_the_end =
      !replays_calls(recovered.report.scheme) && !is_shuffled && replay.order == ReplayOrder::kReverse;
  std::optional<Lsn> last_lsn;
  if (options.progress) {
    const uint64_t total = recovered.log.record_count();
    replay.progress = [&, rows, total, is_shuffled, from_the_end](uint64_t done, std::optional<Lsn> last) {
      RecoveryProgress now{RecoveryStage::kReplay, done_before + done, total, last};
      last_lsn = last;
      const size_t read = std::min<size_t>(is_shuffled ? 2 * done : done, rows.size());
      if (!last && read > 0) now.lsn = rows[from_the_end ? rows.size() - read : read - 1].lsn;
      options.progress(now);
    };
  }
  const auto begin = [&] {
    if (replay.progress) replay.progress(0, std::nullopt);
    return Stopwatch();
  };
  const auto end = [&](const Stopwatch& watch, const Result<ReplayStatistics>& statistics) {
    if (replays_calls(recovered.report.scheme))
      note_interpreted_calls(recovered, stretch.size(), statistics, options);
    recovered.report.replay_seconds += end_stage(recovered.report, kReplayStage, watch);
    if (statistics && replay.progress) replay.progress(stretch.size(), last_lsn);
  };
  Database& database = *recovered.database;
  const Program& program = *recovered.program;
  RecoveryReport& report = recovered.report;
  if (!replays_calls(report.scheme)) {
    const Stopwatch watch = begin();
    auto statistics = replay_rows(recovered, rows, from, replay);
    end(watch, statistics);
    return statistics;
  }
  if (report.scheme == RecoveryScheme::kClrP &&
      is_too_short_to_analyse(recovered, stretch.size(), done_before)) {
    const Stopwatch watch = begin();
    auto statistics = replay_serially(database, program, stretch, replay, options.visit);
    end(watch, statistics);
    return statistics;
  }
  if (report.scheme == RecoveryScheme::kClr) {
    const CompiledUnits code =
        load_units(recovered, procedure_units(program), stretch.size(), options, folders);
    replay.native = code.functions();
    const Stopwatch watch = begin();
    auto statistics = replay_serially(database, program, stretch, replay, options.visit);
    end(watch, statistics);
    return statistics;
  }
  tell(options, {RecoveryStage::kAnalysis, 0, 1, {}});
  const Stopwatch analysis;
  report.analysis = options.analysis.value_or(default_analysis(stretch));
  const DependencyGraph graph = analyze(program, report.analysis);
  ++report.analyses;
  const SliceUnits units(graph);
  report.analysis_seconds += end_stage(report, "analysis", analysis);
  report.blocks = block_labels(graph, program.catalog);
  tell(options, {RecoveryStage::kAnalysis, 1, 1, {}});

  const CompiledUnits code = load_units(recovered, units.units(), stretch.size(), options, folders);
  replay.native = code.functions();
  const Stopwatch watch = begin();
  auto statistics = replay_in_parallel(database, program, graph, stretch, replay);
  end(watch, statistics);
  return statistics;
}

// A record that changes the schema ends a stretch: all before it has been replayed, and what follows is
// another program's, with an analysis and machine code of its own.
Result<ReplayStatistics> replay_log(RecoveredDatabase& recovered, const std::string& directory,
                                    const RecoverOptions& options, const NativeFolders& folders) {
  ReplayStatistics total;
  // Former engines put all rows at LSN 0 when tables or indexes changed: their logs call what a row was then
  // version 0.
  Lsn from = recovered.manifest.checkpoint_lsn;
  LogStretches stretches(directory, recovered.log);
  // Gives the database the tables of the program. Changes of the schema without rows between them make them
  // once.
  const auto follow_schema = [&] {
    return change_tables(*recovered.database, recovered.program->catalog,
                         !builds_indexes_last(recovered.report.scheme), options.replay.threads);
  };
  for (uint64_t done = 0;; ++done) {
    RecordStream stretch = stretches.next_stretch();
    const uint64_t records = stretch.size();
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
    const Result<std::optional<RecordView>> change = stretches.next_change();
    if (!change) return change.error();
    // Nothing is analysed and compiled for the nothing between two changes of the schema; for the last
    // program it is.
    if (records == 0 && !*change) {
      RETURN_IF_ERROR(follow_schema());
      RETURN_IF_ERROR(replay());
    }
    done += records;
    recovered.report.log_memory_bytes = stretches.peak_memory_bytes();
    if (!*change) return total;
    const Stopwatch watch;
    Result<std::unique_ptr<Program>> program = program_after(*recovered.program, **change);
    if (!program) return program.error();
    // A table that is dropped is gone before another gets its name. What is only added can wait for the next
    // rows.
    const bool drops = (*program)->catalog.tables().size() < recovered.program->catalog.tables().size();
    if (drops) RETURN_IF_ERROR(follow_schema());
    if (!same_tables((*program)->catalog, recovered.program->catalog)) from = (*change)->lsn;
    recovered.program = std::move(*program);
    if (drops) RETURN_IF_ERROR(follow_schema());
    ++recovered.report.schema_changes;
    recovered.report.schema_seconds += end_stage(recovered.report, "schema", watch);
  }
}

// Every thread was at the log's loading as long as it lasted.
std::vector<ThreadTime> thread_times(const RecoveryReport& report, const ScheduleRecorder* recorder) {
  std::vector<ThreadTime> times;
  if (report.scheme == RecoveryScheme::kClrP) {
    if (recorder != nullptr) times = recorder->thread_times();
  } else {
    times = report.replay.threads;
  }
  for (ThreadTime& time : times) time.data_loading_seconds += report.log_load_seconds;
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
std::string_view name_of(RecoveryStage stage) {
  return kStageNames[static_cast<size_t>(stage)];
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
  const Stopwatch total;
  RecoveredDatabase recovered;
  RecoveryReport& report = recovered.report;
  Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  RETURN_IF_ERROR(check_is_newest(directory, *manifest));
  if (!options.log_archive.empty()) manifest = with_archive(std::move(*manifest), options.log_archive);
  if (!manifest) return manifest.error();
  report.manifest_seconds = end_stage(report, "manifest", total);
  report.scheme = options.scheme.value_or(default_scheme(manifest->records, manifest->tuple_image));
  RETURN_IF_ERROR(check_served(report.scheme, manifest->records, manifest->tuple_image));
  report.level = options.replay.level;
  const Result<ReplayOrder> order = order_of_rows(report.scheme, options.order, manifest->tuple_image);
  if (!order) return order.error();
  report.order = *order;
  report.threads = report.scheme == RecoveryScheme::kClr ? 1 : options.replay.threads;
  recovered.manifest = std::move(*manifest);
  const Stopwatch catalog_watch;
  Result<std::unique_ptr<Program>> program = read_catalog(directory, recovered.manifest);
  if (!program) return program.error();
  recovered.program = std::move(*program);
  report.catalog_seconds = end_stage(report, "catalog", catalog_watch);

  const Stopwatch checkpoint_watch;
  recovered.database = std::make_unique<Database>(recovered.program->catalog, options.workers);
  const Result<LoadedCheckpoint> checkpoint =
      load_checkpoint(*recovered.database, directory, recovered.manifest, options.replay.threads,
                      [&](uint64_t done, uint64_t bytes) {
                        tell(options, {RecoveryStage::kCheckpoint, done, bytes, {}});
                      });
  if (!checkpoint) return checkpoint.error();
  report.checkpoint_seconds = end_stage(report, "checkpoint", checkpoint_watch);
  report.checkpoint_bytes = checkpoint->bytes;
  report.checkpoint_rows = checkpoint->rows;
  report.checkpoint_lsn = recovered.manifest.checkpoint_lsn;
  const bool indexes_last = builds_indexes_last(report.scheme);
  if (!indexes_last) RETURN_IF_ERROR(build_indexes(recovered, options));

  const Stopwatch log_watch;
  LogReadOptions read;
  read.threads = options.replay.threads;
  read.from = recovered.manifest.checkpoint_lsn;
  // Rows are replayed key by key, or from the end: all of them are at hand.
  if (replays_calls(report.scheme) && !options.keep_log) {
    read.most_kept_bytes = options.most_kept_log_bytes;
    read.window_bytes = options.log_window_bytes;
  }
  read.progress = [&](uint64_t done, uint64_t segments) {
    tell(options, {RecoveryStage::kLog, done, segments, {}});
  };
  Result<LogContents> log = read_log(directory, recovered.manifest, read);
  if (!log) return log.error();
  recovered.log = std::move(*log);
  report.log_load_seconds = end_stage(report, "log load", log_watch);
  report.log_bytes = recovered.log.record_bytes;
  report.log_file_bytes = recovered.log.file_bytes;
  report.dropped_bytes = recovered.log.dropped_bytes;
  report.dropped_reason = recovered.log.dropped_reason;
  report.holes = recovered.log.holes.size();
  report.hole_bytes = recovered.log.hole_bytes();
  report.end = recovered.log.end;
  report.skipped = recovered.log.skips;

  Result<ReplayStatistics> statistics = replay_log(recovered, directory, options, folders);
  if (!statistics) return statistics.error();
  report.replay = *statistics;
  report.thread_times = thread_times(report, options.replay.recorder);
  if (indexes_last && options.indexes) RETURN_IF_ERROR(build_indexes(recovered, options));
  report.total_seconds = total.seconds();
  return recovered;
}

}  // namespace mneme
