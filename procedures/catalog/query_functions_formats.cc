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

constexpr QueryFunction kFormatFunctions[] = {
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
