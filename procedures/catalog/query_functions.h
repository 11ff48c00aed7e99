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

struct QueryFunction {
  using Call = bool (*)(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error);

  std::string_view name;
  size_t least;
  size_t most;
  std::array<Type, 16> arguments;
  Type result;
  Call call;
  bool is_strict = true;                      // NULL where an argument is
  std::optional<size_t> like = std::nullopt;  // the argument whose type the result has, an array
  bool compares = false;                      // the elements of arrays
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
