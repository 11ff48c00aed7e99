// Stream log reader: the log of one stream (durable_log.h, nvm_log.h), in files or in log servers' memories.
//
// Flow        what lies in memories alone is fetched (remote_recovery.h) -> segments are loaded and checked
//             in parallel -> their blocks are chained (block_chain.h) -> the chain's records are found, or
//             its windows (window_scan.h) -> where the log ends is held against what was durable
// Threads     threads of its own.
// Errors      as log_reader.h says.
#pragma once

#include <string>

#include "base/result.h"
#include "logging/reading/log_reader.h"

namespace mneme {

// Reads a log of this layout for read_log().
Result<LogContents> read_stream_log(const std::string& directory, const Manifest& manifest,
                                    const LogReadOptions& options);

}  // namespace mneme
