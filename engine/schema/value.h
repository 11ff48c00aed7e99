// Value: one SQL value, or NULL, without its type; the type is known statically wherever a Value is used.
//
// Kind            which of the of_*() made it. The engine never looks at it; where values come in from
//                 outside, a call is refused whose arguments were not made for their parameters' types
//                 (procedures/interpreter/call_codec.h).
// Representation  boolean, integers, timestamp, date, time: int64.  real, double: double.
//                 numeric: an __int128 scaled by the static type's scale.  interval: 32 bits of months, 32 of
//                 days and 64 of microseconds, from the top. Two intervals may be equal and differ in bits.
//                 strings: pointer and length into memory that somebody else owns (a row image, an arena, the
//                 arguments of a call); char(n) without its trailing blanks.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mneme {

using int128 = __int128;

class Value {
 public:
  enum class Kind : uint8_t { kNull, kInt, kBool, kNumeric, kDouble, kText, kInterval };

  constexpr Value() = default;  // NULL

  static constexpr Value null() { return {}; }
  // For a boolean (0 or 1), an integer or a timestamp.
  static constexpr Value of_int(int64_t v) { return Value(static_cast<uint64_t>(v), 0, Kind::kInt); }
  static constexpr Value of_bool(bool v) { return Value(static_cast<uint64_t>(v), 0, Kind::kBool); }
  static constexpr Value of_numeric(int128 v) {
    return Value(static_cast<uint64_t>(v), static_cast<uint64_t>(v >> 64), Kind::kNumeric);
  }
  // Makes a value of type kDecimal, which is the number v / 10^digits.
  static constexpr Value of_decimal(int128 v, uint8_t digits) {
    Value value = of_numeric(v);
    value.digits_ = digits;
    return value;
  }
  // The parts as procedures/times/interval.h packs them.
  static constexpr Value of_interval(int128 parts) {
    return Value(static_cast<uint64_t>(parts), static_cast<uint64_t>(parts >> 64), Kind::kInterval);
  }
  static Value of_double(double v) { return Value(std::bit_cast<uint64_t>(v), 0, Kind::kDouble); }
  static Value of_text(std::string_view v) {
    return Value(reinterpret_cast<uint64_t>(v.data()), v.size(), Kind::kText);
  }

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  int64_t as_int() const { return static_cast<int64_t>(low_); }
  bool as_bool() const { return low_ != 0; }
  int128 as_numeric() const {
    return static_cast<int128>(static_cast<unsigned __int128>(high_) << 64 | low_);
  }
  int128 as_interval() const { return as_numeric(); }
  // Returns how many digits stand after the point. The value has type kDecimal.
  uint8_t digits() const { return digits_; }
  double as_double() const { return std::bit_cast<double>(low_); }
  std::string_view as_text() const { return {reinterpret_cast<const char*>(low_), high_}; }

 private:
  constexpr Value(uint64_t low, uint64_t high, Kind kind) : low_(low), high_(high), kind_(kind) {}

  uint64_t low_ = 0;
  uint64_t high_ = 0;
  Kind kind_ = Kind::kNull;
  uint8_t digits_ = 0;
};

}  // namespace mneme
