#include "procedures/values/array_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/function_ref.h"
#include "procedures/values/array_text.h"
#include "procedures/values/cast.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

// An array of several dimensions has arrays for elements, and may say where each begins to count.
bool has_dimensions(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  return text.starts_with("{{") || text.starts_with('[');
}

bool each_element(std::string_view text, Arena& arena, Value& result, SqlError& error,
                  FunctionRef<bool(std::string_view element, fmt::memory_buffer& out)> append) {
  const std::optional<ArrayElements> elements = array_elements(text);
  if (!elements && has_dimensions(text)) {
    return fail(error, arena, sqlstate::kNotSupported,
                "the array \"{}\" is not supported: an array has one dimension, which begins at 1", text);
  }
  if (!elements) return fail(error, arena, sqlstate::kInvalidText, "malformed array literal: \"{}\"", text);
  fmt::memory_buffer out;
  out.push_back('{');
  for (const std::optional<std::string>& element : *elements) {
    if (out.size() > 1) out.push_back(',');
    if (!element) {
      out.append(std::string_view("NULL"));
      continue;
    }
    fmt::memory_buffer printed;
    if (!append(*element, printed)) return false;
    append_array_element({printed.data(), printed.size()}, out);
  }
  out.push_back('}');
  result = Value::of_text(arena.copy({out.data(), out.size()}));
  return true;
}

}  // namespace

bool read_array_form(const Type& form, std::string_view text, Arena& arena, Value& read, SqlError& error) {
  const Type element = declared_element(form);
  return each_element(text, arena, read, error, [&](std::string_view spelled, fmt::memory_buffer& out) {
    Value value;
    if (!parse_value(element, spelled, arena, value, error)) return false;
    print_value(element, value, out);
    return true;
  });
}

bool cast_array_form(const Type& from, const Type& to, TooLong too_long, std::string_view text, Arena& arena,
                     Value& result, SqlError& error) {
  const Type source = declared_element(from);
  const Type target = declared_element(to);
  return each_element(text, arena, result, error, [&](std::string_view spelled, fmt::memory_buffer& out) {
    Value value;
    if (!parse_value(source, spelled, arena, value, error) ||
        !cast_value(source, target, too_long, value, arena, value, error))
      return false;
    print_value(target, value, out);
    return true;
  });
}

std::strong_ordering compare_arrays(const Type& form, std::string_view a, std::string_view b) {
  const ArrayElements left = array_or_vector_elements(a).value_or(ArrayElements());
  const ArrayElements right = array_or_vector_elements(b).value_or(ArrayElements());
  const Type element = declared_element(form);
  Arena arena;
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    auto order = !left[i].has_value() <=> !right[i].has_value();
    if (left[i] && right[i]) {
      Value values[2];
      SqlError error;
      const bool are_read = parse_value(element, *left[i], arena, values[0], error) &&
                            parse_value(element, *right[i], arena, values[1], error);
      order = are_read ? compare_values(element.kind, values[0], values[1]) : *left[i] <=> *right[i];
    }
    if (order != 0) return order;
  }
  return left.size() <=> right.size();
}

}  // namespace mneme
