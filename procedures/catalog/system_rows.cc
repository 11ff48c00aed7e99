#include "procedures/catalog/system_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "procedures/catalog/constraint_rows.h"
#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/relation_rows.h"
#include "procedures/values/type_oids.h"

namespace mneme {

RowMaker& RowMaker::put(std::string_view column, const Value& value) {
  const auto found = std::ranges::find(columns_, column, &query::Column::name);
  CHECK(found != columns_.end());
  row_[static_cast<size_t>(found - columns_.begin())] = value;
  return *this;
}

std::string database_name(const SystemCatalog& catalog) {
  return catalog.session_text("current_database", "mneme");
}

std::string column_numbers(const std::vector<ColumnId>& columns) {
  std::string text;
  for (const ColumnId column : columns) text += (text.empty() ? "{" : ",") + std::to_string(column.value + 1);
  return text + "}";
}

namespace {

// What follows a column's name: o: oid or number, b: boolean, t: text, v: a vector of
// numbers, w: an array of them, a: of texts. After = its value where no row says another;
// without it NULL.
constexpr const char* kClass =
    "oid:o relname:t relnamespace:o=2200 reltype:o=0 reloftype:o=0 relowner:o=10 relam:o=0 relfilenode:o=0 "
    "reltablespace:o=0 relpages:o=0 reltuples:o=-1 relallvisible:o=0 reltoastrelid:o=0 relhasindex:b=f "
    "relisshared:b=f relpersistence:t=p relkind:t=r relnatts:o=0 relchecks:o=0 relhasrules:b=f "
    "relhastriggers:b=f "
    "relhassubclass:b=f relrowsecurity:b=f relforcerowsecurity:b=f relispopulated:b=t relreplident:t=d "
    "relispartition:b=f relrewrite:o=0 relfrozenxid:o=0 relminmxid:o=0 relacl:t reloptions:a relpartbound:t";
constexpr const char* kAttribute =
    "attrelid:o attname:t atttypid:o attstattarget:o=-1 attlen:o=-1 attnum:o attndims:o=0 attcacheoff:o=-1 "
    "atttypmod:o=-1 attbyval:b=f attalign:t=i attstorage:t=p attcompression:t= attnotnull:b=f atthasdef:b=f "
    "atthasmissing:b=f attidentity:t= attgenerated:t= attisdropped:b=f attislocal:b=t attinhcount:o=0 "
    "attcollation:o=0 attacl:t attoptions:t attfdwoptions:t attmissingval:t";
constexpr const char* kIndexColumns =
    "indexrelid:o indrelid:o indnatts:o indnkeyatts:o indisunique:b indnullsnotdistinct:b=f indisprimary:b "
    "indisexclusion:b=f indimmediate:b=t indisclustered:b=f indisvalid:b=t indcheckxmin:b=f indisready:b=t "
    "indislive:b=t indisreplident:b=f indkey:v indcollation:v= indclass:v= indoption:v= indexprs:t indpred:t";
constexpr const char* kConstraint =
    "oid:o conname:t connamespace:o=2200 contype:t condeferrable:b=f condeferred:b=f convalidated:b=t "
    "conrelid:o "
    "contypid:o=0 conindid:o=0 conparentid:o=0 confrelid:o=0 confupdtype:t= confdeltype:t= confmatchtype:t= "
    "conislocal:b=t coninhcount:o=0 connoinherit:b=t conkey:w confkey:w conpfeqop:t conppeqop:t conffeqop:t "
    "confdelsetcols:t conexclop:t conbin:t";
constexpr const char* kTypeColumns =
    "oid:o typname:t typnamespace:o=11 typowner:o=10 typlen:o=-1 typbyval:b=f typtype:t=b typcategory:t=U "
    "typispreferred:b=f typisdefined:b=t typdelim:t=, typrelid:o=0 typsubscript:t=- typelem:o=0 typarray:o=0 "
    "typinput:t= typoutput:t= typreceive:t= typsend:t= typmodin:t=- typmodout:t=- typanalyze:t=- "
    "typalign:t=i "
    "typstorage:t=p typnotnull:b=f typbasetype:o=0 typtypmod:o=-1 typndims:o=0 typcollation:o=0 "
    "typdefaultbin:t "
    "typdefault:t typacl:t";
constexpr const char* kProcedureColumns =
    "oid:o proname:t pronamespace:o=2200 proowner:o=10 prolang:o=13500 procost:o=100 prorows:o=0 "
    "provariadic:o=0 "
    "prosupport:t=- prokind:t=p prosecdef:b=f proleakproof:b=f proisstrict:b=f proretset:b=f provolatile:t=v "
    "proparallel:t=u pronargs:o pronargdefaults:o=0 prorettype:o=2278 proargtypes:v proallargtypes:w "
    "proargmodes:t "
    "proargnames:t proargdefaults:t protrftypes:t prosrc:t probin:t prosqlbody:t proconfig:t proacl:t";
constexpr const char* kDatabaseColumns =
    "oid:o=16000 datname:t datdba:o=10 encoding:o=6 datlocprovider:t=c datistemplate:b=f datallowconn:b=t "
    "datconnlimit:o=-1 datfrozenxid:o=0 datminmxid:o=0 dattablespace:o=1663 datcollate:t=C datctype:t=C "
    "daticulocale:t datcollversion:t datacl:t";
constexpr const char* kRole =
    "rolname:t rolsuper:b=t rolinherit:b=t rolcreaterole:b=f rolcreatedb:b=f rolcanlogin:b=t "
    "rolreplication:b=f "
    "rolconnlimit:o=-1 rolpassword:t rolvaliduntil:t rolbypassrls:b=f rolconfig:t oid:o=10";

std::string owner_name(const SystemCatalog& catalog) {
  return catalog.session_text("current_user", "mneme");
}

int64_t schema_of(const SystemTable& table) {
  return table.schema == "pg_catalog" ? oids::kPgCatalog : oids::kInformationSchema;
}

// 1,2 as the vector 1 2.
std::string with_blanks(std::string text) {
  std::ranges::replace(text, ',', ' ');
  return text;
}

// An index of a table's columns, other than a sequence's.
bool is_listed(const Program& program, const IndexDefinition& index) {
  return !index.columns.empty() && !is_sequence(program.catalog.table(index.table));
}

void namespaces(const SystemCatalog&, RowMaker& rows) {
  rows.set("oid", oids::kPgCatalog).set("nspname", "pg_catalog").add();
  rows.set("oid", oids::kPublic).set("nspname", "public").add();
  rows.set("oid", oids::kInformationSchema).set("nspname", "information_schema").add();
}

void classes(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    rows.set("oid", oids::of(table.id)).set("relname", table.name).set("relam", oids::kHeap);
    if (is_sequence(table)) rows.set("relkind", "S").set("relam", int64_t{0});
    const auto refers = [&](const TableDefinition& other) {
      return std::ranges::find(other.foreign_keys, table.id, &ForeignKey::referenced) !=
             other.foreign_keys.end();
    };
    rows.set("relchecks", static_cast<int64_t>(table.checks.size()));
    rows.set("relhastriggers",
             !table.foreign_keys.empty() || std::ranges::any_of(catalog.program().catalog.tables(), refers));
    rows.set("relhasindex", !table.indexes.empty())
        .set("relnatts", static_cast<int64_t>(table.columns.size()));
    rows.add();
  }
  for (uint32_t number = 0; number < catalog.program().views.size(); ++number) {
    const View& view = catalog.program().views[number];
    rows.set("oid", oids::of_view(number)).set("relname", view.name).set("relkind", "v");
    rows.set("relam", int64_t{0}).set("relnatts", static_cast<int64_t>(view.columns.size())).add();
  }
  for (uint32_t number = 0; number < system_tables().size(); ++number) {
    const SystemTable& table = system_tables()[number];
    rows.set("oid", oids::of_system_table(number)).set("relname", table.name);
    rows.set("relnamespace", schema_of(table));
    rows.set("relkind", schema_of(table) == oids::kPgCatalog ? "r" : "v");
    rows.set("relnatts", static_cast<int64_t>(table.columns.size())).add();
  }
  for (const IndexDefinition& index : catalog.program().catalog.indexes()) {
    if (!is_listed(catalog.program(), index)) continue;
    rows.set("oid", oids::of(index.id)).set("relname", index.name).set("relkind", "i");
    rows.set("relam", catalog.program().catalog.is_ordered(index) ? oids::kBtree : oids::kHash);
    rows.set("relnatts", static_cast<int64_t>(index.columns.size())).add();
  }
}

void set_column(RowMaker& rows, int64_t relation, const Column& column, size_t number) {
  rows.set("attrelid", relation).set("attname", column.name).set("attnum", static_cast<int64_t>(number));
  rows.set("atttypid", int64_t{oid_of(column.type)}).set("attlen", int64_t{length_of(column.type)});
  rows.set("atttypmod", int64_t{modifier_of(column.type)}).set("attnotnull", !column.nullable);
  rows.set("atthasdef", !column.initial.empty());
  if (column.type.is_string()) rows.set("attcollation", oids::kDefaultCollation);
  rows.add();
}

void attributes(const SystemCatalog& catalog, RowMaker& rows) {
  for (uint32_t number = 0; number < system_tables().size(); ++number) {
    const SystemTable& table = system_tables()[number];
    for (size_t i = 0; i < table.columns.size(); ++i) {
      set_column(rows, oids::of_system_table(number),
                 {table.columns[i].name, table.columns[i].type, true, ""}, i + 1);
    }
  }
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    for (size_t i = 0; i < table.columns.size(); ++i)
      set_column(rows, oids::of(table.id), table.columns[i], i + 1);
  }
  for (const IndexDefinition& index : catalog.program().catalog.indexes()) {
    for (size_t i = 0; i < index.columns.size(); ++i) {
      Column column = catalog.program().catalog.table(index.table).column(index.columns[i]);
      column.nullable = true;
      column.initial.clear();
      set_column(rows, oids::of(index.id), column, i + 1);
    }
  }
}

