// Log truncation: which of a log's files nobody needs any more, behind a checkpoint or a crash.
//
// Flow        a checkpoint at C is complete, and C durable -> segments_below(C) leave the manifest, then the disk
//             opening for work -> unlisted_files(): what a crash left between those two steps, or of a checkpoint that was
//             never finished
// Invariants  a segment is below C only if that is certain: a later incarnation began at or below C, or a later segment of
//             the same stream in the same directory holds a record at or below C. There LSNs rise from segment to
//             segment, of a striped log too; of a logger's stream (epoch_log.h) by epochs only, so there it must be a
//             record of an epoch before C's.
// Threads     any, beside the log's own; files are only read.
// Errors      a file can't be read: a sentence.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "logging/lsn.h"
#include "logging/manifest.h"

namespace mneme {

// The listed segments all of whose records are below `lsn`, which is durable.
Result<std::vector<SegmentEntry>> segments_below(const std::string& directory, const Manifest& manifest,
                                                 Lsn lsn);

// Checkpoints and segments of this database, by their names, that the manifest does not list: paths. They are looked for
// in the data directory and wherever listed segments lie.
Result<std::vector<std::string>> unlisted_files(const std::string& directory, const Manifest& manifest);

}  // namespace mneme
