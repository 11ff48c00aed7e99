// Query functions that format values by templates: to_char().
#include <string>

#include "procedures/catalog/query_functions.h"
#include "procedures/times/time_format.h"
#include "procedures/values/decimal.h"
#include "procedures/values/number_format.h"

namespace mneme {

namespace {

constexpr Type kTemplate{.kind = TypeKind::kVarchar, .is_text = true};
constexpr Type kTime{.kind = TypeKind::kTimestamp};
constexpr Type kInteger{.kind = TypeKind::kInt};
constexpr Type kLong{.kind = TypeKind::kBigInt};
constexpr Type kSingle{.kind = TypeKind::kReal};
constexpr Type kPrecise{.kind = TypeKind::kDouble};

template <bool HasZone>
bool time_to_char(std::span<const Value> arguments, Arena& arena, Value& result, SqlError&) {
  // A template without anything gives NULL.
  if (arguments[1].as_text().empty()) return true;
  result = Value::of_text(arena.copy(format_time(arguments[1].as_text(), arguments[0].as_int(), HasZone)));
  return true;
}

constexpr Type kLasting{.kind = TypeKind::kInterval};

bool interval_to_char(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[1].as_text().empty()) return true;
  std::string text;
  if (!format_interval(arguments[1].as_text(), interval_of(arguments[0]), arena, text, error)) return false;
  result = Value::of_text(arena.copy(text));
  return true;
}

template <const Type& Number>
bool number_to_char(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  std::string text;
  if (!format_number(arguments[1].as_text(), Number, arguments[0], arena, text, error)) return false;
  result = Value::of_text(arena.copy(text));
  return true;
}

constexpr QueryFunction kFormatFunctions[] = {
    {"mneme_time_to_char", 2, 2, {kTime, kTemplate}, kTemplate, time_to_char<false>},
    {"mneme_zoned_to_char", 2, 2, {kTime, kTemplate}, kTemplate, time_to_char<true>},
    {"mneme_interval_to_char", 2, 2, {kLasting, kTemplate}, kTemplate, interval_to_char},
    {"mneme_int_to_char", 2, 2, {kInteger, kTemplate}, kTemplate, number_to_char<kInteger>},
    {"mneme_bigint_to_char", 2, 2, {kLong, kTemplate}, kTemplate, number_to_char<kLong>},
    {"mneme_numeric_to_char", 2, 2, {kDecimalType, kTemplate}, kTemplate, number_to_char<kDecimalType>},
    {"mneme_real_to_char", 2, 2, {kSingle, kTemplate}, kTemplate, number_to_char<kSingle>},
    {"mneme_double_to_char", 2, 2, {kPrecise, kTemplate}, kTemplate, number_to_char<kPrecise>},
};

}  // namespace

std::span<const QueryFunction> format_query_functions() {
  return kFormatFunctions;
}

}  // namespace mneme
