#include "procedures/catalog/information_schema_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/schema/array_form.h"
#include "engine/schema/qualified_name.h"
#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/relation_rows.h"
#include "procedures/catalog/view_text.h"
#include "procedures/values/type_oids.h"

namespace mneme::information_schema_rows {

namespace {

// The schema and the name of a type, as pg_type has them.
std::pair<std::string, std::string> listed_name(const Type& type) {
  if (is_array_form(type)) {
    auto [schema, element] = listed_name(declared_element(type));
    return {std::move(schema), "_" + element};
  }
  if (type.kind == TypeKind::kEnum && !type.is_array)
    return {std::string(schema_of(enum_definition(type).name)),
            std::string(bare_name(enum_definition(type).name))};
  constexpr std::pair<TypeKind, const char*> kNames[] = {
      {TypeKind::kBoolean, "bool"},      {TypeKind::kSmallInt, "int2"},   {TypeKind::kInt, "int4"},
      {TypeKind::kBigInt, "int8"},       {TypeKind::kNumeric, "numeric"}, {TypeKind::kDouble, "float8"},
      {TypeKind::kChar, "bpchar"},       {TypeKind::kVarchar, "varchar"}, {TypeKind::kTimestamp, "timestamp"},
      {TypeKind::kReal, "float4"},       {TypeKind::kDecimal, "numeric"}, {TypeKind::kDate, "date"},
      {TypeKind::kInterval, "interval"}, {TypeKind::kTime, "time"}};
  const char* const form = form_name(type);
  std::string name = form != nullptr ? form : type.is_text ? "text" : type.is_zoned ? "timestamptz" : "";
  if (name.empty()) {
    const auto* const known = std::ranges::find(kNames, type.kind, &std::pair<TypeKind, const char*>::first);
    if (known == std::end(kNames)) return {"pg_catalog", oids::formatted_type(oid_of(type), -1)};
    name = known->second;
  }
  return {"pg_catalog", type.is_array ? "_" + name : name};
}

// PostgreSQL's words for it.
std::string data_type(const Type& type) {
  if (type.is_array || is_array_form(type)) return "ARRAY";
  return type.kind == TypeKind::kEnum ? "USER-DEFINED" : oids::formatted_type(oid_of(type), -1);
}

// SETOF name: that.
std::string name_of_rows(const ir::Procedure& procedure) {
  constexpr std::string_view kSetOf = "SETOF ";
  return procedure.rows.starts_with(kSetOf) ? procedure.rows.substr(kSetOf.size()) : procedure.rows;
}

// Routines' types are told by their names alone.
void set_routine(const SystemCatalog& catalog, RowMaker& rows, const ir::Procedure& procedure) {
  rows.set("specific_catalog", database_name(catalog));
  rows.set("specific_name", fmt::format("{}_{}", procedure.name, oids::of(procedure.id)));
}

void list_identity(const SystemCatalog& catalog, RowMaker& rows, const Column& column) {
  const TableDefinition* sequence = catalog.program().catalog.find_table(column.sequence);
  if (sequence == nullptr) return;
  const SequenceOptions& options = sequence->sequence;
  rows.set("identity_start", std::to_string(options.start));
  rows.set("identity_increment", std::to_string(options.increment));
  rows.set("identity_minimum", std::to_string(options.least));
  rows.set("identity_maximum", std::to_string(options.most));
  rows.set("identity_cycle", options.cycles ? "YES" : "NO");
}

void list_column(const SystemCatalog& catalog, RowMaker& rows, const std::string& relation,
                 const Column& column, int64_t number) {
  rows.set("table_catalog", database_name(catalog)).set("table_name", relation);
  rows.set("column_name", column.name).set("ordinal_position", number);
  if (column.identity != Identity::kNone) {
    rows.set("is_identity", "YES");
    rows.set("identity_generation", column.identity == Identity::kAlways ? "ALWAYS" : "BY DEFAULT");
    list_identity(catalog, rows, column);
  } else if (column.is_generated()) {
    rows.set("is_generated", "ALWAYS").set("generation_expression", oids::default_expression(column));
  } else if (!column.initial.empty()) {
    rows.set("column_default", oids::default_expression(column));
  }
  rows.set("is_nullable", column.nullable ? "YES" : "NO");
  const auto [schema, name] = listed_name(column.type);
  rows.set("udt_catalog", database_name(catalog)).set("udt_schema", schema).set("udt_name", name);
  rows.set("data_type", data_type(column.type)).set("dtd_identifier", std::to_string(number));
  const bool is_string = column.type.is_string() && !is_array_form(column.type);
  const bool has_length = column.type.length > 0 && column.assumed_length == 0;
  if (is_string && !column.type.is_text && has_length) {
    rows.set("character_maximum_length", int64_t{column.type.length});
    rows.set("character_octet_length", int64_t{column.type.length} * 4);
  } else if (is_string && form_name(column.type) == nullptr) {
    rows.set("character_octet_length", int64_t{1} << 30);
  }
  const int64_t bits = column.type.kind == TypeKind::kSmallInt ? 16
                       : column.type.kind == TypeKind::kInt    ? 32
                       : column.type.kind == TypeKind::kBigInt ? 64
                       : column.type.kind == TypeKind::kReal   ? 24
                       : column.type.kind == TypeKind::kDouble ? 53
                                                               : 0;
  if (bits > 0) rows.set("numeric_precision", bits).set("numeric_precision_radix", int64_t{2});
  if (bits > 0 && column.type.is_integer()) rows.set("numeric_scale", int64_t{0});
  if (column.type.kind == TypeKind::kNumeric) {
    rows.set("numeric_precision", int64_t{column.type.precision});
    rows.set("numeric_precision_radix", int64_t{10}).set("numeric_scale", int64_t{column.type.scale});
  }
  if (column.type.kind == TypeKind::kDecimal) rows.set("numeric_precision_radix", int64_t{10});
  if (column.type.kind == TypeKind::kDate) rows.set("datetime_precision", int64_t{0});
  if (column.type.kind == TypeKind::kTimestamp || column.type.kind == TypeKind::kInterval ||
      column.type.kind == TypeKind::kTime) {
    const int64_t digits = column.type.precision == 0 ? 6 : column.type.precision - 1;
    rows.set("datetime_precision", digits);
  }
}

}  // namespace

void tables(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    rows.set("table_catalog", database_name(catalog)).set("table_name", table.name).add();
  }
  for (const View& view : catalog.program().views) {
    rows.set("table_catalog", database_name(catalog)).set("table_name", view.name);
    rows.set("table_type", "VIEW").set("is_insertable_into", "NO").add();
  }
}

