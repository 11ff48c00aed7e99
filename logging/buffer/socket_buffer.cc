#include "logging/buffer/socket_buffer.h"

namespace mneme {

namespace {

// The system moves threads between nodes a few times a second at most.
constexpr uint32_t kUsesBetweenLooks = 1024;

}  // namespace

SocketBuffer::SocketBuffer(const LogBufferOptions& options, uint32_t nodes)
    : HybridBuffer(options, nodes),
      nodes_(nodes),
      whereabouts_(std::make_unique<CachePadded<Whereabouts>[]>(options.workers)) {}

uint32_t SocketBuffer::array_of(WorkerId worker) {
  Whereabouts& mine = *whereabouts_[worker.value];
  if (mine.uses_left == 0) mine = {current_numa_node() % nodes_, kUsesBetweenLooks};
  --mine.uses_left;
  return mine.node;
}

std::unique_ptr<LogBuffer> make_socket_buffer(const LogBufferOptions& options) {
  return std::make_unique<SocketBuffer>(options);
}

}  // namespace mneme
