#include "recovery/recover.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "analyzer/conflict_rule.h"
#include "base/clock.h"
#include "base/file.h"
#include "engine/change_codec.h"
#include "logging/directory_lock.h"
#include "recovery/checkpoint_loader.h"
#include "recovery/index_builder.h"
#include "recovery/location_replayer.h"
#include "recovery/parallel_replayer.h"
#include "recovery/schema_change.h"
#include "recovery/shuffle_replayer.h"
#include "recovery/slice_units.h"
#include "recovery/unordered_replayer.h"
#include "recovery/whole_log.h"

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

 private:
  const uint64_t begin_ns_ = monotonic_ns();
};

// The calls of a stretch of a log that has been read.
class LogSource final : public CommandSource {
 public:
  explicit LogSource(std::span<const RecordView> records) : records_(records) {}

  Result<void> read(uint32_t limit, Arena&, std::vector<CommandRecord>& into) override {
    for (; limit > 0 && next_ < records_.size(); ++next_, --limit) {
      const RecordView& record = records_[next_];
      const std::optional<ByteSpan> call = call_of(record.kind, record.payload);
      if (!call) {
        return damaged(
            "the log's record at LSN {} holds no call, as the manifest says that all do; recovery stops here "
            "and has "
            "changed nothing on disk",
            record.lsn.value);
      }
      into.push_back({record.lsn, *call});
    }
    return {};
  }

 private:
  const std::span<const RecordView> records_;
  size_t next_ = 0;
};

// The units as machine code, if that is wanted; the report says what came of it.
CompiledUnits load_units(RecoveredDatabase& recovered, std::span<const NativeUnit> units,
                         const RecoverOptions& options, const NativeFolders& folders) {
  if (options.execution == Execution::kInterpreted) return {};
  const Stopwatch watch;
  CompiledUnits code = CompiledUnits::load(*recovered.program, recovered.database->schema(), units, folders,
                                           [&](size_t count) {
                                             if (options.progress)
                                               options.progress(RecoveryStage::kCompilation, 0, count);
                                           });
  if (options.progress && code.was_compiled()) {
    options.progress(RecoveryStage::kCompilation, units.size(), units.size());
  }
  RecoveryReport& report = recovered.report;
  report.compilation_seconds += watch.seconds();
  report.execution = code.execution();
  for (const std::string& notice : code.notices()) {
    if (std::ranges::find(report.notices, notice) == report.notices.end()) report.notices.push_back(notice);
  }
  return code;
}

Result<void> build_indexes(RecoveredDatabase& recovered, const RecoverOptions& options) {
  const Stopwatch watch;
  const auto progress = [&](uint64_t done, uint64_t total) {
    if (options.progress) options.progress(RecoveryStage::kIndexes, done, total);
  };
  const Result<void> built = mneme::build_indexes(*recovered.database, options.replay.threads, progress);
  recovered.report.index_build_seconds = watch.seconds();
  return built;
}

Result<ReplayStatistics> replay_rows(RecoveredDatabase& recovered, std::span<const RecordView> records,
                                     const ReplayOptions& replay) {
  Database& database = *recovered.database;
  switch (recovered.report.scheme) {
    case RecoveryScheme::kLlrP:
      return replay_shuffled(database, records, replay);
    case RecoveryScheme::kPlr:
      return replay_by_location(database, records, recovered.manifest.checkpoint_lsn, replay);
    default:
      return replay_unordered(database, records, replay);
  }
}

// Whoever passes over a row's older images needs whole ones.
Result<ReplayOrder> order_of_rows(RecoveryScheme scheme, std::optional<ReplayOrder> wanted, TupleImage image) {
  const bool needs_order = image == TupleImage::kChanged && !replays_calls(scheme);
  if (needs_order && wanted == ReplayOrder::kReverse) {
    return invalid_argument(
        "the reverse order passes over a row's older images, and this log's updates hold the changed columns alone "
        "(--tuple-image changed): replay it forward");
  }
  return wanted.value_or(needs_order ? ReplayOrder::kForward : ReplayOrder::kReverse);
}

// `records`: a stretch of the log in which no record changes the schema; `done_before`: how many records lie before it.
Result<ReplayStatistics> replay_stretch(RecoveredDatabase& recovered, std::span<const RecordView> records,
                                        uint64_t done_before, const RecoverOptions& options,
                                        const NativeFolders& folders) {
  ReplayOptions replay = options.replay;
  replay.order = recovered.report.order;
  if (options.progress) {
    replay.progress = [&](uint64_t done) {
      options.progress(RecoveryStage::kReplay, done_before + done, recovered.log.records.size());
    };
  }
  Database& database = *recovered.database;
  const Program& program = *recovered.program;
  RecoveryReport& report = recovered.report;
  if (!replays_calls(report.scheme)) {
    const Stopwatch watch;
    auto statistics = replay_rows(recovered, records, replay);
    report.replay_seconds += watch.seconds();
    return statistics;
  }
  LogSource source(records);
  if (report.scheme == RecoveryScheme::kClr) {
    const CompiledUnits code = load_units(recovered, procedure_units(program), options, folders);
    replay.native = code.functions();
    const Stopwatch watch;
    auto statistics = replay_serially(database, program, source, replay, options.visit);
    report.replay_seconds += watch.seconds();
    return statistics;
  }
  if (options.progress) options.progress(RecoveryStage::kAnalysis, 0, 1);
  const Stopwatch analysis;
  const TableConflicts conflicts(program.catalog);
  const DependencyGraph graph = analyze(program, conflicts);
  const SliceUnits units(graph);
  report.analysis_seconds += analysis.seconds();
  if (options.progress) options.progress(RecoveryStage::kAnalysis, 1, 1);

  const CompiledUnits code = load_units(recovered, units.units(), options, folders);
  replay.native = code.functions();
  const Stopwatch watch;
  auto statistics = replay_in_parallel(database, program, graph, source, replay);
  report.replay_seconds += watch.seconds();
  return statistics;
}

