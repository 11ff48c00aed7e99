// Epoch log reader: the loggers' streams of an epoch log (epoch_log.h), cut at the pepoch and merged by LSN.
//
// Flow        pepoch.log -> segments are loaded and checked in parallel -> each stream is followed up to
//             where the log ends in it -> its records are found -> each is put at its place in the commit
//             order
// Invariants  of an incarnation the log holds what its successor noted, of the last one what the pepoch
//             covers. A stream that breaks off before that, or holds anything else, is damage. Bytes after
//             that are a torn tail, whole or not: they were never acknowledged. Places have no gaps
//             (epoch_lsn.h): a record's place in its epoch, and how many records come before the epoch, give
//             its index, so nothing is compared, and a record that is missing or comes twice is found out. A
//             pepoch.log older than what the loggers knew when they wrote is damage. What lies at or below
//             the checkpoint is left out: files below it may be gone.
// Threads     threads of its own.
// Errors      as log_reader.h says.
// Source      PACMAN, appendix A.2.
#pragma once

#include <string>

#include "base/result.h"
#include "logging/reading/log_reader.h"

namespace mneme {

// Reads a log of this layout for read_log().
Result<LogContents> read_epoch_log(const std::string& directory, const Manifest& manifest,
                                   const LogReadOptions& options);

}  // namespace mneme