void defaults(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    for (uint32_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].initial.empty()) continue;
      rows.set("oid", oids::default_of(table.id, i)).set("adrelid", oids::of(table.id));
      rows.set("adnum", int64_t{i} + 1).set("adbin", table.columns[i].initial).add();
    }
  }
}

void indexes(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const IndexDefinition& index : program.catalog.indexes()) {
    if (!is_listed(program, index)) continue;
    rows.set("indexrelid", oids::of(index.id)).set("indrelid", oids::of(index.table));
    rows.set("indnatts", static_cast<int64_t>(index.columns.size()));
    rows.set("indnkeyatts", static_cast<int64_t>(index.columns.size()));
    rows.set("indisunique", index.unique).set("indisprimary", oids::is_primary_key(program, index));
    std::string zeros;
    for (size_t i = 0; i < index.columns.size(); ++i) zeros += i == 0 ? "0" : " 0";
    rows.set("indoption", zeros).set("indcollation", zeros).set("indclass", zeros);
    const std::string key = column_numbers(index.columns);
    rows.set("indkey", with_blanks(key.substr(1, key.size() - 2))).add();
  }
}

void types(const SystemCatalog&, RowMaker& rows) {
  struct Known {
    int64_t oid;
    const char* name;
    int64_t length;
    int64_t array;
    const char* category;
  };
  constexpr Known kKnown[] = {
      {16, "bool", 1, 1000, "B"},      {18, "char", 1, 1002, "Z"},       {19, "name", 64, 1003, "S"},
      {20, "int8", 8, 1016, "N"},      {21, "int2", 2, 1005, "N"},       {23, "int4", 4, 1007, "N"},
      {25, "text", -1, 1009, "S"},     {26, "oid", 4, 1028, "N"},        {701, "float8", 8, 1022, "N"},
      {1042, "bpchar", -1, 1014, "S"}, {1043, "varchar", -1, 1015, "S"}, {1114, "timestamp", 8, 1115, "D"},
      {700, "float4", 4, 1021, "N"},   {1082, "date", 4, 1182, "D"},     {1700, "numeric", -1, 1231, "N"},
      {2278, "void", 4, 0, "P"}};
  for (const Known& type : kKnown) {
    rows.set("oid", type.oid).set("typname", type.name).set("typlen", type.length);
    rows.set("typarray", type.array).set("typcategory", type.category);
    if (std::string_view(type.category) == "S") rows.set("typcollation", oids::kDefaultCollation);
    if (type.oid == oids::kVoidType) rows.set("typtype", "p");
    rows.set("typinput", std::string(type.name) + "in").add();
    if (type.array == 0) continue;
    rows.set("oid", type.array).set("typname", "_" + std::string(type.name)).set("typcategory", "A");
    rows.set("typelem", type.oid).set("typinput", "array_in").add();
  }
}

