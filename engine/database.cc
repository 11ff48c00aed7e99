#include "engine/database.h"

#include <utility>

#include "engine/version_keeper.h"

namespace mneme {

Database::Database(Catalog catalog, uint32_t worker_count, PageSize pages)
    : catalog_(std::move(catalog)),
      schema_(catalog_),
      change_codec_(schema_),
      memory_(pages),
      epochs_(worker_count),
      indexes_(catalog_.indexes().size()) {
  for (const TableDefinition& table : catalog_.tables()) {
    tables_.push_back(std::make_unique<IndexedTable>(schema_, table.id, memory_));
    for (const TableIndex& index : tables_.back()->indexes()) indexes_[index.id.value] = &index;
  }
  for (uint32_t i = 0; i < worker_count; ++i) {
    workers_.push_back(std::make_unique<Worker>(WorkerId{i}, epochs_, tables_));
  }
  versions_ = std::make_unique<VersionKeeper>(worker_count, tables_);
}

Database::~Database() = default;

void Database::set_concurrency(const Concurrency& concurrency) {
  CHECK(locks_ == nullptr);
  if (concurrency.control == ConcurrencyControl::kOptimistic) return;
  locks_ = std::make_unique<LockTable>();
  for (const std::unique_ptr<Worker>& worker : workers_)
    worker->lock_rows(*locks_, concurrency.early_lock_release);
}

std::vector<Database::TableMemory> Database::memory_by_table() const {
  std::vector<TableMemory> memory;
  for (const std::unique_ptr<IndexedTable>& table : tables_) {
    const Table& rows = table->rows();
    TableMemory& part = memory.emplace_back();
    part.table = table->definition().id;
    part.chunk_bytes = rows.memory_bytes();
    const size_t row_bytes = table->layout().column_bytes();
    rows.for_each_live(0, rows.slot_end(), [&](const Row*) { part.row_bytes += row_bytes; });
    for (const TableIndex& index : table->indexes()) part.index_bytes.push_back(index.index->memory_bytes());
  }
  return memory;
}

}  // namespace mneme
