// The histogram of latencies: recording a value, as each acknowledged call does; looking quantiles up, a few
// times a run.
//
// Unit        nanoseconds a value, or two quantiles.
#include <benchmark/benchmark.h>

#include <memory>

#include "base/check.h"
#include "base/histogram.h"
#include "bench/benchmarks.h"

namespace mneme::bench {
namespace {

// Latencies from a microsecond to a second.
uint64_t latency_of(uint64_t random) {
  return 1000 + (random & ((uint64_t{1} << 30) - 1));
}

void record(benchmark::State& state) {
  const auto histogram = std::make_unique<Histogram>();
  uint64_t random = 1;
  for (auto _ : state) {
    random = next_in_cycle(random, uint64_t{1} << 40);
    histogram->record(latency_of(random));
  }
  CHECK(histogram->count() == static_cast<uint64_t>(state.iterations()));
}

void quantiles(benchmark::State& state) {
  const auto histogram = std::make_unique<Histogram>();
  for (uint64_t i = 0, random = 1; i < 10'000; ++i, random = next_in_cycle(random, uint64_t{1} << 40)) {
    histogram->record(latency_of(random));
  }
  Histogram* seen = histogram.get();
  benchmark::DoNotOptimize(seen);
  for (auto _ : state) {
    benchmark::ClobberMemory();  // else one look would do for all
    CHECK(seen->quantile(0.99) > seen->quantile(0.5));
  }
}

}  // namespace

void register_histogram(const Sizes&) {
  benchmark::RegisterBenchmark("histogram/record", record);
  benchmark::RegisterBenchmark("histogram/quantiles", quantiles);
}

}  // namespace mneme::bench