void columns(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      list_column(catalog, rows, table.name, table.columns[i], static_cast<int64_t>(i + 1));
      rows.add();
    }
  }
  for (const View& view : catalog.program().views) {
    int64_t number = 0;
    for (const ResultColumn& column : relation_rows::columns_of(catalog, view)) {
      list_column(catalog, rows, view.name, {column.name, column.type, true, ""}, ++number);
      rows.set("is_updatable", "NO").add();
    }
  }
}

void element_types(const SystemCatalog& catalog, RowMaker& rows) {
  const auto list = [&](const std::string& table, const char* kind, const Type& type, size_t number) {
    if (!is_array_form(type)) return;
    const Type element = declared_element(type);
    const auto [schema, name] = listed_name(element);
    rows.set("object_catalog", database_name(catalog)).set("object_schema", std::string(schema_of(table)));
    rows.set("object_name", std::string(bare_name(table))).set("object_type", kind);
    rows.set("collection_type_identifier", std::to_string(number));
    rows.set("data_type", data_type(element)).set("dtd_identifier", "a" + std::to_string(number));
    rows.set("udt_catalog", database_name(catalog)).set("udt_schema", schema).set("udt_name", name).add();
  };
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    for (size_t i = 0; i < table.columns.size(); ++i) list(table.name, "TABLE", table.columns[i].type, i + 1);
  }
}

void schemata(const SystemCatalog& catalog, RowMaker& rows) {
  const auto add = [&](std::string_view name) {
    rows.set("catalog_name", database_name(catalog)).set("schema_name", name);
    rows.set("schema_owner", owner_name(catalog)).add();
  };
  for (const char* name : {"pg_catalog", "public", "information_schema"}) add(name);
  for (const std::string& name : catalog.program().schemas) add(name);
}

void routines(const SystemCatalog& catalog, RowMaker& rows) {
  for (const ir::Procedure& procedure : catalog.program().procedures) {
    set_routine(catalog, rows, procedure);
    rows.set("routine_catalog", database_name(catalog)).set("routine_name", procedure.name);
    rows.set("routine_definition", oids::procedure_body(catalog.program(), procedure));
    rows.set("routine_type", procedure.is_function ? "FUNCTION" : "PROCEDURE");
    if (procedure.is_function) {
      rows.set("is_null_call", "NO")
          .set("dtd_identifier", "0")
          .set("type_udt_catalog", database_name(catalog));
      if (procedure.has_result) {
        const ir::Parameter& result = procedure.parameters.back();
        const Type& type = procedure.variables[result.variable.value].type;
        const auto [schema, name] = listed_name(type);
        rows.set("data_type", data_type(type)).set("type_udt_schema", schema).set("type_udt_name", name);
      } else if (catalog.program().catalog.find_table(name_of_rows(procedure)) != nullptr) {
        rows.set("data_type", "USER-DEFINED").set("type_udt_schema", "public");
        rows.set("type_udt_name", name_of_rows(procedure));
      } else {
        const std::string name = oids::formatted_type(oids::result_type(procedure), -1);
        rows.set("data_type", name).set("type_udt_schema", "pg_catalog").set("type_udt_name", name);
      }
    }
    rows.add();
  }
}

