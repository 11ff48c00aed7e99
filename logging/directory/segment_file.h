// Segment file: makes one of the log's files, ready for its first record.
//
// Flow        make_segment(): the file is made, filled with zeros, given its header page and synced, or a
//             spare becomes it (reused_segment.h); its directory is synced, and the segment entered in the
//             manifest.
// Invariants  a segment is listed in the manifest, and all that durable, before anybody gets it, so before
//             its first record. Its bytes behind the header page are zeros, but for a ring's first mark
//             (nvm_ring.h), or those of the spare: nothing of a file that had the name before is left.
// Threads     any, for segments of different numbers.
// Errors      the disk is full, or the file can't be made: a sentence that says what to do.
//
// Why zeros, when fallocate would reserve the space at once: a write into space that was only reserved
// changes the file's extents, and so its fdatasync commits to the file system's journal. Measured on ext4, 16
// KiB writes, four in flight: 0.17 ms into zeros, 0.29 ms into reserved space, at nearly twice the rate.
// Zeros that are written as fast as the device takes them make the log's own flushes wait behind them, tens
// of milliseconds at worst. So a caller that has time lets them be written in short stretches, each synced
// before the next begins.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/file/file.h"
#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/directory/spare_segments.h"
#include "logging/record/block_format.h"

namespace mneme {

struct SegmentFileOptions {
  std::string
      // as the manifest names it: inside the data directory, or absolute; empty: the former itself
      directory{};
  size_t segment_bytes = 0;  // a multiple of a block's, header page included
  bool direct_io = true;
  std::optional<uint32_t> logger{};  // whose stream the segment continues (epoch_log.h)
  bool is_destaged = false;          // from a ring in persistent memory (nvm_ring.h)
  // the first bytes there, durable before the segment is listed; not with direct_io
  ByteSpan behind_header{};
  // Says how many bytes of zeros are written and synced next, or read of a spare; it may wait before it
  // answers. Where it says 0, making the segment is given up, with an error. Without it all is done at once.
  std::function<size_t()> next_stretch{};
  // The file to take if it can serve; it is gone from its former name either way. Called once it has served.
  std::optional<SpareSegment> spare{};
  std::function<void()> reused{};
};

// `header` says all but whose it is: database, catalog and incarnation are the manifest's, the logger and
// whether it is destaged the options'. The file is open for reading and writing, and locked, so that a reader
// can tell when its writer is gone.
Result<File> make_segment(ManifestFile& manifest, SegmentHeader header, const SegmentFileOptions& options);
// The same for a header that says all, and with errors that give no advice.
Result<File> make_listed_segment(ManifestFile& manifest, const SegmentHeader& header,
                                 const SegmentFileOptions& options);

}  // namespace mneme
