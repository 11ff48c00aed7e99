// Where memory lies on a machine with several NUMA nodes: which node a thread wants its memory on, and how
// the kernel is told (libnuma).
//
// Errors      the kernel may refuse, or have no memory on the node: then memory lies elsewhere, which costs
//             time only. On a machine with one node nothing is asked of it.
// Threads     any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory/numa.h"

namespace mneme {

// The nodes, and the one that the calling thread runs on: the machine's, or what a test makes up.
struct NumaView {
  uint32_t nodes = 1;
  uint32_t (*current)() = [] { return uint32_t{0}; };

  static NumaView of_machine() { return {numa_nodes(), current_numa_node}; }
  uint32_t node() const { return nodes == 1 ? 0 : current() % nodes; }
};

// Makes whole pages that have not been touched yet come from this node, whichever thread touches them.
// Returns false where the kernel refuses.
bool prefer_node(void* at, size_t bytes, uint32_t node);
// For what all threads share: from all nodes in turn.
void interleave_nodes(void* at, size_t bytes);

}  // namespace mneme
