// Copying memory, far more than the caches hold: what loading a checkpoint and replaying rows are held
// against. Each thread copies from a piece of its own to another, on huge pages.
//
// Unit        bytes copied a second, of all threads together.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/memory/huge_pages.h"
#include "bench/benchmarks.h"

namespace mneme::bench {

void register_copy(const Sizes& sizes) {
  const size_t bytes = std::max(
      kHugePageBytes, std::min(sizes.region_bytes, size_t{256} << 20) / kHugePageBytes * kHugePageBytes);
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark("copy",
                                 [bytes](benchmark::State& state) {
                                   HugePageSource memory;
                                   std::byte* from = memory.allocate(bytes);
                                   std::byte* to = memory.allocate(bytes);
                                   CHECK(from != nullptr && to != nullptr);
                                   std::memset(from, 1, bytes);
                                   std::memset(to, 2, bytes);
                                   for (auto _ : state) {
                                     std::memcpy(to, from, bytes);
                                     benchmark::ClobberMemory();
                                   }
                                   state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
                                 })
        ->Threads(threads)
        ->UseRealTime();
  }
}

}  // namespace mneme::bench
