// Query functions: PostgreSQL's functions that a session's queries may call, and procedures may not.
//
// Values      an array is its text (values/array_text.h), and so are its elements.
// Errors      each function fails with PostgreSQL's SQLSTATE.
// Source      PostgreSQL 15, chapter 9 (functions and operators).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"
#include "procedures/values/array_text.h"

namespace mneme {

// The types of parameters and results.
namespace types {
inline constexpr Type kBoolean{.kind = TypeKind::kBoolean};
inline constexpr Type kInt{.kind = TypeKind::kInt};
inline constexpr Type kBigInt{.kind = TypeKind::kBigInt};
inline constexpr Type kReal{.kind = TypeKind::kReal};
inline constexpr Type kDouble{.kind = TypeKind::kDouble};
inline constexpr Type kDate{.kind = TypeKind::kDate};
inline constexpr Type kTime{.kind = TypeKind::kTime};
inline constexpr Type kTimestamp{.kind = TypeKind::kTimestamp};
inline constexpr Type kZonedTimestamp{.kind = TypeKind::kTimestamp, .is_zoned = true};
inline constexpr Type kInterval{.kind = TypeKind::kInterval};
inline constexpr Type kText{.kind = TypeKind::kVarchar, .is_text = true};
inline constexpr Type kTextArray{.kind = TypeKind::kVarchar, .is_text = true, .elements = TypeKind::kVarchar};
inline constexpr Type kIntArray{.kind = TypeKind::kVarchar, .is_text = true, .elements = TypeKind::kInt};
}  // namespace types

using QueryArguments = std::span<const Value>;

// The result of a function that gives a text; always true.
inline bool give_text(std::string_view text, Arena& arena, Value& result) {
  result = Value::of_text(arena.copy(text));
  return true;
}

// Makes a QueryFunction::Call of a function that never fails.
template <Value (*Function)(QueryArguments arguments, Arena& arena)>
bool plain(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  result = Function(arguments, arena);
  return true;
}

struct QueryFunction {
  using Call = bool (*)(QueryArguments arguments, Arena& arena, Value& result, SqlError& error);

  std::string_view name;
  size_t least;
  size_t most;
  std::array<Type, 16> arguments;
  Type result;
  Call call;
  bool is_strict = true;                      // NULL where an argument is
  std::optional<size_t> like = std::nullopt;  // the argument whose type the result has, an array
  bool compares = false;                      // the elements of arrays
  bool is_volatile = false;                   // gives another value each time
};

// Functions of text and numbers, those that match patterns, functions of numbers alone, of arrays, those that
// format values, and those that make times.
std::span<const QueryFunction> text_query_functions();
std::span<const QueryFunction> pattern_query_functions();
std::span<const QueryFunction> number_query_functions();
std::span<const QueryFunction> array_query_functions();
std::span<const QueryFunction> format_query_functions();
std::span<const QueryFunction> time_query_functions();
// Those of json, jsonb and bytea.
std::span<const QueryFunction> json_query_functions();
std::span<const QueryFunction> bytes_query_functions();
// The array of these elements, as its text.
Value array_of(const ArrayElements& elements, Arena& arena);
// All of them, by number.
size_t count_query_functions();
const QueryFunction& query_function(size_t number);

}  // namespace mneme
