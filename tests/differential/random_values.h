// Random types and literals of scenarios.
//
// Threads     one owner.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/differential/tree.h"

namespace mneme::differential {

using Strings = std::vector<std::string>;

struct Named {
  std::string name;
  SqlType type;
};

struct TableShape {
  std::string name;
  std::vector<Named> columns;
  size_t key = 0;  // columns of the primary key, the first ones
};

struct ProcedureShape {
  std::string name;
  std::vector<Named> parameters;
};

constexpr SqlType kInteger{.base = Base::kInt};
constexpr SqlType kBoolean{.base = Base::kBoolean};
constexpr SqlType kText{.base = Base::kText};

class RandomValues {
 protected:
  explicit RandomValues(uint64_t seed) : random_(seed) {}

  size_t below(size_t end) { return random_() % end; }
  bool chance(size_t percent) { return below(100) < percent; }
  template <typename T>
  const T& any(const std::vector<T>& of) {
    return of[below(of.size())];
  }
  std::string any_of(std::initializer_list<const char*> of) { return *(of.begin() + below(of.size())); }

  // --- Types

  SqlType type(bool may_be_array = false) {
    SqlType result{.base = static_cast<Base>(below(10))};
    if (result.base == Base::kText && chance(70)) result.base = Base::kVarchar;
    if (may_be_array && chance(6)) {
      result.is_array = true;
      result.base =
          any(std::vector<Base>{Base::kInt, Base::kBigInt, Base::kNumeric, Base::kVarchar, Base::kDouble});
    }
    if (chance(result.base == Base::kVarchar ? 95 : result.base == Base::kNumeric ? 96 : 75)) {
      if (result.base == Base::kChar) result.length = any(std::vector<int>{1, 2, 3, 5, 8});
      if (result.base == Base::kVarchar) result.length = any(std::vector<int>{1, 3, 4, 6, 12, 40});
      if (result.base == Base::kNumeric) {
        result.length = any(std::vector<int>{1, 4, 5, 8, 12, 18, 25, 38});
        result.scale =
            chance(15) ? -1
                       : static_cast<int>(below(std::min<size_t>(9, static_cast<size_t>(result.length) + 1)));
      }
    }
    if (result.base == Base::kChar && result.length < 0 && chance(60)) result.length = 4;
    return result;
  }
  SqlType column_type() {
    SqlType result = type();
    if (result.base == Base::kNumeric && result.length < 0 && chance(98))
      result.length = 10, result.scale = 2;
    if (result.base == Base::kText && chance(98)) result.base = Base::kVarchar, result.length = 9;
    return result;
  }
  SqlType number() { return {.base = static_cast<Base>(below(6))}; }
  SqlType text_type() {
    return {.base = any(std::vector<Base>{Base::kVarchar, Base::kVarchar, Base::kText, Base::kChar})};
  }

  // --- Literals