void procedures(const SystemCatalog& catalog, RowMaker& rows) {
  for (const ir::Procedure& procedure : catalog.program().procedures) {
    std::string types;
    std::string names;
    std::string modes;
    std::string taken;
    int64_t count = 0;
    bool has_names = false;
    for (const ir::Parameter& parameter : procedure.parameters) {
      if (procedure.has_result && &parameter == &procedure.parameters.back()) break;
      const ir::Variable& variable = procedure.variables[parameter.variable.value];
      const std::string type = std::to_string(oid_of(variable.type));
      // Before the others: texts are empty until the first.
      names += (types.empty() ? "" : ",") + variable.name;
      has_names |= !variable.name.empty();
      types += (types.empty() ? "" : ",") + type;
      modes += (modes.empty() ? "" : ",") + std::string(parameter.out ? "o" : parameter.inout ? "b" : "i");
      if (parameter.out) continue;
      taken += (taken.empty() ? "" : ",") + type;
      ++count;
    }
    rows.set("oid", oids::of(procedure.id)).set("proname", procedure.name);
    rows.set("prokind", procedure.is_function ? "f" : "p").set("prorettype", oids::result_type(procedure));
    rows.set("pronargs", count).set("proargtypes", with_blanks(taken));
    const bool has_modes = !procedure.is_function || modes.find_first_not_of("i,") != std::string::npos;
    if (!types.empty() && has_modes)
      rows.set("proallargtypes", "{" + types + "}").set("proargmodes", "{" + modes + "}");
    if (has_names) rows.set("proargnames", "{" + names + "}");
    rows.add();
  }
}

