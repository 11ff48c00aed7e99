#include "logging/buffer/log_buffer_factory.h"

#include <fmt/format.h>

#include <bit>
#include <string>

namespace mneme {

#define LOG_BUFFER(kind, name, make, ...) std::unique_ptr<LogBuffer> make(const LogBufferOptions& options);
#include "logging/buffer/log_buffer_list.h"
#undef LOG_BUFFER

namespace {

struct BufferEntry {
  LogBufferKind kind;
  std::string_view name;
  std::unique_ptr<LogBuffer> (*make)(const LogBufferOptions& options);
  LogBufferTraits traits;
};
// By kind.
constexpr BufferEntry kBuffers[] = {
#define LOG_BUFFER(kind, name, make, ...) {LogBufferKind::kind, name, make, {__VA_ARGS__}},
#include "logging/buffer/log_buffer_list.h"
#undef LOG_BUFFER
};

const BufferEntry& entry(LogBufferKind kind) {
  return kBuffers[static_cast<size_t>(kind)];
}

}  // namespace

Result<LogBufferKind> log_buffer_kind(std::string_view name) {
  if (name == "default") return kDefaultLogBuffer;
  std::string names = "default";
  for (const BufferEntry& each : kBuffers) {
    if (each.name == name) return each.kind;
    names += fmt::format(", {}", each.name);
  }
  return invalid_argument("there is no log buffer \"{}\": choose one of {}", name, names);
}

const LogBufferTraits& traits_of(LogBufferKind kind) {
  return entry(kind).traits;
}

std::string_view name_of(LogBufferKind kind) {
  return entry(kind).name;
}

const std::vector<LogBufferKind>& log_buffer_kinds() {
  static const std::vector<LogBufferKind> kinds = [] {
    std::vector<LogBufferKind> all;
    for (const BufferEntry& each : kBuffers) all.push_back(each.kind);
    return all;
  }();
  return kinds;
}

Result<void> check_options(LogBufferKind kind, const LogBufferOptions& options) {
  const LogBufferTuning& tuning = options.tuning;
  if (tuning.slots == 0) return invalid_argument("a consolidation array of 0 slots: it needs one at least");
  if (tuning.scan_bits != 1 && tuning.scan_bits != 64) {
    return invalid_argument("steps of {} bits: the scan buffer walks by 1 or by 64", tuning.scan_bits);
  }
  if (entry(kind).traits.hops && tuning.hop_bytes != 0 &&
      (!std::has_single_bit(tuning.hop_bytes) || tuning.hop_bytes > options.ring_bytes / 4)) {
    return invalid_argument(
        "a hopping distance of {} bytes: it must be a power of two, and at most a quarter of the ring's {} "
        "bytes",
        tuning.hop_bytes, options.ring_bytes);
  }
  return {};
}

std::unique_ptr<LogBuffer> make_log_buffer(LogBufferKind kind, const LogBufferOptions& options) {
  return entry(kind).make(options);
}

}  // namespace mneme
