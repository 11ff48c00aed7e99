#include "procedures/catalog/search_path.h"

#include <algorithm>

#include "base/ascii.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/names.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

std::vector<std::string> names_in(std::string_view setting) {
  std::vector<std::string> names;
  for (size_t at = 0; at < setting.size();) {
    if (setting[at] == ',' || is_ascii_blank(setting[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    if (setting[at] == '"') {
      end = end_of_written_name(setting, at);
    } else {
      while (end < setting.size() && setting[end] != ',' && !is_ascii_blank(setting[end])) ++end;
    }
    names.push_back(read_written_name(setting.substr(at, end - at)));
    at = end;
  }
  return names;
}

}  // namespace

SearchPath::SearchPath(const Program& program, std::string_view setting, std::string_view user)
    : program_(program) {
  for (std::string& name : names_in(setting)) {
    if (name == "$user") name = user;
    const bool is_there = name == kPublicSchema || is_system_schema(name) || program.has_schema(name);
    if (is_there && std::ranges::find(schemas_, name) == schemas_.end()) schemas_.push_back(std::move(name));
  }
}

template <typename Has>
std::optional<std::string> SearchPath::find(std::string_view name, Has&& has) const {
  for (const std::string& schema : schemas_) {
    if (!is_system_schema(schema) && has(qualified_name(schema, name))) return schema;
  }
  return std::nullopt;
}

std::optional<std::string> SearchPath::of_relation(std::string_view name) const {
  return find(name, [&](const std::string& each) {
    return program_.catalog.has_relation(each) || program_.find_view(each) != nullptr;
  });
}

std::optional<std::string> SearchPath::of_routine(std::string_view name) const {
  return find(name, [&](const std::string& each) { return program_.find_procedure(each) != nullptr; });
}

std::optional<std::string> SearchPath::of_type(std::string_view name) const {
  return find(name, [&](const std::string& each) {
    return program_.catalog.find_enum(each).has_value() || program_.catalog.find_table(each) != nullptr;
  });
}

namespace {

bool is_system_type(const std::string& name) {
  syntax::TypeName type;
  type.base = name;
  try {
    read_plain_type(type, Catalog());
    return true;
  } catch (const SourceError& error) {
    return error.sqlstate != nullptr && std::string_view(error.sqlstate) == sqlstate::kNotSupported;
  }
}

// The first line from the n-th on, which counts from 1.
std::string_view line_of(std::string_view text, uint32_t number) {
  for (; number > 1 && text.find('\n') != text.npos; --number) text.remove_prefix(text.find('\n') + 1);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string with_schemas(std::string_view statement, const Program& program, const SearchPath& path) {
  if (path.is_usual()) return std::string(statement);
  const auto found = [](std::optional<std::string> schema, bool is_in_public) {
    if (schema) return *std::move(schema);
    return std::string(is_in_public ? kNowhere : kPublicSchema);
  };
  NamePath names;
  names.creates_in = path.creates_in();
  names.relation = [&](const std::string& name) {
    return found(path.of_relation(name),
                 program.catalog.has_relation(name) || program.find_view(name) != nullptr);
  };
  names.routine = [&](const std::string& name) {
    // PostgreSQL looks into pg_catalog first.
    if (is_own_function(name)) return std::string(kPublicSchema);
    return found(path.of_routine(name), program.find_procedure(name) != nullptr);
  };
  names.type = [&](const std::string& name) {
    if (is_system_type(name)) return std::string(kPublicSchema);
    return found(path.of_type(name), program.catalog.find_enum(name).has_value());
  };
  return with_schemas(statement, names);
}

// with_schemas() only adds, and no line's end.
ir::SourceLocation place_before(std::string_view text, std::string_view with_schemas,
                                ir::SourceLocation where) {
  if (where.line == 0) return where;
  const std::string_view before = line_of(text, where.line);
  const std::string_view after = line_of(with_schemas, where.line);
  size_t at = 0;
  for (size_t i = 0; i + 1 < where.column && i < after.size(); ++i) {
    if (at < before.size() && before[at] == after[i]) ++at;
  }
  where.column = static_cast<uint32_t>(at + 1);
  return where;
}

bool SearchPath::shows_relation(const std::string& object) const {
  return of_relation(bare_name(object)) == schema_of(object);
}

bool SearchPath::shows_routine(const std::string& object) const {
  return of_routine(bare_name(object)) == schema_of(object);
}

bool SearchPath::shows_type(const std::string& object) const {
  return of_type(bare_name(object)) == schema_of(object);
}

}  // namespace mneme
