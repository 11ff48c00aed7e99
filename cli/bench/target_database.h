// TargetDatabase: a workload's tables and procedures on a server: loads them, drops them, reads them back.
//
// Flow        open() -> present() -> create() -> calls by others -> states(), check()
// Invariants  nothing is dropped but by drop(), and that only by the names that the workload declares.
// Memory      bounded by some MiB, whatever the tables hold.
// Threads     one owner.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "cli/bench/target_connection.h"
#include "engine/transaction/digest.h"
#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

// The sum modulo 2^128 of XXH3-128 of each row's line in COPY's text format, as engine/transaction/digest.h
// sums: the order of rows does not count, duplicate rows do. Another number than a database's state digest.
class TableDigest {
 public:
  void add(std::string_view line);
  uint64_t rows() const { return rows_; }
  const Digest& digest() const { return digest_; }
  bool operator==(const TableDigest&) const = default;

 private:
  uint64_t rows_ = 0;
  Digest digest_;
};

struct TableState {
  std::string table;
  TableDigest digest;
};

class TargetDatabase {
 public:
  // `workload` and `program`, what its text means, outlive it.
  static Result<TargetDatabase> open(const Target& target, const Workload& workload, const Program& program);

  TargetConnection& connection() { return *connection_; }
  const Target& target() const { return connection_->target(); }

  // Which of the workload's tables, views and procedures there are.
  Result<std::vector<std::string>> present();
  Result<void> drop();
  // The schema and the procedures from the workload's text, as it is; the population by COPY.
  Result<void> create(FunctionRef<void(uint32_t parts_done)> progress);
  // What the server says of its settings on durability and isolation: name and value.
  Result<std::vector<std::pair<std::string, std::string>>> settings();

  Result<std::vector<TableState>> states();
  // Holds the workload's conditions against the tables. `conserved` as Workload::check() has it.
  Result<std::vector<Check>> check(std::optional<int128> conserved);

 private:
  TargetDatabase(std::unique_ptr<TargetConnection> connection, const Workload& workload,
                 const Program& program)
      : connection_(std::move(connection)), workload_(&workload), program_(&program) {}
  Result<void> populate(FunctionRef<void(uint32_t parts_done)> progress);

  std::unique_ptr<TargetConnection> connection_;
  const Workload* workload_;
  const Program* program_;
};

// Reads the table from both in the order of its key, and describes the first place where they differ: the
// key, and the columns that differ under it. Empty: they are equal.
Result<std::string> first_difference(TargetDatabase& one, TargetDatabase& other, const Catalog& catalog,
                                     const TableDefinition& table);
// The same of two rows at one place of the order.
std::string difference_of(const TableDefinition& table, std::span<const ColumnId> key, const TextRow* one,
                          const TextRow* other);

}  // namespace mneme
