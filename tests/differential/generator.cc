#include "tests/differential/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>

namespace mneme::differential {
namespace {

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

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Scenario scenario() {
    Scenario steps;
    const size_t tables = 1 + below(2);
    for (size_t i = 0; i < tables; ++i) steps.push_back({Step::Kind::kTable, create_table(i), false, ""});
    if (chance(40)) steps.push_back({Step::Kind::kIndex, create_index(), false, ""});
    makes_procedure_ = true;
    for (size_t i = below(4); i > 0; --i) steps.push_back(create_procedure(i));
    makes_procedure_ = false;
    for (size_t i = 3 + below(8); i > 0; --i) steps.push_back({Step::Kind::kRows, insert(), false, ""});
    bool in_block = false;
    for (size_t i = 40 + below(50); i > 0; --i) {
      if (chance(in_block ? 20 : 6)) {
        steps.push_back(in_block ? Step{Step::Kind::kEnd, fixed(chance(50) ? "COMMIT" : "ROLLBACK"), false, ""}
                                 : Step{Step::Kind::kBegin, fixed("BEGIN"), false, ""});
        in_block = !in_block;
      } else {
        steps.push_back(statement());
      }
    }
    if (in_block) steps.push_back({Step::Kind::kEnd, fixed("COMMIT"), false, ""});
    for (const TableShape& table : tables_) {
      steps.push_back({Step::Kind::kTableAtEnd, fixed("SELECT * FROM " + table.name), false, ""});
    }
    return steps;
  }

