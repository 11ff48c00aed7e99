// Reused segments: a segment file that a checkpoint has passed becomes the log's next segment, without being
// filled with zeros again.
//
// Flow        a checkpoint drops the segment from the manifest, durably, and keeps its file as a spare
//             (spare_segments.h) -> reuse_segment(): lock the file -> read its blocks, and note a checksum of
//             each sector -> write that table behind the blocks, sync -> write the new header page, sync ->
//             rename it -> segment_file.h syncs the directory, and lists the segment
//
// Why what is left of the former segment is harmless
//   No record of it is read again. A block names its segment's number and incarnation, its place in the file,
//   and a checksum of those. Numbers of segments never come up again (Manifest::last_segment), so each block
//   that is left names a number below this segment's, and counts as missing, as zeros do. Its header lies in
//   one sector, which a crash cannot mix.
//   A torn tail is still told from damage. That rule says: a crash leaves each sector as it was written, or
//   as it was before. Before, a fresh file's are zeros, and the table says what a reused file's are
//   (former_sectors.h). So the rule is as strong as that of a fresh file.
//   What was before is on the medium. Only files of the life at work are reused: each of their writes has
//   been synced with success, as C is durable and lies above them, or they would have ended the log. Those of
//   former lives are removed, as what readers see of them may be in a cache alone (volatile_tail.h).
//   No request is on its way to the file: all chains to it have ended, for the same reason, and its lock can
//   be had.
//   No other file loses its content: one with a second name (a copy by links, an archive) is not reused, and
//   with an archive (log_archive.h) none is.
//
// Why a crash at any step is harmless
//   The spare is listed nowhere, durably, before this begins. Until the end it is a file that no manifest
//   lists: under its former name or its new one, with its former header page or the new one, which lies in
//   one sector. The next opening for work removes it. The table is durable before the header page that speaks
//   of it; so a new header page never stands before another table, and holds_records() finds that such a file
//   holds nothing: no proof that the manifest is older than the log (newest_manifest.h).
//
// Threads     any, for different files.
// Errors      none, where the file cannot serve: the caller makes a fresh one. An error, where reading it is
//             given up.
#pragma once

#include <optional>
#include <string>

#include "base/file/file.h"
#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/directory/segment_file.h"
#include "logging/record/former_sectors.h"

namespace mneme {

// Whether the file of a segment that a checkpoint passes may be reused. `manifest` still lists it.
bool may_be_reused(const Manifest& manifest, const SegmentEntry& entry);

// Makes the spare the segment of this header, under the name `path`. The caller syncs the directory. Returns
// a file that isn't open if the spare cannot serve; the spare is removed then.
Result<File> reuse_segment(const SpareSegment& spare, const std::string& path, SegmentHeader header,
                           const SegmentFileOptions& options);

// The table of a reused segment. Returns nullopt if it is not the one that the header page speaks of, or
// can't be read.
std::optional<FormerSectors> read_former_sectors(const File& file, const FormerBlocks& former);

// Whether a block of a reused segment is not as it was before; also where that is not known.
Result<bool> holds_other_than_former(const File& file, const FormerBlocks& former);

}  // namespace mneme
