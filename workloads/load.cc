#include "workloads/load.h"

#include <atomic>
#include <memory>
#include <vector>

#include "base/check.h"
#include "engine/unlogged_writer.h"

namespace mneme {

Result<void> load(const Workload& workload, Database& database, uint32_t threads, PopulateProgress progress) {
  std::vector<std::unique_ptr<UnloggedWriter>> writers;
  for (uint32_t thread = 0; thread < threads; ++thread)
    writers.push_back(std::make_unique<UnloggedWriter>(database));

  // Set by whichever thread meets it, read by all, relaxed: it only saves the others the attempt; the threads' end orders
  // the last look at it.
  std::atomic<bool> out_of_memory{false};
  populate_all(
      workload, threads,
      [&](uint32_t thread, TableId table, std::span<const Value> row) {
        if (out_of_memory.load(std::memory_order_relaxed)) return;
        const AccessStatus status = writers[thread]->insert(table, row);
        if (status == AccessStatus::kOutOfMemory) {
          out_of_memory.store(true, std::memory_order_relaxed);
          return;
        }
        CHECK(status == AccessStatus::kOk);
      },
      progress);
  if (out_of_memory.load(std::memory_order_relaxed)) {
    return failed("the memory does not hold the population of {}: choose a smaller scale", workload.name());
  }
  return {};
}

void DatabaseRows::scan(TableId table, FunctionRef<void(std::span<const Value> row)> visit) const {
  const IndexedTable& rows = database_.table(table);
  const RowLayout& layout = rows.layout();
  std::vector<Value> values(layout.column_count());
  rows.rows().for_each_live(0, rows.rows().slot_end(), [&](const Row* row) {
    for (uint32_t i = 0; i < values.size(); ++i) values[i] = layout.get(row->image(), ColumnId(i));
    visit(values);
  });
}

}  // namespace mneme
