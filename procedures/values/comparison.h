// Comparison: SQL's order of two values of one type, neither of them NULL.
//
// Strings compare byte by byte, as COLLATE "C" does; char(n) is kept without trailing blanks, so they count
// for nothing. NaN equals itself and is above all numbers, as in PostgreSQL.
#pragma once

#include <cmath>
#include <compare>

#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/times/interval.h"
#include "procedures/values/decimal.h"

namespace mneme {

inline std::strong_ordering compare_doubles(double a, double b) {
  if (a < b) return std::strong_ordering::less;
  if (a > b) return std::strong_ordering::greater;
  if (a == b) return std::strong_ordering::equal;
  return std::isnan(a) <=> std::isnan(b);
}

inline std::strong_ordering compare_values(TypeKind kind, const Value& a, const Value& b) {
  switch (kind) {
    case TypeKind::kNumeric:
      return a.as_numeric() <=> b.as_numeric();
    case TypeKind::kDecimal:
      return compare_decimals(a, b);
    case TypeKind::kInterval:
      return estimate_of_interval(a) <=> estimate_of_interval(b);
    case TypeKind::kReal:
    case TypeKind::kDouble:
      return compare_doubles(a.as_double(), b.as_double());
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return a.as_text() <=> b.as_text();
    default:
      return a.as_int() <=> b.as_int();
  }
}

// The order of ORDER BY: NULL last, or first where descending.
inline std::strong_ordering compare_for_order(TypeKind kind, bool descending, const Value& a,
                                              const Value& b) {
  std::strong_ordering order = a.is_null() <=> b.is_null();
  if (!a.is_null() && !b.is_null()) order = compare_values(kind, a, b);
  return descending ? 0 <=> order : order;
}

}  // namespace mneme
