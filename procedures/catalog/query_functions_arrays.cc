// Query functions of arrays.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "procedures/catalog/query_functions.h"
#include "procedures/values/array_text.h"
#include "procedures/values/numeric.h"
#include "procedures/values/type_oids.h"
#include "procedures/values/value_text.h"

namespace mneme {

Value array_of(const ArrayElements& elements, Arena& arena) {
  fmt::memory_buffer text;
  text.push_back('{');
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) text.push_back(',');
    if (elements[i]) {
      append_array_element(*elements[i], text);
    } else {
      text.append(std::string_view("NULL"));
    }
  }
  text.push_back('}');
  return Value::of_text(arena.copy({text.data(), text.size()}));
}

namespace {

// Any array.
constexpr Type kArrayType = types::kTextArray;

// NULL is an array without elements.
bool read_array(const Value& value, Arena& arena, ArrayElements& elements, SqlError& error) {
  if (value.is_null()) return true;
  std::optional<ArrayElements> read = array_or_vector_elements(value.as_text());
  if (!read)
    return fail(error, arena, sqlstate::kInvalidText, "malformed array literal: \"{}\"", value.as_text());
  elements = *std::move(read);
  return true;
}

std::optional<std::string> element_text(const Value& value) {
  return value.is_null() ? std::nullopt : std::optional<std::string>(value.as_text());
}

bool array_append(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  elements.push_back(element_text(arguments[1]));
  result = array_of(elements, arena);
  return true;
}

bool array_prepend(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[1], arena, elements, error)) return false;
  elements.insert(elements.begin(), element_text(arguments[0]));
  result = array_of(elements, arena);
  return true;
}

bool array_cat(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null() || arguments[1].is_null()) {
    result = arguments[0].is_null() ? arguments[1] : arguments[0];
    return true;
  }
  ArrayElements elements;
  ArrayElements more;
  if (!read_array(arguments[0], arena, elements, error) || !read_array(arguments[1], arena, more, error))
    return false;
  elements.insert(elements.end(), more.begin(), more.end());
  result = array_of(elements, arena);
  return true;
}

bool array_remove(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return true;
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  const std::optional<std::string> gone = element_text(arguments[1]);
  std::erase(elements, gone);
  result = array_of(elements, arena);
  return true;
}

bool array_replace(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return true;
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  std::ranges::replace(elements, element_text(arguments[1]), element_text(arguments[2]));
  result = array_of(elements, arena);
  return true;
}

bool array_position(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return true;
  if (arguments.size() > 2 && arguments[2].is_null())
    return fail(error, arena, sqlstate::kNullNotAllowed, "initial position must not be null");
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  const int64_t from = arguments.size() > 2 ? std::max<int64_t>(arguments[2].as_int(), 1) : 1;
  for (auto at = static_cast<size_t>(from - 1); at < elements.size(); ++at) {
    if (elements[at] != element_text(arguments[1])) continue;
    result = Value::of_int(static_cast<int64_t>(at + 1));
    return true;
  }
  return true;
}

bool array_positions(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return true;
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  ArrayElements places;
  for (size_t at = 0; at < elements.size(); ++at) {
    if (elements[at] == element_text(arguments[1])) places.push_back(std::to_string(at + 1));
  }
  result = array_of(places, arena);
  return true;
}

bool array_ndims(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  if (!elements.empty()) result = Value::of_int(1);
  return true;
}

bool array_dims(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  if (elements.empty()) return true;
  result = Value::of_text(arena.copy(fmt::format("[1:{}]", elements.size())));
  return true;
}

bool trim_array(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  const int64_t count = arguments[1].as_int();
  if (count < 0 || count > static_cast<int64_t>(elements.size())) {
    return fail(error, arena, "2202E", "number of elements to trim must be between 0 and {}",
                elements.size());
  }
  elements.resize(elements.size() - static_cast<size_t>(count));
  result = array_of(elements, arena);
  return true;
}

