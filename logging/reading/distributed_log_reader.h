// Distributed log reader: the streams of a distributed log (distributed_log.h), merged by their place in the
// commit order and cut at the first hole.
//
// Flow        segments are loaded and checked in parallel -> each stream is followed as far as it is intact
//             -> its records are found -> each is put at its place -> the log ends before the first place
//             that stays empty
// Invariants  the commit sequence has no gaps, so a record that a slower stream lost is seen as a place
//             without one; what faster streams hold past it was never acknowledged, and is left out (Aether,
//             section 7.4: truncation at the first hole). A hole below the durable LSN that any block carries
//             is damage, and so is a block that no crash can have left (block_format.h). Of a former
//             incarnation the log holds the records below the next one's begin, wherever they lie. What lies
//             at or below the checkpoint is left out: files below it may be gone.
// Threads     threads of its own.
// Errors      as log_reader.h says.
#pragma once

#include <string>

#include "base/result.h"
#include "logging/reading/log_reader.h"

namespace mneme {

// Reads a log of this layout for read_log().
Result<LogContents> read_distributed_log(const std::string& directory, const Manifest& manifest,
                                         const LogReadOptions& options);

}  // namespace mneme
