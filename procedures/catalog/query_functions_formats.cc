// Query functions that format values by templates: to_char().
#include <string>

#include "procedures/catalog/query_functions.h"
#include "procedures/times/time_format.h"
#include "procedures/values/decimal.h"
#include "procedures/values/number_format.h"

namespace mneme {

namespace {

template <bool HasZone>
bool time_to_char(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  // A template without anything gives NULL.
  if (arguments[1].as_text().empty()) return true;
  result = Value::of_text(arena.copy(format_time(arguments[1].as_text(), arguments[0].as_int(), HasZone)));
  return true;
}

bool interval_to_char(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[1].as_text().empty()) return true;
  std::string text;
  if (!format_interval(arguments[1].as_text(), interval_of(arguments[0]), arena, text, error)) return false;
  result = Value::of_text(arena.copy(text));
  return true;
}

template <const Type& Number>
bool number_to_char(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::string text;
  if (!format_number(arguments[1].as_text(), Number, arguments[0], arena, text, error)) return false;
  result = Value::of_text(arena.copy(text));
  return true;
}

// ---- records ----

// A field of a record's text: NULL is nothing at all, and quotes go around what could be taken for something
// else.
bool record_field(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  if (arguments[0].is_null()) return give_text("", arena, result);
  const std::string_view text = arguments[0].as_text();
  constexpr std::string_view kSpecial = "\"\\(), \t\n\v\f\r";
  if (!text.empty() && text.find_first_of(kSpecial) == std::string_view::npos)
    return give_text(text, arena, result);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back(c);
    quoted.push_back(c);
  }
  return give_text(quoted + "\"", arena, result);
}

// Counts the fields of a record's text, and those that are NULL.
struct FieldCounts {
  size_t all = 1;
  size_t nulls = 0;
};
FieldCounts count_fields(std::string_view record) {
  FieldCounts counts;
  bool in_quotes = false;
  bool is_empty = true;
  for (const char c : record.substr(1)) {
    if (c == '"') in_quotes = !in_quotes;
    const bool ends = !in_quotes && (c == ',' || c == ')');
    if (ends && is_empty) ++counts.nulls;
    if (ends && c == ',') ++counts.all;
    is_empty = ends;
  }
  return counts;
}

// IS NULL and IS NOT NULL of a record: all of its fields are, none is.
bool record_is_null(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  const bool is_null = arguments[0].is_null();
  const FieldCounts counts = is_null ? FieldCounts{1, 1} : count_fields(arguments[0].as_text());
  result = Value::of_bool(counts.nulls == counts.all);
  return true;
}
bool record_has_all(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  result = Value::of_bool(!arguments[0].is_null() && count_fields(arguments[0].as_text()).nulls == 0);
  return true;
}

constexpr QueryFunction kFormatFunctions[] = {
    {"mneme_record_field", 1, 1, {types::kText}, types::kText, record_field, false},
    {"mneme_record_is_null", 1, 1, {types::kText}, types::kBoolean, record_is_null, false},
    {"mneme_record_has_all", 1, 1, {types::kText}, types::kBoolean, record_has_all, false},
    {"mneme_time_to_char", 2, 2, {types::kTimestamp, types::kText}, types::kText, time_to_char<false>},
    {"mneme_zoned_to_char", 2, 2, {types::kTimestamp, types::kText}, types::kText, time_to_char<true>},
    {"mneme_interval_to_char", 2, 2, {types::kInterval, types::kText}, types::kText, interval_to_char},
    {"mneme_int_to_char", 2, 2, {types::kInt, types::kText}, types::kText, number_to_char<types::kInt>},
    {"mneme_bigint_to_char",
     2,
     2,
     {types::kBigInt, types::kText},
     types::kText,
     number_to_char<types::kBigInt>},
    {"mneme_numeric_to_char", 2, 2, {kDecimalType, types::kText}, types::kText, number_to_char<kDecimalType>},
    {"mneme_real_to_char", 2, 2, {types::kReal, types::kText}, types::kText, number_to_char<types::kReal>},
    {"mneme_double_to_char",
     2,
     2,
     {types::kDouble, types::kText},
     types::kText,
     number_to_char<types::kDouble>},
};

}  // namespace

std::span<const QueryFunction> format_query_functions() {
  return kFormatFunctions;
}

}  // namespace mneme
