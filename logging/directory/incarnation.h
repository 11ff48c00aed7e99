// Opening a database for work: the step that makes a recovered log's end final.
//
// After a crash the segments may hold intact blocks past the recovered end, since writes complete out of
// order. The new incarnation writes at the same LSNs. So before it accepts work, its number and begin, which
// is the recovered end, are noted in the manifest, durably; a block of an older incarnation past that is
// never read again.
#pragma once

#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/record/log_contents.h"

namespace mneme {

// `log` is what read_log() found with `manifest` as it is now; of a new database, LogContents{}. What was
// read above log.durable_seen may still be in a volatile cache: it is made durable first (volatile_tail.h).
// Segments of which no block belongs to the log leave the manifest and are removed; so does the last
// incarnation, if it left nothing in the log. Its number is the next, or `least_number`: the term that log
// servers were told (remote_recovery.h).
Result<void> begin_incarnation(ManifestFile& manifest, const LogContents& log, uint32_t least_number = 1);

}  // namespace mneme
