#include "recovery/database/constraint_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace mneme {

namespace {

// A query that finds a row which violates the check. A column that is added by the same change has its
// DEFAULT.
std::string violating(const TableDefinition& former, const TableDefinition& table,
                      const CheckConstraint& check) {
  std::string rows = table.name;
  for (const Column& column : table.columns) {
    if (former.find_column(column.name)) continue;
    rows = fmt::format("(SELECT *, CAST({} AS {}) AS {} FROM {}) AS {}",
                       column.initial.empty() ? "NULL" : column.initial, to_string(column.type), column.name,
                       rows, table.name);
  }
  return fmt::format("SELECT 1 FROM {} WHERE NOT ({}) LIMIT 1", rows, check.condition);
}

// A query that finds a row which refers to a key that is not there.
std::string violating(const Catalog& catalog, const TableDefinition& table, const ForeignKey& key) {
  const TableDefinition& referenced = catalog.table(key.referenced);
  std::string given;
  std::string equal;
  for (size_t i = 0; i < key.columns.size(); ++i) {
    const std::string& column = table.column(key.columns[i]).name;
    given += fmt::format("referring.{} IS NOT NULL AND ", column);
    equal += fmt::format("{}referred.{} = referring.{}", i == 0 ? "" : " AND ",
                         referenced.column(key.referenced_columns[i]).name, column);
  }
  return fmt::format(
      "SELECT 1 FROM {} referring WHERE {}NOT EXISTS (SELECT 1 FROM {} referred WHERE {}) LIMIT 1",
      table.name, given, referenced.name, equal);
}

}  // namespace

StatementResult check_added_constraints(WorkingDatabase& working, const Catalog& changed) {
  const Catalog& before = working.program().catalog;
  std::optional<SqlSession> session;
  const auto finds_row = [&](const std::string& query) {
    if (!session) session.emplace(working.program(), working.database(), WorkerId{0});
    const ParsedStatement parsed = parse_statement(query);
    CHECK(parsed.command.has_value());
    return session->run(*parsed.command);
  };
  for (const TableDefinition& table : changed.tables()) {
    const TableDefinition* former = before.find_table(table.name);
    if (former == nullptr) continue;
    for (const CheckConstraint& check : table.checks) {
      if (std::ranges::find(former->checks, check) != former->checks.end()) continue;
      const StatementResult found = finds_row(violating(*former, table, check));
      if (!found.ok()) return found;
      if (found.rows.empty()) continue;
      return StatementResult::failure(
          sqlstate::kCheck, fmt::format("check constraint \"{}\" of relation \"{}\" is violated by some row",
                                        check.name, table.name));
    }
    for (const ForeignKey& key : table.foreign_keys) {
      if (std::ranges::find(former->foreign_keys, key.name, &ForeignKey::name) != former->foreign_keys.end())
        continue;
      const StatementResult found = finds_row(violating(changed, table, key));
      if (!found.ok()) return found;
      if (found.rows.empty()) continue;
      return StatementResult::failure(
          sqlstate::kForeignKey,
          fmt::format("insert or update on table \"{}\" violates foreign key constraint \"{}\"", table.name,
                      key.name));
    }
  }
  return {};
}

}  // namespace mneme
