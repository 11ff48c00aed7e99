// Type: a column's, variable's or expression's SQL type.
//
// Strings are UTF-8. A type's length counts characters, as in PostgreSQL; a column of that type has room for
// as many bytes.
#pragma once

#include <cstdint>
#include <string>

namespace mneme {

enum class TypeKind : uint8_t {
  kBoolean,
  kSmallInt,  // 16 bits
  kInt,       // 32 bits
  kBigInt,    // 64 bits
  kNumeric,   // exact: an integer scaled by 10^scale
  kReal,      // a float, in a Value a double
  kDouble,
  kChar,       // char(n): trailing blanks count for nothing, and are not kept
  kVarchar,    // varchar(n), and text with a bound (see Catalog)
  kTimestamp,  // microseconds since 2000-01-01 00:00:00; see is_zoned
  kDate,       // days since 2000-01-01
  kInterval,   // months, days and microseconds, each with its sign
  kTime,       // microseconds since midnight, up to 24:00:00; without a time zone
  kDecimal,    // exact, its digits after the point its own: numeric without precision and scale
  kEnum,       // a label's position in its type (enum_types.h)
  kNull,       // the type of a bare NULL, until its context gives it one
};

struct Type {
  TypeKind kind = TypeKind::kNull;
  bool is_array = false;
  // kNumeric: total digits and digits after the point. precision 0: an intermediate result, up to 38 digits.
  // kTimestamp, kInterval, kTime: precision is one more than the digits of a second that are kept; 0: all
  // six, as 7.
  uint8_t precision = 0;
  uint8_t scale = 0;
  // kChar, kVarchar: the most characters, and a column's bytes. 0: an intermediate result without a bound.
  uint16_t length = 0;
  // kVarchar declared as text: the same values as varchar, printed as text.
  bool is_text = false;
  // kTimestamp with time zone: a moment, counted and shown in UTC. Without: what a clock there shows, so that
  // the two are converted without a change.
  bool is_zoned = false;
  // kVarchar of a query's: the text spells an array of such elements. kNull: it is a text.
  TypeKind elements = TypeKind::kNull;
  // `elements` that are declared with a modifier (array_form.h). 0: without one.
  uint16_t element_modifier = 0;
  // kEnum, and arrays of such: which one (enum_types.h).
  uint16_t enumeration = 0;

  bool operator==(const Type&) const = default;

  bool is_integer() const {
    return kind == TypeKind::kSmallInt || kind == TypeKind::kInt || kind == TypeKind::kBigInt;
  }
  bool is_exact() const { return is_integer() || kind == TypeKind::kNumeric || kind == TypeKind::kDecimal; }
  bool is_floating() const { return kind == TypeKind::kReal || kind == TypeKind::kDouble; }
  bool is_number() const { return is_exact() || is_floating(); }
  bool is_string() const { return kind == TypeKind::kChar || kind == TypeKind::kVarchar; }
  bool is_time() const { return kind == TypeKind::kTimestamp || kind == TypeKind::kDate; }
  Type element() const {
    Type type = *this;
    type.is_array = false;
    return type;
  }
};

inline constexpr uint8_t kMaxNumericPrecision = 38;
// NUMERIC of up to this many digits is stored in 8 bytes, a wider one in 16.
inline constexpr uint8_t kNarrowNumericPrecision = 18;

// As SQL writes it: numeric(12,2), varchar(20), int[].
std::string to_string(const Type& type);

}  // namespace mneme
