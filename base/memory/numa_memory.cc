#include "base/memory/numa_memory.h"

#include <numa.h>
#include <numaif.h>

namespace mneme {

bool prefer_node(void* at, size_t bytes, uint32_t node) {
  bitmask* const nodes = numa_allocate_nodemask();
  const bool is_known = node < nodes->size;
  if (is_known) numa_bitmask_setbit(nodes, node);
  const bool ok = is_known && mbind(at, bytes, MPOL_PREFERRED, nodes->maskp, nodes->size + 1, 0) == 0;
  numa_free_nodemask(nodes);
  return ok;
}

void interleave_nodes(void* at, size_t bytes) {
  if (numa_available() >= 0) numa_interleave_memory(at, bytes, numa_all_nodes_ptr);
}

}  // namespace mneme