  std::string integer_text() {
    if (chance(55)) return std::to_string(below(12));
    return any_of({"32767", "32768", "65536", "2147483647", "2147483648", "9223372036854775807", "100",
                   "1000", "255", "9223372036854775808", "4611686018427387904", "99", "37", "46341",
                   "12345678901234567890"});
  }
  std::string with_sign(const std::string& digits) { return (chance(15) ? "-" : "") + digits; }
  std::string decimal_text() {
    return any_of({"0.5",
                   "1.5",
                   "2.5",
                   "0.05",
                   "0.005",
                   "1.25",
                   "2.675",
                   "99.995",
                   "9999999.99",
                   "0.0",
                   "0.00",
                   "1.0",
                   "123456789012345678.12345678",
                   "0.000001",
                   "3.14159",
                   "10.10",
                   "0.1",
                   "99999.5",
                   "0.499999999",
                   "12.345678901",
                   "9223372036854775807.5",
                   "2147483647.5",
                   "32767.4999",
                   "1.000",
                   "100000000000000000000000000000000000.0"});
  }
  std::string number_in_text() {
    return any_of({"0",
                   "-1",
                   " 7 ",
                   "1.5",
                   "1e3",
                   "NaN",
                   "Infinity",
                   "-Infinity",
                   "inf",
                   "1e400",
                   "1e-400",
                   "",
                   "abc",
                   "12x",
                   "2147483648",
                   "-32769",
                   ".5",
                   "5.",
                   "+3",
                   "0x10",
                   "-0",
                   "- 1",
                   "1_000",
                   "nan",
                   " -9223372036854775808",
                   "32768.5",
                   "-32769x",
                   "tr",
                   "\t8\n",
                   "1e10",
                   "0.000000000000000001",
                   "1e-7",
                   "123456789.987654321",
                   "2.5",
                   "-2.5",
                   "1e15",
                   "1e16",
                   "4e-324"});
  }
  std::string string_text() {
    return any_of({"",
                   " ",
                   "a",
                   "A",
                   "ab",
                   "abc",
                   "abc ",
                   "abc   ",
                   " abc",
                   "b",
                   "zz",
                   "Hello, World",
                   "a%b",
                   "a_b",
                   "%",
                   "_",
                   "\\\\",
                   "x''y",
                   "0",
                   "10",
                   "-1",
                   "1.5",
                   "true",
                   "t",
                   "no",
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                   "2020-01-01",
                   "NaN",
                   "Z",
                   "a  ",
                   "ab ",
                   "   ",
                   "aAbB",
                   "one two",
                   "tab\tq",
                   "12345678901",
                   "\u00e9",
                   "na\u00efve",
                   "\u00c9t\u00e9 ",
                   "\u65e5\u672c\u8a9e",
                   "\U0001F600",
                   "a\u20acb"});
  }
  std::string timestamp_text() {
    return any_of({"2000-01-01",
                   "2000-01-01 00:00:00",
                   "1999-12-31 23:59:59.999999",
                   "2024-02-29 12:30:45.5",
                   "1970-01-01",
                   "2023-02-29",
                   "9999-12-31 23:59:59",
                   "0001-01-01",
                   "2020-06-15 10:20:30.123456",
                   "2020-06-15 10:20:30.1234565",
                   "2020-06-15 24:00:00",
                   "2020-06-15 10:20:60",
                   "2020-6-5 1:2:3",
                   "infinity",
                   "-infinity",
                   "epoch",
                   "20200615",
                   "2020-06-15T10:20:30",
                   "2020-13-01",
                   "abc",
                   "10000-01-01",
                   "0000-01-01",
                   "2020-06-15 10:20:30.0000005",
                   "2020-06-15 25:00:00",
                   "1900-02-28 12:00",
                   " 2020-01-01 ",
                   "2020-06-15 10:20:30+02",
                   "0044-03-15 BC",
                   "2024/01/05",
                   "2024-01-05T10:00:00.5Z",
                   "2024-01-05 10:00 PM",
                   "2024-01-05 100000",
                   "20240105T100000",
                   "2024-01-05 10:00:00+16",
                   "Jan 5 2024",
                   "2024-01-05 10",
                   "24-01-05",
                   "2024-01-05 23:59:60",
                   "2024-01-05 10:00:00 abc",
                   "999-01-01"});
  }
  std::string boolean_text() {
    return any_of({"true", "false", "t", "f", "yes", "no", "on", "off", "1", "0", "TRUE", " tr ", "y", "n",
                   "o", "maybe", ""});
  }
  static std::string quoted(const std::string& text) { return "'" + text + "'"; }
  std::string content_of(const SqlType& type) {
    switch (type.base) {
      case Base::kBoolean:
        return boolean_text();
      case Base::kTimestamp:
      case Base::kDate:
        return timestamp_text();
      case Base::kChar:
      case Base::kVarchar:
      case Base::kText:
        return string_text();
      default:
        return number_in_text();
    }
  }
  Node null_of(const SqlType& type) {
    if (chance(70)) return Literal{type, "NULL"};
    return Literal{type, fmt::format(fmt::runtime(any_of({"CAST(NULL AS {})", "NULL::{}"})), type.text())};
  }
  Node literal_of(const SqlType& type) {
    if (chance(8)) return null_of(type);
    if (type.is_array) {
      if (chance(30)) return Literal{type, "NULL"};
      if (chance(50)) {
        SqlType element = type;
        element.is_array = false;
        return Expression{type, "ARRAY[@]", {List{", ", {literal_of(element), literal_of(element)}, 1}}};
      }
      const std::string text = any_of({"'{}'", "'{1,2,3}'", "'{1,NULL,3}'", "'{5}'", "'{a,b}'"});
      return Literal{type, text + (chance(70) ? "::" + type.text() : "")};
    }
    if (chance(type.base >= Base::kTimestamp ? 15 : 5)) {
      const std::string form = any_of({"CAST({} AS {})", "{}::{}"});
      const std::string text = quoted(content_of(type));
      return Literal{type, fmt::format(fmt::runtime(form), text, type.text())};
    }
    switch (type.base) {
      case Base::kBoolean:
        return Literal{type, chance(85) ? any_of({"TRUE", "FALSE"}) : quoted(boolean_text())};
      case Base::kDate:
      case Base::kTimestamp: {
        const char* const name = type.base == Base::kDate ? "DATE " : "TIMESTAMP ";
        std::string text =
            chance(60)
                ? any_of({"2000-01-01", "2024-02-29 12:30:45.5", "1970-01-01", "2020-06-15 10:20:30.123456"})
                : timestamp_text();
        return Literal{type, chance(60) ? name + quoted(text) : quoted(text)};
      }
      case Base::kChar:
      case Base::kVarchar:
      case Base::kText: {
        std::string text = string_text();
        if (type.length >= 0 && text.size() > static_cast<size_t>(type.length) && chance(70)) {
          text = any_of({"a", "b", "", " ", "x"});
        }
        return Literal{type, quoted(text)};
      }
      case Base::kNumeric:
      case Base::kReal:
      case Base::kDouble:
        if (chance(8)) return Literal{type, quoted(number_in_text())};
        if (chance(50)) return Literal{type, with_sign(decimal_text())};
        return Literal{type, with_sign(integer_text())};
      default:
        if (chance(4)) return Literal{type, quoted(number_in_text())};
        return Literal{type, with_sign(integer_text())};
    }
  }

  std::mt19937_64 random_;
};

}  // namespace mneme::differential
