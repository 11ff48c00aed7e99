// Statement table: a procedure's statements as a flat list in program order, each with its place in the tree.
//
// Threads     constant after construction. The statements must outlive the table and keep their addresses.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/strong_id.h"
#include "procedures/ir/ir.h"

namespace mneme {

using StatementId = StrongId<struct StatementIdTag>;  // index in the table; parents come before children

struct StatementPlace {
  const ir::Statement* statement;
  const std::vector<ir::Statement>* list;  // the list that holds it
  StatementId parent;                      // not valid at the top level
  StatementId outermost_loop;              // the outermost loop that encloses it; not valid outside loops
};

class StatementTable {
 public:
  explicit StatementTable(const std::vector<ir::Statement>& body) { add(body, StatementId(), StatementId()); }

  size_t size() const { return places_.size(); }
  const StatementPlace& place(StatementId id) const { return places_[id.value]; }
  const ir::Statement& statement(StatementId id) const { return *places_[id.value].statement; }
  StatementId id_of(const ir::Statement& statement) const { return ids_.at(&statement); }

 private:
  void add(const std::vector<ir::Statement>& statements, StatementId parent, StatementId outermost_loop);

  std::vector<StatementPlace> places_;
  std::unordered_map<const ir::Statement*, StatementId> ids_;
};

inline bool is_loop(const ir::Statement& statement) {
  return statement.kind == ir::StatementKind::kForRange || statement.kind == ir::StatementKind::kForQuery ||
         statement.kind == ir::StatementKind::kWhile;
}

inline bool has_operation(const ir::Statement& statement) {
  return statement.kind == ir::StatementKind::kOperation || statement.kind == ir::StatementKind::kForQuery;
}

}  // namespace mneme
