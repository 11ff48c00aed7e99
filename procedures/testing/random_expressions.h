// Random expressions for tests: over whatever names are in scope, of any type, as SQL.
//
// Values come from few, so that keys collide; now and then they lie at the ends of their types.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

class RandomExpressions {
 protected:
  explicit RandomExpressions(uint64_t seed) : random_(seed) {}

  enum Kind { kSmall, kInt, kBig, kNumeric, kWide, kDouble, kText, kChar, kFlag, kTime, kDate, kReal };
  struct Name {
    std::string sql;
    Kind kind;
  };

  uint64_t below(uint64_t bound) { return random_() % bound; }
  bool chance(uint64_t one_in) { return below(one_in) == 0; }
  template <typename... Choices>
  std::string_view one_of(Choices... choices) {
    const std::array<std::string_view, sizeof...(Choices)> all{choices...};
    return all[below(all.size())];
  }

  static std::string type_of(Kind kind) {
    static constexpr const char* kTypes[] = {
        "SMALLINT",   "INT",     "BIGINT",  "NUMERIC(8,2)", "NUMERIC(30,6)", "DOUBLE PRECISION",
        "VARCHAR(8)", "CHAR(4)", "BOOLEAN", "TIMESTAMP",    "DATE",          "REAL"};
    return kTypes[kind];
  }

  // ---- values ----

  // As a client writes them, without quotes.
  std::string value(Kind kind) {
    switch (kind) {
      case kSmall:
        return std::string(chance(12) ? one_of("32767", "-32768", "300") : one_of("0", "1", "2", "3", "-1"));
      case kInt:
        return std::string(chance(12) ? one_of("2147483647", "-2147483648", "70000")
                                      : one_of("0", "1", "2", "3", "-1"));
      case kBig:
        return std::string(chance(8) ? one_of("9223372036854775807", "-9223372036854775808", "5000000000")
                                     : one_of("0", "1", "2", "3", "-7"));
      case kNumeric:
        return std::string(chance(10) ? one_of("999999.99", "-999999.99")
                                      : one_of("0", "1", "2.5", "-0.05", "1.005", "3"));
      case kWide:
        return std::string(chance(10)
                               ? one_of("999999999999999999999999.999999", "-123456789012345678901234.5")
                               : one_of("0", "1", "2.5", "-0.000001", "12345678901234567890"));
      case kDouble:
        return std::string(chance(8) ? one_of("NaN", "Infinity", "-Infinity", "1e308", "-0", "1e-320")
                                     : one_of("0", "1", "2.5", "-3", "1e10", "0.1"));
      case kText:
        return std::string(one_of("", "a", "b", "ab", "abcdefgh", "B c ", "12", "a%b", "q\\", "\u00e9",
                                  "a\u20acb", "\u00c9t\u00e9 \U0001F600"));
      case kChar:
        return std::string(one_of("", "a", "b", "c", "ab", "abcd", "\u00e9a"));
      case kFlag:
        return std::string(one_of("true", "false"));
      case kTime:
        return std::string(one_of("2000-01-01 00:00:00", "2024-02-29 12:34:56.789", "1970-01-01 00:00:00"));
      case kDate:
        return std::string(chance(8) ? one_of("0001-01-01", "9999-12-31")
                                     : one_of("2000-01-01", "2024-02-29", "1969-12-31"));
      case kReal:
        return std::string(chance(8) ? one_of("NaN", "Infinity", "-Infinity", "3e38", "-0", "1e-40")
                                     : one_of("0", "1", "2.5", "-3", "1e10", "0.1"));
    }
    return "";
  }

  std::string literal(Kind kind) {
    if (chance(15)) return fmt::format("CAST(NULL AS {})", type_of(kind));
    const std::string text = value(kind);
    if (kind == kFlag) return text;
    if (kind <= kWide) return text[0] == '-' ? "(" + text + ")" : text;
    if (kind == kTime) return "TIMESTAMP '" + text + "'";
    if (kind == kDate) return "DATE '" + text + "'";
    if (kind == kDouble) return fmt::format("CAST('{}' AS DOUBLE PRECISION)", text);
    return fmt::format("CAST('{}' AS {})", text, type_of(kind));
  }

  // ---- expressions ----

  static bool meets(Kind wanted, Kind kind) {
    const auto family = [](Kind k) {
      return k <= kBig ? 0 : k <= kWide ? 1 : k == kChar ? int{kText} : int{k};
    };
    return family(wanted) == family(kind);
  }
  std::string name(Kind kind) {
    std::vector<std::string_view> fitting;
    for (const Name& candidate : scope_) {
      if (meets(kind, candidate.kind)) fitting.push_back(candidate.sql);
    }
    return fitting.empty() ? literal(kind) : std::string(fitting[below(fitting.size())]);
  }
  std::string leaf(Kind kind) { return chance(3) ? literal(kind) : name(kind); }

