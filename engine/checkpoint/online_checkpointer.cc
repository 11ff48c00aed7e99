#include "engine/checkpoint/online_checkpointer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/parallel.h"
#include "engine/checkpoint/pacer.h"
#include "engine/table/version_keeper.h"
#include "logging/directory/log_archive.h"
#include "logging/reading/log_truncation.h"

namespace mneme {

namespace {

constexpr std::chrono::microseconds kPollInterval{200};
// Rows between two looks at the clock.
constexpr uint64_t kRowsAtATime = 64;

// Keeps older images for as long as it lives.
class Keeping {
 public:
  explicit Keeping(VersionKeeper& versions) : versions_(versions) { versions_.start(); }
  ~Keeping() { versions_.stop(); }
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;

 private:
  VersionKeeper& versions_;
};

// Copies the row's version at the boundary into `image`, and returns true, if its slot still holds that
// version.
bool read_older(const Table& table, const Row& row, Lsn boundary, std::byte* image) {
  for (uint32_t tries = 0;; ++tries) {
    const RowWord seen = row.word();
    if (!seen.is_locked()) {
      // Nothing was there at the boundary, or somebody has kept it.
      if (!seen.is_live() || boundary < seen.lsn()) return false;
      const RowWord read = row.read(image, ImageParts::all(), table.image_words());
      if (!read.is_locked() && read.version() == seen.version()) return true;
    }
    spin_pause(tries);
  }
}

}  // namespace

OnlineCheckpointer::OnlineCheckpointer(Database& database, CommitLog& log, ManifestFile& manifest,
                                       WorkerId thread, OnlineCheckpointOptions options)
    : database_(database), log_(log), manifest_(manifest), thread_(thread), options_(std::move(options)) {
  CHECK(thread.value >= database.worker_count());
  CHECK(options_.share > 0);
}

Result<TakenCheckpoint> OnlineCheckpointer::take() {
  TakenCheckpoint taken;
  taken.begin_ns = monotonic_ns();
  Manifest manifest = manifest_.current();
  if (options_.keep_catalog) RETURN_IF_ERROR(options_.keep_catalog(manifest));
  RETURN_IF_ERROR(wait_for_former());
  auto file = capture(manifest, taken);
  if (!file) return file.error();
  observe(CheckpointStep::kCaptured);
  const Result<WrittenCheckpoint> written = (*file)->complete();
  if (!written) return written.error();
  observe(CheckpointStep::kWritten);
  RETURN_IF_ERROR(make_current(*written, manifest, taken));
  taken.seconds = seconds_since(taken.begin_ns);
  return taken;
}

Error OnlineCheckpointer::given_up() {
  return failed("the checkpoint was given up; the one before stays current");
}

// Waits until no worker can append to the lists of the checkpoint before any more.
Result<void> OnlineCheckpointer::wait_for_former() {
  const uint64_t sealed = database_.epochs().seal();
  while (database_.epochs().oldest_running() <= sealed) {
    if (given_up_.load(std::memory_order_relaxed)) return given_up();
    std::this_thread::sleep_for(kPollInterval);
  }
  return {};
}

Result<std::unique_ptr<CheckpointFile>> OnlineCheckpointer::capture(const Manifest& manifest,
                                                                    TakenCheckpoint& taken) {
  VersionKeeper& versions = database_.versions();
  const Keeping keeping(versions);
  observe(CheckpointStep::kKeeping);
  const Result<Lsn> boundary = reserve();
  if (!boundary) return boundary.error();
  taken.lsn = *boundary;
  observe(CheckpointStep::kReserved);
  versions.fix(*boundary);

  auto file = CheckpointFile::create(manifest_.directory(),
                                     {manifest.database_id, manifest.checkpoint_catalog_hash, *boundary},
                                     CachedPages::kGo);
  if (!file) return file;
  RETURN_IF_ERROR(write_rows(*boundary, **file));
  taken.capture_seconds = seconds_since(taken.begin_ns);
  taken.kept_images = versions.kept_images();
  taken.kept_bytes = versions.kept_bytes();
  taken.peak_kept_bytes = versions.peak_bytes();
  if (!versions.lost()) return file;
  return failed(
      "no memory was left to keep what rows were before they changed, so the checkpoint was given up; the "
      "one before stays current");
}

// An empty record: its place is the checkpoint's.
Result<Lsn> OnlineCheckpointer::reserve() {
  if (!log_.await_space(thread_, 0)) return *log_.failure();
  const Lsn lsn = log_.reserve(thread_, 0);
  log_.fill(thread_, lsn, RecordKind::kSkip, {});
  return lsn;
}

Result<void> OnlineCheckpointer::write_rows(Lsn boundary, CheckpointFile& file) {
  SlotRanges ranges(database_);
  std::vector<CheckpointRows> rows(options_.threads, CheckpointRows(database_, file));
  RETURN_IF_ERROR(run_on_threads(options_.threads, [&](uint32_t thread) {
    Result<void> captured = capture_ranges(boundary, ranges, rows[thread], thread);
    if (!captured) ranges.stop();
    return captured;
  }));
  // The versions that were put into the lists while the last ranges were walked.
  RETURN_IF_ERROR(write_kept(rows.front()));
  for (CheckpointRows& each : rows) RETURN_IF_ERROR(each.flush());
  return {};
}

Result<void> OnlineCheckpointer::capture_ranges(Lsn boundary, SlotRanges& ranges, CheckpointRows& rows,
                                                uint32_t thread) {
  size_t widest = 0;
  for (uint32_t i = 0; i < database_.table_count(); ++i)
    widest = std::max(widest, database_.table(TableId{i}).rows().image_bytes());
  std::vector<std::byte> image(widest);
  Pacer pacer(options_.share);
  while (const auto range = ranges.next()) {
    RETURN_IF_ERROR(capture_range(boundary, *range, image.data(), rows, pacer, thread));
    observe(CheckpointStep::kCapturing);
  }
  return {};
}

Result<void> OnlineCheckpointer::capture_range(Lsn boundary, const SlotRange& range, std::byte* image,
                                               CheckpointRows& rows, Pacer& pacer, uint32_t thread) {
  VersionKeeper& versions = database_.versions();
  const Table& table = database_.table(range.table).rows();
  const bool has_long_texts = !database_.table(range.table).layout().long_columns().empty();
  for (uint64_t slot = range.begin; slot < range.end; ++slot) {
    if (slot % kRowsAtATime == 0) {
      if (given_up_.load(std::memory_order_relaxed)) return given_up();
      RETURN_IF_ERROR(write_kept_meanwhile(rows));
      pacer.rest_if_due(hurry_.load(std::memory_order_relaxed) ||
                        versions.waiting_bytes() > options_.most_waiting_bytes);
    }
    const Row* row = table.at(slot);
    if (row == nullptr) continue;
    // Until what the image points to has been copied.
    std::optional<EpochManager::Reader> reader;
    if (has_long_texts) reader.emplace(database_.epochs(), thread);
    if (!read_older(table, *row, boundary, image)) continue;
    if (versions.claim(range.table, slot)) RETURN_IF_ERROR(rows.add(range.table, slot, image));
  }
  return {};
}

// Unless another thread is at it.
Result<void> OnlineCheckpointer::write_kept_meanwhile(CheckpointRows& rows) {
  const std::unique_lock lock(drain_mutex_, std::try_to_lock);
  return lock.owns_lock() ? write_kept(rows) : Result<void>();
}

Result<void> OnlineCheckpointer::write_kept(CheckpointRows& rows) {
  Result<void> result;
  database_.versions().drain([&](const KeptVersion& kept) {
    if (result) result = rows.add(kept.table, kept.slot, kept.image);
  });
  return result;
}

Result<void> OnlineCheckpointer::make_current(const WrittenCheckpoint& written, const Manifest& noted,
                                              TakenCheckpoint& taken) {
  taken.bytes = written.bytes;
  taken.rows = written.rows;
  const std::string& directory = manifest_.directory();
  const auto discard = [&](Error error) {
    ::unlink(path_in(directory, written.file).c_str());
    return error;
  };
  if (!log_.wait_durable(taken.lsn)) return discard(*log_.failure());
  observe(CheckpointStep::kDurable);

  const Manifest before = manifest_.current();
  const Result<std::vector<SegmentEntry>> below = segments_below(directory, before, taken.lsn);
  if (!below) return discard(below.error());
  std::vector<std::string> replaced{path_in(directory, before.checkpoint_file)};
  for (const SegmentEntry& each : *below) replaced.push_back(path_in(directory, each.file));
  if (!options_.archive.empty()) {
    for (const std::string& path : replaced) {
      const Result<void> kept = keep_in_archive(archive_folder(options_.archive, before.database_id), path);
      if (!kept) return discard(kept.error());
    }
  }
  observe(CheckpointStep::kArchived);

  RETURN_IF_ERROR(manifest_.update([&](Manifest& manifest) {
    manifest.checkpoint_file = written.file;
    manifest.checkpoint_lsn = taken.lsn;
    manifest.checkpoint_catalog_file = noted.checkpoint_catalog_file;
    manifest.checkpoint_catalog_hash = noted.checkpoint_catalog_hash;
    std::erase_if(manifest.segments, [&](const SegmentEntry& each) {
      return std::ranges::any_of(*below, [&](const SegmentEntry& old) { return old.number == each.number; });
    });
    // The dropped segments leave a gap that no archive fills: the log before it, wherever it lies, cannot be
    // replayed any more.
    if (options_.archive.empty() && !below->empty()) forget_former_lives(manifest);
  }));
  observe(CheckpointStep::kCurrent);

  // A crash before these are gone leaves them to the next opening for work.
  ::unlink(replaced.front().c_str());
  release_segments(manifest_, before, *below, options_.archive.empty() ? Passed::kReused : Passed::kRemoved);
  taken.removed_segments = below->size();
  observe(CheckpointStep::kRemoved);
  return {};
}

}  // namespace mneme
