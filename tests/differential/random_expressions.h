// Random expressions of any type, over the names in scope.
//
// Threads     one owner.
#pragma once

#include "tests/differential/random_values.h"

namespace mneme::differential {

class RandomExpressions : protected RandomValues {
 protected:
  using RandomValues::RandomValues;

  bool fits(const SqlType& have, const SqlType& want) {
    if (have.is_array != want.is_array) return false;
    return have.base == want.base || (have.is_number() && want.is_number()) ||
           (have.is_text() && want.is_text());
  }
  Node leaf(const SqlType& want) {
    if (!scope_.empty() && chance(75)) {
      std::vector<Named> fitting;
      for (const Named& one : scope_) {
        if (fits(one.type, want)) fitting.push_back(one);
      }
      if (!fitting.empty()) {
        const Named& one = any(fitting);
        return Literal{one.type, one.name};
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
  Node small() { return Literal{kInteger, any_of({"0", "1", "2", "3", "5", "10", "-1", "-2", "NULL", "4"})}; }
  Node digits() {
    return chance(92) ? Literal{kInteger, any_of({"0", "1", "2", "3", "5", "10"})} : small_or(1);
  }
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
      case Base::kDate:
        return date(want, depth - 1);
      default:
        return arithmetic(want, depth - 1);
    }
  }

  Node general(const SqlType& want, int depth) {
    switch (below(12)) {
      case 0: {
        std::vector<Node> branches;
        for (size_t i = 1 + below(3); i > 0; --i) {
          branches.push_back(Fixed{"WHEN @ THEN @", {expr(kBoolean, depth), expr(near(want), depth)}});
        }
        return Expression{want,
                          "CASE @@ END",
                          {List{" ", std::move(branches)}, Optional{" ELSE @", {expr(near(want), depth)}}}};
      }
      case 1: {
        const SqlType subject = type();
        std::vector<Node> branches;
        for (size_t i = 1 + below(3); i > 0; --i) {
          branches.push_back(Fixed{"WHEN @ THEN @", {expr(near(subject), depth), expr(near(want), depth)}});
        }
        Node otherwise = chance(70) ? Optional{" ELSE @", {expr(near(want), depth)}} : Optional{""};
        return Expression{want,
                          "CASE @ @@ END",
                          {expr(subject, depth), List{" ", std::move(branches)}, std::move(otherwise)}};
      }
      case 2:
      case 3: {
        std::vector<Node> items;
        for (size_t i = 1 + below(3); i > 0; --i) items.push_back(expr(near(want), depth));
        return Expression{want, "coalesce(@)", {List{", ", std::move(items)}}};
      }
      case 4: {
        const SqlType same{.base = want.base, .length = -1, .scale = -1, .is_array = want.is_array};
        return Expression{
            want, "nullif(@, @)", {expr(same, depth), expr(chance(70) ? same : near(want), depth)}};
      }
      case 5: {
        std::vector<Node> items;
        for (size_t i = 1 + below(3); i > 0; --i) items.push_back(expr(near(want), depth));
        return Expression{want, any_of({"greatest(@)", "least(@)"}), {List{", ", std::move(items)}}};
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
        return Expression{target,
                          fmt::format(fmt::runtime(any_of({"CAST(@ AS {})", "(@)::{}"})), target.text()),
                          {expr(from, depth)}};
      }
      case 10:
        return Expression{want, "(@)", {expr(want, depth)}};
      default:
        if (want.is_array || !has_array()) return leaf(want);
        if (chance(80))
          return Expression{
              want,
              "@[@]",
              {leaf({.base = want.base, .length = -1, .scale = -1, .is_array = true}), small_or(depth)}};
        return Expression{
            want,
            "(@)[@]",
            {expr({.base = want.base, .length = -1, .scale = -1, .is_array = true}, depth), small_or(depth)}};
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
        return Expression{want, "array_append(@, @)", {expr(want, depth), expr(element, depth)}};
      case 1:
        return Expression{want, "@ || @", {expr(want, depth), expr(chance(50) ? want : element, depth)}};
      case 2:
        return Expression{want, "array_remove(@, @)", {expr(want, depth), expr(element, depth)}};
      default:
        return leaf(want);
    }
  }

  Node arithmetic(const SqlType& want, int depth) {
    if (chance(2)) {
      const std::vector<Node> days = {expr({.base = Base::kDate}, depth), expr({.base = Base::kDate}, depth)};
      return Expression{want, "(@ - @)", days};
    }
    if (chance(7)) {
      const SqlType of{.base =
                           any(std::vector<Base>{Base::kInt, Base::kBigInt, Base::kDouble, Base::kSmallInt})};
      return Expression{
          want, fmt::format("(@ {} @)", any_of({"/", "%"})), {expr(of, depth), expr(of, depth)}};
    }
    if (chance(50)) {
      Node left = expr(near(want), depth);
      Node right = expr(near(want), depth);
      if (chance(30))
        return Expression{want, fmt::format("(@) {} (@)", any_of({"+", "-", "*", "%"})), {left, right}};
      return Expression{want, fmt::format("(@ {} @)", any_of({"+", "-", "*"})), {left, right}};
    }
    if (chance(12))
      return Expression{want, any_of({"- @", "-(@)", "+ @", "- - @"}), {expr(near(want), depth)}};
    if (chance(40)) {
      const std::string name =
          any_of({"abs", "ceil", "floor", "round", "trunc", "sign", "sqrt", "ceiling", "round"});
      const bool by_double = name == "sqrt" && chance(90);
      return Expression{want,
                        name + "(@)",
                        {by_double ? expr({.base = any(std::vector<Base>{Base::kInt, Base::kDouble})}, depth)
                                   : expr(near(want), depth)}};
    }
    if (chance(1)) {
      const std::string name =
          any_of({"log", "exp", "ln", "sin", "cos", "tan", "atan", "cbrt", "degrees", "radians", "scale",
                  "min_scale", "trim_scale", "factorial", "asin", "sinh"});
      return Expression{want, name + "(@)", {expr(near(want), depth)}};
    }
    switch (below(16)) {
      case 0:
      case 1:
        return Expression{want, "round(@, @)", {expr(near(want), depth), digits()}};
      case 2:
        return Expression{want, "trunc(@, @)", {expr(near(want), depth), digits()}};
      case 3:
      case 4:
        return Expression{want,
                          (chance(95) ? "mod(@, @)" : any_of({"div(@, @)", "gcd(@, @)", "lcm(@, @)"})),
                          {expr(near(want), depth), expr(near(want), depth)}};
      case 5:
      case 6:
        return Expression{
            want,
            (chance(95) ? "power(@, @)" : any_of({"pow(@, @)", "log(@, @)", "atan2(@, @)", "(@) ^ (@)"})),
            {expr({.base = any(std::vector<Base>{Base::kInt, Base::kDouble, Base::kDouble, Base::kBigInt})},
                  depth),
             chance(50) ? small_or(depth) : expr({.base = Base::kDouble}, depth)}};
      case 7:
      case 8:
      case 9:
        return Expression{want,
                          (chance(95) ? any_of({"length", "char_length", "character_length"})
                                      : any_of({"octet_length", "ascii", "bit_length"})) +
                              "(@)",
                          {expr(text_type(), depth)}};
      case 10:
        return Expression{want,
                          any_of({"strpos(@, @)", "position(@ IN @)"}),
                          {expr(text_type(), depth), expr(text_type(), depth)}};
      case 11:
      case 12:
        if (!has_array()) return leaf(want);
        return Expression{
            want,
            any_of({"cardinality(@)", "array_length(@, 1)", "array_upper(@, 1)", "cardinality(@)"}),
            {expr({.base = Base::kInt, .length = -1, .scale = -1, .is_array = true}, depth)}};
      case 13: {
        if (chance(50)) return leaf(want);
        const std::string field = any_of({"year", "month", "day", "hour", "minute", "second", "epoch", "dow",
                                          "microseconds", "doy", "week", "quarter"});
        return Expression{want,
                          chance(70) ? "extract(" + field + " FROM @)" : "date_part('" + field + "', @)",
                          {expr({.base = chance(50) ? Base::kTimestamp : Base::kDate}, depth)}};
      }
      default:
        return Expression{
            want, fmt::format("(@ {} @)", any_of({"+", "-", "*"})), {expr(want, depth), expr(want, depth)}};
    }
  }

  Node text(const SqlType& want, int depth) {
    const SqlType t = text_type();
    switch (below(22)) {
      case 0:
      case 1:
      case 2:
        return Expression{want, "(@ || @)", {expr(t, depth), expr(chance(80) ? text_type() : type(), depth)}};
      case 3:
        return Expression{
            want,
            (chance(95) ? any_of({"upper", "lower"}) : any_of({"initcap", "reverse", "md5"})) + "(@)",
            {expr(t, depth)}};
      case 4:
      case 5:
        return Expression{want,
                          any_of({"substr(@, @, @)", "substring(@, @, @)", "substring(@ FROM @ FOR @)"}),
                          {expr(t, depth), small_or(depth), small_or(depth)}};
      case 6:
        return Expression{want,
                          any_of({"substr(@, @)", "substring(@, @)", "substring(@ FROM @)"}),
                          {expr(t, depth), small_or(depth)}};
      case 7:
      case 8:
        return Expression{want, any_of({"left(@, @)", "right(@, @)"}), {expr(t, depth), small_or(depth)}};
      case 9:
      case 10:
        return Expression{want, any_of({"trim", "btrim", "ltrim", "rtrim"}) + "(@)", {expr(t, depth)}};
      case 11:
        return Expression{
            want, any_of({"btrim", "ltrim", "rtrim"}) + "(@, @)", {expr(t, depth), expr(t, depth)}};
      case 12:
        return Expression{
            want, any_of({"lpad(@, @)", "rpad(@, @)", "repeat(@, @)"}), {expr(t, depth), small()}};
      case 13:
        return Expression{
            want, any_of({"lpad(@, @, @)", "rpad(@, @, @)"}), {expr(t, depth), small(), expr(t, depth)}};
      case 14:
        return Expression{want,
                          (chance(95) ? "replace(@, @, @)" : "translate(@, @, @)"),
                          {expr(t, depth), expr(t, depth), expr(t, depth)}};
      case 15:
        return Expression{
            want, "concat(@)", {List{", ", {expr(type(), depth), expr(type(), depth), expr(t, depth)}}}};
      case 16:
        if (chance(90)) return leaf(want);
        return Expression{
            want, any_of({"chr(@)", "to_hex(@)", "split_part('a,b,c', ',', @)"}), {expr(kInteger, depth)}};
      default:
        return Expression{want, "CAST(@ AS " + SqlType(want).text() + ")", {expr(type(), depth)}};
    }
  }

  Node timestamp(const SqlType& want, int depth) {
    if (chance(10)) {
      const std::string unit = any_of({"year", "month", "day", "hour", "minute", "second"});
      return Expression{want, "date_trunc('" + unit + "', @)", {expr(want, depth)}};
    }
    if (chance(8)) return Expression{want, "@ + INTERVAL '1 day'", {expr(want, depth)}};
    return leaf(want);
  }

  Node date(const SqlType& want, int depth) {
    if (chance(10)) return Expression{want, chance(50) ? "(@ + @)" : "(@ - @)", {expr(want, depth), small()}};
    if (chance(5)) return Expression{want, "CAST(@ AS DATE)", {expr({.base = Base::kTimestamp}, depth)}};
    return leaf(want);
  }

  Node condition(int depth) {
    SqlType t = type();
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
        return Expression{
            kBoolean, any_of({"(@ AND @)", "(@ OR @)"}), {expr(kBoolean, depth), expr(kBoolean, depth)}};
      case 3:
        return Expression{kBoolean, "NOT (@)", {expr(kBoolean, depth)}};
      case 4:
        return Expression{kBoolean, any_of({"(@) IS NULL", "(@) IS NOT NULL"}), {expr(t, depth)}};
      case 5:
        return Expression{kBoolean,
                          any_of({"(@) IS TRUE", "(@) IS NOT TRUE", "(@) IS FALSE", "(@) IS NOT FALSE"}),
                          {expr(kBoolean, depth)}};
      case 6:
        return Expression{kBoolean,
                          any_of({"@ IS DISTINCT FROM @", "@ IS NOT DISTINCT FROM @"}),
                          {expr(t, depth), expr(near(t), depth)}};
      case 7:
      case 8:
      case 9: {
        std::vector<Node> items;
        for (size_t i = 1 + below(4); i > 0; --i) items.push_back(expr(near(t), std::min(depth, 1)));
        return Expression{kBoolean,
                          chance(70) ? "@ IN (@)" : "@ NOT IN (@)",
                          {expr(t, depth), List{", ", std::move(items)}}};
      }
      case 10:
      case 11:
        return Expression{kBoolean,
                          any_of({"@ BETWEEN @ AND @", "@ NOT BETWEEN @ AND @"}),
                          {expr(t, depth), expr(near(t), depth), expr(near(t), depth)}};
      case 12:
        if (chance(15)) {
          return Expression{kBoolean,
                            any_of({"@ LIKE @", "@ NOT LIKE @", "@ ILIKE @", "starts_with(@, @)"}),
                            {expr(text_type(), depth), expr(text_type(), depth)}};
        }
        [[fallthrough]];
      case 13: {
        if (!has_array()) return leaf(kBoolean);
        const SqlType element{.base = any(std::vector<Base>{Base::kInt, Base::kNumeric, Base::kVarchar})};
        return Expression{kBoolean,
                          fmt::format("@ {} ANY (@)", any_of({"=", "<>", "<", ">="})),
                          {expr(near(element), depth),
                           leaf({.base = element.base, .length = -1, .scale = -1, .is_array = true})}};
      }
      default:
        return Expression{kBoolean,
                          fmt::format("@ {} @", any_of({"=", "=", "<>", "<", ">", "<=", ">=", "!="})),
                          {expr(t, depth), expr(near(t), depth)}};
    }
  }

  std::vector<Named> scope_;
  bool makes_procedure_ = false;
};

}  // namespace mneme::differential
