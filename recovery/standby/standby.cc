#include "recovery/standby/standby.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "logging/reading/log_truncation.h"
#include "recovery/calls/lane_count.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/schema_change.h"
#include "recovery/rows/location_replayer.h"
#include "recovery/rows/shuffle_replayer.h"

namespace mneme {

namespace {

// A round so many times as large as the sample is worth counting lanes again, unless that was a good one.
constexpr size_t kBetterSample = 4;
constexpr size_t kGoodSample = 2000;

bool holds_rows(std::span<const RecordView> records) {
  return std::ranges::any_of(records, [](const RecordView& record) {
    return record.kind == RecordKind::kLogical || record.kind == RecordKind::kPhysical;
  });
}

}  // namespace

Standby::Standby(RecoveredDatabase recovered, StandbyOptions options, NativeFolders folders)
    : options_(std::move(options)),
      folders_(std::move(folders)),
      scheme_(recovered.report.scheme),
      order_(recovered.report.order),
      loaded_(recovered.report.checkpoint_lsn),
      program_(std::move(recovered.program)),
      database_(std::move(recovered.database)),
      end_(std::max(recovered.report.end, recovered.report.checkpoint_lsn)),
      notices_(std::move(recovered.report.notices)) {
  if (builds_indexes_last(scheme_)) come_to_rest();
}

Result<ReplayStatistics> Standby::advance(std::span<const RecordView> records, Lsn end,
                                          const Progress& progress) {
  ReplayStatistics total;
  while (!records.empty()) {
    const auto change = std::ranges::find(records, RecordKind::kSchema, &RecordView::kind);
    const auto stretch = records.first(static_cast<size_t>(change - records.begin()));
    if (!stretch.empty()) {
      const Progress of_round = [&](uint64_t done, std::optional<Lsn> last) {
        progress(total.transactions + done, last);
      };
      const auto replayed = replay_stretch(stretch, progress ? of_round : Progress());
      if (!replayed) return replayed.error();
      total.add(*replayed);
    }
    records = records.subspan(stretch.size());
    if (records.empty()) break;
    RETURN_IF_ERROR(change_schema(records.front()));
    records = records.subspan(1);
  }
  end_ = end;
  if (builds_indexes_last(scheme_)) come_to_rest();
  return total;
}

Result<ReplayStatistics> Standby::replay_stretch(std::span<const RecordView> records,
                                                 const Progress& progress) {
  ReplayOptions options = options_.replay;
  options.order = order_;
  options.progress = progress;
  switch (scheme_) {
    case RecoveryScheme::kLlrP:
      return replay_shuffled(*database_, records, options);
    case RecoveryScheme::kPlr:
      return replay_by_location(*database_, records, loaded_, options);
    default:
      return replay_calls(records, options);
  }
}

Result<ReplayStatistics> Standby::replay_calls(std::span<const RecordView> records,
                                               const ReplayOptions& options) {
  const bool has_rows = holds_rows(records);
  if (graph_ == nullptr || (has_rows && !allows_rows_)) analyze_for(has_rows);
  progress_ = options.progress;
  const bool better = records.size() >= kBetterSample * sampled_ && sampled_ < kGoodSample;
  if (replayer_ == nullptr || better) {
    sampled_ = records.size();
    ReplayOptions kept = options;
    kept.native = code_.functions();
    kept.progress = [this](uint64_t done, std::optional<Lsn> last) {
      if (progress_) progress_(done, last);
    };
    replayer_ = std::make_unique<ParallelReplayer>(*database_, *program_, *graph_,
                                                   lane_counts(*graph_, records, options), kept);
  }
  RecordStream stream(records);
  auto statistics = replayer_->replay(stream);
  progress_ = {};
  return statistics;
}

// The finest analysis that orders what comes: one that has met rows allows for them from there on.
void Standby::analyze_for(bool has_rows) {
  replayer_ = nullptr;
  units_ = nullptr;
  allows_rows_ = has_rows;
  graph_ = std::make_unique<DependencyGraph>(
      analyze(*program_, has_rows ? AnalysisOptions::for_ad_hoc() : AnalysisOptions()));
  units_ = std::make_unique<SliceUnits>(*graph_);
  if (options_.execution == Execution::kInterpreted) return;
  code_ = CompiledUnits::load(*program_, database_->schema(), units_->units(), folders_);
  for (const std::string& notice : code_.notices()) {
    if (std::ranges::find(notices_, notice) == notices_.end()) notices_.push_back(notice);
  }
}

Result<void> Standby::change_schema(const RecordView& record) {
  Result<std::unique_ptr<Program>> program = program_after(*program_, record);
  if (!program) return program.error();
  replayer_ = nullptr;
  code_ = {};
  units_ = nullptr;
  graph_ = nullptr;
  if (!same_tables((*program)->catalog, program_->catalog)) loaded_ = record.lsn;
  RETURN_IF_ERROR(
      change_tables(*database_, (*program)->catalog, !builds_indexes_last(scheme_), options_.replay.threads));
  program_ = std::move(*program);
  return {};
}

// Rows were put into slots, and more will be: but until then a walk over the tables is to find these.
void Standby::come_to_rest() {
  for (uint32_t t = 0; t < database_->table_count(); ++t)
    database_->table(TableId{t}).rows().end_restoring({});
}

Result<StandbyCheckpoint> Standby::take_checkpoint(ManifestFile& manifest) {
  const uint64_t begin_ns = monotonic_ns();
  const std::string& directory = manifest.directory();
  const Manifest before = manifest.current();
  // Not the next record's own LSN: a checkpoint's is nobody's place (location_installer.h tells by it what
  // the checkpoint holds). No record is shorter than its header, so the same ones lie below.
  const Lsn lsn{end_.value - 1};
  StandbyCheckpoint taken;
  taken.lsn = std::max(lsn, before.checkpoint_lsn);
  if (!(before.checkpoint_lsn < lsn)) return taken;
  Manifest noted = before;
  RETURN_IF_ERROR(write_catalog(directory, *program_, noted));
  const Result<WrittenCheckpoint> written = write_checkpoint(
      *database_, directory, {before.database_id, program_->hash(), lsn}, options_.replay.threads);
  if (!written) return written.error();
  const Result<std::vector<SegmentEntry>> below = segments_below(directory, before, lsn);
  if (!below) {
    ::unlink(path_in(directory, written->file).c_str());
    return below.error();
  }
  RETURN_IF_ERROR(manifest.update([&](Manifest& current) {
    current.checkpoint_file = written->file;
    current.checkpoint_lsn = lsn;
    current.checkpoint_catalog_file = noted.checkpoint_catalog_file;
    current.checkpoint_catalog_hash = noted.checkpoint_catalog_hash;
    std::erase_if(current.segments, [&](const SegmentEntry& each) {
      return std::ranges::any_of(*below, [&](const SegmentEntry& old) { return old.file == each.file; });
    });
    if (!below->empty()) forget_former_lives(current);
  }));
  // A crash before these are gone leaves them to who opens the directory next.
  ::unlink(path_in(directory, before.checkpoint_file).c_str());
  for (const SegmentEntry& each : *below) ::unlink(path_in(directory, each.file).c_str());
  taken.bytes = written->bytes;
  taken.rows = written->rows;
  taken.removed_segments = below->size();
  taken.seconds = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
  return taken;
}

}  // namespace mneme
