#include "workloads/shared/populate.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace mneme {

void populate_all(const Workload& workload, uint32_t threads,
                  FunctionRef<void(uint32_t thread, TableId table, std::span<const Value> row)> sink,
                  PopulateProgress progress) {
  // Drawn by all threads, relaxed: a part number orders nothing but itself.
  std::atomic<uint32_t> next_part{0};
  std::mutex progress_mutex;  // guards parts_done and the calls of progress
  uint32_t parts_done = 0;

  const auto work = [&](uint32_t thread) {
    while (true) {
      const uint32_t part = next_part.fetch_add(1, std::memory_order_relaxed);
      if (part >= workload.part_count()) return;
      workload.populate(part, [&](TableId table, std::span<const Value> row) { sink(thread, table, row); });
      const std::lock_guard lock(progress_mutex);
      progress(++parts_done, workload.part_count());
    }
  };
  std::vector<std::jthread> others;
  for (uint32_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
}

}  // namespace mneme
