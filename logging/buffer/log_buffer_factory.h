// Makes the log buffer that an option names. The kinds differ in how workers and flusher agree on the prefix;
// what they promise is the same (log_buffer.h).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "logging/buffer/log_buffer.h"

namespace mneme {

enum class LogBufferKind : uint8_t {
  kMutex,          // one lock over reservation and fill: the baseline
  kConsolidation,  // C: groups compete for the lock
  kDecoupled,      // D: the lock covers the reservation alone
  kHybrid,         // CD: both
  kDelegated,      // CDE: and the release is left to a slower predecessor
  kSocket,         // CD with one consolidation array a NUMA node
  kGrasshopper,    // one fetch_add; the flusher crawls along lists of what is written, or hops
  kScan,           // one fetch_add, and a bitmap of the bytes that are written
  kWatermark,      // one fetch_add, and a low watermark a worker
  kExtents,        // one fetch_add; each worker writes in an extent of its own, the flusher merges
};
inline constexpr LogBufferKind kDefaultLogBuffer = LogBufferKind::kWatermark;

// "mutex", "consolidation", ...; "default" for the default.
Result<LogBufferKind> log_buffer_kind(std::string_view name);
std::string_view name_of(LogBufferKind kind);
// All kinds, in the order in which their sources build upon each other.
const std::vector<LogBufferKind>& log_buffer_kinds();

// What is wrong with the options for this kind, as a sentence for the user.
Result<void> check_options(LogBufferKind kind, const LogBufferOptions& options);
// The options are good for it.
std::unique_ptr<LogBuffer> make_log_buffer(LogBufferKind kind, const LogBufferOptions& options);

}  // namespace mneme
