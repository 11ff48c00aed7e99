// Value: one SQL value, or NULL, without its type; the type is known statically wherever a Value is used.
//
// Representation  boolean, integers, timestamp: int64.  double: double.
//                 numeric: an __int128 scaled by the static type's scale.
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
  constexpr Value() = default;  // NULL

  static constexpr Value null() { return {}; }
  static constexpr Value of_int(int64_t v) { return Value(static_cast<uint64_t>(v), 0); }
  static constexpr Value of_bool(bool v) { return of_int(v); }
  static constexpr Value of_numeric(int128 v) {
    return Value(static_cast<uint64_t>(v), static_cast<uint64_t>(v >> 64));
  }
  static Value of_double(double v) { return Value(std::bit_cast<uint64_t>(v), 0); }
  static Value of_text(std::string_view v) { return Value(reinterpret_cast<uint64_t>(v.data()), v.size()); }

  bool is_null() const { return null_; }
  int64_t as_int() const { return static_cast<int64_t>(low_); }
  bool as_bool() const { return low_ != 0; }
  int128 as_numeric() const {
    return static_cast<int128>(static_cast<unsigned __int128>(high_) << 64 | low_);
  }
  double as_double() const { return std::bit_cast<double>(low_); }
  std::string_view as_text() const { return {reinterpret_cast<const char*>(low_), high_}; }

 private:
  constexpr Value(uint64_t low, uint64_t high) : low_(low), high_(high), null_(false) {}

  uint64_t low_ = 0;
  uint64_t high_ = 0;
  bool null_ = true;
};

}  // namespace mneme