// The array with another element in that place, which may be behind its last.
bool array_set(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  constexpr int64_t kMostElements = 1'000'000;
  ArrayElements elements;
  if (!arguments[0].is_null() && !read_array(arguments[0], arena, elements, error)) return false;
  if (arguments[1].is_null())
    return fail(error, arena, "22004", "array subscript in assignment must not be null");
  const int64_t place = arguments[1].as_int();
  if (place < 1 || (elements.empty() && place != 1)) {
    return fail(error, arena, sqlstate::kNotSupported,
                "an array whose first element is not number 1 is not supported: the subscript is {}", place);
  }
  if (place > kMostElements)
    return fail(error, arena, "54000", "array size exceeds the maximum allowed ({})", kMostElements);
  if (static_cast<size_t>(place) > elements.size()) elements.resize(static_cast<size_t>(place));
  std::optional<std::string>& element = elements[static_cast<size_t>(place - 1)];
  element = element_text(arguments[2]);
  result = array_of(elements, arena);
  return true;
}

// The elements of these places, from 1, both ends included.
bool array_slice(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  const auto count = static_cast<int64_t>(elements.size());
  const int64_t begin = std::max<int64_t>(arguments[1].as_int(), 1);
  const int64_t end = std::min<int64_t>(arguments[2].as_int(), count);
  ArrayElements slice;
  for (int64_t place = begin; place <= end; ++place)
    slice.push_back(elements[static_cast<size_t>(place - 1)]);
  result = array_of(slice, arena);
  return true;
}

// A number's text in a form whose order is the numbers': the sign, how many digits stand before the point,
// and the digits; of a negative number each is what is left to nine.
std::string key_of_number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const size_t point = std::min(text.find('.'), text.size());
  std::string_view whole = text.substr(0, point);
  std::string_view behind = point < text.size() ? text.substr(point + 1) : std::string_view();
  while (whole.starts_with('0')) whole.remove_prefix(1);
  while (behind.ends_with('0')) behind.remove_suffix(1);
  if (whole.empty() && behind.empty()) return "1";
  std::string key = fmt::format("{:04}{}{}", whole.size(), whole, behind);
  if (!is_negative) return "2" + key;
  for (char& digit : key) digit = static_cast<char>('0' + ('9' - digit));
  // Of two negative numbers whose digits agree so far, the one with more digits is the smaller.
  return "0" + key + "~";
}

// The elements' keys one behind the other, so that texts are compared as arrays are: NULL comes last, and of
// two arrays that agree the shorter one first.
bool array_key(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  std::string key;
  for (const std::optional<std::string>& element : elements) {
    key += element ? '\x02' : '\x03';
    if (!element) continue;
    key += arguments[1].as_bool() ? key_of_number(*element) : *element;
    key += '\x01';
  }
  result = Value::of_text(arena.copy(key));
  return true;
}

// Whether each element of the one, none of which may be NULL, is in the other.
bool contains_all(const ArrayElements& whole, const ArrayElements& parts) {
  return std::ranges::all_of(parts, [&](const std::optional<std::string>& part) {
    return part && std::ranges::find(whole, part) != whole.end();
  });
}

bool array_contains(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements whole;
  ArrayElements parts;
  if (!read_array(arguments[0], arena, whole, error) || !read_array(arguments[1], arena, parts, error))
    return false;
  result = Value::of_bool(contains_all(whole, parts));
  return true;
}

bool array_overlaps(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements one;
  ArrayElements other;
  if (!read_array(arguments[0], arena, one, error) || !read_array(arguments[1], arena, other, error))
    return false;
  result = Value::of_bool(std::ranges::any_of(one, [&](const std::optional<std::string>& element) {
    return element && std::ranges::find(other, element) != other.end();
  }));
  return true;
}

