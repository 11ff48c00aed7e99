#include "procedures/binder/schema_binder.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "procedures/binder/constraint_binder.h"
#include "procedures/binder/conversion.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/names.h"
#include "procedures/ir/source_error.h"

namespace mneme {

namespace {

constexpr size_t kLongestText = 32767;
constexpr const char* kInvalidTable = "42P16";
constexpr std::array<std::string_view, 6> kSystemColumns = {"tableoid", "ctid", "xmin",
                                                            "cmin",     "xmax", "cmax"};

Column bind_column(const syntax::ColumnDefinition& definition) {
  if (!definition.type.table.empty()) {
    refuse(definition.type.where, "%TYPE is for variables and parameters; write the column's type");
  }
  if (std::ranges::find(kSystemColumns, definition.name.text) != kSystemColumns.end()) {
    refuse(definition.name.where,
           "{} is a column that every table of PostgreSQL has already; choose another name",
           definition.name.text);
  }
  const Type type = read_plain_type(definition.type);
  if (type.is_array) {
    refuse(definition.type.where,
           "a column can't be an array: rows have a fixed size; use a table of its own");
  }
  return {definition.name.text, type, !definition.not_null, definition.initial_text};
}

// A DEFAULT is a constant, or the time of the statement. It is bound here for its faults, and again wherever
// an INSERT gives no value.
void check_initial(const Catalog& catalog, const syntax::Expr& initial, const Column& column) {
  ir::Procedure procedure;
  std::deque<std::string> strings;
  Names names(catalog, procedure);
  names.open_block();
  names.allow_sequences();
  ExpressionBinder binder(names, strings);
  binder.bind_for(initial, column.type, column.name);
}

// Returns whether the check is CHECK (char_length(column) <= n) of a text column, which gives the column its
// size.
bool sizes_a_column(const syntax::Check& check, std::vector<Column>& columns) {
  const syntax::Expr& condition = check.condition;
  if (condition.kind != syntax::ExprKind::kBinary || condition.op != ir::Op::kLessEqual) return false;
  const syntax::Expr& call = condition.args[0];
  const syntax::Expr& bound = condition.args[1];
  const bool is_length =
      call.kind == syntax::ExprKind::kCall && call.args.size() == 1 &&
      (call.text == "char_length" || call.text == "character_length" || call.text == "length") &&
      call.args[0].kind == syntax::ExprKind::kReference && call.args[0].qualifier.empty();
  if (!is_length || bound.kind != syntax::ExprKind::kInteger) return false;
  const auto column = std::ranges::find(columns, call.args[0].text, &Column::name);
  if (column == columns.end() || !column->type.is_text) return false;
  if (bound.text.size() > 5 || std::stoul(bound.text) > kLongestText || std::stoul(bound.text) == 0) {
    refuse(bound.where, "a text column's length is from 1 to {}", kLongestText);
  }
  column->type.length = static_cast<uint16_t>(std::stoul(bound.text));
  return true;
}

std::vector<ColumnId> bind_key(const std::vector<syntax::Name>& names, const std::vector<Column>& columns) {
  std::vector<ColumnId> key;
  for (const syntax::Name& name : names) {
    const auto column = std::ranges::find(columns, name.text, &Column::name);
    if (column == columns.end())
      refuse_as(sqlstate::kUndefinedColumn, name.where, "the table has no column {}", name.text);
    key.push_back(ColumnId{static_cast<uint32_t>(column - columns.begin())});
  }
  return key;
}

// As PostgreSQL names an index that a constraint of the table `name` makes.
std::string constraint_name(std::string name, const syntax::UniqueConstraint& constraint) {
  if (!constraint.name.empty()) return constraint.name.text;
  for (const syntax::Name& column : constraint.columns) name += "_" + column.text;
  return name + "_key";
}

}  // namespace

void bind_table(const syntax::Table& table, Catalog& catalog) {
  std::vector<Column> columns;
  for (const syntax::ColumnDefinition& definition : table.columns) {
    columns.push_back(bind_column(definition));
    const std::string sequence = syntax::sequence_name(table.name.text, definition.name.text);
    if (definition.is_serial && catalog.find_table(sequence) == nullptr) {
      refuse_as(
          sqlstate::kNotSupported, definition.type.where,
          "SERIAL is supported in a session's CREATE TABLE alone, as a procedure's replay would draw other "
          "numbers; use int or bigint here, and draw numbers from a row with UPDATE ... RETURNING ... INTO");
    }
    if (definition.initial) check_initial(catalog, *definition.initial, columns.back());
  }
  std::vector<const syntax::Check*> checks;
  for (const syntax::Check& check : table.checks) {
    if (!sizes_a_column(check, columns)) checks.push_back(&check);
  }
  const auto is_in_key = [&](const std::string& column) {
    const auto names_it = [&](const syntax::UniqueConstraint& constraint) {
      return std::ranges::find(constraint.columns, column, &syntax::Name::text) != constraint.columns.end();
    };
    return (table.primary_key && names_it(*table.primary_key)) || std::ranges::any_of(table.unique, names_it);
  };
  for (Column& column : columns) {
    if (column.type.kind == TypeKind::kVarchar && column.type.length == 0)
      column.type.length = is_in_key(column.name) ? kAssumedKeyLength : kAssumedTextLength;
  }
  std::vector<ColumnId> primary_key;
  if (table.primary_key) primary_key = bind_key(table.primary_key->columns, columns);
  for (const ColumnId column : primary_key) columns[column.value].nullable = false;
  const Result<TableId> added = catalog.add_table(table.name.text, columns, primary_key);
  if (!added.ok()) refuse(table.name.where, "{}", added.error().message);
  for (const syntax::UniqueConstraint& constraint : table.unique) {
    const Result<IndexId> index = catalog.add_index(constraint_name(table.name.text, constraint), *added,
                                                    bind_key(constraint.columns, columns), true);
    if (!index.ok()) refuse(constraint.where, "{}", index.error().message);
  }
  for (const syntax::Check* check : checks) bind_check(*check, *added, catalog);
  for (const syntax::ForeignKey& key : table.foreign_keys) bind_foreign_key(key, *added, catalog);
}

void bind_alteration(const syntax::Alteration& alteration, Catalog& catalog) {
  const TableDefinition* table = catalog.find_table(alteration.table.text);
  if (table == nullptr) {
    if (alteration.if_exists) return;
    refuse_as(sqlstate::kUndefinedTable, alteration.table.where,
              "there is no table {}; a file creates a table before it changes it", alteration.table.text);
  }
  if (alteration.check) return bind_check(*alteration.check, table->id, catalog);
  if (alteration.foreign_key) return bind_foreign_key(*alteration.foreign_key, table->id, catalog);
  const syntax::UniqueConstraint& constraint =
      alteration.primary_key ? *alteration.primary_key : *alteration.unique;
  std::vector<ColumnId> key = bind_key(constraint.columns, table->columns);
  if (alteration.unique) {
    const Result<IndexId> added =
        catalog.add_index(constraint_name(table->name, constraint), table->id, std::move(key), true);
    if (!added) refuse(constraint.where, "{}", added.error().message);
    return;
  }
  if (table->primary_key) {
    refuse_as(kInvalidTable, constraint.where, "multiple primary keys for table \"{}\" are not allowed",
              table->name);
  }
  const Result<IndexId> added = catalog.add_primary_key(table->id, std::move(key));
  if (!added) refuse(constraint.where, "{}", added.error().message);
}

// Names an index as PostgreSQL does where its statement gives no name.
std::string index_name(const syntax::Index& index, const Catalog& catalog) {
  if (!index.name.empty()) return index.name.text;
  std::string base = index.table.text;
  for (const syntax::Name& column : index.columns) base += "_" + column.text;
  base += "_idx";
  const auto is_taken = [&](const std::string& name) {
    return catalog.find_table(name) != nullptr ||
           std::ranges::find(catalog.indexes(), name, &IndexDefinition::name) != catalog.indexes().end();
  };
  std::string name = base;
  for (int number = 1; is_taken(name); ++number) name = base + std::to_string(number);
  return name;
}

void bind_index(const syntax::Index& index, Catalog& catalog) {
  const TableDefinition* table = catalog.find_table(index.table.text);
  if (!table)
    refuse_as(sqlstate::kUndefinedTable, index.table.where,
              "there is no table {}; a file creates a table before its indexes", index.table.text);
  const Result<IndexId> added = catalog.add_index(index_name(index, catalog), table->id,
                                                  bind_key(index.columns, table->columns), index.unique);
  if (!added.ok()) refuse(index.name.where, "{}", added.error().message);
}

}  // namespace mneme
