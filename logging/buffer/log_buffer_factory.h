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
#define LOG_BUFFER(kind, ...) kind,
#include "logging/buffer/log_buffer_list.h"
#undef LOG_BUFFER
};
inline constexpr LogBufferKind kDefaultLogBuffer = LogBufferKind::kWatermark;

// Which of LogBufferTuning's values a kind has a use for.
struct LogBufferTraits {
  bool has_slots = false;
  bool hops = false;  // `grasshopper`, `hop_bytes`
  bool has_scan_bits = false;
};

const LogBufferTraits& traits_of(LogBufferKind kind);
// "mutex", "consolidation", ...; "default" for the default.
Result<LogBufferKind> log_buffer_kind(std::string_view name);
std::string_view name_of(LogBufferKind kind);
// All kinds, in the order in which their sources build upon each other.
const std::vector<LogBufferKind>& log_buffer_kinds();

// Fails with kInvalidArgument, and a sentence for the user, if the options make no sense for this kind.
Result<void> check_options(LogBufferKind kind, const LogBufferOptions& options);
// The options are good for it.
std::unique_ptr<LogBuffer> make_log_buffer(LogBufferKind kind, const LogBufferOptions& options);

}  // namespace mneme
