// mneme_bench's micro-benchmarks: each measures what one step of the engine costs, without a workload
// around it.
//
// Flow        main.cc reads the options -> each file here registers its benchmarks -> Google Benchmark runs
//             them
// Invariants  each benchmark CHECKs its results, so a run at a small size is a test.
// Units       nanoseconds for one step, unless a file says otherwise. They stand in the column CPU. The
//             column Time shows the same on a machine that does nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::bench {

struct Sizes {
  size_t region_bytes = 0;  // of the memory that dependent reads walk through
  uint64_t entries = 0;     // entries of an index, and rows of a table
};

void register_memory(const Sizes& sizes);
void register_copy(const Sizes& sizes);
void register_index(const Sizes& sizes);
void register_transaction(const Sizes& sizes);
void register_order(const Sizes& sizes);
void register_procedure(const Sizes& sizes);
void register_histogram(const Sizes& sizes);
void register_sequence(const Sizes& sizes);

// Returns the number after `at` on a cycle through 0, 1, ... count - 1, each once, in an order that looks
// random. `count` must be a power of two. It is a linear congruential generator of full period (Knuth, TAOCP
// 2, section 3.2.1.2). The low bits of its numbers are regular. The high bits, which decide page and cache
// set, are not.
inline uint64_t next_in_cycle(uint64_t at, uint64_t count) {
  return (at * 6364136223846793005u + 1442695040888963407u) & (count - 1);
}

}  // namespace mneme::bench
