// The socket buffer (CD-Socket): the hybrid buffer with one consolidation array for each NUMA node, so that
// workers form groups with their neighbours alone, and only the groups' leaders cross between nodes.
//
// Threads     as LogBuffer says. A worker looks now and then on which node it runs; an old answer costs time
//             only.
// Waiting     as HybridBuffer.
// Source      Aether, section 7.1, Figure 14b. On a machine with one node it is the hybrid buffer.
#pragma once

#include <memory>

#include "base/cache_line.h"
#include "base/memory/numa.h"
#include "logging/buffer/hybrid_buffer.h"

namespace mneme {

class SocketBuffer : public HybridBuffer {
 public:
  explicit SocketBuffer(const LogBufferOptions& options) : SocketBuffer(options, numa_nodes()) {}

 protected:
  uint32_t array_of(WorkerId worker) override;

 private:
  SocketBuffer(const LogBufferOptions& options, uint32_t nodes);

  // A worker's own.
  struct Whereabouts {
    uint32_t node = 0;
    uint32_t uses_left = 0;  // before it looks again
  };

  const uint32_t nodes_;
  const std::unique_ptr<CachePadded<Whereabouts>[]> whereabouts_;
};

}  // namespace mneme
