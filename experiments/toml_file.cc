#include "experiments/toml_file.h"

#include <fmt/format.h>

#include <algorithm>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace mneme {
namespace {

// Keys with dots nest tables without a bound of the parser's: so deep as such a file can nest them, their
// destructors' stack holds them.
constexpr size_t kMostTomlBytes = 64 * 1024;

TomlPlace place_of(const toml::source_region& source) {
  return {source.begin.line, source.begin.column};
}

TomlValue toml_value(const toml::node& node) {
  TomlValue value;
  value.place = place_of(node.source());
  if (const toml::table* const table = node.as_table()) {
    value.kind = TomlValue::Kind::kTable;
    for (const auto& [key, member] : *table) {
      value.members.push_back({std::string(key.str()), place_of(key.source()), toml_value(member)});
    }
    // toml++ sorts keys by name.
    std::ranges::sort(value.members, {}, &TomlValue::Member::place);
  } else if (const toml::array* const array = node.as_array()) {
    value.kind = TomlValue::Kind::kArray;
    for (const toml::node& item : *array) value.items.push_back(toml_value(item));
  } else if (const auto* const text = node.as_string()) {
    value.kind = TomlValue::Kind::kText;
    value.text = text->get();
  } else if (const auto* const integer = node.as_integer()) {
    value.kind = TomlValue::Kind::kInteger;
    value.integer = integer->get();
    value.number = static_cast<double>(integer->get());
  } else if (const auto* const number = node.as_floating_point()) {
    value.kind = TomlValue::Kind::kFloat;
    value.number = number->get();
  } else if (const auto* const boolean = node.as_boolean()) {
    value.kind = TomlValue::Kind::kBoolean;
    value.boolean = boolean->get();
  } else {
    value.kind = TomlValue::Kind::kTime;
  }
  return value;
}

}  // namespace

std::string_view TomlValue::kind_name() const {
  switch (kind) {
    case Kind::kText:
      return "a text";
    case Kind::kInteger:
      return "a whole number";
    case Kind::kFloat:
      return "a number";
    case Kind::kBoolean:
      return "true or false";
    case Kind::kTime:
      return "a date or time";
    case Kind::kArray:
      return "a list";
    case Kind::kTable:
      return "a table";
  }
  return "";
}

std::string place_text(std::string_view file, TomlPlace place) {
  return fmt::format("{}:{}:{}", file, place.line, place.column);
}

Result<TomlValue> parse_toml(std::string_view text, std::string_view file) {
  if (text.size() > kMostTomlBytes) {
    return invalid_argument("{} has {} bytes, and a file of an experiment at most {}", file, text.size(),
                            kMostTomlBytes);
  }
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return invalid_argument("{}: not TOML: {}", place_text(file, place_of(error.source())),
                            error.description());
  }
  return toml_value(parsed.table());
}

}  // namespace mneme
