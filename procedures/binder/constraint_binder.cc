#include "procedures/binder/constraint_binder.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "procedures/binder/expression_binder.h"
#include "procedures/binder/names.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"

namespace mneme {

namespace {

constexpr const char* kInvalidForeignKey = "42830";
constexpr const char* kDuplicateObject = "42710";

bool has_constraint(const TableDefinition& table, const Catalog& catalog, const std::string& name) {
  return std::ranges::find(table.checks, name, &CheckConstraint::name) != table.checks.end() ||
         std::ranges::find(table.foreign_keys, name, &ForeignKey::name) != table.foreign_keys.end() ||
         std::ranges::any_of(table.indexes, [&](IndexId index) {
           return catalog.index(index).unique && catalog.index(index).name == name;
         });
}

// Returns the name that is written, or PostgreSQL's: `base`, with a number where it is taken.
std::string free_constraint_name(const syntax::Name& written, const std::string& base,
                                 const TableDefinition& table, const Catalog& catalog) {
  if (!written.empty()) {
    if (has_constraint(table, catalog, written.text)) {
      refuse_as(kDuplicateObject, written.where, "constraint \"{}\" for relation \"{}\" already exists",
                written.text, table.name);
    }
    return written.text;
  }
  std::string name = base;
  for (int number = 1; has_constraint(table, catalog, name); ++number) name = base + std::to_string(number);
  return name;
}

std::vector<ColumnId> find_columns(const std::vector<syntax::Name>& names, const TableDefinition& table) {
  std::vector<ColumnId> columns;
  for (const syntax::Name& name : names) {
    const auto column = table.find_column(name.text);
    if (!column) {
      refuse_as(sqlstate::kUndefinedColumn, name.where,
                "column \"{}\" referenced in foreign key constraint does not exist", name.text);
    }
    columns.push_back(*column);
  }
  return columns;
}

// Returns whether a unique index of the table has just these columns.
bool is_unique_key(const TableDefinition& table, const Catalog& catalog,
                   const std::vector<ColumnId>& columns) {
  return std::ranges::any_of(table.indexes, [&](IndexId id) {
    const IndexDefinition& index = catalog.index(id);
    return index.unique && index.columns.size() == columns.size() &&
           std::ranges::is_permutation(index.columns, columns);
  });
}

// Returns whether rows are found by these columns without reading others.
bool has_index_for(const TableDefinition& table, const Catalog& catalog,
                   const std::vector<ColumnId>& columns) {
  if (is_unique_key(table, catalog, columns)) return true;
  return std::ranges::any_of(table.indexes, [&](IndexId id) {
    const IndexDefinition& index = catalog.index(id);
    return !index.unique && index.columns.size() >= columns.size() &&
           std::is_permutation(columns.begin(), columns.end(), index.columns.begin(),
                               index.columns.begin() + static_cast<ptrdiff_t>(columns.size()));
  });
}

bool can_be_compared(const Type& a, const Type& b) {
  return a.kind == b.kind || (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
}

// A chain of cascades that comes back to its first table would need as many statements as it is long.
bool cascades_to(const Catalog& catalog, TableId from, TableId to, std::vector<char>& seen) {
  if (from == to) return true;
  if (std::exchange(seen[from.value], 1) != 0) return false;
  return std::ranges::any_of(catalog.tables(), [&](const TableDefinition& table) {
    return std::ranges::any_of(table.foreign_keys, [&](const ForeignKey& key) {
      return key.referenced == from &&
             (key.on_delete == ForeignKeyAction::kCascade || key.on_update == ForeignKeyAction::kCascade) &&
             cascades_to(catalog, table.id, to, seen);
    });
  });
}

}  // namespace

void bind_check(const syntax::Check& check, TableId id, Catalog& catalog) {
  const TableDefinition& table = catalog.table(id);
  ir::Procedure procedure;
  std::deque<std::string> strings;
  Names names(catalog, procedure);
  names.open_block();
  const RowSource source{table.name, &table, 0};
  const ir::Expr condition = ExpressionBinder(names, strings, {&source, 1}).bind_condition(check.condition);
  CheckConstraint made;
  ir::walk(condition, [&](const ir::Expr& part) {
    if (part.kind != ir::ExprKind::kColumn) return;
    if (std::ranges::find(made.columns, part.column) == made.columns.end())
      made.columns.push_back(part.column);
  });
  std::string base = table.name;
  if (made.columns.size() == 1) base += "_" + table.column(made.columns[0]).name;
  made.name = free_constraint_name(check.name, base + "_check", table, catalog);
  made.condition = check.text;
  catalog.add_check(id, std::move(made));
}

void bind_foreign_key(const syntax::ForeignKey& key, TableId id, Catalog& catalog) {
  const TableDefinition& table = catalog.table(id);
  const TableDefinition* const referenced = catalog.find_table(key.table.text);
  if (referenced == nullptr)
    refuse_as(sqlstate::kUndefinedTable, key.table.where, "relation \"{}\" does not exist", key.table.text);
  ForeignKey made;
  made.columns = find_columns(key.columns, table);
  made.referenced = referenced->id;
  made.on_delete = key.on_delete;
  made.on_update = key.on_update;
  if (!key.referenced.empty()) {
    made.referenced_columns = find_columns(key.referenced, *referenced);
  } else if (referenced->primary_key) {
    made.referenced_columns = catalog.index(*referenced->primary_key).columns;
  } else {
    refuse_as(sqlstate::kUndefinedObject, key.table.where,
              "there is no primary key for referenced table \"{}\"", referenced->name);
  }
  if (made.columns.size() != made.referenced_columns.size()) {
    refuse_as(kInvalidForeignKey, key.where,
              "number of referencing and referenced columns for foreign key disagree");
  }
  if (!is_unique_key(*referenced, catalog, made.referenced_columns)) {
    refuse_as(kInvalidForeignKey, key.where,
              "there is no unique constraint matching given keys for referenced table \"{}\"",
              referenced->name);
  }
  std::string base = table.name;
  for (const ColumnId column : made.columns) base += "_" + table.column(column).name;
  made.name = free_constraint_name(key.name, base + "_fkey", table, catalog);
  for (size_t i = 0; i < made.columns.size(); ++i) {
    const Column& own = table.column(made.columns[i]);
    const Column& other = referenced->column(made.referenced_columns[i]);
    if (can_be_compared(own.type, other.type)) continue;
    refuse_as(sqlstate::kDatatypeMismatch, key.where,
              "foreign key constraint \"{}\" cannot be implemented: columns {} and {} are of types {} and {}",
              made.name, own.name, other.name, to_string(own.type), to_string(other.type));
  }
  const bool cascades =
      key.on_delete == ForeignKeyAction::kCascade || key.on_update == ForeignKeyAction::kCascade;
  std::vector<char> seen(catalog.tables().size());
  if (cascades && cascades_to(catalog, id, made.referenced, seen)) {
    refuse_as(
        sqlstate::kNotSupported, key.where,
        "foreign key {} would cascade in a circle, which is not supported; leave CASCADE out, and delete "
        "or update the rows that refer to others first",
        made.name);
  }
  if (!has_index_for(table, catalog, made.columns)) {
    std::string index = made.name + "_idx";
    const Result<IndexId> added = catalog.add_index(index, id, made.columns, false);
    if (!added) refuse(key.where, "{}", added.error().message);
  }
  catalog.add_foreign_key(id, std::move(made));
}

}  // namespace mneme
