// SystemCatalog's functions: what clients ask of a database beside its tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "base/ascii.h"
#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/query_functions.h"
#include "procedures/catalog/system_catalog.h"
#include "procedures/catalog/system_rows.h"
#include "procedures/catalog/view_text.h"
#include "procedures/parser/written_names.h"
#include "procedures/values/array_text.h"
#include "procedures/values/type_oids.h"

namespace mneme {

namespace {

constexpr Type kNumber{.kind = TypeKind::kBigInt};
constexpr Type kFlag{.kind = TypeKind::kBoolean};
constexpr Type kString{.kind = TypeKind::kVarchar, .is_text = true};
// An array of any type where it is an argument, and one of names as a result.
constexpr Type kList{.kind = TypeKind::kVarchar, .is_text = true, .elements = TypeKind::kVarchar};

using Arguments = std::span<const Value>;

Value text_in(Arena& arena, std::string_view text) {
  return Value::of_text(arena.copy(text));
}

bool any_null(Arguments arguments) {
  for (const Value& argument : arguments) {
    if (argument.is_null()) return true;
  }
  return false;
}

struct Definition {
  std::string_view name;
  size_t least;
  std::array<Type, 16> arguments;  // as many as there may be
  size_t most;
  Type result;
  Value (*call)(const SystemCatalog& catalog, Arguments arguments, Arena& arena);
  // Where there is one, NULL for an argument that isn't NULL is this error: it speaks of the first argument.
  const char* missing_state = nullptr;
  const char* missing_before = nullptr;
  const char* missing_behind = "\" does not exist";
};

Value always_true(const SystemCatalog&, Arguments, Arena&) {
  return Value::of_bool(true);
}
Value always_false(const SystemCatalog&, Arguments, Arena&) {
  return Value::of_bool(false);
}
Value is_in_recovery(const SystemCatalog& catalog, Arguments, Arena&) {
  return Value::of_bool(std::ranges::any_of(catalog.settings(), [](const SystemCatalog::Setting& each) {
    return each.name == "in_hot_standby" && each.value == "on";
  }));
}
Value nothing(const SystemCatalog&, Arguments, Arena&) {
  return Value::null();
}
Value no_text(const SystemCatalog&, Arguments, Arena&) {
  return Value::of_text("");
}
Value view_definition(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  const View* view = oids::view(catalog.program(), arguments[0].as_int());
  if (view == nullptr) return Value::null();
  const Program& program = catalog.program();
  const auto is_relation = [&](const std::string& name) {
    return program.catalog.find_table(name) != nullptr || program.find_view(name) != nullptr;
  };
  const std::string_view prefix = catalog.schema_prefix();
  return text_in(arena,
                 (prefix.empty() ? view->text : qualified_query(view->text, prefix, is_relation)) + ";");
}
Value same(const SystemCatalog&, Arguments arguments, Arena&) {
  return arguments[0];
}

// The tables of information_schema are named with it alone.
Value table_is_visible(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  return Value::of_bool(!arguments[0].is_null() && catalog.is_visible(arguments[0].as_int()));
}

Value type_is_visible(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  if (arguments[0].is_null()) return Value::of_bool(false);
  for (const Type& type : catalog.program().catalog.enums()) {
    const int64_t oid = oid_of(type);
    if (arguments[0].as_int() == oid || arguments[0].as_int() == oid + 1)
      return Value::of_bool(catalog.search_path().shows_type(enum_definition(type).name));
  }
  return Value::of_bool(true);
}

Value function_is_visible(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  if (arguments[0].is_null()) return Value::of_bool(false);
  const ir::Procedure* own = oids::procedure(catalog.program(), arguments[0].as_int());
  return Value::of_bool(own == nullptr || catalog.search_path().shows_routine(own->name));
}

Value user_name(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (!arguments.empty() && !arguments[0].is_null() && arguments[0].as_int() == oids::kDatabaseOwner)
    return text_in(arena, "pg_database_owner");
  return text_in(arena, catalog.session_text("current_user", "mneme"));
}

Value format_type(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  const int64_t modifier = arguments[1].is_null() ? -1 : arguments[1].as_int();
  const int64_t oid = arguments[0].as_int();
  const Catalog& tables = catalog.program().catalog;
  const auto own = std::ranges::find_if(tables.enums(), [&](const Type& type) {
    return oid == oid_of(type) || oid == oid_of(type) + 1;  // its array
  });
  if (own == tables.enums().end()) return text_in(arena, oids::formatted_type(tables, oid, modifier));
  const std::string& name = enum_definition(*own).name;
  const SearchPath path = catalog.search_path();
  const std::string shown = path.shows_type(name)
                                ? shown_name(bare_name(name))
                                : shown_name(schema_of(name)) + "." + shown_name(bare_name(name));
  return text_in(arena, shown + (oid == oid_of(*own) ? "" : "[]"));
}

Value index_definition(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  const IndexDefinition* index =
      arguments[0].is_null() ? nullptr : oids::index(catalog.program(), arguments[0].as_int());
  if (index == nullptr) return Value::null();
  if (arguments.size() > 1 && arguments[1].as_int() > 0) {  // one column of it
    const auto column = static_cast<size_t>(arguments[1].as_int() - 1);
    if (column >= index->columns.size()) return Value::null();
    return text_in(
        arena, shown_name(catalog.program().catalog.table(index->table).column(index->columns[column]).name));
  }
  return text_in(arena, oids::index_definition(catalog.program(), *index));
}

Value constraint_definition(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  for (const oids::Constraint& each : oids::constraints(catalog.program())) {
    if (each.oid == arguments[0].as_int())
      return text_in(arena, oids::constraint_definition(catalog.program(), each, catalog.schema_prefix()));
  }
  return Value::null();
}

Value object_description(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (any_null(arguments)) return Value::null();
  const std::string_view of = arguments.size() < 2 ? std::string_view() : arguments[1].as_text();
  for (const oids::Description& each : oids::descriptions(catalog.program())) {
    if (each.object == arguments[0].as_int() && each.part == 0 && (of.empty() || of == each.list))
      return text_in(arena, each.text);
  }
  return Value::null();
}

Value column_description(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (any_null(arguments) || arguments[1].as_int() == 0) return Value::null();
  for (const oids::Description& each : oids::descriptions(catalog.program())) {
    if (each.object == arguments[0].as_int() && each.part == arguments[1].as_int())
      return text_in(arena, each.text);
  }
  return Value::null();
}

Value procedure_arguments(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  const ir::Procedure* procedure =
      arguments[0].is_null() ? nullptr : oids::procedure(catalog.program(), arguments[0].as_int());
  return procedure == nullptr ? Value::null()
                              : text_in(arena, oids::procedure_arguments(catalog.program(), *procedure));
}

Value class_name(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  const int64_t oid = arguments[0].as_int();
  const auto shown = [&](const std::string& name) { return text_in(arena, catalog.shown_relation(name)); };
  if (const TableDefinition* table = oids::table(catalog.program(), oid)) return shown(table->name);
  if (const IndexDefinition* index = oids::index(catalog.program(), oid)) return shown(index->name);
  if (const View* view = oids::view(catalog.program(), oid)) return shown(view->name);
  const auto system = std::ranges::find(system_tables(), oid, &SystemTable::oid);
  if (system != system_tables().end()) {
    return text_in(arena, system->schema == "pg_catalog"
                              ? system->name
                              : fmt::format("{}.{}", system->schema, system->name));
  }
  return text_in(arena, oid == 0 ? "-" : std::to_string(oid));
}

Value type_name_of(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  if (arguments[0].as_int() == 0) return text_in(arena, "-");
  return text_in(arena, oids::formatted_type(catalog.program().catalog, arguments[0].as_int(), -1));
}

Value function_result(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  const ir::Procedure* procedure =
      arguments[0].is_null() ? nullptr : oids::procedure(catalog.program(), arguments[0].as_int());
  if (procedure == nullptr || !procedure->is_function) return Value::null();
  if (!procedure->rows.empty()) return text_in(arena, oids::shown_rows(*procedure));
  return text_in(arena, oids::formatted_type(catalog.program().catalog, oids::result_type(*procedure), -1));
}

Value procedure_name(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  const ir::Procedure* procedure = oids::procedure(catalog.program(), arguments[0].as_int());
  if (procedure != nullptr) return text_in(arena, shown_name(procedure->name));
  const std::string_view input = oids::input_function_name(arguments[0].as_int());
  return text_in(arena, input.empty() ? std::to_string(arguments[0].as_int()) : std::string(input));
}

Value schema_name(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  const int64_t oid = arguments[0].as_int();
  for (const std::string& schema : catalog.program().schemas) {
    if (oids::of_schema(catalog.program(), schema) == oid) return text_in(arena, shown_name(schema));
  }
  return text_in(arena, oid == oids::kPublic              ? "public"
                        : oid == oids::kPgCatalog         ? "pg_catalog"
                        : oid == oids::kInformationSchema ? "information_schema"
                                                          : std::to_string(oid));
}

Value object_of(const char* type, const SystemCatalog& catalog, Arguments arguments) {
  if (arguments[0].is_null()) return Value::null();
  const std::string_view name = arguments[0].as_text();
  if (name == "-") return Value::of_int(0);
  const auto object = catalog.find_object(type, std::string(name));
  return object ? Value::of_int(*object) : Value::null();
}
Value to_class(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  return object_of("regclass", catalog, arguments);
}
Value to_type(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  return object_of("regtype", catalog, arguments);
}
Value to_procedure(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  return object_of("regproc", catalog, arguments);
}
Value to_schema(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  return object_of("regnamespace", catalog, arguments);
}
Value to_role(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  return object_of("regrole", catalog, arguments);
}

Value set_config(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  if (arguments[0].is_null()) return Value::null();
  catalog.wish({std::string(arguments[0].as_text()),
                arguments[1].is_null() ? std::string() : std::string(arguments[1].as_text()),
                !arguments[2].is_null() && arguments[2].as_bool()});
  return arguments[1];
}

// The session says what is wrong with them.
Value notify(const SystemCatalog& catalog, Arguments arguments, Arena&) {
  const auto text = [](const Value& value) {
    return value.is_null() ? std::string() : std::string(value.as_text());
  };
  catalog.notice({text(arguments[0]), text(arguments[1])});
  return Value::of_text("");
}

Value name_character(const SystemCatalog&, Arguments arguments, Arena& arena) {
  if (any_null(arguments)) return Value::null();
  const std::string_view name = arguments[0].as_text();
  const auto at = static_cast<size_t>(arguments[1].as_int());
  return text_in(arena, at < name.size() ? name.substr(at, 1) : std::string_view());
}

// 1 or 2 of (element, number).
Value expanded_field(const SystemCatalog&, Arguments arguments, Arena&) {
  if (any_null(arguments)) return Value::null();
  std::string_view field = arguments[0].as_text();
  const size_t comma = field.find(',');
  field = arguments[1].as_int() == 1 ? field.substr(1, comma - 1)
                                     : field.substr(comma + 1, field.size() - comma - 2);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc() ? Value::of_int(number) : Value::null();
}

Value schemas(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  const std::vector<std::string> schemas = catalog.search_path().schemas();
  fmt::memory_buffer text;
  const auto add = [&](std::string_view schema) {
    if (text.size() > 0) text.push_back(',');
    append_array_element(schema, text);
  };
  const bool has_catalog = std::ranges::find(schemas, "pg_catalog") != schemas.end();
  if (arguments[0].as_bool() && !has_catalog) add("pg_catalog");
  for (const std::string& schema : schemas) add(schema);
  return text_in(arena, fmt::format("{{{}}}", fmt::to_string(text)));
}

Value current_schema(const SystemCatalog& catalog, Arguments, Arena& arena) {
  const std::vector<std::string> schemas = catalog.search_path().schemas();
  return schemas.empty() ? Value::null() : text_in(arena, schemas[0]);
}

Value encoding_name(const SystemCatalog&, Arguments, Arena& arena) {
  return text_in(arena, "UTF8");
}

Value serial_sequence(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (any_null(arguments)) return Value::null();
  const auto oid = catalog.find_object("regclass", std::string(arguments[0].as_text()));
  const TableDefinition* table = oid ? oids::table(catalog.program(), *oid) : nullptr;
  if (table == nullptr) return Value::null();
  for (const Column& column : table->columns) {
    if (column.name == arguments[1].as_text() && !column.sequence.empty())
      return text_in(arena,
                     shown_name(schema_of(column.sequence)) + "." + shown_name(bare_name(column.sequence)));
  }
  return Value::null();
}

Value encoding_number(const SystemCatalog&, Arguments, Arena&) {
  constexpr int64_t kUtf8 = 6;
  return Value::of_int(kUtf8);
}

Value procedure_definition(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  const ir::Procedure* procedure =
      arguments[0].is_null() ? nullptr : oids::procedure(catalog.program(), arguments[0].as_int());
  if (procedure == nullptr) return Value::null();
  return text_in(arena, oids::procedure_definition(catalog.program(), *procedure));
}

Value pretty_size(const SystemCatalog&, Arguments arguments, Arena& arena) {
  if (arguments[0].is_null()) return Value::null();
  int64_t size = arguments[0].as_int();
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; (size >= 10240 || size <= -10240) && unit + 1 < std::size(kUnits); ++unit)
    size = (size + 512) / 1024;
  return text_in(arena, fmt::format("{} {}", size, kUnits[unit]));
}

Value setting(const SystemCatalog& catalog, Arguments arguments, Arena& arena) {
  if (any_null(arguments)) return Value::null();
  const auto is_wanted = [&](std::string_view name) {
    return std::ranges::equal(name, arguments[0].as_text(),
                              [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
  };
  for (const SystemCatalog::Setting& each : catalog.settings()) {
    if (is_wanted(each.name)) return text_in(arena, each.value);
  }
  return Value::null();
}

constexpr Definition kDefinitions[] = {
    {"pg_get_userbyid", 1, {kNumber}, 1, kString, user_name},
    {"pg_table_is_visible", 1, {kNumber}, 1, kFlag, table_is_visible},
    {"pg_type_is_visible", 1, {kNumber}, 1, kFlag, type_is_visible},
    {"pg_collation_is_visible", 1, {kNumber}, 1, kFlag, always_true},
    {"pg_operator_is_visible", 1, {kNumber}, 1, kFlag, always_true},
    {"pg_opclass_is_visible", 1, {kNumber}, 1, kFlag, always_true},
    {"pg_opfamily_is_visible", 1, {kNumber}, 1, kFlag, always_true},
    {"pg_conversion_is_visible", 1, {kNumber}, 1, kFlag, always_true},
    {"pg_statistics_obj_is_visible", 1, {kNumber}, 1, kFlag, always_true},
    {"pg_function_is_visible", 1, {kNumber}, 1, kFlag, function_is_visible},
    {"pg_is_in_recovery", 0, {}, 0, kFlag, is_in_recovery},
    {"pg_is_other_temp_schema", 1, {kNumber}, 1, kFlag, always_false},
    {"pg_relation_is_publishable", 1, {kNumber}, 1, kFlag, always_false},
    {"has_table_privilege", 2, {kString, kString, kString}, 3, kFlag, always_true},
    {"has_schema_privilege", 2, {kString, kString, kString}, 3, kFlag, always_true},
    {"has_database_privilege", 2, {kString, kString, kString}, 3, kFlag, always_true},
    {"has_column_privilege", 3, {kString, kString, kString, kString}, 4, kFlag, always_true},
    {"has_function_privilege", 2, {kString, kString, kString}, 3, kFlag, always_true},
    {"format_type", 2, {kNumber, kNumber}, 2, kString, format_type},
    {"pg_get_expr", 2, {kString, kNumber, kFlag}, 3, kString, same},
    {"pg_get_indexdef", 1, {kNumber, kNumber, kFlag}, 3, kString, index_definition},
    {"pg_get_constraintdef", 1, {kNumber, kFlag}, 2, kString, constraint_definition},
    {"pg_get_function_result", 1, {kNumber}, 1, kString, function_result},
    {"pg_get_function_arguments", 1, {kNumber}, 1, kString, procedure_arguments},
    {"pg_get_function_identity_arguments", 1, {kNumber}, 1, kString, procedure_arguments},
    {"pg_get_viewdef", 1, {kNumber, kFlag}, 2, kString, view_definition},
    {"pg_get_ruledef", 1, {kNumber, kFlag}, 2, kString, nothing},
    {"pg_get_triggerdef", 1, {kNumber, kFlag}, 2, kString, nothing},
    {"pg_get_partkeydef", 1, {kNumber}, 1, kString, nothing},
    {"pg_get_serial_sequence", 2, {kString, kString}, 2, kString, serial_sequence},
    {"pg_get_statisticsobjdef_columns", 1, {kNumber}, 1, kString, nothing},
    {"obj_description", 1, {kNumber, kString}, 2, kString, object_description},
    {"shobj_description", 2, {kNumber, kString}, 2, kString, nothing},
    {"col_description", 2, {kNumber, kNumber}, 2, kString, column_description},
    {"pg_encoding_to_char", 1, {kNumber}, 1, kString, encoding_name},
    {"mneme_field", 2, {kString, kNumber}, 2, kNumber, expanded_field},
    {"pg_char_to_encoding", 1, {kString}, 1, kNumber, encoding_number},
    {"getdatabaseencoding", 0, {}, 0, kString, encoding_name},
    {"pg_tablespace_location", 1, {kNumber}, 1, kString, nothing},
    {"pg_get_function_sqlbody", 1, {kNumber}, 1, kString, nothing},
    {"pg_get_functiondef", 1, {kNumber}, 1, kString, procedure_definition},
    // How much room a table takes is not told here.
    {"pg_table_size", 1, {kNumber}, 1, kNumber, nothing},
    {"pg_relation_size", 1, {kNumber, kString}, 2, kNumber, nothing},
    {"pg_indexes_size", 1, {kNumber}, 1, kNumber, nothing},
    {"pg_total_relation_size", 1, {kNumber}, 1, kNumber, nothing},
    {"pg_database_size", 1, {kString}, 1, kNumber, nothing},
    {"pg_tablespace_size", 1, {kString}, 1, kNumber, nothing},
    {"pg_size_pretty", 1, {kNumber}, 1, kString, pretty_size},
    {"mneme_name_character", 2, {kString, kNumber}, 2, kString, name_character},
    {"current_schema", 0, {}, 0, kString, current_schema},
    {"current_schemas", 1, {kFlag}, 1, kList, schemas},
    {"current_setting",
     1,
     {kString, kFlag},
     2,
     kString,
     setting,
     sqlstate::kUndefinedObject,
     "unrecognized configuration parameter \"",
     "\""},
    // Nobody holds an advisory lock, as none can be taken.
    {"pg_advisory_unlock_all", 0, {}, 0, kString, no_text},
    {"set_config", 3, {kString, kString, kFlag}, 3, kString, set_config},
    {"pg_notify", 2, {kString, kString}, 2, kString, notify},
    {"acldefault", 2, {kString, kNumber}, 2, kList, nothing},
    {"to_regclass", 1, {kString}, 1, kNumber, to_class},
    {"to_regtype", 1, {kString}, 1, kNumber, to_type},
    {"to_regproc", 1, {kString}, 1, kNumber, to_procedure},
    {"to_regprocedure", 1, {kString}, 1, kNumber, to_procedure},
    {"to_regnamespace", 1, {kString}, 1, kNumber, to_schema},
    {"to_regrole", 1, {kString}, 1, kNumber, to_role},
    {"regclassin", 1, {kString}, 1, kNumber, to_class, sqlstate::kUndefinedTable, "relation \""},
    {"regtypein", 1, {kString}, 1, kNumber, to_type, sqlstate::kUndefinedObject, "type \""},
    {"regprocin", 1, {kString}, 1, kNumber, to_procedure, sqlstate::kUndefinedFunction, "function \""},
    {"regprocedurein", 1, {kString}, 1, kNumber, to_procedure, sqlstate::kUndefinedFunction, "function \""},
    {"regnamespacein", 1, {kString}, 1, kNumber, to_schema, sqlstate::kInvalidSchema, "schema \""},
    {"regrolein", 1, {kString}, 1, kNumber, to_role, sqlstate::kUndefinedObject, "role \""},
    {"regclassout", 1, {kNumber}, 1, kString, class_name},
    {"regtypeout", 1, {kNumber}, 1, kString, type_name_of},
    {"regprocout", 1, {kNumber}, 1, kString, procedure_name},
    {"regprocedureout", 1, {kNumber}, 1, kString, procedure_name},
    {"regnamespaceout", 1, {kNumber}, 1, kString, schema_name},
    {"regroleout", 1, {kNumber}, 1, kString, user_name},
};

}  // namespace

std::optional<query::ProvidedTables::Function> SystemCatalog::find_function(const std::string& name,
                                                                            size_t arguments) const {
  for (uint32_t i = 0; i < std::size(kDefinitions); ++i) {
    const Definition& each = kDefinitions[i];
    if (each.name != name || arguments < each.least || arguments > each.most) continue;
    Function function{i, each.arguments, each.result};
    function.is_volatile = each.call == set_config || each.call == notify;
    return function;
  }
  for (size_t i = 0; i < count_query_functions(); ++i) {
    const QueryFunction& each = query_function(i);
    if (each.name != name || arguments < each.least || arguments > each.most) continue;
    const auto number = static_cast<uint32_t>(std::size(kDefinitions) + i);
    return Function{number, each.arguments, each.result, each.like, each.compares, each.is_volatile};
  }
  return std::nullopt;
}

bool SystemCatalog::call(uint32_t function, std::span<const Value> arguments, Arena& arena, Value& result,
                         SqlError& error) const {
  if (function >= std::size(kDefinitions)) {
    const QueryFunction& called = query_function(function - std::size(kDefinitions));
    result = Value::null();
    return (called.is_strict && any_null(arguments)) || called.call(arguments, arena, result, error);
  }
  const Definition& definition = kDefinitions[function];
  result = definition.call(*this, arguments, arena);
  if (definition.missing_state == nullptr || !result.is_null() || any_null(arguments)) return true;
  // current_setting(name, true) may be of a parameter that is not there.
  if (definition.call == setting && arguments.size() > 1 && arguments[1].as_bool()) return true;
  return fail(error, arena, definition.missing_state, "{}{}{}", definition.missing_before,
              arguments[0].as_text(), definition.missing_behind);
}

}  // namespace mneme
