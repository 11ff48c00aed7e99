// Which NUMA node the calling thread runs on. A hint: it may move on before the call returns.
#pragma once

#include <sched.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace mneme {

// The machine's NUMA nodes, at least one.
inline uint32_t numa_nodes() {
  uint32_t nodes = 0;
  while (std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(nodes))) ++nodes;
  return nodes == 0 ? 1 : nodes;
}

inline uint32_t current_numa_node() {
  unsigned cpu = 0;
  unsigned node = 0;
  return getcpu(&cpu, &node) == 0 ? node : 0;
}

}  // namespace mneme
