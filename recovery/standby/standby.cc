#include "recovery/standby/standby.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "logging/reading/log_truncation.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/schema_change.h"

namespace mneme {

Standby::Standby(RecoveredDatabase recovered, StandbyOptions options, NativeFolders folders)
    : options_(std::move(options)),
      folders_(std::move(folders)),
      scheme_(*recovered.report.scheme),
      order_(recovered.report.replay.order),
      loaded_(recovered.report.checkpoint.lsn),
      end_(std::max(recovered.report.log.end, recovered.report.checkpoint.lsn)),
      working_(std::make_shared<WorkingDatabase>(WorkingDatabase::of_standby(
          std::move(recovered.program), std::move(recovered.database), end_, options_.log))) {
  report_.notices = std::move(recovered.report.notices);
  if (scheme_.builds_indexes_last) come_to_rest();
}

Result<ReplayStatistics> Standby::advance(std::span<const RecordView> records, Lsn end,
                                          const Replayer::Progress& progress) {
  ReplayStatistics total;
  SchemaLatch::Change readers(working_->schema_latch());
  stop_readers(readers);
  while (!records.empty()) {
    const auto change = std::ranges::find(records, RecordKind::kSchema, &RecordView::kind);
    const auto stretch = records.first(static_cast<size_t>(change - records.begin()));
    if (!stretch.empty()) {
      const Replayer::Progress of_round = [&](uint64_t done, std::optional<Lsn> last) {
        progress(total.transactions + done, last);
      };
      const auto replayed = replay_stretch(stretch, progress ? of_round : Replayer::Progress());
      if (!replayed) return replayed.error();
      total.add(*replayed);
    }
    records = records.subspan(stretch.size());
    if (records.empty()) break;
    RETURN_IF_ERROR(change_schema(records.front()));
    records = records.subspan(1);
  }
  end_ = end;
  if (scheme_.builds_indexes_last) come_to_rest();
  working_->standby_log().replayed_to(end_);
  return total;
}

Result<void> Standby::become_primary(DirectoryLock lock, std::unique_ptr<ManifestFile> manifest,
                                     const LogContents& log) {
  SchemaLatch::Change readers(working_->schema_latch());
  stop_readers(readers);
  replayer_ = nullptr;
  return working_->become_primary(std::move(lock), std::move(manifest), log, options_.log);
}

void Standby::stop_readers(SchemaLatch::Change& readers) const {
  using Stopped = SchemaLatch::Change::Stopped;
  for (;;) {
    const Stopped stopped = readers.stop(options_.patience);
    CHECK(stopped != Stopped::kOwnBlock);
    if (stopped == Stopped::kStopped) return;
    options_.ends_readers();
  }
}

Result<ReplayStatistics> Standby::replay_stretch(std::span<const RecordView> records,
                                                 const Replayer::Progress& progress) {
  if (replayer_ == nullptr) {
    ReplayerSetting setting{.database = working_->database(),
                            .program = working_->program(),
                            .options = options_.replay,
                            .tables_from = loaded_,
                            .execution = options_.execution,
                            .folders = folders_,
                            .report = report_};
    setting.options.order = order_;
    replayer_ = make_replayer(scheme_, setting);
  }
  RecordStream stretch(records);
  replayer_->prepare(stretch);
  return replayer_->replay(stretch, progress);
}

Result<void> Standby::change_schema(const RecordView& record) {
  const Program& former = working_->program();
  Result<std::unique_ptr<Program>> program = program_after(former, record);
  if (!program) return program.error();
  replayer_ = nullptr;
  report_.code = {};
  if (!same_tables((*program)->catalog, former.catalog)) loaded_ = record.lsn;
  RETURN_IF_ERROR(change_tables(working_->database(), (*program)->catalog, !scheme_.builds_indexes_last,
                                options_.replay.threads));
  working_->replace(std::move(*program));
  return {};
}

// Rows were put into slots, and more will be: but until then a walk over the tables is to find these.
void Standby::come_to_rest() {
  Database& database = working_->database();
  for (uint32_t t = 0; t < database.table_count(); ++t) database.table(TableId{t}).rows().end_restoring({});
}

Result<StandbyCheckpoint> Standby::take_checkpoint(ManifestFile& manifest) {
  const uint64_t begin_ns = monotonic_ns();
  const std::string& directory = manifest.directory();
  const Manifest before = manifest.current();
  // Not the next record's own LSN: a checkpoint's LSN is no record's place (location_installer.h tells by it
  // what the checkpoint holds). No record is shorter than its header, so the same ones lie below.
  const Lsn lsn{end_.value - 1};
  StandbyCheckpoint taken;
  taken.lsn = std::max(lsn, before.checkpoint_lsn);
  if (!(before.checkpoint_lsn < lsn)) return taken;
  Manifest noted = before;
  RETURN_IF_ERROR(write_catalog(directory, program(), noted));
  const Result<WrittenCheckpoint> written = write_checkpoint(
      database(), directory, {before.database_id, program().hash(), lsn}, options_.replay.threads);
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
  // After a crash before these are gone, the next opening of the directory removes them.
  ::unlink(path_in(directory, before.checkpoint_file).c_str());
  for (const SegmentEntry& each : *below) ::unlink(path_in(directory, each.file).c_str());
  taken.bytes = written->bytes;
  taken.rows = written->rows;
  taken.removed_segments = below->size();
  taken.seconds = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
  return taken;
}

}  // namespace mneme
