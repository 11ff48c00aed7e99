#include "analyzer/conflict_rule.h"

#include <fmt/format.h>

namespace mneme {

std::optional<std::string> TableConflicts::conflict(const ir::Operation& first,
                                                    const ir::Operation& second) const {
  // Of a join's two tables only the first could be modified, and a join is a select.
  auto modifies = [](const ir::Operation& operation, TableId table) {
    return operation.kind != ir::OperationKind::kSelect && operation.access[0].table == table;
  };
  for (const ir::TableAccess& a : first.access) {
    for (const ir::TableAccess& b : second.access) {
      if (a.table != b.table) continue;
      if (modifies(first, a.table) || modifies(second, a.table)) {
        return fmt::format("{} (lines {} and {})", catalog_.table(a.table).name, first.where.line,
                           second.where.line);
      }
    }
  }
  return std::nullopt;
}

}  // namespace mneme