void access_methods(const SystemCatalog&, RowMaker& rows) {
  rows.set("oid", oids::kHeap).set("amname", "heap").set("amtype", "t").add();
  rows.set("oid", oids::kBtree).set("amname", "btree").add();
  rows.set("oid", oids::kHash).set("amname", "hash").add();
}

void databases(const SystemCatalog& catalog, RowMaker& rows) {
  rows.set("datname", database_name(catalog)).add();
}

void roles(const SystemCatalog& catalog, RowMaker& rows) {
  rows.set("rolname", owner_name(catalog)).add();
}

void users(const SystemCatalog& catalog, RowMaker& rows) {
  rows.set("usename", owner_name(catalog)).add();
}

void languages(const SystemCatalog&, RowMaker& rows) {
  rows.set("oid", oids::kPlpgsql).set("lanname", "plpgsql").add();
}

void tablespaces(const SystemCatalog&, RowMaker& rows) {
  rows.set("oid", int64_t{1663}).set("spcname", "pg_default").set("spcowner", oids::kOwner).add();
}

void collations(const SystemCatalog&, RowMaker& rows) {
  rows.set("oid", oids::kDefaultCollation).set("collname", "default").add();
  rows.set("oid", int64_t{950}).set("collname", "C").add();
}

void table_list(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    rows.set("tablename", table.name).set("tableowner", owner_name(catalog));
    rows.set("hasindexes", !table.indexes.empty()).add();
  }
}

