// Change parts: a change whose rows a query finds, taken apart: the query of what each change needs, and the
// change of one row, whose parameters $1, $2 ... are the query's columns.
//
// Flow        syntax::Operation -> ChangeParts -> a session's change (query/bound_change.h), or a procedure's
//             loop (operation_statements.cc)
// Errors      refuse() and refuse_as().
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "engine/schema/catalog.h"
#include "procedures/binder/command_binder.h"
#include "procedures/parser/syntax.h"

namespace mneme {

class ChangeParts {
 public:
  ChangeParts(const Catalog& catalog, const syntax::Operation& operation);

  // What each change needs, and the type that it is stored with; nothing: its own.
  // `returns`: behind them, what the statement returns.
  syntax::Query rows(std::vector<std::optional<Type>>& targets, bool returns);
  // The same, of which each row that is to be changed has one, however often the tables beside find it.
  syntax::Query rows_once(std::vector<std::optional<Type>>& targets);

  // From here on the rows have the columns of the tables beside behind all others.
  // `columns_of`: returns the columns of a query.
  void look_beside(FunctionRef<std::vector<ResultColumn>(const syntax::Query&)> columns_of);
  std::vector<Type> types_beside() const;

  TableId table() const { return table_.id; }
  bool has_key() const { return table_.primary_key.has_value(); }

  // The columns that INSERT gives its query's values.
  std::vector<std::optional<Type>> insert_targets() const;

  // The rows of VALUES as a query. DEFAULT is the column's.
  syntax::Query rows_of_values() const;

  // The query of INSERT, which sees the tables of WITH in front of it, and may have more.
  syntax::Query rows_of_query() const;

  // The places of the conflict's key among the columns that are given; none where a column of it is not.
  std::vector<size_t> conflict_columns() const;

  syntax::Operation insert_each(size_t columns) const;

  syntax::Operation change_each() const;

  // RETURNING as a query of the columns of the changed row, and of those beside it, which are its parameters
  // behind `first` others.
  syntax::Query returned(size_t first) const;

  std::vector<Type> types_of_columns() const;

  // All columns of the changed row in the place of what the statement returns.
  void return_all(syntax::Operation& each) const;

  size_t key_columns() const { return key().size(); }

  // An UPDATE of a table without a primary key is two changes.
  bool is_by_values() const { return !table_.primary_key && operation_.kind == ir::OperationKind::kUpdate; }

  syntax::Operation erase_each() const;

  // The row with its new values, the others being as they were found.
  syntax::Operation insert_changed() const;

 private:
  // A table beside the changed one, of whose columns RETURNING may speak.
  struct TableBeside {
    syntax::Name name;
    std::vector<ResultColumn> columns;
  };

  // Whether OVERRIDING USER VALUE gives the column its own values.
  bool is_ignored(const Column* column) const;

  // The changed table, and those beside it.
  std::vector<syntax::FromItem> tables() const;

  // A table of one row, whose columns are the parameters behind `number`.
  template <typename Columns>
  syntax::FromItem row_of(const syntax::Name& name, const Columns& columns, size_t& number) const;

  const syntax::Name& target_name() const;

  // The columns that name a row.
  std::vector<ColumnId> key() const;

  // A key is looked at row by row, and what refers to it would see the row go.
  void refuse_unnamed_rows() const;

  syntax::Query with_tables() const;

  const Column* given_column(size_t i) const;

  const Catalog& catalog_;
  const syntax::Operation& operation_;
  const TableDefinition& table_;
  std::vector<TableBeside> beside_;
};

// The UPDATE that sets the generated columns as well whose values may change by it.
syntax::Operation with_generated(const TableDefinition& table, const syntax::Operation& change);

// Whether a foreign key of the table's refers to the table.
inline bool refers_to_itself(const TableDefinition& table) {
  return std::ranges::any_of(table.foreign_keys,
                             [&](const ForeignKey& key) { return key.referenced == table.id; });
}

}  // namespace mneme