bool string_to_array(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  if (arguments[0].is_null()) return true;
  const std::string_view text = arguments[0].as_text();
  ArrayElements elements;
  const auto add = [&](std::string_view part) {
    const bool is_null = arguments.size() > 2 && !arguments[2].is_null() && arguments[2].as_text() == part;
    elements.push_back(is_null ? std::nullopt : std::optional<std::string>(part));
  };
  if (text.empty()) {
    // No elements.
  } else if (arguments[1].is_null()) {
    for (size_t at = 0, end = 0; at < text.size(); at = end) {
      end = at + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
      add(text.substr(at, end - at));
    }
  } else if (arguments[1].as_text().empty()) {
    add(text);
  } else {
    const std::string_view separator = arguments[1].as_text();
    for (size_t at = 0;;) {
      const size_t end = text.find(separator, at);
      add(text.substr(at, end == text.npos ? end : end - at));
      if (end == text.npos) break;
      at = end + separator.size();
    }
  }
  result = array_of(elements, arena);
  return true;
}

// The elements as those of another type, whose number is the second argument.
bool array_as(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  ArrayElements elements;
  if (!read_array(arguments[0], arena, elements, error)) return false;
  // A number below 0 is an enum type's, which has no oid without a catalog.
  const int64_t number = arguments[1].as_int();
  std::optional<Type> type;
  if (number < 0) {
    type = Type{.kind = TypeKind::kEnum, .enumeration = static_cast<uint16_t>(-number)};
  } else {
    type = type_of_oid(static_cast<uint32_t>(number));
  }
  if (!type) return fail(error, arena, sqlstate::kInvalidText, "there is no type {}", arguments[1].as_int());
  for (std::optional<std::string>& element : elements) {
    if (!element) continue;
    Type own = *type;
    if (own.kind == TypeKind::kNumeric) own.scale = digits_after_point(*element);
    Value value;
    if (!parse_value(own, *element, arena, value, error)) return false;
    fmt::memory_buffer text;
    print_value(own, value, text);
    element = fmt::to_string(text);
  }
  result = array_of(elements, arena);
  return true;
}

// ---- those that take vectors, too ----

Value array_to_string(QueryArguments arguments, Arena& arena) {
  if (arguments[0].is_null() || arguments[1].is_null()) return Value::null();
  const auto elements = array_or_vector_elements(arguments[0].as_text());
  if (!elements) return Value::null();
  std::string text;
  bool first = true;
  for (const std::optional<std::string>& element : *elements) {
    if (!element && (arguments.size() < 3 || arguments[2].is_null())) continue;
    if (!first) text += arguments[1].as_text();
    first = false;
    text += element ? *element : std::string(arguments[2].as_text());
  }
  return Value::of_text(arena.copy(text));
}

Value array_upper(QueryArguments arguments, Arena&) {
  if (arguments[1].as_int() != 1) return Value::null();
  const auto elements = array_or_vector_elements(arguments[0].as_text());
  if (!elements || elements->empty()) return Value::null();
  const auto count = static_cast<int64_t>(elements->size());
  return Value::of_int(is_vector(arguments[0].as_text()) ? count - 1 : count);
}

Value array_length(QueryArguments arguments, Arena&) {
  if (arguments[1].as_int() != 1) return Value::null();
  const auto elements = array_or_vector_elements(arguments[0].as_text());
  if (!elements || elements->empty()) return Value::null();
  return Value::of_int(static_cast<int64_t>(elements->size()));
}

Value array_lower(QueryArguments arguments, Arena&) {
  if (arguments[1].as_int() != 1) return Value::null();
  const auto elements = array_or_vector_elements(arguments[0].as_text());
  if (!elements || elements->empty()) return Value::null();
  return Value::of_int(is_vector(arguments[0].as_text()) ? 0 : 1);
}

Value array_cardinality(QueryArguments arguments, Arena&) {
  const auto elements = array_or_vector_elements(arguments[0].as_text());
  return elements ? Value::of_int(static_cast<int64_t>(elements->size())) : Value::null();
}

