#include "engine/database.h"

#include <utility>

namespace mneme {

Database::Database(Catalog catalog, uint32_t worker_count)
    : catalog_(std::move(catalog)),
      schema_(catalog_),
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

}  // namespace mneme