void index_list(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const IndexDefinition& index : program.catalog.indexes()) {
    if (!is_listed(program, index)) continue;
    rows.set("tablename", program.catalog.table(index.table).name).set("indexname", index.name);
    rows.set("indexdef", oids::index_definition(program, index)).add();
  }
}

void schema_tables(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    rows.set("table_catalog", database_name(catalog)).set("table_name", table.name).add();
  }
  for (const View& view : catalog.program().views) {
    rows.set("table_catalog", database_name(catalog)).set("table_name", view.name);
    rows.set("table_type", "VIEW").set("is_insertable_into", "NO").add();
  }
}

void schema_columns(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      rows.set("table_catalog", database_name(catalog)).set("table_name", table.name);
      rows.set("column_name", column.name).set("ordinal_position", static_cast<int64_t>(i + 1));
      if (!column.initial.empty()) rows.set("column_default", column.initial);
      rows.set("is_nullable", column.nullable ? "YES" : "NO");
      rows.set("data_type", oids::formatted_type(oid_of(column.type), -1));
      rows.set("udt_catalog", database_name(catalog));
      if (column.type.is_string() && !column.type.is_text) {
        rows.set("character_maximum_length", int64_t{column.type.length});
        rows.set("character_octet_length", int64_t{column.type.length} * 4);
      } else if (column.type.is_string()) {
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
      if (column.type.kind == TypeKind::kDate) rows.set("datetime_precision", int64_t{0});
      if (column.type.kind == TypeKind::kTimestamp) rows.set("datetime_precision", int64_t{6});
      constexpr std::pair<TypeKind, const char*> kNames[] = {
          {TypeKind::kBoolean, "bool"}, {TypeKind::kSmallInt, "int2"},   {TypeKind::kInt, "int4"},
          {TypeKind::kBigInt, "int8"},  {TypeKind::kNumeric, "numeric"}, {TypeKind::kDouble, "float8"},
          {TypeKind::kChar, "bpchar"},  {TypeKind::kVarchar, "varchar"}, {TypeKind::kTimestamp, "timestamp"},
          {TypeKind::kReal, "float4"},  {TypeKind::kDate, "date"}};
      for (const auto& [kind, name] : kNames) {
        if (kind == column.type.kind) rows.set("udt_name", column.type.is_text ? "text" : name);
      }
      rows.add();
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

// The number of milliseconds of a duration as SHOW prints it.
std::string milliseconds_of(std::string_view text) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"ms", 1}, {"min", 60'000}, {"s", 1000}, {"h", 3'600'000}, {"d", 86'400'000}};
  for (const auto& [unit, factor] : kUnits) {
    if (text.ends_with(unit))
      return std::to_string(std::stoll(std::string(text.substr(0, text.size() - unit.size()))) * factor);
  }
  return std::string(text);
}

void settings(const SystemCatalog& catalog, RowMaker& rows) {
  constexpr std::string_view kInternal[] = {"in_hot_standby",        "integer_datetimes", "is_superuser",
                                            "max_identifier_length", "max_index_keys",    "server_encoding",
                                            "server_version",        "server_version_num"};
  for (const SystemCatalog::Setting& each : catalog.settings()) {
    const bool is_duration = each.name.ends_with("_timeout");
    const bool is_number = is_duration || each.name == "extra_float_digits" ||
                           each.name == "server_version_num" || each.name.starts_with("max_");
    const bool is_flag = each.value == "on" || each.value == "off";
    rows.set("name", std::string(each.name));
    rows.set("setting", is_duration ? milliseconds_of(each.value) : std::string(each.value));
    if (is_duration) rows.set("unit", "ms");
    rows.set("vartype", is_number ? "integer" : is_flag ? "bool" : "string");
    if (std::ranges::find(kInternal, each.name) != std::end(kInternal)) rows.set("context", "internal");
    rows.add();
  }
}

SystemTable define(const char* schema, const char* name, std::string_view columns,
                   void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
  static std::deque<std::string> texts;  // of default values
  SystemTable table{schema, name, {}, {}, rows};
  while (!columns.empty()) {
    const size_t end = std::min(columns.find(' '), columns.size());
    const std::string_view column = columns.substr(0, end);
    columns.remove_prefix(std::min(end + 1, columns.size()));
    const size_t colon = column.find(':');
    const char kind = column[colon + 1];
    const bool is_text = kind != 'o' && kind != 'b';
    Type type{.kind = kind == 'b' ? TypeKind::kBoolean : TypeKind::kBigInt};
    if (is_text) type = {.kind = TypeKind::kVarchar, .is_text = true};
    if (kind == 'v') type.elements = TypeKind::kSmallInt;
    if (kind == 'w') type.elements = TypeKind::kBigInt;
    if (kind == 'a') type.elements = TypeKind::kVarchar;
    table.columns.push_back({std::string(column.substr(0, colon)), type});
    Value& value = table.defaults.emplace_back();
    if (column.size() <= colon + 2) continue;
    const std::string initial(column.substr(colon + 3));
    if (is_text) {
      value = Value::of_text(texts.emplace_back(initial));
    } else {
      value = kind == 'b' ? Value::of_bool(initial == "t") : Value::of_int(std::stoll(initial));
    }
  }
  return table;
}

std::vector<SystemTable> define_all() {
  std::vector<SystemTable> tables;
  const auto add = [&](const char* name, const char* columns,
                       void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
    tables.push_back(define("pg_catalog", name, columns, rows));
  };
  const auto add_schema = [&](const char* name, const char* columns,
                              void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
    tables.push_back(define("information_schema", name, columns, rows));
  };
  add("pg_namespace", "oid:o nspname:t nspowner:o=10 nspacl:t", namespaces);
  add("pg_class", kClass, classes);
  add("pg_attribute", kAttribute, attributes);
  add("pg_attrdef", "oid:o adrelid:o adnum:o adbin:t", defaults);
  add("pg_index", kIndexColumns, indexes);
  add("pg_constraint", kConstraint, constraint_rows::constraints);
  add("pg_type", kTypeColumns, types);
  add("pg_proc", kProcedureColumns, procedures);
  add("pg_am", "oid:o amname:t amhandler:t= amtype:t=i", access_methods);
  add("pg_database", kDatabaseColumns, databases);
  add("pg_roles", kRole, roles);
  add("pg_authid", kRole, roles);
  add("pg_user",
      "usename:t usesysid:o=10 usecreatedb:b=f usesuper:b=t userepl:b=f usebypassrls:b=f passwd:t "
      "valuntil:t useconfig:t",
      users);
  add("pg_language", "oid:o lanname:t lanowner:o=10 lanispl:b=t lanpltrusted:b=t", languages);
  add("pg_collation",
      "oid:o collname:t collnamespace:o=11 collowner:o=10 collprovider:t=c collisdeterministic:b=t "
      "collencoding:o=-1 collcollate:t=C collctype:t=C colliculocale:t collversion:t",
      collations);
  add("pg_tables",
      "schemaname:t=public tablename:t tableowner:t tablespace:t hasindexes:b=f hasrules:b=f "
      "hastriggers:b=f rowsecurity:b=f",
      table_list);
  add("pg_indexes", "schemaname:t=public tablename:t indexname:t tablespace:t indexdef:t", index_list);
  add("pg_views", "schemaname:t=public viewname:t viewowner:t definition:t", relation_rows::views);
  // What there is none of.
  add("pg_matviews",
      "schemaname:t matviewname:t matviewowner:t tablespace:t hasindexes:b ispopulated:b definition:t");
  add("pg_sequence",
      "seqrelid:o seqtypid:o=20 seqstart:o=1 seqincrement:o=1 seqmax:o=9223372036854775807 seqmin:o=1 "
      "seqcache:o=1 seqcycle:b=f",
      relation_rows::sequences);
  add("pg_sequences",
      "schemaname:t=public sequencename:t sequenceowner:t data_type:t=bigint start_value:o=1 min_value:o=1 "
      "max_value:o=9223372036854775807 increment_by:o=1 cycle:b=f cache_size:o=1 last_value:o",
      relation_rows::sequence_list);
  add("pg_description", "objoid:o classoid:o objsubid:o description:t");
  add("pg_shdescription", "objoid:o classoid:o description:t");
  add("pg_depend", "classid:o objid:o objsubid:o refclassid:o refobjid:o refobjsubid:o deptype:t");
  add("pg_inherits", "inhrelid:o inhparent:o inhseqno:o inhdetachpending:b");
  add("pg_trigger",
      "oid:o tgrelid:o tgparentid:o tgname:t tgfoid:o tgtype:o tgenabled:t tgisinternal:b "
      "tgconstrrelid:o tgconstrindid:o tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:o tgattr:t "
      "tgargs:t tgqual:t tgoldtable:t tgnewtable:t");
  add("pg_rewrite", "oid:o rulename:t ev_class:o ev_type:t ev_enabled:t is_instead:b ev_qual:t ev_action:t");
  add("pg_policy", "oid:o polname:t polrelid:o polcmd:t polpermissive:b polroles:w polqual:t polwithcheck:t");
  add("pg_statistic_ext",
      "oid:o stxrelid:o stxname:t stxnamespace:o stxowner:o stxstattarget:o stxkeys:t stxkind:t "
      "stxexprs:t");
  add("pg_publication",
      "oid:o pubname:t pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b "
      "pubtruncate:b pubviaroot:b");
  add("pg_publication_rel", "oid:o prpubid:o prrelid:o prqual:t prattrs:w");
  add("pg_publication_namespace", "oid:o pnpubid:o pnnspid:o");
  add("pg_opclass",
      "oid:o opcmethod:o opcname:t opcnamespace:o opcowner:o opcfamily:o opcintype:o opcdefault:b "
      "opckeytype:o");
  add("pg_opfamily", "oid:o opfmethod:o opfname:t opfnamespace:o opfowner:o");
  add("pg_operator", "oid:o oprname:t oprnamespace:o oprowner:o oprkind:t oprleft:o oprright:o oprresult:o");
  add("pg_cast", "oid:o castsource:o casttarget:o castfunc:o castcontext:t castmethod:t");
  add("pg_aggregate", "aggfnoid:o aggkind:t aggnumdirectargs:o");
  add("pg_conversion", "oid:o conname:t connamespace:o conowner:o");
  add("pg_largeobject_metadata", "oid:o lomowner:o");
  add("pg_enum", "oid:o enumtypid:o enumsortorder:o enumlabel:t");
  add("pg_range", "rngtypid:o rngsubtype:o rngmultitypid:o rngcollation:o rngsubopc:o");
  add("pg_extension",
      "oid:o extname:t extowner:o extnamespace:o extrelocatable:b extversion:t extconfig:t "
      "extcondition:t");
  add("pg_auth_members", "roleid:o member:o grantor:o admin_option:b");
  add("pg_db_role_setting", "setdatabase:o setrole:o setconfig:t");
  add("pg_tablespace", "oid:o spcname:t spcowner:o spcacl:t spcoptions:t", tablespaces);
  add("pg_foreign_table", "ftrelid:o ftserver:o ftoptions:t");
  add("pg_foreign_server",
      "oid:o srvname:t srvowner:o srvfdw:o srvtype:t srvversion:t srvacl:t srvoptions:t");
  add("pg_partitioned_table",
      "partrelid:o partstrat:t partnatts:o partdefid:o partattrs:t partclass:t "
      "partcollation:t partexprs:t");
  add("pg_event_trigger", "oid:o evtname:t evtevent:t evtowner:o evtfoid:o evtenabled:t evttags:t");
  add("pg_prepared_statements", "name:t statement:t");
  add("pg_prepared_xacts", "transaction:o gid:t prepared:t owner:t database:t");
  add("pg_settings",
      "name:t setting:t unit:t category:t short_desc:t extra_desc:t context:t=user vartype:t source:t "
      "min_val:t max_val:t enumvals:a boot_val:t reset_val:t sourcefile:t sourceline:o pending_restart:b=f",
      settings);
  add("pg_cursors", "name:t statement:t is_holdable:b is_binary:b is_scrollable:b");

  add_schema("schemata",
             "catalog_name:t schema_name:t schema_owner:t default_character_set_catalog:t "
             "default_character_set_schema:t default_character_set_name:t sql_path:t",
             schemata);
  add_schema("tables",
             "table_catalog:t table_schema:t=public table_name:t table_type:t=BASE_TABLE "
             "self_referencing_column_name:t reference_generation:t user_defined_type_catalog:t "
             "user_defined_type_schema:t user_defined_type_name:t is_insertable_into:t=YES is_typed:t=NO "
             "commit_action:t",
             schema_tables);
  add_schema("columns",
             "table_catalog:t table_schema:t=public table_name:t column_name:t ordinal_position:o "
             "column_default:t is_nullable:t data_type:t character_maximum_length:o "
             "character_octet_length:o numeric_precision:o numeric_precision_radix:o numeric_scale:o "
             "datetime_precision:o interval_type:t interval_precision:o character_set_catalog:t "
             "character_set_schema:t character_set_name:t collation_catalog:t collation_schema:t "
             "collation_name:t domain_catalog:t domain_schema:t domain_name:t udt_catalog:t "
             "udt_schema:t=pg_catalog udt_name:t is_identity:t=NO identity_generation:t identity_start:t "
             "identity_increment:t identity_maximum:t identity_minimum:t identity_cycle:t=NO "
             "is_generated:t=NEVER generation_expression:t is_updatable:t=YES",
             schema_columns);
  add_schema("table_constraints",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t table_catalog:t "
             "table_schema:t=public table_name:t constraint_type:t is_deferrable:t=NO "
             "initially_deferred:t=NO enforced:t=YES nulls_distinct:t",
             constraint_rows::table_constraints);
  add_schema("key_column_usage",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t table_catalog:t "
             "table_schema:t=public table_name:t column_name:t ordinal_position:o "
             "position_in_unique_constraint:o",
             constraint_rows::key_columns);
  add_schema("constraint_column_usage",
             "table_catalog:t table_schema:t=public table_name:t column_name:t "
             "constraint_catalog:t constraint_schema:t=public constraint_name:t",
             constraint_rows::constraint_columns);
  add_schema("referential_constraints",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t "
             "unique_constraint_catalog:t unique_constraint_schema:t=public "
             "unique_constraint_name:t match_option:t=NONE update_rule:t delete_rule:t",
             constraint_rows::referential_constraints);
  add_schema("check_constraints",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t check_clause:t",
             constraint_rows::check_constraints);
  add_schema("routines",
             "specific_catalog:t specific_schema:t=public specific_name:t routine_catalog:t "
             "routine_schema:t=public routine_name:t routine_type:t=PROCEDURE data_type:t "
             "routine_body:t=EXTERNAL routine_definition:t external_language:t=PLPGSQL",
             routines);
  add_schema("views",
             "table_catalog:t table_schema:t=public table_name:t view_definition:t check_option:t=NONE "
             "is_updatable:t=NO is_insertable_into:t=NO is_trigger_updatable:t=NO is_trigger_deletable:t=NO "
             "is_trigger_insertable_into:t=NO",
             relation_rows::schema_views);
  add_schema("sequences",
             "sequence_catalog:t sequence_schema:t sequence_name:t data_type:t numeric_precision:o "
             "numeric_precision_radix:o numeric_scale:o start_value:t minimum_value:t maximum_value:t "
             "increment:t cycle_option:t");
  return tables;
}

}  // namespace

const std::vector<SystemTable>& system_tables() {
  static const std::vector<SystemTable> tables = [] {
    std::vector<SystemTable> all = define_all();
    // A blank, which parts the columns above, stands in one value.
    for (SystemTable& table : all) {
      for (Value& value : table.defaults) {
        if (value.kind() == Value::Kind::kText && value.as_text() == "BASE_TABLE")
          value = Value::of_text("BASE TABLE");
      }
    }
    return all;
  }();
  return tables;
}

}  // namespace mneme
