#include "procedures/catalog/system_catalog.h"

#include <algorithm>

#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/system_rows.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/values/type_oids.h"

namespace mneme {

// No name in SQL has a line's end in it.
constexpr char kSettingMark = '\n';

std::optional<uint32_t> SystemCatalog::find(const std::string& schema, const std::string& name) const {
  const std::vector<SystemTable>& tables = system_tables();
  for (uint32_t i = 0; i < tables.size(); ++i) {
    // Without a schema, pg_catalog is looked through, and information_schema is not.
    if (tables[i].name != name || (schema.empty() ? "pg_catalog" : schema) != tables[i].schema) continue;
    shows_activities_ = shows_activities_ || name == "pg_stat_activity";
    return i;
  }
  return std::nullopt;
}

std::span<const query::Column> SystemCatalog::columns(uint32_t table) const {
  return system_tables()[table].columns;
}

int64_t oid_of(TableId table) {
  return oids::of(table);
}

void SystemCatalog::visit(uint32_t table, FunctionRef<void(std::span<const Value>)> visit) const {
  const SystemTable& definition = system_tables()[table];
  if (definition.rows == nullptr) return;
  RowMaker rows(program_, definition.columns, definition.defaults, visit);
  definition.rows(*this, rows);
}

std::optional<query::ProvidedTables::View> SystemCatalog::find_view(const std::string& schema,
                                                                    const std::string& name) const {
  if (!schema.empty() && schema != "public") return std::nullopt;
  const mneme::View* view = program_.find_view(name);
  if (view == nullptr) return std::nullopt;
  return View{parse_command(view->text).operation->query, view->columns};
}

bool SystemCatalog::is_always_empty(uint32_t table) const {
  return system_tables()[table].rows == nullptr;
}

std::string_view SystemCatalog::search_path_of(const SessionValues* session) {
  static const std::string key = kSettingMark + std::string("search_path");
  if (session == nullptr) return kUsualSearchPath;
  const auto found = session->find(key);
  return found == session->end() ? kUsualSearchPath : std::string_view(found->second.text);
}

SearchPath SystemCatalog::search_path() const {
  return {program_, search_path_of(session_), session_text("current_user", "mneme")};
}

std::string_view SystemCatalog::schema_prefix() const {
  const SearchPath path = search_path();
  return std::ranges::find(path.schemas(), kPublicSchema) == path.schemas().end() ? "public."
                                                                                  : std::string_view();
}

std::string SystemCatalog::shown_relation(const std::string& name) const {
  return search_path().shows_relation(name) ? shown_name(bare_name(name))
                                            : shown_name(schema_of(name)) + "." + shown_name(bare_name(name));
}

bool SystemCatalog::is_visible(int64_t oid) const {
  const SearchPath path = search_path();
  if (const TableDefinition* own = oids::table(program_, oid)) return path.shows_relation(own->name);
  if (const IndexDefinition* own = oids::index(program_, oid)) return path.shows_relation(own->name);
  if (const mneme::View* own = oids::view(program_, oid)) return path.shows_relation(own->name);
  const auto table = std::ranges::find(system_tables(), oid, &SystemTable::oid);
  return table == system_tables().end() || table->schema == "pg_catalog";
}

std::string SystemCatalog::session_text(std::string_view function, std::string_view otherwise) const {
  if (session_ == nullptr) return std::string(otherwise);
  const auto value = session_->find(function);
  return value == session_->end() ? std::string(otherwise) : value->second.text;
}

void SystemCatalog::set_settings(SessionValues& session, std::span<const Setting> settings) {
  std::erase_if(session, [](const auto& value) { return value.first.starts_with(kSettingMark); });
  const Type text{.kind = TypeKind::kVarchar, .is_text = true};
  for (const Setting& setting : settings)
    session[kSettingMark + std::string(setting.name)] = {text, std::string(setting.value)};
}

std::vector<SystemCatalog::Setting> SystemCatalog::settings() const {
  std::vector<Setting> all;
  if (session_ == nullptr) return all;
  for (const auto& [name, value] : *session_) {
    if (name.starts_with(kSettingMark)) all.push_back({std::string_view(name).substr(1), value.text});
  }
  return all;
}

namespace {

// Each type is known by the name that pg_type has, and by the one that format_type() gives. An array's is its
// element's with [] behind it, or _ before it.
std::optional<int64_t> find_type(const Catalog& catalog, std::string name) {
  if (const auto modifier = name.find('('); modifier != name.npos) {
    const auto end = name.find(')', modifier);
    if (end == name.npos) return std::nullopt;
    name.erase(modifier, end + 1 - modifier);
  }
  const bool is_array = name.ends_with("[]") || name.starts_with('_');
  if (is_array) {
    name = name.starts_with('_') ? name.substr(1) : name.substr(0, name.size() - 2);
    const std::optional<int64_t> element = find_type(catalog, name);
    std::optional<Type> type = element ? type_of_oid(static_cast<uint32_t>(*element)) : std::nullopt;
    if (const std::optional<Type> own = catalog.find_enum(name)) type = own;
    if (!type || type->is_array) return std::nullopt;
    type->is_array = true;
    return oid_of(*type);
  }
  if (const std::optional<Type> own = catalog.find_enum(name)) return oid_of(*own);
  for (const int64_t number : {16,  17,   18,   19,   20,   21,   23,   25,   26,   114,  700,
                               701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1700, 2950, 3802}) {
    if (oids::formatted_type(number, -1) == name) return number;
  }
  struct Alias {
    std::string_view name;
    int64_t number;
  };
  constexpr Alias kAliases[] = {{"trigger", oids::kTriggerType},
                                {"void", oids::kVoidType},
                                {"record", oids::kRecordType},
                                {"int4", 23},
                                {"int8", 20},
                                {"int2", 21},
                                {"int", 23},
                                {"bool", 16},
                                {"float8", 701},
                                {"float4", 700},
                                {"float", 701},
                                {"bpchar", 1042},
                                {"char", 1042},
                                {"varchar", 1043},
                                {"decimal", 1700},
                                {"time", 1083},
                                {"timestamp", 1114},
                                {"timestamptz", 1184}};
  const auto* const alias = std::ranges::find(kAliases, name, &Alias::name);
  return alias == std::end(kAliases) ? std::nullopt : std::optional(alias->number);
}

}  // namespace

std::optional<int64_t> SystemCatalog::find_object(const std::string& type, const std::string& name) const {
  // The database's own name may stand in front of the schema's.
  const std::string database = session_text("current_database", "mneme");
  for (const std::string& prefix : {database + ".", "\"" + database + "\"."}) {
    const std::string rest = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
    if (rest.find('.') != rest.npos && !rest.starts_with(prefix)) return find_object(type, rest);
  }
  std::string plain = name;
  for (const std::string_view schema : {"public.", "pg_catalog.", "\"public\".", "\"pg_catalog\"."}) {
    if (plain.starts_with(schema)) plain.erase(0, schema.size());
  }
  const std::string read = read_relation_name(name);
  // Without a schema it is looked for through the path.
  const bool has_schema = read.starts_with(kSchemaBegin) || plain != name;
  std::erase(plain, '"');
  if (!plain.empty() && std::ranges::all_of(plain, [](char c) { return c >= '0' && c <= '9'; }) &&
      plain.size() < 10)
    return std::stoll(plain);
  if (type == "regtype") {
    const bool is_array = plain.ends_with("[]");
    const std::string element = is_array ? read_relation_name(name.substr(0, name.size() - 2)) : read;
    const std::optional<std::string> schema = has_schema ? std::nullopt : search_path().of_type(element);
    const std::string own = schema ? qualified_name(*schema, element) : element;
    if (std::optional<Type> found = program_.catalog.find_enum(own)) {
      found->is_array = is_array;
      return mneme::oid_of(*found);
    }
  }
  if (type != "regtype") plain = read;
  if (!has_schema && type == "regclass") {
    if (const auto schema = search_path().of_relation(plain)) {
      plain = qualified_name(*schema, plain);
    } else if (find("", plain) == std::nullopt) {
      return std::nullopt;
    }
  }
  if (!has_schema && type.starts_with("regproc")) {
    if (const auto schema = search_path().of_routine(plain)) plain = qualified_name(*schema, plain);
  }
  if (type == "regclass") {
    if (const TableDefinition* table = program_.catalog.find_table(plain)) return oids::of(table->id);
    for (const IndexDefinition& index : program_.catalog.indexes()) {
      if (index.name == plain) return oids::of(index.id);
    }
    for (uint32_t i = 0; i < program_.views.size(); ++i) {
      if (program_.views[i].name == plain) return oids::of_view(i);
    }
    const std::optional<uint32_t> system = find("", plain);
    return system ? std::optional(oids::of_system_table(*system)) : std::nullopt;
  }
  if (type == "regproc" || type == "regprocedure") {
    const ir::Procedure* procedure = program_.find_procedure(plain);
    if (procedure == nullptr) return oids::find_input_function(plain);
    return oids::of(procedure->id);
  }
  if (type == "regnamespace") {
    const int64_t schema = oids::of_schema(program_, plain);
    return schema != 0 ? std::optional(schema) : std::nullopt;
  }
  if (type == "regrole") {
    if (plain == "pg_database_owner") return oids::kDatabaseOwner;
    return plain == session_text("current_user", "mneme") ? std::optional(oids::kOwner) : std::nullopt;
  }
  if (type != "regtype") return std::nullopt;
  return find_type(program_.catalog, plain);
}

}  // namespace mneme
