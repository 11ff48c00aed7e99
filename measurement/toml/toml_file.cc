#include "measurement/toml/toml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/deep_stack.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace mneme {
namespace {

// toml++ bounds how deep values are nested, but not how many dots a key has, each of which nests a table.
constexpr size_t kMostTomlBytes = 64 * 1024;
constexpr int kMostTomlDepth = 16;

FilePlace place_of(const toml::source_region& source) {
  return {source.begin.line, source.begin.column};
}

// Leaves out what is nested deeper than kMostTomlDepth, and says where in `too_deep`.
TomlValue toml_value(const toml::node& node, int depth, std::optional<FilePlace>& too_deep) {
  TomlValue value;
  value.place = place_of(node.source());
  if (depth > kMostTomlDepth) {
    too_deep = value.place;
  } else if (const toml::table* const table = node.as_table()) {
    value.kind = TomlValue::Kind::kTable;
    for (const auto& [key, member] : *table) {
      value.members.push_back(
          {std::string(key.str()), place_of(key.source()), toml_value(member, depth + 1, too_deep)});
    }
    // toml++ sorts keys by name.
    std::ranges::sort(value.members, {}, &TomlValue::Member::place);
  } else if (const toml::array* const array = node.as_array()) {
    value.kind = TomlValue::Kind::kArray;
    for (const toml::node& item : *array) value.items.push_back(toml_value(item, depth + 1, too_deep));
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

std::string_view TomlValue::name_of(Kind kind) {
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

Result<TomlValue> parse_toml(std::string_view text, std::string_view file) {
  if (text.size() > kMostTomlBytes) {
    return invalid_argument("{} has {} bytes, and a file in TOML may have {} at most", file, text.size(),
                            kMostTomlBytes);
  }
  return on_deep_stack([&]() -> Result<TomlValue> {
    const toml::parse_result parsed = toml::parse(text, file);
    if (!parsed) {
      const toml::parse_error& error = parsed.error();
      return invalid_argument("{}: not TOML: {}", place_text(file, place_of(error.source())),
                              error.description());
    }
    std::optional<FilePlace> too_deep;
    TomlValue value = toml_value(parsed.table(), 0, too_deep);
    if (too_deep) {
      return invalid_argument("{}: nothing in a file in TOML may be nested so deep",
                              place_text(file, *too_deep));
    }
    return value;
  });
}

}  // namespace mneme
