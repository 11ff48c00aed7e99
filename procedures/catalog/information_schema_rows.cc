#include "procedures/catalog/information_schema_rows.h"

#include <fmt/format.h>

#include <utility>

#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/relation_rows.h"
#include "procedures/values/type_oids.h"

namespace mneme::information_schema_rows {

namespace {

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
  } else if (!column.initial.empty()) {
    rows.set("column_default", oids::default_expression(column));
  }
  rows.set("is_nullable", column.nullable ? "YES" : "NO");
  rows.set("udt_catalog", database_name(catalog));
  if (column.type.kind == TypeKind::kEnum) {
    rows.set("data_type", "USER-DEFINED")
        .set("udt_schema", "public")
        .set("udt_name", enum_definition(column.type).name);
  } else {
    rows.set("data_type", oids::formatted_type(oid_of(column.type), -1));
  }
  if (column.type.is_string() && !column.type.is_text) {
    rows.set("character_maximum_length", int64_t{column.type.length});
    rows.set("character_octet_length", int64_t{column.type.length} * 4);
  } else if (column.type.is_string() && form_name(column.type) == nullptr) {
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
  constexpr std::pair<TypeKind, const char*> kNames[] = {
      {TypeKind::kBoolean, "bool"},      {TypeKind::kSmallInt, "int2"},   {TypeKind::kInt, "int4"},
      {TypeKind::kBigInt, "int8"},       {TypeKind::kNumeric, "numeric"}, {TypeKind::kDouble, "float8"},
      {TypeKind::kChar, "bpchar"},       {TypeKind::kVarchar, "varchar"}, {TypeKind::kTimestamp, "timestamp"},
      {TypeKind::kReal, "float4"},       {TypeKind::kDecimal, "numeric"}, {TypeKind::kDate, "date"},
      {TypeKind::kInterval, "interval"}, {TypeKind::kTime, "time"}};
  for (const auto& [kind, name] : kNames) {
    if (kind != column.type.kind) continue;
    const char* const form = form_name(column.type);
    rows.set("udt_name", form != nullptr        ? form
                         : column.type.is_text  ? "text"
                         : column.type.is_zoned ? "timestamptz"
                                                : name);
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

void schemata(const SystemCatalog& catalog, RowMaker& rows) {
  for (const char* name : {"pg_catalog", "public", "information_schema"}) {
    rows.set("catalog_name", database_name(catalog)).set("schema_name", name);
    rows.set("schema_owner", owner_name(catalog)).add();
  }
}

void routines(const SystemCatalog& catalog, RowMaker& rows) {
  for (const ir::Procedure& procedure : catalog.program().procedures) {
    rows.set("specific_catalog", database_name(catalog)).set("routine_catalog", database_name(catalog));
    rows.set("specific_name", fmt::format("{}_{}", procedure.name, oids::of(procedure.id)));
    rows.set("routine_name", procedure.name);
    rows.set("routine_type", procedure.is_function ? "FUNCTION" : "PROCEDURE").add();
  }
}

void views(const SystemCatalog& catalog, RowMaker& rows) {
  for (const View& view : catalog.program().views) {
    rows.set("table_catalog", database_name(catalog)).set("table_name", view.name);
    rows.set("view_definition", view.text + ";").add();
  }
}

}  // namespace mneme::information_schema_rows
