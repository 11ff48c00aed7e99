#include "logging/buffer/log_buffer_factory.h"

#include <fmt/format.h>

#include <bit>
#include <string>

#include "base/check.h"
#include "logging/buffer/consolidation_buffer.h"
#include "logging/buffer/decoupled_buffer.h"
#include "logging/buffer/delegated_buffer.h"
#include "logging/buffer/extents_buffer.h"
#include "logging/buffer/grasshopper_buffer.h"
#include "logging/buffer/hybrid_buffer.h"
#include "logging/buffer/mutex_buffer.h"
#include "logging/buffer/scan_buffer.h"
#include "logging/buffer/socket_buffer.h"
#include "logging/buffer/watermark_buffer.h"

namespace mneme {

namespace {

template <typename Buffer>
std::unique_ptr<LogBuffer> make(const LogBufferOptions& options) {
  return std::make_unique<Buffer>(options);
}

struct BufferEntry {
  LogBufferKind kind;
  std::string_view name;
  std::unique_ptr<LogBuffer> (*make)(const LogBufferOptions& options);
};
constexpr BufferEntry kBuffers[] = {
    {LogBufferKind::kMutex, "mutex", make<MutexBuffer>},
    {LogBufferKind::kConsolidation, "consolidation", make<ConsolidationBuffer>},
    {LogBufferKind::kDecoupled, "decoupled", make<DecoupledBuffer>},
    {LogBufferKind::kHybrid, "hybrid", make<HybridBuffer>},
    {LogBufferKind::kDelegated, "delegated", make<DelegatedBuffer>},
    {LogBufferKind::kSocket, "socket", make<SocketBuffer>},
    {LogBufferKind::kGrasshopper, "grasshopper", make<GrasshopperBuffer>},
    {LogBufferKind::kScan, "scan", make<ScanBuffer>},
    {LogBufferKind::kWatermark, "watermark", make<WatermarkBuffer>},
    {LogBufferKind::kExtents, "extents", make<ExtentsBuffer>},
};

const BufferEntry& entry(LogBufferKind kind) {
  const BufferEntry& found = kBuffers[static_cast<size_t>(kind)];
  CHECK(found.kind == kind);
  return found;
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
  if (kind == LogBufferKind::kGrasshopper && tuning.hop_bytes != 0 &&
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
