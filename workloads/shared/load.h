// A workload's population into a database, and a database's rows out again for the checks.
//
// Invariants  the database is at rest: no log is attached yet (load), or no transaction runs (DatabaseRows).
#pragma once

#include "engine/transaction/database.h"
#include "workloads/shared/populate.h"
#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"

namespace mneme {

// Fills an empty database, made from the workload's SQL, with `threads` threads. Fails where memory runs out,
// and where two rows have one key; the database is then of no use.
Result<void> load(const Workload& workload, Database& database, uint32_t threads, PopulateProgress progress);

class DatabaseRows : public RowSource {
 public:
  explicit DatabaseRows(const Database& database) : database_(database) {}

  const Catalog& catalog() const override { return database_.catalog(); }
  void scan(TableId table, FunctionRef<void(std::span<const Value> row)> visit) const override;

 private:
  const Database& database_;
};

}  // namespace mneme
