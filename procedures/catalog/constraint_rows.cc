#include "procedures/catalog/constraint_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/schema/qualified_name.h"
#include "procedures/catalog/object_numbers.h"

namespace mneme::constraint_rows {

namespace {

// The unique index that a foreign key refers to.
const IndexDefinition* referenced_index(const Program& program, const ForeignKey& key) {
  for (const IndexId id : program.catalog.table(key.referenced).indexes) {
    const IndexDefinition& index = program.catalog.index(id);
    if (index.unique && std::ranges::is_permutation(index.columns, key.referenced_columns)) return &index;
  }
  return nullptr;
}

// NOT NULL counts as a CHECK there, of a name that PostgreSQL makes up.
void each_not_null(const Program& program,
                   FunctionRef<void(const std::string&, const TableDefinition&, const Column&)> visit) {
  for (const TableDefinition& table : program.catalog.tables()) {
    for (size_t i = 0; i < table.columns.size() && !is_sequence(table); ++i) {
      if (!table.columns[i].nullable)
        visit(beside(table.name,
                     fmt::format("{}_{}_{}_not_null", oids::of_schema(program, schema_of(table.name)),
                                 oids::of(table.id), i + 1)),
              table, table.columns[i]);
    }
  }
}

}  // namespace

void constraints(const SystemCatalog& catalog, RowMaker& rows) {
  constexpr const char* kActions[] = {"a", "r", "c", "n", "d"};
  const Program& program = catalog.program();
  for (const oids::Constraint& each : oids::constraints(program)) {
    rows.set("oid", each.oid).set("conname", each.name).set("conrelid", oids::of(each.table));
    if (each.key != nullptr) {
      rows.set("contype", oids::is_primary_key(program, *each.key) ? "p" : "u");
      rows.set("conindid", oids::of(each.key->id)).set("conkey", column_numbers(each.key->columns));
    } else if (each.check != nullptr) {
      rows.set("contype", "c").set("conkey", column_numbers(each.check->columns));
      rows.set("conbin", each.check->condition);
    } else {
      const ForeignKey& key = *each.foreign_key;
      rows.set("contype", "f").set("confrelid", oids::of(key.referenced)).set("confmatchtype", "s");
      rows.set("conkey", column_numbers(key.columns)).set("confkey", column_numbers(key.referenced_columns));
      rows.set("confupdtype", kActions[static_cast<size_t>(key.on_update)]);
      rows.set("confdeltype", kActions[static_cast<size_t>(key.on_delete)]);
      rows.set("condeferrable", key.deferrable).set("condeferred", key.deferred);
      if (const IndexDefinition* index = referenced_index(program, key))
        rows.set("conindid", oids::of(index->id));
    }
    rows.add();
  }
}

void table_constraints(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const oids::Constraint& each : oids::constraints(program)) {
    rows.set("constraint_catalog", database_name(catalog)).set("table_catalog", database_name(catalog));
    rows.set("constraint_name", each.name).set("table_name", program.catalog.table(each.table).name);
    rows.set("constraint_type", each.check != nullptr                      ? "CHECK"
                                : each.foreign_key != nullptr              ? "FOREIGN KEY"
                                : oids::is_primary_key(program, *each.key) ? "PRIMARY KEY"
                                                                           : "UNIQUE");
    if (each.foreign_key != nullptr && each.foreign_key->deferrable) rows.set("is_deferrable", "YES");
    if (each.foreign_key != nullptr && each.foreign_key->deferred) rows.set("initially_deferred", "YES");
    rows.add();
  }
  each_not_null(program, [&](const std::string& name, const TableDefinition& table, const Column&) {
    rows.set("constraint_catalog", database_name(catalog)).set("table_catalog", database_name(catalog));
    rows.set("constraint_name", name).set("table_name", table.name).set("constraint_type", "CHECK").add();
  });
}

void key_columns(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const oids::Constraint& each : oids::constraints(program)) {
    if (each.check != nullptr) continue;
    const TableDefinition& table = program.catalog.table(each.table);
    const std::vector<ColumnId>& columns =
        each.key != nullptr ? each.key->columns : each.foreign_key->columns;
    for (size_t i = 0; i < columns.size(); ++i) {
      rows.set("constraint_catalog", database_name(catalog)).set("table_catalog", database_name(catalog));
      rows.set("constraint_name", each.name).set("table_name", table.name);
      rows.set("column_name", table.column(columns[i]).name);
      rows.set("ordinal_position", static_cast<int64_t>(i + 1));
      if (each.foreign_key != nullptr) {
        const IndexDefinition* index = referenced_index(program, *each.foreign_key);
        const auto place = std::ranges::find(index->columns, each.foreign_key->referenced_columns[i]);
        rows.set("position_in_unique_constraint", static_cast<int64_t>(place - index->columns.begin() + 1));
      }
      rows.add();
    }
  }
}

// A foreign key has rows for the columns that it refers to; other constraints, for their own columns.
void constraint_columns(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const oids::Constraint& each : oids::constraints(program)) {
    const TableDefinition& table =
        program.catalog.table(each.foreign_key != nullptr ? each.foreign_key->referenced : each.table);
    const std::vector<ColumnId>& columns = each.key != nullptr     ? each.key->columns
                                           : each.check != nullptr ? each.check->columns
                                                                   : each.foreign_key->referenced_columns;
    for (const ColumnId column : columns) {
      rows.set("constraint_catalog", database_name(catalog)).set("table_catalog", database_name(catalog));
      rows.set("constraint_name", each.name).set("table_name", table.name);
      rows.set("column_name", table.column(column).name).add();
    }
  }
}

void referential_constraints(const SystemCatalog& catalog, RowMaker& rows) {
  constexpr const char* kRules[] = {"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"};
  const Program& program = catalog.program();
  for (const oids::Constraint& each : oids::constraints(program)) {
    if (each.foreign_key == nullptr) continue;
    rows.set("constraint_catalog", database_name(catalog)).set("constraint_name", each.name);
    rows.set("unique_constraint_catalog", database_name(catalog));
    rows.set("unique_constraint_name", referenced_index(program, *each.foreign_key)->name);
    rows.set("update_rule", kRules[static_cast<size_t>(each.foreign_key->on_update)]);
    rows.set("delete_rule", kRules[static_cast<size_t>(each.foreign_key->on_delete)]).add();
  }
}

// A foreign key is told with the table that it refers to; CHECK is not.
void constraint_tables(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const oids::Constraint& each : oids::constraints(program)) {
    if (each.check != nullptr) continue;
    const TableId table = each.foreign_key != nullptr ? each.foreign_key->referenced : each.table;
    rows.set("constraint_catalog", database_name(catalog)).set("table_catalog", database_name(catalog));
    rows.set("constraint_name", each.name).set("table_name", program.catalog.table(table).name).add();
  }
}

void check_constraints(const SystemCatalog& catalog, RowMaker& rows) {
  for (const oids::Constraint& each : oids::constraints(catalog.program())) {
    if (each.check == nullptr) continue;
    rows.set("constraint_catalog", database_name(catalog)).set("constraint_name", each.name);
    rows.set("check_clause", fmt::format("({})", each.check->condition)).add();
  }
  each_not_null(catalog.program(),
                [&](const std::string& name, const TableDefinition&, const Column& column) {
                  rows.set("constraint_catalog", database_name(catalog)).set("constraint_name", name);
                  rows.set("check_clause", column.name + " IS NOT NULL").add();
                });
}

}  // namespace mneme::constraint_rows
