#include "logging/log_buffer_factory.h"

#include <fmt/format.h>

#include <string>

#include "base/check.h"
#include "logging/consolidation_buffer.h"
#include "logging/decoupled_buffer.h"
#include "logging/delegated_buffer.h"
#include "logging/hybrid_buffer.h"
#include "logging/mutex_buffer.h"
#include "logging/socket_buffer.h"
#include "logging/watermark_buffer.h"

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
    {LogBufferKind::kWatermark, "watermark", make<WatermarkBuffer>},
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

std::unique_ptr<LogBuffer> make_log_buffer(LogBufferKind kind, const LogBufferOptions& options) {
  return entry(kind).make(options);
}

}  // namespace mneme