Value array_has(QueryArguments arguments, Arena&) {
  if (arguments[0].is_null()) return Value::null();
  const auto elements = array_or_vector_elements(arguments[0].as_text());
  if (!elements) return Value::null();
  // An empty array has not even what is not known.
  if (arguments[1].is_null()) return elements->empty() ? Value::of_bool(false) : Value::null();
  bool null = false;
  for (const std::optional<std::string>& element : *elements) {
    if (element && *element == arguments[1].as_text()) return Value::of_bool(true);
    null |= !element;
  }
  return null ? Value::null() : Value::of_bool(false);
}

Value array_element(QueryArguments arguments, Arena& arena) {
  const auto elements = array_or_vector_elements(arguments[0].as_text());
  const auto at = static_cast<size_t>(arguments[1].as_int() - (is_vector(arguments[0].as_text()) ? 0 : 1));
  if (!elements || at >= elements->size() || !(*elements)[at]) return Value::null();
  return Value::of_text(arena.copy(*(*elements)[at]));
}

constexpr QueryFunction kArrayFunctions[] = {
    {"array_to_string",
     2,
     3,
     {kArrayType, types::kText, types::kText},
     types::kText,
     plain<array_to_string>,
     false},
    {"array_upper", 2, 2, {kArrayType, types::kBigInt}, types::kBigInt, plain<array_upper>},
    {"array_length", 2, 2, {kArrayType, types::kBigInt}, types::kBigInt, plain<array_length>},
    {"array_lower", 2, 2, {kArrayType, types::kBigInt}, types::kBigInt, plain<array_lower>},
    {"array_cardinality", 1, 1, {kArrayType}, types::kInt, plain<array_cardinality>},
    {"mneme_array_has", 2, 2, {kArrayType, types::kText}, types::kBoolean, plain<array_has>, false},
    {"mneme_array_element", 2, 2, {kArrayType, types::kBigInt}, types::kText, plain<array_element>},
    {"mneme_array_as", 2, 2, {kArrayType, types::kInt}, kArrayType, array_as},
    {"mneme_array_set", 3, 3, {kArrayType, types::kBigInt, types::kText}, kArrayType, array_set, false, 0},
    {"array_append", 2, 2, {kArrayType, types::kText}, kArrayType, array_append, false, 0},
    {"array_prepend", 2, 2, {types::kText, kArrayType}, kArrayType, array_prepend, false, 1},
    {"array_cat", 2, 2, {kArrayType, kArrayType}, kArrayType, array_cat, false, 0},
    {"array_remove", 2, 2, {kArrayType, types::kText}, kArrayType, array_remove, false, 0, true},
    {"array_replace",
     3,
     3,
     {kArrayType, types::kText, types::kText},
     kArrayType,
     array_replace,
     false,
     0,
     true},
    {"array_position",
     2,
     3,
     {kArrayType, types::kText, types::kInt},
     types::kInt,
     array_position,
     false,
     {},
     true},
    {"array_positions", 2, 2, {kArrayType, types::kText}, types::kIntArray, array_positions, false, {}, true},
    {"array_ndims", 1, 1, {kArrayType}, types::kInt, array_ndims},
    {"array_dims", 1, 1, {kArrayType}, types::kText, array_dims},
    {"mneme_array_key", 2, 2, {kArrayType, types::kBoolean}, types::kText, array_key},
    {"mneme_array_slice", 3, 3, {kArrayType, types::kInt, types::kInt}, kArrayType, array_slice, true, 0},
    {"trim_array", 2, 2, {kArrayType, types::kInt}, kArrayType, trim_array, true, 0},
    {"mneme_array_contains", 2, 2, {kArrayType, kArrayType}, types::kBoolean, array_contains, true, {}, true},
    {"mneme_array_overlaps", 2, 2, {kArrayType, kArrayType}, types::kBoolean, array_overlaps, true, {}, true},
    {"string_to_array",
     2,
     3,
     {types::kText, types::kText, types::kText},
     types::kTextArray,
     string_to_array,
     false},
};

}  // namespace

std::span<const QueryFunction> array_query_functions() {
  return kArrayFunctions;
}

}  // namespace mneme