 private:
  // --- Chance

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
      result.base = any(std::vector<Base>{Base::kInt, Base::kBigInt, Base::kNumeric, Base::kVarchar, Base::kDouble});
    }
    if (chance(result.base == Base::kVarchar ? 95 : result.base == Base::kNumeric ? 96 : 75)) {
      if (result.base == Base::kChar) result.length = any(std::vector<int>{1, 2, 3, 5, 8});
      if (result.base == Base::kVarchar) result.length = any(std::vector<int>{1, 3, 4, 6, 12, 40});
      if (result.base == Base::kNumeric) {
        result.length = any(std::vector<int>{1, 4, 5, 8, 12, 18, 25, 38});
        result.scale = chance(15) ? -1 : static_cast<int>(below(std::min<size_t>(9, static_cast<size_t>(result.length) + 1)));
      }
    }
    if (result.base == Base::kChar && result.length < 0 && chance(60)) result.length = 4;
    return result;
  }
  SqlType column_type() {
    SqlType result = type();
    if (result.base == Base::kNumeric && result.length < 0 && chance(98)) result.length = 10, result.scale = 2;
    if (result.base == Base::kText && chance(98)) result.base = Base::kVarchar, result.length = 9;
    return result;
  }
  SqlType number() { return {.base = static_cast<Base>(below(5))}; }
  SqlType text_type() { return {.base = any(std::vector<Base>{Base::kVarchar, Base::kVarchar, Base::kText, Base::kChar})}; }

  // --- Literals

  std::string integer_text() {
    if (chance(55)) return std::to_string(below(12));
    return any_of({"32767", "32768", "65536", "2147483647", "2147483648", "9223372036854775807", "100", "1000", "255",
                   "9223372036854775808", "4611686018427387904", "99", "37", "46341", "12345678901234567890"});
  }
  std::string decimal_text() {
    return any_of({"0.5", "1.5", "2.5", "0.05", "0.005", "1.25", "2.675", "99.995", "9999999.99", "0.0", "0.00", "1.0",
                   "123456789012345678.12345678", "0.000001", "3.14159", "10.10", "0.1", "99999.5", "0.499999999", "12.345678901",
                   "9223372036854775807.5", "2147483647.5", "32767.4999", "1.000", "100000000000000000000000000000000000.0"});
  }
  std::string number_in_text() {
    return any_of({"0", "-1", " 7 ", "1.5", "1e3", "NaN", "Infinity", "-Infinity", "inf", "1e400", "1e-400", "", "abc", "12x",
                   "2147483648", "-32769", ".5", "5.", "+3", "0x10", "-0", "- 1", "1_000", "nan", " -9223372036854775808",
                   "1e10", "0.000000000000000001", "1e-7", "123456789.987654321", "2.5", "-2.5", "1e15", "1e16", "4e-324"});
  }
  std::string string_text() {
    return any_of({"", " ", "a", "A", "ab", "abc", "abc ", "abc   ", " abc", "b", "zz", "Hello, World", "a%b", "a_b", "%", "_",
                   "\\\\", "x''y", "0", "10", "-1", "1.5", "true", "t", "no", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                   "2020-01-01", "NaN", "Z", "a  ", "ab ", "   ", "aAbB", "one two", "tab\tq", "12345678901"});
  }
  std::string timestamp_text() {
    return any_of({"2000-01-01", "2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2024-02-29 12:30:45.5", "1970-01-01",
                   "2023-02-29", "9999-12-31 23:59:59", "0001-01-01", "2020-06-15 10:20:30.123456", "2020-06-15 10:20:30.1234565",
                   "2020-06-15 24:00:00", "2020-06-15 10:20:60", "2020-6-5 1:2:3", "infinity", "-infinity", "epoch", "20200615",
                   "2020-06-15T10:20:30", "2020-13-01", "abc", "10000-01-01", "0000-01-01", "2020-06-15 10:20:30.0000005",
                   "2020-06-15 25:00:00", "1900-02-28 12:00", " 2020-01-01 ", "2020-06-15 10:20:30+02", "0044-03-15 BC"});
  }
  std::string boolean_text() {
    return any_of({"true", "false", "t", "f", "yes", "no", "on", "off", "1", "0", "TRUE", " tr ", "y", "n", "o", "maybe", ""});
  }
  static std::string quoted(const std::string& text) { return "'" + text + "'"; }
  std::string content_of(const SqlType& type) {
    switch (type.base) {
      case Base::kBoolean:
        return boolean_text();
      case Base::kTimestamp:
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
    if (chance(70)) return literal(type, "NULL");
    return literal(type, fmt::format(fmt::runtime(any_of({"CAST(NULL AS {})", "NULL::{}"})), type.text()));
  }
  Node literal_of(const SqlType& type) {
    if (chance(8)) return null_of(type);
    if (type.is_array) {
      if (chance(30)) return literal(type, "NULL");
      if (chance(50)) {
        SqlType element = type;
        element.is_array = false;
        return expression(type, "ARRAY[@]", {list(", ", {literal_of(element), literal_of(element)}, 1)});
      }
      return literal(type, any_of({"'{}'", "'{1,2,3}'", "'{1,NULL,3}'", "'{5}'", "'{a,b}'"}) + (chance(70) ? "::" + type.text() : ""));
    }
    if (chance(type.base == Base::kTimestamp ? 15 : 5)) {
      return literal(type, fmt::format(fmt::runtime(any_of({"CAST({} AS {})", "{}::{}"})), quoted(content_of(type)), type.text()));
    }
    switch (type.base) {
      case Base::kBoolean:
        return literal(type, chance(85) ? any_of({"TRUE", "FALSE"}) : quoted(boolean_text()));
      case Base::kTimestamp: {
        std::string text = chance(60) ? any_of({"2000-01-01", "2024-02-29 12:30:45.5", "1970-01-01", "2020-06-15 10:20:30.123456"})
                                      : timestamp_text();
        return literal(type, chance(60) ? "TIMESTAMP " + quoted(text) : quoted(text));
      }
      case Base::kChar:
      case Base::kVarchar:
      case Base::kText: {
        std::string text = string_text();
        if (type.length >= 0 && text.size() > static_cast<size_t>(type.length) && chance(70)) {
          text = any_of({"a", "b", "", " ", "x"});
        }
        return literal(type, quoted(text));
      }
      case Base::kNumeric:
      case Base::kDouble:
        if (chance(8)) return literal(type, quoted(number_in_text()));
        if (chance(50)) return literal(type, (chance(15) ? "-" : "") + decimal_text());
        return literal(type, (chance(15) ? "-" : "") + integer_text());
      default:
        if (chance(4)) return literal(type, quoted(number_in_text()));
        return literal(type, (chance(15) ? "-" : "") + integer_text());
    }
  }

  // --- Expressions

  bool fits(const SqlType& have, const SqlType& want) {
    if (have.is_array != want.is_array) return false;
    return have.base == want.base || (have.is_number() && want.is_number()) || (have.is_text() && want.is_text());
  }
  Node leaf(const SqlType& want) {
    if (!scope_.empty() && chance(75)) {
      std::vector<Named> fitting;
      for (const Named& one : scope_) {
        if (fits(one.type, want)) fitting.push_back(one);
      }
      if (!fitting.empty()) {
        const Named& one = any(fitting);
        return literal(one.type, one.name);
      }
    }
    return literal_of(want);
  }
  SqlType near(const SqlType& want) {
    if (chance(1)) return type();
    if (want.is_number() && chance(makes_procedure_ ? 10 : 35)) return number();
    if (want.is_text() && chance(35)) return text_type();
    SqlType result = want;
    result.length = -1;
    result.scale = -1;
    return result;
  }
  Node small() { return literal(kInteger, any_of({"0", "1", "2", "3", "5", "10", "-1", "-2", "NULL", "4"})); }
  Node digits() { return chance(92) ? literal(kInteger, any_of({"0", "1", "2", "3", "5", "10"})) : small_or(1); }
  Node small_or(int depth) { return chance(70) ? small() : expr({.base = Base::kInt}, std::min(depth, 1)); }

  Node expr(const SqlType& want, int depth) {
    // One thing that Mneme refuses is the end of a whole procedure, so most of what is in it is small.
    if (makes_procedure_ && depth > 1 && chance(75)) depth = 1;
    if (depth <= 0 || chance(12)) return leaf(want);
    if (chance(28)) return general(want, depth - 1);
    if (want.is_array) return array(want, depth - 1);
    switch (want.base) {
      case Base::kBoolean:
        return condition(depth - 1);
      case Base::kChar:
      case Base::kVarchar:
      case Base::kText:
        return text(want, depth - 1);
      case Base::kTimestamp:
        return timestamp(want, depth - 1);
      default:
        return arithmetic(want, depth - 1);
    }
  }

  Node general(const SqlType& want, int depth) {
    switch (below(12)) {
      case 0: {
        std::vector<Node> branches;
        for (size_t i = 1 + below(3); i > 0; --i) {
          branches.push_back(fixed("WHEN @ THEN @", {expr(kBoolean, depth), expr(near(want), depth)}));
        }
        return expression(want, "CASE @@ END", {list(" ", std::move(branches)), optional(" ELSE @", {expr(near(want), depth)})});
      }
      case 1: {
        const SqlType subject = type();
        std::vector<Node> branches;
        for (size_t i = 1 + below(3); i > 0; --i) {
          branches.push_back(fixed("WHEN @ THEN @", {expr(near(subject), depth), expr(near(want), depth)}));
        }
        Node otherwise = chance(70) ? optional(" ELSE @", {expr(near(want), depth)}) : fixed("");
        return expression(want, "CASE @ @@ END", {expr(subject, depth), list(" ", std::move(branches)), std::move(otherwise)});
      }
      case 2:
      case 3: {
        std::vector<Node> items;
        for (size_t i = 1 + below(3); i > 0; --i) items.push_back(expr(near(want), depth));
        return expression(want, "coalesce(@)", {list(", ", std::move(items))});
      }
      case 4:
        {
          const SqlType same{.base = want.base, .length = -1, .scale = -1, .is_array = want.is_array};
          return expression(want, "nullif(@, @)", {expr(same, depth), expr(chance(70) ? same : near(want), depth)});
        }
      case 5: {
        std::vector<Node> items;
        for (size_t i = 1 + below(3); i > 0; --i) items.push_back(expr(near(want), depth));
        return expression(want, any_of({"greatest(@)", "least(@)"}), {list(", ", std::move(items))});
      }
      case 6:
      case 7:
      case 8:
      case 9: {
        SqlType target = want;
        if (!want.is_array) {
          SqlType sized = type();
          if (chance(60) && fits(sized, want)) target = sized;
        }
        const SqlType from = chance(makes_procedure_ ? 10 : 30) ? type() : near(want);
        return expression(target, fmt::format(fmt::runtime(any_of({"CAST(@ AS {})", "(@)::{}"})), target.text()), {expr(from, depth)});
      }
      case 10:
        return expression(want, "(@)", {expr(want, depth)});
      default:
        if (want.is_array || !has_array()) return leaf(want);
        if (chance(80)) return expression(want, "@[@]", {leaf({.base = want.base, .length = -1, .scale = -1, .is_array = true}), small_or(depth)});
        return expression(want, "(@)[@]", {expr({.base = want.base, .length = -1, .scale = -1, .is_array = true}, depth), small_or(depth)});
    }
  }

  bool has_array() {
    return chance(2) || std::ranges::any_of(scope_, [](const Named& one) { return one.type.is_array; });
  }

  Node array(const SqlType& want, int depth) {
    SqlType element = want;
    element.is_array = false;
    switch (below(8)) {
      case 0:
      case 3:
      case 4:
        return expression(want, "array_append(@, @)", {expr(want, depth), expr(element, depth)});
      case 1:
        return expression(want, "@ || @", {expr(want, depth), expr(chance(50) ? want : element, depth)});
      case 2:
        return expression(want, "array_remove(@, @)", {expr(want, depth), expr(element, depth)});
      default:
        return leaf(want);
    }
  }

  Node arithmetic(const SqlType& want, int depth) {
    if (chance(7)) {
      const SqlType of{.base = any(std::vector<Base>{Base::kInt, Base::kBigInt, Base::kDouble, Base::kSmallInt})};
      return expression(want, fmt::format("(@ {} @)", any_of({"/", "%"})), {expr(of, depth), expr(of, depth)});
    }
    if (chance(50)) {
      Node left = expr(near(want), depth);
      Node right = expr(near(want), depth);
      if (chance(30)) return expression(want, fmt::format("(@) {} (@)", any_of({"+", "-", "*", "%"})), {left, right});
      return expression(want, fmt::format("(@ {} @)", any_of({"+", "-", "*"})), {left, right});
    }
    if (chance(12)) return expression(want, any_of({"- @", "-(@)", "+ @", "- - @"}), {expr(near(want), depth)});
    if (chance(40)) {
      const std::string name = any_of({"abs", "ceil", "floor", "round", "trunc", "sign", "sqrt", "ceiling", "round"});
      const bool by_double = name == "sqrt" && chance(90);
      return expression(want, name + "(@)", {by_double ? expr({.base = any(std::vector<Base>{Base::kInt, Base::kDouble})}, depth) : expr(near(want), depth)});
    }
    if (chance(1)) {
      const std::string name = any_of({"log", "exp", "ln", "sin", "cos", "tan", "atan", "cbrt", "degrees", "radians", "scale", "min_scale",
                                       "trim_scale", "factorial", "asin", "sinh"});
      return expression(want, name + "(@)", {expr(near(want), depth)});
    }
    switch (below(16)) {
      case 0:
      case 1:
        return expression(want, "round(@, @)", {expr(near(want), depth), digits()});
      case 2:
        return expression(want, "trunc(@, @)", {expr(near(want), depth), digits()});
      case 3:
      case 4:
        return expression(want, (chance(95) ? "mod(@, @)" : any_of({"div(@, @)", "gcd(@, @)", "lcm(@, @)"})), {expr(near(want), depth), expr(near(want), depth)});
      case 5:
      case 6:
        return expression(want, (chance(95) ? "power(@, @)" : any_of({"pow(@, @)", "log(@, @)", "atan2(@, @)", "(@) ^ (@)"})),
                          {expr({.base = any(std::vector<Base>{Base::kInt, Base::kDouble, Base::kDouble, Base::kBigInt})}, depth),
                           chance(50) ? small_or(depth) : expr({.base = Base::kDouble}, depth)});
      case 7:
      case 8:
      case 9:
        return expression(want, (chance(95) ? any_of({"length", "char_length", "character_length"}) : any_of({"octet_length", "ascii", "bit_length"})) + "(@)",
                          {expr(text_type(), depth)});
      case 10:
        return expression(want, any_of({"strpos(@, @)", "position(@ IN @)"}), {expr(text_type(), depth), expr(text_type(), depth)});
      case 11:
      case 12:
        if (!has_array()) return leaf(want);
        return expression(want, any_of({"cardinality(@)", "array_length(@, 1)", "array_upper(@, 1)", "cardinality(@)"}),
                          {expr({.base = Base::kInt, .length = -1, .scale = -1, .is_array = true}, depth)});
      case 13: {
        if (chance(90)) return leaf(want);
        const std::string field = any_of({"year", "month", "day", "hour", "minute", "second", "epoch", "dow", "microseconds", "doy",
                                          "week", "quarter"});
        return expression(want, chance(70) ? "extract(" + field + " FROM @)" : "date_part('" + field + "', @)",
                          {expr({.base = Base::kTimestamp}, depth)});
      }
      default:
        return expression(want, fmt::format("(@ {} @)", any_of({"+", "-", "*"})), {expr(want, depth), expr(want, depth)});
    }
  }

  Node text(const SqlType& want, int depth) {
    const SqlType t = text_type();
    switch (below(22)) {
      case 0:
      case 1:
      case 2:
        return expression(want, "(@ || @)", {expr(t, depth), expr(chance(80) ? text_type() : type(), depth)});
      case 3:
        return expression(want, (chance(95) ? any_of({"upper", "lower"}) : any_of({"initcap", "reverse", "md5"})) + "(@)", {expr(t, depth)});
      case 4:
      case 5:
        return expression(want, any_of({"substr(@, @, @)", "substring(@, @, @)", "substring(@ FROM @ FOR @)"}),
                          {expr(t, depth), small_or(depth), small_or(depth)});
      case 6:
        return expression(want, any_of({"substr(@, @)", "substring(@, @)", "substring(@ FROM @)"}), {expr(t, depth), small_or(depth)});
      case 7:
      case 8:
        return expression(want, any_of({"left(@, @)", "right(@, @)"}), {expr(t, depth), small_or(depth)});
      case 9:
      case 10:
        return expression(want, any_of({"trim", "btrim", "ltrim", "rtrim"}) + "(@)", {expr(t, depth)});
      case 11:
        return expression(want, any_of({"btrim", "ltrim", "rtrim"}) + "(@, @)", {expr(t, depth), expr(t, depth)});
      case 12:
        return expression(want, any_of({"lpad(@, @)", "rpad(@, @)", "repeat(@, @)"}), {expr(t, depth), small()});
      case 13:
        return expression(want, any_of({"lpad(@, @, @)", "rpad(@, @, @)"}), {expr(t, depth), small(), expr(t, depth)});
      case 14:
        return expression(want, (chance(95) ? "replace(@, @, @)" : "translate(@, @, @)"),
                          {expr(t, depth), expr(t, depth), expr(t, depth)});
      case 15:
        return expression(want, "concat(@)", {list(", ", {expr(type(), depth), expr(type(), depth), expr(t, depth)})});
      case 16:
        if (chance(90)) return leaf(want);
        return expression(want, any_of({"chr(@)", "to_hex(@)", "split_part('a,b,c', ',', @)"}), {expr(kInteger, depth)});
      default:
        return expression(want, "CAST(@ AS " + SqlType(want).text() + ")", {expr(type(), depth)});
    }
  }

  Node timestamp(const SqlType& want, int depth) {
    if (chance(2)) {
      const std::string unit = any_of({"year", "month", "day", "hour", "minute", "second"});
      return expression(want, "date_trunc('" + unit + "', @)", {expr(want, depth)});
    }
    if (chance(2)) return expression(want, "@ + INTERVAL '1 day'", {expr(want, depth)});
    return leaf(want);
  }

  Node condition(int depth) {
    SqlType t = type();
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
        return expression(kBoolean, any_of({"(@ AND @)", "(@ OR @)"}), {expr(kBoolean, depth), expr(kBoolean, depth)});
      case 3:
        return expression(kBoolean, "NOT (@)", {expr(kBoolean, depth)});
      case 4:
        return expression(kBoolean, any_of({"(@) IS NULL", "(@) IS NOT NULL"}), {expr(t, depth)});
      case 5:
        return expression(kBoolean, any_of({"(@) IS TRUE", "(@) IS NOT TRUE", "(@) IS FALSE", "(@) IS NOT FALSE"}),
                          {expr(kBoolean, depth)});
      case 6:
        return expression(kBoolean, any_of({"@ IS DISTINCT FROM @", "@ IS NOT DISTINCT FROM @"}), {expr(t, depth), expr(near(t), depth)});
      case 7:
      case 8:
      case 9: {
        std::vector<Node> items;
        for (size_t i = 1 + below(4); i > 0; --i) items.push_back(expr(near(t), std::min(depth, 1)));
        return expression(kBoolean, chance(70) ? "@ IN (@)" : "@ NOT IN (@)", {expr(t, depth), list(", ", std::move(items))});
      }
      case 10:
      case 11:
        return expression(kBoolean, any_of({"@ BETWEEN @ AND @", "@ NOT BETWEEN @ AND @"}),
                          {expr(t, depth), expr(near(t), depth), expr(near(t), depth)});
      case 12:
        if (chance(15)) {
          return expression(kBoolean, any_of({"@ LIKE @", "@ NOT LIKE @", "@ ILIKE @", "starts_with(@, @)"}),
                            {expr(text_type(), depth), expr(text_type(), depth)});
        }
        [[fallthrough]];
      case 13: {
        if (!has_array()) return leaf(kBoolean);
        const SqlType element{.base = any(std::vector<Base>{Base::kInt, Base::kNumeric, Base::kVarchar})};
        return expression(kBoolean, fmt::format("@ {} ANY (@)", any_of({"=", "<>", "<", ">="})),
                          {expr(near(element), depth), leaf({.base = element.base, .length = -1, .scale = -1, .is_array = true})});
      }
      default:
        return expression(kBoolean, fmt::format("@ {} @", any_of({"=", "=", "<>", "<", ">", "<=", ">=", "!="})),
                          {expr(t, depth), expr(near(t), depth)});
    }
  }

  // --- Schemas

  Node create_table(size_t number) {
    TableShape table{.name = fmt::format("t{}", number + 1), .columns = {}, .key = 0};
    std::vector<Node> elements;
    const size_t columns = 2 + below(5);
    const bool has_key = chance(96);
    table.key = has_key ? 1 + (chance(20) ? 1 : 0) : 0;
    for (size_t i = 0; i < columns; ++i) {
      SqlType column = column_type();
      if (i < table.key && (chance(60) || column.base == Base::kDouble || column.base == Base::kNumeric)) {
        column = {.base = any(std::vector<Base>{Base::kInt, Base::kBigInt, Base::kSmallInt})};
      }
      // Distinct names in both tables, so that a bare one is seldom ambiguous.
      const std::string name = fmt::format("{}{}", number == 0 ? "abcdefg"[i] : "uvwxyzk"[i], chance(95) ? "" : "c");
      table.columns.push_back({name, column});
      std::vector<Node> parts;
      if (chance(15)) parts.push_back(optional(" NOT NULL"));
      else
      if (chance(3)) parts.push_back(optional(chance(95) ? " NOT NULL UNIQUE" : " UNIQUE"));
      if (chance(1) && chance(20)) {
        scope_ = {{name, column}};
        parts.push_back(optional(" CHECK (@)", {expr(kBoolean, 2)}));
      }
      Node tail = parts.empty() ? fixed("") : list("", std::move(parts), 0);
      elements.push_back(fixed(name + " " + column.text() + "@", {std::move(tail)}));
    }
    if (has_key) {
      Strings key;
      for (size_t i = 0; i < table.key; ++i) key.push_back(table.columns[i].name);
      elements.push_back(fixed(fmt::format("PRIMARY KEY ({})", fmt::join(key, ", "))));
    }
    tables_.push_back(table);
    return fixed("CREATE TABLE " + table.name + " (@)", {list(", ", std::move(elements), 1)});
  }

  Node create_index() {
    const TableShape& table = any(tables_);
    Strings columns;
    for (size_t i = 1 + below(2); i > 0; --i) columns.push_back(any(table.columns).name);
    if (columns.size() == 2 && columns[0] == columns[1]) columns.pop_back();
    return fixed(fmt::format("CREATE {}INDEX i1 ON {} ({})", chance(10) ? "UNIQUE " : "", table.name, fmt::join(columns, ", ")));
  }

  // --- Statements on rows

  void see(const TableShape& table, const std::string& qualifier) {
    for (const Named& column : table.columns) {
      scope_.push_back({qualifier.empty() ? column.name : qualifier + "." + column.name, column.type});
    }
  }
  std::vector<Named> outer() const { return variables_; }

  Node insert(const std::vector<Named>& into = {}) {
    const TableShape& table = any(tables_);
    scope_ = outer();
    std::vector<Named> columns = table.columns;
    if (chance(25)) {
      std::shuffle(columns.begin(), columns.end(), random_);
      if (columns.size() > table.key + 1 && chance(50)) columns.pop_back();
    }
    Strings names;
    std::vector<Node> values;
    for (const Named& column : columns) {
      names.push_back(column.name);
      const bool plain = chance(75);
      values.push_back(plain ? leaf(column.type) : expr(chance(90) ? column.type : near(column.type), 2));
    }
    const bool lists = columns.size() != table.columns.size() || chance(40) ||
                       !std::equal(columns.begin(), columns.end(), table.columns.begin(),
                                   [](const Named& a, const Named& b) { return a.name == b.name; });
    Node statement = fixed(fmt::format("INSERT INTO {}{} VALUES (@)@", table.name,
                                       lists ? fmt::format(" ({})", fmt::join(names, ", ")) : ""),
                           {list(", ", std::move(values), columns.size()), fixed("")});
    scope_ = outer();
    see(table, "");
    statement.children[1] = returning(into);
    return statement;
  }

  Node returning(const std::vector<Named>& into) {
    if (into.empty() && (makes_procedure_ || !chance(20))) return fixed("");
    std::vector<Node> items;
    if (!into.empty()) {
      for (const Named& target : into) items.push_back(expr(target.type, 2));
      const size_t count = items.size();
      return optional(" RETURNING @" + into_clause(into), {list(", ", std::move(items), count)});
    }
    if (chance(30)) {
      items.push_back(fixed("*"));
    } else {
      for (size_t i = 1 + below(2); i > 0; --i) items.push_back(expr(type(), 2));
    }
    return optional(" RETURNING @", {list(", ", std::move(items))});
  }

  Node where(int depth = 2) {
    if (chance(15)) return fixed("");
    std::vector<Node> terms;
    for (size_t i = 1 + below(2); i > 0; --i) {
      const Named& one = any(scope_);
      if (chance(55)) {
        terms.push_back(expression(kBoolean, fmt::format("@ {} @", any_of({"=", "=", "<>", "<", ">", "<=", ">="})),
                                   {literal(one.type, one.name), leaf(one.type)}));
      } else {
        terms.push_back(expr(kBoolean, depth));
      }
    }
    return optional(" WHERE @", {list(" AND ", std::move(terms))});
  }

  Node update(const std::vector<Named>& into = {}) {
    const TableShape& table = any(tables_);
    scope_ = outer();
    see(table, "");
    std::vector<Node> settings;
    std::vector<Named> columns = table.columns;
    std::shuffle(columns.begin(), columns.end(), random_);
    columns.resize(1 + below(std::min<size_t>(2, columns.size())));
    for (const Named& column : columns) {
      settings.push_back(fixed(column.name + " = @", {expr(chance(90) ? column.type : near(column.type), 3)}));
    }
    Node condition = where();
    return fixed("UPDATE " + table.name + " SET @@@", {list(", ", std::move(settings)), std::move(condition), returning(into)});
  }

  Node remove(const std::vector<Named>& into = {}) {
    const TableShape& table = any(tables_);
    scope_ = outer();
    see(table, "");
    Node condition = where();
    return fixed("DELETE FROM " + table.name + "@@", {std::move(condition), returning(into)});
  }

  Step select() {
    scope_ = outer();
    const bool joins = tables_.size() > 1 && chance(25);
    const TableShape& first = joins ? tables_[0] : any(tables_);
    std::string from = first.name;
    bool is_total = first.key > 0;
    Strings keys;
    for (size_t i = 0; i < first.key; ++i) keys.push_back((joins ? "l." : "") + first.columns[i].name);
    see(first, joins ? "l" : "");
    Node joined = fixed("");
    if (joins) {
      const TableShape& second = tables_[1];
      see(second, "r");
      is_total = is_total && second.key > 0;
      for (size_t i = 0; i < second.key; ++i) keys.push_back("r." + second.columns[i].name);
      if (chance(90)) {
        std::vector<Node> terms;
        if (chance(90)) {
          for (size_t i = 0; i < std::max<size_t>(second.key, 1); ++i) {
            const Named key{"r." + second.columns[i].name, second.columns[i].type};
            std::vector<Named> fitting;
            for (const Named& one : scope_) {
              if (one.name.starts_with("l.") && fits(one.type, key.type)) fitting.push_back(one);
            }
            Node other = fitting.empty() ? leaf(key.type) : literal(key.type, any(fitting).name);
            terms.push_back(expression(kBoolean, "@ = @", {literal(key.type, key.name), std::move(other)}));
          }
        }
        if (terms.empty() || chance(30)) terms.push_back(expr(kBoolean, 2));
        joined = fixed(" l JOIN " + second.name + " r ON @", {list(" AND ", std::move(terms))});
      } else {
        joined = fixed(" l, " + second.name + " r");
      }
    }
    if (chance(18)) return aggregate(from, std::move(joined));
    std::vector<Node> items;
    if (chance(12)) items.push_back(fixed("*"));
    Strings aliases;
    for (size_t i = (items.empty() ? 1 : 0) + below(3); i > 0; --i) {
      Node item = expr(type(), 3);
      if (chance(25)) {
        aliases.push_back(chance(70) ? fmt::format("o{}", i) : any(scope_).name);
        if (aliases.back().find('.') != std::string::npos) aliases.back() = "o9";
        items.push_back(fixed("@ AS " + aliases.back(), {std::move(item)}));
      } else {
        items.push_back(std::move(item));
      }
    }
    Node condition = where();
    Step step;
    std::vector<Node> order;
    if (chance(45)) {
      for (size_t i = below(3); i > 0; --i) {
        Node key = !aliases.empty() && chance(40) ? literal(kInteger, any(aliases)) : chance(60) ? literal(kInteger, any(scope_).name)
                                                                                           : expr(type(), 2);
        order.push_back(fixed("@" + any_of({"", "", " DESC", " ASC"}), {std::move(key)}));
      }
    }
    Node ordering = fixed("");
    Node limit = fixed("");
    if (is_total && (!order.empty() || chance(25))) {
      // The key's own columns make the order total. An alias of such a name may hide the column, and ties are then left.
      for (const std::string& key : keys) order.push_back(fixed(key));
      const bool hidden = std::ranges::any_of(keys, [&](const std::string& key) { return std::ranges::find(aliases, key) != aliases.end(); });
      ordering = fixed(" ORDER BY @", {list(", ", std::move(order))});
      step.is_ordered = !hidden;
      if (!hidden && chance(35)) {
        limit = optional(any_of({" LIMIT @", " LIMIT @", " LIMIT 3 OFFSET @", " OFFSET @"}), {small_or(1)});
      }
      // Leaving keys away would leave ties, so the list's keys stay.
      ordering.children[0].minimum = ordering.children[0].children.size();
    } else if (!order.empty()) {
      ordering = optional(" ORDER BY @", {list(", ", std::move(order))});
    }
    step.sql = fixed("SELECT @ FROM " + from + "@@@@",
                     {list(", ", std::move(items)), std::move(joined), std::move(condition), std::move(ordering), std::move(limit)});
    return step;
  }

  Node aggregate_item() {
    const std::string name = any_of({"count", "sum", "min", "max", "count", "sum", "min", "max", "sum", "min"});
    if (chance(2)) return expression(kBoolean, "bool_and(@)", {expr(kBoolean, 2)});
    if (chance(1)) return expression(kText, "string_agg(@, ',')", {expr(kText, 1)});
    const bool distinct = chance(20);
    if (name == "count" && chance(40)) return literal({.base = Base::kBigInt}, "count(*)");
    const SqlType of = name == "sum" || name == "avg" ? number() : type();
    return expression(of, name + (distinct ? "(DISTINCT @)" : "(@)"), {expr(of, 2)});
  }

  Step aggregate(const std::string& from, Node joined) {
    std::vector<Node> items;
    for (size_t i = 1 + below(3); i > 0; --i) {
      Node item = aggregate_item();
      if (chance(25)) item = expression(item.type, any_of({"coalesce(@, 0)", "(@ + 1)", "(@) IS NULL", "CAST(@ AS BIGINT)"}), {item});
      items.push_back(std::move(item));
    }
    std::string grouping;
    if (chance(4)) {
      const std::string key = any(scope_).name;
      items.push_back(fixed(key));
      grouping = " GROUP BY " + key;
    }
    Node condition = where();
    Step step;
    step.sql = fixed("SELECT @ FROM " + from + "@@" + grouping, {list(", ", std::move(items)), std::move(joined), std::move(condition)});
    return step;
  }

  Step statement() {
    Step step;
    const size_t kind = below(100);
    if (!procedures_.empty() && chance(15)) return call();
    if (kind < 55) return select();
    if (kind < 67) {
      step.sql = insert();
    } else if (kind < 80) {
      step.sql = update();
    } else if (kind < 86) {
      step.sql = remove();
    } else if (!procedures_.empty()) {
      return call();
    } else {
      if (chance(95)) return select();
      scope_ = {};
      step.sql = fixed("SELECT @", {list(", ", {expr(type(), 3)})});
    }
    return step;
  }

  Step call() {
    const ProcedureShape& procedure = any(procedures_);
    scope_ = {};
    std::vector<Node> arguments;
    for (const Named& parameter : procedure.parameters) {
      arguments.push_back(chance(85) ? literal_of(parameter.type) : expr(near(parameter.type), 1));
    }
    Step step;
    step.procedure = procedure.name;
    const size_t count = arguments.size();
    step.sql = fixed("CALL " + procedure.name + "(@)", {list(", ", std::move(arguments), count)});
    return step;
  }

  // --- Procedures

  std::vector<Named> targets(size_t most) {
    std::vector<Named> all = variables_;
    if (!chance(3)) std::erase_if(all, [](const Named& one) { return one.type.is_array || one.name[0] == 'n'; });
    if (all.empty()) all = variables_;
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(1 + below(std::min(most, all.size())));
    return all;
  }
  std::string into_clause(const std::vector<Named>& targets) {
    Strings names;
    for (const Named& target : targets) names.push_back(target.name);
    return fmt::format(" INTO {}{}", chance(20) ? "STRICT " : "", fmt::join(names, ", "));
  }
  std::vector<Named> targets_or_none() { return chance(30) ? targets(2) : std::vector<Named>(); }

  Node body(int depth, size_t most = 4) {
    std::vector<Node> statements;
    for (size_t i = 1 + below(most); i > 0; --i) statements.push_back(optional("  @", {procedural(depth)}));
    return list("\n", std::move(statements), 0);
  }

  Node assignment() {
    const Named target = any(variables_);
    scope_ = outer();
    if (target.type.is_array && chance(10)) {
      SqlType element = target.type;
      element.is_array = false;
      return fixed(target.name + "[@] := @;", {small_or(1), expr(element, 2)});
    }
    return fixed(target.name + " := @;", {expr(chance(85) ? target.type : near(target.type), 3)});
  }

  Node procedural(int depth) {
    const size_t kind = below(100);
    scope_ = outer();
    if (depth > 0 && kind < 14) {
      Node condition = expr(kBoolean, 2);
      Node then = body(depth - 1, 2);
      Node otherwise = chance(50) ? optional(" ELSE\n@", {body(depth - 1, 2)}) : fixed("");
      return fixed("IF @ THEN\n@@ END IF;", {std::move(condition), std::move(then), std::move(otherwise)});
    }
    if (depth > 0 && kind < 18) {
      const SqlType subject = type();
      Node value = expr(subject, 2);
      Node when = expr(near(subject), 1);
      Node then = body(depth - 1, 2);
      Node otherwise = chance(60) ? optional(" ELSE\n@", {body(depth - 1, 2)}) : fixed("");
      return fixed("CASE @ WHEN @ THEN\n@@ END CASE;", {std::move(value), std::move(when), std::move(then), std::move(otherwise)});
    }
    if (depth > 0 && kind < 25) {
      const std::string name = fmt::format("n{}", depth);
      Node from = small_or(1);
      Node to = chance(80) ? literal(kInteger, any_of({"1", "2", "3", "4"})) : small_or(0);
      variables_.push_back({name, kInteger});
      Node inner = body(depth - 1, 2);
      Node leave = fixed("");
      if (chance(30)) {
        scope_ = outer();
        leave = optional(any_of({" EXIT WHEN @;", " CONTINUE WHEN @;"}), {expr(kBoolean, 2)});
      }
      variables_.pop_back();
      return fixed("FOR " + name + " IN " + (chance(20) ? "REVERSE " : "") + "@ .. @ LOOP\n@@ END LOOP;",
                   {std::move(from), std::move(to), std::move(leave), std::move(inner)});
    }
    if (depth > 0 && kind < 30) {
      const TableShape& table = any(tables_);
      see(table, "");
      Node condition = where();
      const Named one = targets(1)[0];
      const std::string target = one.name;
      Node item = expr(one.type, 1);
      std::string order;
      if (table.key > 0) {
        Strings keys;
        for (size_t i = 0; i < table.key; ++i) keys.push_back(table.columns[i].name);
        order = fmt::format(" ORDER BY {}", fmt::join(keys, ", "));
      }
      return fixed("FOR " + target + " IN SELECT @ FROM " + table.name + "@" + order + " LOOP\n@ END LOOP;",
                   {std::move(item), std::move(condition), body(depth - 1, 2)});
    }
    if (kind < 55) return assignment();
    if (kind < 70) {
      const TableShape& table = any(tables_);
      see(table, "");
      std::vector<Node> items;
      const std::vector<Named> into_targets = targets(2);
      const size_t count = into_targets.size();
      const bool aggregates = chance(25);
      for (const Named& target : into_targets) {
        items.push_back(aggregates && target.type.is_number() ? aggregate_item() : expr(target.type, 2));
      }
      Node condition = where();
      std::string order;
      if (table.key > 0 && chance(50)) {
        order = fmt::format(" ORDER BY {} LIMIT 1", table.columns[0].name);
        if (table.key > 1) order = fmt::format(" ORDER BY {}, {}", table.columns[0].name, table.columns[1].name);
      }
      const std::string into = into_clause(into_targets);
      return fixed("SELECT @" + into + " FROM " + table.name + "@" + order + ";", {list(", ", std::move(items), count), std::move(condition)});
    }
    if (kind < 78) return fixed("@;", {insert(targets_or_none())});
    if (kind < 88) return fixed("@;", {update(targets_or_none())});
    if (kind < 92) return fixed("@;", {remove(targets_or_none())});
    if (kind < 95) return fixed("IF @ THEN RAISE EXCEPTION 'no'; END IF;", {expr(kBoolean, 2)});
    if (kind < 97) return fixed("IF @ THEN RETURN; END IF;", {expr(kBoolean, 2)});
    if (kind < 98) return fixed("NULL;");
    return assignment();
  }

  Step create_procedure(size_t number) {
    ProcedureShape procedure{.name = fmt::format("p{}", number), .parameters = {}};
    variables_.clear();
    Strings parameters;
    for (size_t i = 1 + below(4); i > 0; --i) {
      const bool inout = chance(60);
      const Named one{fmt::format("{}{}", inout ? "q" : "p", i), type(true)};
      procedure.parameters.push_back(one);
      parameters.push_back((inout ? "INOUT " : "") + one.name + " " + one.type.text());
      variables_.push_back(one);
    }
    std::vector<Node> declarations;
    for (size_t i = below(3); i > 0; --i) {
      const Named one{fmt::format("v{}", i), type(true)};
      scope_ = outer();
      declarations.push_back(optional("  " + one.name + " " + one.type.text() + "@;\n",
                                      {chance(40) ? optional(" := @", {expr(one.type, 1)}) : fixed("")}));
      variables_.push_back(one);
    }
    Step step;
    step.kind = Step::Kind::kProcedure;
    step.procedure = procedure.name;
    step.sql = fixed(fmt::format("CREATE PROCEDURE {}({}) LANGUAGE plpgsql AS $$\n@BEGIN\n@\nEND $$", procedure.name,
                                 fmt::join(parameters, ", ")),
                     {declarations.empty() ? fixed("") : fixed("DECLARE\n@", {list("", std::move(declarations), 0)}), body(chance(60) ? 1 : 2, 4)});
    variables_.clear();
    procedures_.push_back(procedure);
    return step;
  }

  std::mt19937_64 random_;
  std::vector<TableShape> tables_;
  std::vector<ProcedureShape> procedures_;
  std::vector<Named> scope_;
  bool makes_procedure_ = false;
  std::vector<Named> variables_;  // of the procedure that is being made
};

}  // namespace

Scenario random_scenario(uint64_t seed) {
  return Generator(seed).scenario();
}

}  // namespace mneme::differential
