#include "recovery/database/constraint_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/schema/qualified_name.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

// The table's rows as FROM has them, under another name. A column that is added by the same change has its
// DEFAULT.
std::string rows_of(const TableDefinition& former, const TableDefinition& table, const std::string& alias) {
  std::string rows = written_name(table.name);
  bool is_query = false;
  for (const Column& column : table.columns) {
    if (former.find_column(column.name)) continue;
    rows = fmt::format("(SELECT *, CAST({} AS {}) AS {} FROM {}) AS {}",
                       column.is_generated()    ? column.generated
                       : column.initial.empty() ? "NULL"
                                                : column.initial,
                       to_string(column.type), written_name(column.name), rows, alias);
    is_query = true;
  }
  return is_query || alias == written_name(bare_name(table.name)) ? rows : rows + " " + alias;
}

// A query that finds a row which violates the check.
std::string violating(const TableDefinition& former, const TableDefinition& table,
                      const CheckConstraint& check) {
  return fmt::format("SELECT 1 FROM {} WHERE NOT ({}) LIMIT 1",
                     rows_of(former, table, written_name(bare_name(table.name))), check.condition);
}

// A query that finds a row which refers to a key that is not there.
std::string violating(const Catalog& before, const Catalog& catalog, const TableDefinition& table,
                      const ForeignKey& key) {
  const TableDefinition& referenced = catalog.table(key.referenced);
  const TableDefinition* former_referenced = before.find_table(referenced.name);
  CHECK(former_referenced != nullptr);
  std::string given;
  std::string equal;
  for (size_t i = 0; i < key.columns.size(); ++i) {
    const std::string column = written_name(table.column(key.columns[i]).name);
    given += fmt::format("referring.{} IS NOT NULL AND ", column);
    equal += fmt::format("{}referred.{} = referring.{}", i == 0 ? "" : " AND ",
                         written_name(referenced.column(key.referenced_columns[i]).name), column);
  }
  return fmt::format("SELECT 1 FROM {} WHERE {}NOT EXISTS (SELECT 1 FROM {} WHERE {}) LIMIT 1",
                     rows_of(*before.find_table(table.name), table, "referring"), given,
                     rows_of(*former_referenced, referenced, "referred"), equal);
}

// A query that finds rows which a unique index of some rows holds against each other.
std::string repeated(const TableDefinition& former, const TableDefinition& table,
                     const IndexDefinition& index) {
  std::string given;
  std::string columns;
  for (const ColumnId each : index.columns) {
    const std::string column = written_name(table.column(each).name);
    given += fmt::format(" AND {} IS NOT NULL", column);
    columns += (columns.empty() ? "" : ", ") + column;
  }
  return fmt::format("SELECT 1 FROM {} WHERE ({}){} GROUP BY {} HAVING count(*) > 1 LIMIT 1",
                     rows_of(former, table, written_name(bare_name(table.name))), index.predicate, given,
                     columns);
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
      // It may have got another name.
      if (std::ranges::find(former->checks, check.condition, &CheckConstraint::condition) !=
          former->checks.end())
        continue;
      const StatementResult found = finds_row(violating(*former, table, check));
      if (!found.ok()) return found;
      if (found.rows.empty()) continue;
      return StatementResult::failure(
          sqlstate::kCheck, fmt::format("check constraint \"{}\" of relation \"{}\" is violated by some row",
                                        check.name, table.name));
    }
    for (const IndexId id : table.indexes) {
      const IndexDefinition& index = changed.index(id);
      const IndexDefinition* const was = before.find_index(index.name);
      if (!index.unique_in_part || (was != nullptr && was->unique_in_part)) continue;
      const StatementResult found = finds_row(repeated(*former, table, index));
      if (!found.ok()) return found;
      if (found.rows.empty()) continue;
      return StatementResult::failure(sqlstate::kUnique,
                                      fmt::format("could not create unique index \"{}\"", index.name));
    }
    for (const ForeignKey& key : table.foreign_keys) {
      const auto is_same = [&](const ForeignKey& each) {
        return each.name == key.name || (each.columns == key.columns && each.referenced == key.referenced &&
                                         each.referenced_columns == key.referenced_columns);
      };
      if (std::ranges::any_of(former->foreign_keys, is_same)) continue;
      const StatementResult found = finds_row(violating(before, changed, table, key));
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
