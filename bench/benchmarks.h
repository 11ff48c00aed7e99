// The micro-benchmarks of mneme_bench: what one step of the engine costs, without a workload around it.
//
// Flow        main.cc reads the options -> each file here registers its benchmarks -> Google Benchmark runs
//             them
// Invariants  each benchmark CHECKs what it did, so that run at a small size it is a test.
// Units       nanoseconds for one step, unless a file says otherwise: the column CPU. Time is the same on a
//             machine that does nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::bench {

struct Sizes {
  size_t region_bytes = 0;  // of the memory that dependent reads go over
  uint64_t entries = 0;     // of an index, and rows of a table
};

void register_memory(const Sizes& sizes);
void register_copy(const Sizes& sizes);
void register_index(const Sizes& sizes);
void register_transaction(const Sizes& sizes);
void register_order(const Sizes& sizes);
void register_procedure(const Sizes& sizes);
void register_histogram(const Sizes& sizes);
void register_sequence(const Sizes& sizes);

// 0, 1, ... count - 1 in an order that looks random, each once, for a count that is a power of two: a linear
// congruential generator of full period (Knuth, TAOCP 2, section 3.2.1.2). Its low bits are regular, its high
// ones are not, which decide page and cache set.
inline uint64_t next_in_cycle(uint64_t at, uint64_t count) {
  return (at * 6364136223846793005u + 1442695040888963407u) & (count - 1);
}

}  // namespace mneme::bench