// A record that changes the schema ends a stretch: all before it has been replayed, and what follows is another
// program's, with an analysis and machine code of its own.
Result<ReplayStatistics> replay_log(RecoveredDatabase& recovered, const RecoverOptions& options,
                                    const NativeFolders& folders) {
  ReplayStatistics total;
  std::span<const RecordView> rest = recovered.log.records;
  for (;;) {
    const auto change = std::ranges::find(rest, RecordKind::kSchema, &RecordView::kind);
    const auto stretch = rest.first(static_cast<size_t>(change - rest.begin()));
    const Result<ReplayStatistics> replayed =
        replay_stretch(recovered, stretch, recovered.log.records.size() - rest.size(), options, folders);
    if (!replayed) return replayed.error();
    total.add(*replayed);
    if (change == rest.end()) return total;
    const Stopwatch watch;
    Result<std::unique_ptr<Program>> program = program_after(*recovered.program, *change);
    if (!program) return program.error();
    RETURN_IF_ERROR(change_tables(recovered.database, (*program)->catalog,
                                  !builds_indexes_last(recovered.report.scheme), options.replay.threads));
    recovered.program = std::move(*program);
    ++recovered.report.schema_changes;
    recovered.report.schema_seconds += watch.seconds();
    rest = rest.subspan(stretch.size() + 1);
  }
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
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  Result<std::unique_ptr<Program>> program = compile(*text, path);
  if (!program)
    return damaged("{} is not what was written: {}; nothing was changed: put the original file back", path,
                   program.error().message);
  if ((*program)->hash != manifest.checkpoint_catalog_hash) {
    return damaged("{} is not the catalog that the log was written with: put the original file back", path);
  }
  return program;
}

Result<RecoveredDatabase> recover(const std::string& directory, const RecoverOptions& options) {
  if (!holds_database(directory)) return read_manifest(directory).error();
  const Result<DirectoryLock> lock = DirectoryLock::for_reading(directory);
  if (!lock) return lock.error();
  NativeFolders folders;
  folders.look = {native_folder(directory), NativeFolders::of_program()};
  return recover_locked(directory, options, folders);
}

Result<RecoveredDatabase> recover_locked(const std::string& directory, const RecoverOptions& options,
                                         const NativeFolders& folders) {
  const Stopwatch total;
  const auto progress = [&](RecoveryStage stage, uint64_t done) {
    if (options.progress) options.progress(stage, done, 1);
  };
  RecoveredDatabase recovered;
  RecoveryReport& report = recovered.report;
  Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  if (!options.log_archive.empty()) manifest = with_archive(std::move(*manifest), options.log_archive);
  if (!manifest) return manifest.error();
  report.manifest_seconds = total.seconds();
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
  report.catalog_seconds = catalog_watch.seconds();

  progress(RecoveryStage::kCheckpoint, 0);
  const Stopwatch checkpoint_watch;
  recovered.database = std::make_unique<Database>(recovered.program->catalog, options.workers);
  const Result<LoadedCheckpoint> checkpoint =
      load_checkpoint(*recovered.database, directory, recovered.manifest, options.replay.threads);
  if (!checkpoint) return checkpoint.error();
  report.checkpoint_seconds = checkpoint_watch.seconds();
  report.checkpoint_bytes = checkpoint->bytes;
  report.checkpoint_rows = checkpoint->rows;
  report.checkpoint_lsn = recovered.manifest.checkpoint_lsn;
  progress(RecoveryStage::kCheckpoint, 1);
  const bool indexes_last = builds_indexes_last(report.scheme);
  if (!indexes_last) RETURN_IF_ERROR(build_indexes(recovered, options));

  progress(RecoveryStage::kLog, 0);
  const Stopwatch log_watch;
  LogReadOptions read;
  read.threads = options.replay.threads;
  read.from = recovered.manifest.checkpoint_lsn;
  Result<LogContents> log = read_log(directory, recovered.manifest, read);
  if (!log) return log.error();
  recovered.log = std::move(*log);
  report.log_load_seconds = log_watch.seconds();
  report.log_bytes = recovered.log.record_bytes;
  report.log_file_bytes = recovered.log.file_bytes;
  report.dropped_bytes = recovered.log.dropped_bytes;
  report.dropped_reason = recovered.log.dropped_reason;
  report.holes = recovered.log.holes.size();
  report.hole_bytes = recovered.log.hole_bytes();
  report.end = recovered.log.end;
  progress(RecoveryStage::kLog, 1);

  Result<ReplayStatistics> statistics = replay_log(recovered, options, folders);
  if (!statistics) return statistics.error();
  report.replay = *statistics;
  if (indexes_last) RETURN_IF_ERROR(build_indexes(recovered, options));
  report.total_seconds = total.seconds();
  return recovered;
}

}  // namespace mneme
