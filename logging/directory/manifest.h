// The manifest: what a data directory holds. The only file that is ever replaced, and always whole.
//
// Layout      DIR/MANIFEST: a JSON object, then one line "crc32c XXXXXXXX", the checksum of all before it.
// Invariants  it is written to a temporary name, synced, renamed, and the directory synced: a crash leaves
//             the old one or the new one. Every log segment is listed, and its directory entry durable,
//             before its first record. Incarnations rise, and their begins never fall.
// Threads     ManifestFile: any thread (the log enters its segments from a thread of its own). Manifest:
//             plain data.
// Errors      missing, foreign or of another format version: kInvalidArgument. Not what was written:
//             kDamaged.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "logging/directory/log_layout.h"
#include "logging/directory/spare_segments.h"
#include "logging/record/log_hole.h"
#include "logging/record/lsn.h"
#include "logging/record/record_content.h"

namespace mneme {

// One opening of the database for work. Of the records that an incarnation wrote, those in [its begin, the
// next one's begin) belong to the log; what it wrote past that was not recovered and is never read again.
struct Incarnation {
  uint32_t number = 0;  // 1, 2, ...
  Lsn begin;
  // Where the log ended when it was closed in order: below it nothing is missing, and one that ends before
  // has lost something. Nothing: it was not closed so, or lies in others' memories.
  std::optional<Lsn> closed{};
  // In a log of several streams (epoch_log.h, distributed_log.h): where each stream ended, once the next
  // incarnation has begun. Bytes past that are not part of the log. 0: the end was not known, as a checkpoint
  // had removed all that the stream held; what an archive has of it lies below the checkpoint.
  std::vector<StreamPosition> stream_ends{};
};

struct SegmentEntry {
  std::string file;  // its path, from the data directory; absolute where it lies outside
  uint32_t number = 0;
  uint32_t incarnation = 0;
  std::optional<uint32_t> logger{};  // whose stream it belongs to, or which (epoch_log.h, distributed_log.h)
  bool is_ring = false;              // that stream's ring in persistent memory (nvm_ring.h)
};

struct Manifest {
  uint64_t database_id = 0;   // drawn at random at the database's birth: recognises its files
  uint64_t catalog_hash = 0;  // of the first schema and procedures: a stamp on each file of the log
  RecordContent records = RecordContent::kCommand;
  // of the records, or of the ad-hoc ones among them, that hold images
  TupleImage tuple_image = TupleImage::kFull;
  LogLayout layout = LogLayout::kStream;
  std::string checkpoint_file;
  Lsn checkpoint_lsn = kCheckpointLsn;
  // Schema and procedures as of the checkpoint; schema records of the log change them from there.
  std::string checkpoint_catalog_file = "catalog.sql";
  uint64_t checkpoint_catalog_hash = 0;
  std::vector<Incarnation> incarnations;  // rising
  std::vector<LogHole> holes;             // of former incarnations, rising: others there are damage
  std::vector<SegmentEntry> segments;     // by number; of a striped log, or several loggers, some are
                                          // written at the same time
  // The highest number of any that was listed before the last change, and may be listed no more.
  uint32_t last_segment = 0;
  std::map<std::string, std::string> attributes;  // workload, scale, generator position, ...

  // Above those of all segments there ever were: an archive keeps those that are listed no more, by their
  // numbers.
  uint32_t next_segment_number() const;

  std::string encode() const;
  // `where` names the text in errors.
  static Result<Manifest> decode(std::string_view text, const std::string& where);
};

class ManifestFile;
// Notes that the last incarnation's log was closed in order, and that all below `end` is durable. Where the
// manifest can't be written, the log counts as one that crashed: nothing is lost by that.
void note_closed(ManifestFile& manifest, Lsn end);

uint64_t new_database_id();

// Whether the directory holds a database (has a manifest).
bool holds_database(const std::string& directory);

// Fails if the directory is another user's and its manifest names a file outside of it.
Result<Manifest> read_manifest(const std::string& directory);

// The manifest of a directory that is open for work. Hold a DirectoryLock for as long.
class ManifestFile {
 public:
  // Writes the first manifest of a directory that has none.
  static Result<std::unique_ptr<ManifestFile>> create(const std::string& directory, const Manifest& manifest);
  static Result<std::unique_ptr<ManifestFile>> open(const std::string& directory);

  const std::string& directory() const { return directory_; }
  Manifest current() const;
  // Changes the manifest and makes the change durable; keeps account of `last_segment`. On an error current()
  // stays as it was, and the file has the former manifest or, where only the last sync failed, the new one.
  Result<void> update(FunctionRef<void(Manifest&)> change);
  // Files of the directory that it lists no more, for the log to take again.
  SpareSegments& spares() { return spares_; }

 private:
  ManifestFile(std::string directory, Manifest manifest)
      : directory_(std::move(directory)), manifest_(std::move(manifest)) {}

  const std::string directory_;
  mutable std::mutex mutex_;  // guards manifest_ and the file
  Manifest manifest_;
  SpareSegments spares_;
};

}  // namespace mneme
