// Where a transaction's place in the serial order may come from: a shared counter, or the processor's
// time-stamp counter.
//
// Unit        a number drawn. With two threads, CPU time of each.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/check.h"
#include "bench/benchmarks.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mneme::bench {
namespace {

CachePadded<std::atomic<uint64_t>> shared_counter{uint64_t{0}};

// As the buffers draw an LSN.
void counter(benchmark::State& state) {
  uint64_t last = 0;
  for (auto _ : state) {
    const uint64_t drawn = shared_counter->fetch_add(120, std::memory_order_acq_rel);
    CHECK(last == 0 || drawn > last);
    last = drawn;
  }
}

#if defined(__x86_64__)

// The time, and nothing before or after it in the program moves across.
uint64_t ordered_time() {
  unsigned processor = 0;
  const uint64_t time = __rdtscp(&processor);
  _mm_lfence();
  return time;
}

void clock(benchmark::State& state) {
  uint64_t last = 0;
  for (auto _ : state) {
    const uint64_t drawn = ordered_time();
    CHECK(drawn >= last);
    last = drawn;
  }
}

// With what a durable prefix needs: a lower bound that is visible to the flusher before the time is read.
void clock_with_bound(benchmark::State& state) {
  CachePadded<std::atomic<uint64_t>> bound{uint64_t{0}};
  uint64_t last = 0;
  for (auto _ : state) {
    bound->exchange(last, std::memory_order_acq_rel);
    const uint64_t drawn = ordered_time();
    bound->store(~uint64_t{0}, std::memory_order_release);
    CHECK(drawn >= last);
    last = drawn;
  }
}

#endif

}  // namespace

void register_sequence(const Sizes&) {
  benchmark::RegisterBenchmark("sequence/counter", counter)->ThreadRange(1, 2);
#if defined(__x86_64__)
  benchmark::RegisterBenchmark("sequence/clock", clock)->ThreadRange(1, 2);
  benchmark::RegisterBenchmark("sequence/clock_with_bound", clock_with_bound)->ThreadRange(1, 2);
#endif
}

}  // namespace mneme::bench
