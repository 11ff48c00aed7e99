#include "workloads/shared/load.h"

#include <fmt/ranges.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/transaction/unlogged_writer.h"
#include "procedures/interpreter/call_text.h"

namespace mneme {
namespace {

Error same_key(const Workload& workload, const TableDefinition& table, std::span<const Value> row) {
  std::vector<std::string> values;
  for (size_t i = 0; i < row.size(); ++i) {
    values.push_back(print_argument(table.columns[i].type, Argument::of(row[i])).value_or("NULL"));
  }
  return invalid_argument("two rows of {} in the population of {} have the same key; one of them is ({})",
                          table.name, workload.name(), fmt::join(values, ", "));
}

}  // namespace

Result<void> load(const Workload& workload, Database& database, uint32_t threads, PopulateProgress progress) {
  std::vector<std::unique_ptr<UnloggedWriter>> writers;
  for (uint32_t thread = 0; thread < threads; ++thread)
    writers.push_back(std::make_unique<UnloggedWriter>(database));

  std::mutex mutex;  // guards first_error
  std::optional<Error> first_error;
  // Set by whichever thread meets an error, read by all, relaxed: it only saves the others the attempt.
  std::atomic<bool> stopped{false};
  populate_all(
      workload, threads,
      [&](uint32_t thread, TableId table, std::span<const Value> row) {
        if (stopped.load(std::memory_order_relaxed)) return;
        const AccessStatus status = writers[thread]->insert(table, row);
        if (status == AccessStatus::kOk) return;
        stopped.store(true, std::memory_order_relaxed);
        const std::lock_guard lock(mutex);
        if (first_error) return;
        first_error = status == AccessStatus::kOutOfMemory
                          ? failed("the memory does not hold the population of {}: choose a smaller one",
                                   workload.name())
                          : same_key(workload, database.catalog().table(table), row);
      },
      progress);
  if (first_error) return *first_error;
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
