// Log truncation: which of a log's files are no longer needed, behind a checkpoint or a crash.
//
// Flow        a checkpoint at C is complete, and C durable -> segments_below(C) leave the manifest ->
//             release_segments(): their files go, or the log takes them again
//             a directory is opened for work -> unlisted_files(): what a crash left between those steps, or
//             of a checkpoint that was never finished
// Invariants  a segment is below C only if that is certain: a later incarnation began at or below C, or a
//             later segment of the same directory holds a record at or below C. In one directory LSNs rise
//             from segment to segment, of a striped log too. Of a logger (epoch_log.h), whose LSNs rise by
//             epochs only: a later one of the same logger holds a record of an epoch before C's. Of a stream
//             (distributed_log.h), whose LSNs don't rise: a later one of the same stream was begun when the
//             stream's clock had not passed C. Of a stream's ring in persistent memory (nvm_ring.h), which is
//             written for as long as the incarnation lasts: only the first of these. a life (Incarnation) of
//             which no segment is left, nor of any before it, leaves the manifest with them: nothing that
//             could still be read belongs to it. What a log archive holds is read by all of them, so where
//             there is one, all stay.
// Threads     any, beside the log's own; files are only read.
// Errors      a file can't be read: a sentence.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/record/lsn.h"

namespace mneme {

// The listed segments all of whose records are below `lsn`, which is durable.
Result<std::vector<SegmentEntry>> segments_below(const std::string& directory, const Manifest& manifest,
                                                 Lsn lsn);

// What becomes of the files of segments that a checkpoint has passed. Where an archive got them they may not
// change.
enum class Passed : uint8_t { kRemoved, kReused };

// The manifest lists the segments no more, and that is durable: their files go, or the log takes them again
// where they can serve (reused_segment.h). `before` is the manifest that listed them.
void release_segments(ManifestFile& manifest, const Manifest& before, const std::vector<SegmentEntry>& below,
                      Passed passed);

// Forgets the lives before the first of which a segment is listed, and the holes in their logs. The last one
// stays.
void forget_former_lives(Manifest& manifest);

// Checkpoints and segments of this database, by their names, that the manifest does not list: paths. They are
// looked for in the data directory and wherever listed segments lie.
Result<std::vector<std::string>> unlisted_files(const std::string& directory, const Manifest& manifest);
// They go: what a crash left in the middle of a checkpoint, the attempt, or what a later one has replaced.
// Before that the manifest is written anew, durably: that of a process which was killed may be in a cache
// alone, and a power failure bring back the one before, which lists them.
Result<void> remove_unlisted_files(ManifestFile& manifest);

}  // namespace mneme