void parameters(const SystemCatalog& catalog, RowMaker& rows) {
  for (const ir::Procedure& procedure : catalog.program().procedures) {
    int64_t number = 0;
    for (const ir::Parameter& parameter : procedure.parameters) {
      if (procedure.has_result && &parameter == &procedure.parameters.back()) break;
      const ir::Variable& variable = procedure.variables[parameter.variable.value];
      set_routine(catalog, rows, procedure);
      ++number;
      rows.set("ordinal_position", number).set("dtd_identifier", std::to_string(number));
      rows.set("parameter_mode", parameter.out ? "OUT" : parameter.inout ? "INOUT" : "IN");
      if (!variable.name.empty()) rows.set("parameter_name", variable.name);
      const auto [schema, name] = listed_name(variable.type);
      rows.set("data_type", data_type(variable.type)).set("udt_catalog", database_name(catalog));
      rows.set("udt_schema", schema).set("udt_name", name).add();
    }
  }
}

// IDENTITY's sequences belong to their columns, and are not listed.
void sequences(const SystemCatalog& catalog, RowMaker& rows) {
  const Catalog& tables = catalog.program().catalog;
  const auto is_identity = [&](const TableDefinition& sequence) {
    return std::ranges::any_of(tables.tables(), [&](const TableDefinition& table) {
      return std::ranges::any_of(table.columns, [&](const Column& column) {
        return column.identity != Identity::kNone && column.sequence == sequence.name;
      });
    });
  };
  for (const TableDefinition& table : tables.tables()) {
    if (!is_sequence(table) || is_identity(table)) continue;
    const SequenceOptions& options = table.sequence;
    const bool is_small = options.type == TypeKind::kSmallInt;
    const bool is_plain = options.type == TypeKind::kInt;
    rows.set("sequence_catalog", database_name(catalog)).set("sequence_name", table.name);
    rows.set("data_type", is_small ? "smallint" : is_plain ? "integer" : "bigint");
    rows.set("numeric_precision", int64_t{is_small ? 16 : is_plain ? 32 : 64});
    rows.set("start_value", std::to_string(options.start))
        .set("increment", std::to_string(options.increment));
    rows.set("minimum_value", std::to_string(options.least));
    rows.set("maximum_value", std::to_string(options.most));
    rows.set("cycle_option", options.cycles ? "YES" : "NO").add();
  }
}

void catalog_name(const SystemCatalog& catalog, RowMaker& rows) {
  rows.set("catalog_name", database_name(catalog)).add();
}

void view_tables(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  const auto add = [&](const View& view, const std::string& relation) {
    if (&relation == &view.name || !mentions_name(view.text, relation)) return;
    rows.set("view_catalog", database_name(catalog)).set("view_name", view.name);
    rows.set("table_catalog", database_name(catalog)).set("table_name", relation).add();
  };
  for (const View& view : program.views) {
    for (const TableDefinition& table : program.catalog.tables()) {
      if (!is_sequence(table)) add(view, table.name);
    }
    for (const View& other : program.views) add(view, other.name);
  }
}

void enabled_roles(const SystemCatalog& catalog, RowMaker& rows) {
  for (const std::string& name : {owner_name(catalog), std::string("pg_database_owner")})
    rows.set("role_name", name).add();
}

namespace {

// Calls visit(name, columns, is a view) for each table and view.
void each_relation(const SystemCatalog& catalog,
                   FunctionRef<void(const std::string&, const std::vector<std::string>&)> visit) {
  std::vector<std::string> names;
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    names.clear();
    for (const Column& column : table.columns) names.push_back(column.name);
    visit(table.name, names);
  }
  for (const View& view : catalog.program().views) {
    names.clear();
    for (const ResultColumn& column : relation_rows::columns_of(catalog, view)) names.push_back(column.name);
    visit(view.name, names);
  }
}

}  // namespace

void table_privileges(const SystemCatalog& catalog, RowMaker& rows) {
  each_relation(catalog, [&](const std::string& relation, const std::vector<std::string>&) {
    for (const char* const privilege :
         {"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}) {
      rows.set("grantor", owner_name(catalog)).set("grantee", owner_name(catalog));
      rows.set("table_catalog", database_name(catalog)).set("table_name", relation);
      rows.set("privilege_type", privilege);
      if (std::string_view(privilege) == "SELECT") rows.set("with_hierarchy", "YES");
      rows.add();
    }
  });
}

void column_privileges(const SystemCatalog& catalog, RowMaker& rows) {
  each_relation(catalog, [&](const std::string& relation, const std::vector<std::string>& columns) {
    for (const std::string& column : columns) {
      for (const char* const privilege : {"INSERT", "REFERENCES", "SELECT", "UPDATE"}) {
        rows.set("grantor", owner_name(catalog)).set("grantee", owner_name(catalog));
        rows.set("table_catalog", database_name(catalog)).set("table_name", relation);
        rows.set("column_name", column).set("privilege_type", privilege).add();
      }
    }
  });
}

void collations(const SystemCatalog& catalog, RowMaker& rows) {
  for (const char* const name : {"default", "C"})
    rows.set("collation_catalog", database_name(catalog)).set("collation_name", name).add();
}

void views(const SystemCatalog& catalog, RowMaker& rows) {
  for (const View& view : catalog.program().views) {
    rows.set("table_catalog", database_name(catalog)).set("table_name", view.name);
    rows.set("view_definition", view.text + ";").add();
  }
}

}  // namespace mneme::information_schema_rows