  std::string expr(Kind kind, int depth) {
    if (depth <= 0 || chance(4)) return leaf(kind);
    if (chance(6)) return general(kind, depth - 1);
    switch (kind) {
      case kSmall:
      case kInt:
      case kBig:
        return integer(depth - 1);
      case kNumeric:
      case kWide:
        return numeric(depth - 1);
      case kDouble:
        return floating(kDouble, depth - 1);
      case kReal:
        return floating(kReal, depth - 1);
      case kText:
      case kChar:
        return text(depth - 1);
      case kFlag:
        return condition(depth - 1);
      case kTime:
        return time(depth - 1);
      case kDate:
        return date(depth - 1);
    }
    return "";
  }
  // Returns an expression of a form that every type has.
  std::string general(Kind kind, int depth) {
    switch (below(5)) {
      case 0:
        return fmt::format("CASE WHEN {} THEN {} ELSE {} END", expr(kFlag, depth), expr(kind, depth),
                           expr(kind, depth));
      case 1:
        return fmt::format("coalesce({}, {})", expr(kind, depth), expr(kind, depth));
      case 2:
        return fmt::format("nullif(CAST({0} AS {2}), CAST({1} AS {2}))", expr(kind, depth), leaf(kind),
                           type_of(kind));
      case 3:
        return fmt::format("{}({}, {})", one_of("greatest", "least"), expr(kind, depth), expr(kind, depth));
      default:
        return fmt::format("CASE {} WHEN {} THEN {} WHEN {} THEN {} END", leaf(kInt), literal(kInt),
                           expr(kind, depth), literal(kInt), expr(kind, depth));
    }
  }
  std::string integer(int depth) {
    const Kind kind = chance(3) ? kBig : kInt;
    switch (below(16)) {
      case 10:
        return fmt::format("({} - {})", expr(kDate, depth), leaf(kDate));
      case 11:
        return fmt::format("CAST(extract({} FROM {}) AS {})",
                           one_of("year", "month", "day", "dow", "doy", "week"),
                           expr(chance(2) ? kDate : kTime, depth), type_of(kind));
      case 12:
        return fmt::format("ascii({})", expr(kText, depth));
      case 0:
        return fmt::format("-({})", expr(kind, depth));
      case 1:
        return fmt::format("abs({})", expr(kind, depth));
      case 2:
        return fmt::format("mod({}, {})", expr(kind, depth), leaf(kind));
      case 3:
        return fmt::format("{}({})", one_of("length", "octet_length", "length"), expr(kText, depth));
      case 4:
        return fmt::format("cardinality({})", one_of("p_a", "r_a"));
      case 5:
        return fmt::format("{}[{}]", one_of("p_a", "r_a"), leaf(kInt));
      case 6:
        return fmt::format("CAST({} AS {})", expr(chance(2) ? kNumeric : kDouble, depth), type_of(kind));
      case 7:
        return fmt::format("strpos({}, {})", expr(kText, depth), leaf(kText));
      case 8:
        return fmt::format("CAST({} AS {})", expr(kBig, depth), one_of("INT", "SMALLINT"));
      case 9:
        return fmt::format("CAST({} AS INT)", leaf(kText));
      default:
        return fmt::format("({} {} {})", expr(kind, depth), one_of("+", "-", "*", "/", "%"), leaf(kind));
    }
  }
  std::string numeric(int depth) {
    const Kind kind = chance(3) ? kWide : kNumeric;
    switch (below(8)) {
      case 0:
        return fmt::format("round({}, {})", expr(kind, depth), one_of("0", "1", "2", "3"));
      case 1:
        return fmt::format("{}({})", one_of("floor", "ceil", "trunc", "abs", "sign", "round", "-"),
                           expr(kind, depth));
      case 2:
        return fmt::format(
            "CAST({} AS {})", expr(chance(2) ? kInt : kWide, depth),
            one_of("NUMERIC(8,2)", "NUMERIC(18,4)", "NUMERIC(30,6)", "NUMERIC(5,1)", "NUMERIC(19,0)"));
      case 3:
        return fmt::format("({} {} {})", expr(kind, depth), one_of("+", "-", "*"), leaf(kInt));
      default:
        return fmt::format("({} {} {})", expr(kind, depth), one_of("+", "-", "*", "%"),
                           leaf(chance(2) ? kNumeric : kWide));
    }
  }
  std::string floating(Kind kind, int depth) {
    switch (below(6)) {
      case 0:
        return fmt::format("CAST({}({}) AS {})",
                           one_of("sqrt", "abs", "floor", "ceil", "round", "trunc", "sign", "-", "exp", "ln"),
                           expr(kind, depth), type_of(kind));
      case 1:
        return fmt::format("CAST(power({}, {}) AS {})", expr(kind, depth), leaf(kDouble), type_of(kind));
      case 2:
        return fmt::format("CAST({} AS {})", expr(chance(2) ? kInt : kNumeric, depth), type_of(kind));
      case 3:
        return fmt::format("CAST({} AS {})", expr(kind == kReal ? kDouble : kReal, depth), type_of(kind));
      default:
        return fmt::format("({} {} {})", expr(kind, depth), one_of("+", "-", "*", "/"), leaf(kind));
    }
  }
  std::string time(int depth) {
    switch (below(4)) {
      case 0:
        return fmt::format("date_trunc('{}', {})",
                           one_of("day", "week", "month", "quarter", "hour", "second"), expr(kTime, depth));
      case 1:
        return fmt::format("({} {} INTERVAL '{}')", expr(kTime, depth), one_of("+", "-"),
                           one_of("1 day", "1 month", "1 year 2 mons 3 days 04:05:06", "90 minutes"));
      case 2:
        return fmt::format("CAST({} AS TIMESTAMP)", expr(kDate, depth));
      default:
        return leaf(kTime);
    }
  }
  std::string date(int depth) {
    switch (below(4)) {
      case 0:
        return fmt::format("({} {} {})", expr(kDate, depth), one_of("+", "-"), leaf(kInt));
      case 1:
        return fmt::format("CAST({} AS DATE)", expr(kTime, depth));
      default:
        return leaf(kDate);
    }
  }
  std::string text(int depth) {
    switch (below(14)) {
      case 12:
        return fmt::format("split_part({}, {}, {})", expr(kText, depth), leaf(kText), one_of("1", "2", "-1"));
      case 13:
        return fmt::format("translate({}, {}, {})", expr(kText, depth), leaf(kText), leaf(kText));
      case 0:
        return fmt::format("substr({}, {}, {})", expr(kText, depth), one_of("p_i", "v_i", "2", "0", "-1"),
                           one_of("0", "1", "3", "-1"));
      case 1:
        return fmt::format("{}({}, {})", one_of("left", "right"), expr(kText, depth), one_of("2", "-1", "0"));
      case 2:
        return fmt::format("{}({})", one_of("upper", "lower", "reverse", "trim", "ltrim", "rtrim", "initcap"),
                           expr(kText, depth));
      case 3:
        return fmt::format("{}({}, {}, {})", one_of("lpad", "rpad"), expr(kText, depth), one_of("3", "6"),
                           leaf(kText));
      case 4:
        return fmt::format("replace({}, {}, {})", expr(kText, depth), leaf(kText), leaf(kText));
      case 5:
        return fmt::format("repeat({}, {})", leaf(kText), one_of("0", "2", "3"));
      case 6:
        return fmt::format("concat({}, {}, {})", leaf(kInt), leaf(kBig), one_of("v_t", "v_n", "p_t", "v_z"));
      case 7:
        return fmt::format("CAST({} AS VARCHAR)",
                           chance(2) ? expr(kInt, depth)
                                     : std::string(one_of("v_n", "v_w", "v_d", "v_z", "v_f", "v_g", "v_h")));
      case 8:
        return fmt::format("CAST({} AS {})", expr(kText, depth),
                           one_of("VARCHAR(3)", "CHAR(2)", "CHAR(6)", "VARCHAR(8)"));
      default:
        return fmt::format("({} || {})", expr(kText, depth), chance(2) ? leaf(kInt) : leaf(kText));
    }
  }
  std::string condition(int depth) {
    static constexpr Kind kKinds[] = {kInt,  kBig,  kNumeric, kWide,  kDouble, kText,
                                      kChar, kTime, kInt,     kSmall, kDate,   kReal};
    const Kind kind = kKinds[below(12)];
    switch (below(11)) {
      case 10:
        return fmt::format(
            "({} {}LIKE {})", expr(kText, depth), one_of("", "NOT "),
            chance(3) ? leaf(kText)
                      : std::string(one_of("'%a%'", "'_b%'", "'a\\%b'", "'%'", "'_'", "'%\u20ac_'")));
      case 0:
        return fmt::format("({} {} {})", expr(kFlag, depth), one_of("AND", "OR"), expr(kFlag, depth));
      case 1:
        return fmt::format("(NOT {})", expr(kFlag, depth));
      case 2:
        return fmt::format("({} {})", expr(kind, depth), one_of("IS NULL", "IS NOT NULL"));
      case 3:
        return fmt::format("({} {})", expr(kFlag, depth),
                           one_of("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"));
      case 4:
        return fmt::format("({} IS {}DISTINCT FROM {})", expr(kind, depth), one_of("", "NOT "), leaf(kind));
      case 5:
        return fmt::format("({} IN ({}, {}, {}))", expr(kind, depth), expr(kind, depth), leaf(kind),
                           leaf(kind));
      case 6:
        return fmt::format("({} = ANY ({}))", expr(kInt, depth), one_of("p_a", "r_a"));
      default:
        return fmt::format("({} {} {})", expr(kind, depth), one_of("=", "<>", "<", "<=", ">", ">="),
                           leaf(kind));
    }
  }

  std::vector<Name> scope_;

 private:
  std::mt19937_64 random_;
};

}  // namespace mneme
