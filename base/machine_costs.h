// Machine costs: what handing a cache line from core to core takes here, and how fast memory gives lines.
//
// For         simulated schedules (recovery/calls/schedule_simulation.h), which lay steps of one core out on
//             many.
// Method      two threads, each on a core of its own, hand one line to and fro; then a thread a core reads
//             lines at random places of a region larger than most caches, many of them under way at once. The
//             best of some short rounds counts, because other programs make a round worse, never better.
// Errors      none: what can't be measured is 0.
// Costs       a fifth of a second, and 128 MiB of memory meanwhile.
#pragma once

#include <cstdint>

namespace mneme {

struct MachineCosts {
  uint32_t cores = 1;              // that this process may run on, and that were measured
  double handover_ns = 0;          // one line, one way; 0: there is one core alone
  double memory_bytes_per_ns = 0;  // of all cores together: GB/s; 0: there was no memory to measure with
};

MachineCosts measure_machine_costs();

}  // namespace mneme
