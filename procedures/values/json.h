// JSON: reads texts as PostgreSQL's json does, and writes them as its jsonb prints them.
//
// Invariants  a value nests at most kMostJsonLevels deep, so that reading a hostile text takes a bounded
//             stack. A jsonb's object holds each key once, in order of length, then of bytes.
// Errors      22P02 with PostgreSQL's details, 54001 for a value that nests too deep.
// Source      PostgreSQL 15, common/jsonapi.c and utils/adt/jsonb.c.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory/arena.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

inline constexpr size_t kMostJsonLevels = 500;

struct Json {
  enum class Kind : uint8_t { kNull, kString, kNumber, kBoolean, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;               // a string without its escapes, a number's digits, true or false
  std::string_view raw;           // as it is written in the text that was read
  std::vector<Json> parts;        // of an array; the values of an object
  std::vector<std::string> keys;  // of an object

  bool is_scalar() const { return kind != Kind::kArray && kind != Kind::kObject; }
  // The value of the last member of that name, or nullptr.
  const Json* find(std::string_view key) const;
  // The element of that number, counted from the end where it is negative, or nullptr.
  const Json* at(int64_t number) const;
};

// Reads a text. `is_binary`: as jsonb, whose numbers are written out and whose keys are in order.
[[nodiscard]] bool read_json(std::string_view text, bool is_binary, Arena& arena, Json& json,
                             SqlError& error);

// Gives an object's keys the order that jsonb has them in; of two alike the last one stays.
void sort_keys(Json& object);

// As jsonb prints the value.
std::string print_json(const Json& json);
// The text in quotes, with the escapes that PostgreSQL writes.
std::string quoted_json(std::string_view text);

// Whether `part` is in `whole`, as jsonb's @> has it.
bool contains_json(const Json& whole, const Json& part);

// A text that compares by bytes as jsonb does: equal for equal values.
std::string json_key(const Json& json);

}  // namespace mneme
