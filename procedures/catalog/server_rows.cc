#include "procedures/catalog/server_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schema/qualified_name.h"
#include "procedures/catalog/object_numbers.h"
#include "procedures/values/type_oids.h"

namespace mneme::server_rows {

namespace {

// Returns the milliseconds of a duration that is written as SHOW prints it.
std::string milliseconds_of(std::string_view text) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"ms", 1}, {"min", 60'000}, {"s", 1000}, {"h", 3'600'000}, {"d", 86'400'000}};
  for (const auto& [unit, factor] : kUnits) {
    if (text.ends_with(unit))
      return std::to_string(std::stoll(std::string(text.substr(0, text.size() - unit.size()))) * factor);
  }
  return std::string(text);
}

// Adds the types' input functions, to which pg_type.typinput refers.
void list_input_functions(RowMaker& rows) {
  for (const oids::InputFunction& each : oids::input_functions()) {
    rows.set("oid", each.number).set("proname", each.name).set("pronamespace", oids::kPgCatalog);
    rows.set("prolang", int64_t{12}).set("prokind", "f").set("prorettype", each.type);
    rows.set("pronargs", int64_t{1}).set("proargtypes", "2275").set("proisstrict", true);
    rows.set("provolatile", "i").set("prosrc", each.name).add();
  }
}

}  // namespace

void namespaces(const SystemCatalog& catalog, RowMaker& rows) {
  rows.set("oid", oids::kPgCatalog).set("nspname", "pg_catalog").add();
  rows.set("oid", oids::kPublic).set("nspname", "public").set("nspowner", oids::kDatabaseOwner).add();
  rows.set("oid", oids::kInformationSchema).set("nspname", "information_schema").add();
  for (const std::string& schema : catalog.program().schemas)
    rows.set("oid", oids::of_schema(catalog.program(), schema)).set("nspname", schema).add();
}

void types(const SystemCatalog& catalog, RowMaker& rows) {
  struct Known {
    int64_t oid;
    const char* name;
    int64_t length;
    int64_t array;
    const char* category;
  };
  constexpr Known kKnown[] = {{16, "bool", 1, 1000, "B"},          {18, "char", 1, 1002, "Z"},
                              {19, "name", 64, 1003, "S"},         {20, "int8", 8, 1016, "N"},
                              {21, "int2", 2, 1005, "N"},          {23, "int4", 4, 1007, "N"},
                              {25, "text", -1, 1009, "S"},         {26, "oid", 4, 1028, "N"},
                              {701, "float8", 8, 1022, "N"},       {1042, "bpchar", -1, 1014, "S"},
                              {1043, "varchar", -1, 1015, "S"},    {1114, "timestamp", 8, 1115, "D"},
                              {1184, "timestamptz", 8, 1185, "D"}, {700, "float4", 4, 1021, "N"},
                              {1082, "date", 4, 1182, "D"},        {1083, "time", 8, 1183, "D"},
                              {17, "bytea", -1, 1001, "U"},        {114, "json", -1, 199, "U"},
                              {2950, "uuid", 16, 2951, "U"},       {3802, "jsonb", -1, 3807, "U"},
                              {1186, "interval", 16, 1187, "T"},   {1700, "numeric", -1, 1231, "N"},
                              {2278, "void", 4, 0, "P"},           {2249, "record", -1, 0, "P"}};
  for (const Known& type : kKnown) {
    rows.set("oid", type.oid).set("typname", type.name).set("typlen", type.length);
    rows.set("typarray", type.array).set("typcategory", type.category);
    if (std::string_view(type.category) == "S") rows.set("typcollation", oids::kDefaultCollation);
    if (std::string_view(type.category) == "P") rows.set("typtype", "p");
    if (type.length == -1 && type.array != 0) rows.set("typstorage", type.oid == 1700 ? "m" : "x");
    rows.set("typinput", oids::input_function(type.oid)).add();
    if (type.array == 0) continue;
    rows.set("oid", type.array).set("typname", "_" + std::string(type.name)).set("typcategory", "A");
    if (std::string_view(type.category) == "S") rows.set("typcollation", oids::kDefaultCollation);
    rows.set("typelem", type.oid).set("typinput", oids::kArrayIn).set("typstorage", "x").add();
  }
  for (Type type : catalog.program().catalog.enums()) {
    const std::string& name = enum_definition(type).name;
    const int64_t oid = oid_of(type);
    type.is_array = true;
    rows.set("oid", oid).set("typnamespace", oids::kPublic).set("typname", name).set("typlen", int64_t{4});
    rows.set("typtype", "e").set("typcategory", "E").set("typbyval", true).set("typinput", oids::kEnumIn);
    rows.set("typarray", int64_t{oid_of(type)}).add();
    rows.set("oid", int64_t{oid_of(type)}).set("typnamespace", oids::kPublic);
    rows.set("typname", beside(name, "_" + std::string(bare_name(name))));
    rows.set("typcategory", "A").set("typelem", oid).set("typinput", oids::kArrayIn);
    rows.set("typstorage", "x").add();
  }
}

void enums(const SystemCatalog& catalog, RowMaker& rows) {
  int64_t label_oid = 900'000;
  for (const Type& type : catalog.program().catalog.enums()) {
    for (const EnumLabel& label : enum_definition(type).labels) {
      rows.set("oid", label_oid++).set("enumtypid", int64_t{oid_of(type)}).set("enumlabel", label.text);
      const double place = static_cast<double>(label.position) / static_cast<double>(kEnumLabelDistance);
      rows.set("enumsortorder", place).add();
    }
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
      // `names` grows before `types`: only an empty `types` marks the first parameter, as names may be empty.
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
    rows.set("proretset", !procedure.rows.empty());
    rows.set("pronargs", count).set("proargtypes", with_blanks(taken));
    const bool has_modes = !procedure.is_function || modes.find_first_not_of("i,") != std::string::npos;
    if (!types.empty() && has_modes)
      rows.set("proallargtypes", "{" + types + "}").set("proargmodes", "{" + modes + "}");
    if (has_names) rows.set("proargnames", "{" + names + "}");
    rows.set("prosrc", oids::procedure_body(catalog.program(), procedure));
    rows.add();
  }
  list_input_functions(rows);
}

void access_methods(const SystemCatalog&, RowMaker& rows) {
  rows.set("oid", oids::kHeap)
      .set("amname", "heap")
      .set("amtype", "t")
      .set("amhandler", "heap_tableam_handler")
      .add();
  rows.set("oid", oids::kBtree).set("amname", "btree").set("amhandler", "bthandler").add();
  rows.set("oid", oids::kHash).set("amname", "hash").set("amhandler", "hashhandler").add();
}

void databases(const SystemCatalog& catalog, RowMaker& rows) {
  rows.set("datname", database_name(catalog)).add();
}

void roles(const SystemCatalog& catalog, RowMaker& rows) {
  rows.set("rolname", owner_name(catalog)).add();
  rows.set("oid", oids::kDatabaseOwner).set("rolname", "pg_database_owner").set("rolsuper", false);
  rows.set("rolcanlogin", false).set("rolbypassrls", false).add();
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

}  // namespace mneme::server_rows
