#include "engine/database.h"

#include <utility>

namespace mneme {

Database::Database(Catalog catalog, uint32_t worker_count, PageSize pages)
    : catalog_(std::move(catalog)),
      schema_(catalog_),
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
}

size_t Database::row_bytes() const {
  size_t bytes = 0;
  for (const std::unique_ptr<IndexedTable>& table : tables_) {
    const Table& rows = table->rows();
    const size_t row_bytes = table->layout().column_bytes();
    rows.for_each_live(0, rows.slot_end(), [&](const Row*) { bytes += row_bytes; });
  }
  return bytes;
}

}  // namespace mneme
