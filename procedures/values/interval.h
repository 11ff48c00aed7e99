// Interval: months, days and microseconds, each with its sign, as PostgreSQL has it.
//
// Order       by a linear estimate, in which a month has 30 days and a day 24 hours. So '1 mon' equals
//             '30 days', and prints otherwise: equal intervals may differ in bits.
#pragma once

#include <compare>
#include <cstdint>

#include "engine/schema/value.h"

namespace mneme {

struct Interval {
  int32_t months = 0;
  int32_t days = 0;
  int64_t microseconds = 0;

  bool operator==(const Interval&) const = default;
};

inline constexpr int64_t kMonthsPerYear = 12;
inline constexpr int64_t kDaysPerMonth = 30;  // the estimate's

constexpr Value value_of(const Interval& interval) {
  const auto high = static_cast<uint64_t>(static_cast<uint32_t>(interval.months)) << 32 |
                    static_cast<uint32_t>(interval.days);
  return Value::of_interval(static_cast<int128>(static_cast<unsigned __int128>(high) << 64 |
                                                static_cast<uint64_t>(interval.microseconds)));
}

inline Interval interval_of(const Value& value) {
  const int128 parts = value.as_interval();
  return {static_cast<int32_t>(parts >> 96), static_cast<int32_t>(parts >> 64), static_cast<int64_t>(parts)};
}

// Returns the interval's length in microseconds by the estimate. Equal intervals have equal ones.
inline int128 estimate_of(const Interval& interval) {
  constexpr int64_t kDay = int64_t{86'400} * 1'000'000;
  return int128{interval.months * kDaysPerMonth + interval.days} * kDay + interval.microseconds;
}
inline int128 estimate_of_interval(const Value& value) {
  return estimate_of(interval_of(value));
}

}  // namespace mneme
