// Random expressions of queries: they seldom fail, so that an answer is rows and does not hang on a plan.
//
// Invariants  numbers are small, and doubles are sums of binary fractions, so that no order of adding them
//             changes a sum.
// Threads     one owner.
#pragma once

#include <deque>

#include "tests/differential/random_values.h"

namespace mneme::differential {

class QueryExpressions : protected RandomValues {
 protected:
  using RandomValues::RandomValues;

  virtual ~QueryExpressions() = default;

  // A query in parentheses with columns of these types, which may see the names in scope.
  virtual Node subquery(const std::vector<SqlType>& outputs, bool is_one_row) = 0;
  virtual bool may_query() = 0;

  static SqlType plain(Base base) { return {.base = base}; }

  // --- Types and values

  SqlType calm_type() {
    const Base base = any(std::vector<Base>{
        Base::kInt, Base::kInt, Base::kInt, Base::kBigInt, Base::kSmallInt, Base::kNumeric, Base::kNumeric,
        Base::kDouble, Base::kReal, Base::kBoolean, Base::kText, Base::kText, Base::kVarchar, Base::kChar,
        Base::kDate, Base::kTimestamp, Base::kTime});
    return plain(base);
  }
  SqlType calm_column() {
    SqlType type = calm_type();
    if (type.base == Base::kNumeric) {
      type.length = 8;
      type.scale = chance(80) ? 2 : 4;
    } else if (type.base == Base::kVarchar) {
      type.length = chance(80) ? 12 : 3;
    } else if (type.base == Base::kChar) {
      type.length = chance(50) ? 1 : 4;
    }
    return type;
  }
  SqlType calm_number() {
    return plain(any(std::vector<Base>{Base::kInt, Base::kInt, Base::kBigInt, Base::kSmallInt, Base::kNumeric,
                                       Base::kDouble}));
  }

  static bool are_kin(const SqlType& a, const SqlType& b) {
    return a.base == b.base || (a.is_number() && b.is_number()) || (a.is_text() && b.is_text());
  }

  std::string calm_text(const SqlType& type) {
    switch (type.base) {
      case Base::kBoolean:
        return any_of({"TRUE", "FALSE"});
      case Base::kText:
      case Base::kVarchar:
      case Base::kChar: {
        if (type.length == 1) return any_of({"'a'", "'b'", "''", "'X'", "' '"});
        if (type.length > 0 && type.length < 5) return any_of({"'a'", "'ab'", "'B'", "''", "'xyz'", "' a'"});
        return any_of({"'a'", "'ab'", "'B'", "''", "'xyz'", "'a b'", "'12'", "'-3'", "'abc'", "'Ab%_'",
                       "'it''s'", "'b '"});
      }
      case Base::kDate:
        return any_of({"DATE '2024-02-29'", "DATE '2023-12-31'", "DATE '2024-01-01'", "DATE '1999-07-15'"});
      case Base::kTimestamp:
        return any_of({"TIMESTAMP '2024-02-29 12:30:45.5'", "TIMESTAMP '2023-12-31 23:59:59'",
                       "TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '1999-07-15 06:07:08.123456'"});
      case Base::kTime:
        return any_of({"TIME '12:30:45.5'", "TIME '23:59:59'", "TIME '00:00'", "TIME '06:07:08.123456'"});
      case Base::kNumeric:
        return any_of({"0.5", "1.25", "2.00", "-3.75", "10.10", "0.00", "7", "99.99", "-0.01", "3"});
      case Base::kReal:
      case Base::kDouble:
        return any_of({"0.5", "1.25", "2", "-3.75", "0", "16.5", "-1", "3"});
      default:
        return any_of({"0", "1", "2", "3", "4", "5", "7", "10", "-1", "-2", "42"});
    }
  }
  Node calm_literal(const SqlType& type) {
    if (chance(12)) return Literal{type, chance(50) ? "NULL" : "NULL::" + name_of_type(type.base)};
    std::string text = calm_text(type);
    if (type.base == Base::kReal || type.base == Base::kDouble || chance(8)) {
      if (text.starts_with("-")) text = "(" + text + ")";
      return Literal{type, text + "::" + name_of_type(type.base)};
    }
    return Literal{type, text};
  }
  static std::string name_of_type(Base base) { return base == Base::kChar ? "CHAR(4)" : plain(base).text(); }

  // --- Leaves

  struct Scope {
    std::vector<Named> names;
    bool is_grouped = false;          // the names are what is grouped by, and set functions may stand here
    bool has_windows = false;         // window functions may stand here
    std::vector<Named> rows;          // what a set function's argument may name
    std::vector<std::string> unique;  // expressions that order the rows totally; none: nothing does
  };

  Node calm_leaf(const SqlType& want) {
    if (scopes_.empty()) return calm_literal(want);
    const size_t level = scopes_.size() > 1 && chance(20) ? below(scopes_.size() - 1) : scopes_.size() - 1;
    const Scope& scope = scopes_[level];
    const bool is_own = level + 1 == scopes_.size();
    if (is_own && scope.is_grouped && chance(55)) return set_function(want);
    if (is_own && scope.has_windows && chance(25)) return window_function(want);
    if (chance(15)) return calm_literal(want);
    std::vector<Named> same;
    std::vector<Named> kin;
    for (const Named& one : scope.names) {
      // What is grouped by may stand in a subquery as a column alone.
      if (!is_own && one.name.find('(') != std::string::npos) continue;
      if (one.type.base == want.base) same.push_back(one);
      if (are_kin(one.type, want)) kin.push_back(one);
    }
    if (kin.empty()) return calm_literal(want);
    const Named one = !same.empty() && chance(60) ? any(same) : any(kin);
    return Literal{one.type, one.name};
  }

  // Runs `make` where the names are those of rows, as in a set function's argument.
  template <typename Make>
  Node among_rows(const Make& make) {
    Scope rows;
    rows.names = scopes_.back().rows;
    scopes_.push_back(rows);
    const size_t allowed = queries_left_;
    queries_left_ = 0;
    Node made = make();
    queries_left_ = allowed;
    scopes_.pop_back();
    return made;
  }

  Node filter() {
    if (!chance(12)) return Fixed{""};
    Node condition = among_rows([&] { return calm_condition(1); });
    return Optional{" FILTER (WHERE @)", {std::move(condition)}};
  }

  Node set_function(const SqlType& want) {
    if (want.is_number()) {
      const size_t kind = below(10);
      if (kind < 2) {
        Node tail = filter();
        return Expression{plain(Base::kBigInt), "count(*)@", {std::move(tail)}};
      }
      if (kind == 2) {
        const SqlType of = calm_type();
        Node argument = among_rows([&] { return calm(of, 1); });
        Node tail = filter();
        return Expression{plain(Base::kBigInt),
                          chance(50) ? "count(@)@" : "count(DISTINCT @)@",
                          {std::move(argument), std::move(tail)}};
      }
      const SqlType of = calm_number();
      const std::string name = any_of({"sum", "sum", "avg", "min", "max", "sum(DISTINCT", "avg(DISTINCT"});
      Node argument = among_rows([&] { return calm(of, 1); });
      Node tail = filter();
      const std::string opened = name.find('(') == std::string::npos ? name + "(" : name + " ";
      return Expression{want, opened + "@)@", {std::move(argument), std::move(tail)}};
    }
    if (want.base == Base::kBoolean) {
      const std::string name = any_of({"bool_and", "bool_or", "every"});
      Node argument = among_rows([&] { return calm_condition(1); });
      Node tail = filter();
      return Expression{want, name + "(@)@", {std::move(argument), std::move(tail)}};
    }
    if (want.is_text() && chance(25)) {
      const Node argument = among_rows([&] { return calm(plain(Base::kText), 1); });
      const std::string order = any_of({"", " DESC", " NULLS FIRST"});
      return Expression{want, "string_agg(@, ',' ORDER BY @" + order + ")", {argument, argument}};
    }
    const std::string name = any_of({"min", "max"});
    Node argument = among_rows([&] { return calm(want, 1); });
    Node tail = filter();
    return Expression{want, name + "(@)@", {std::move(argument), std::move(tail)}};
  }

  Node window_function(const SqlType& want) {
    scopes_.back().has_windows = false;
    const bool is_total = !scopes_.back().unique.empty();
    std::vector<Node> parts;
    if (chance(60)) {
      const SqlType of = calm_type();
      Node key = calm(of, 1);
      parts.push_back(Optional{"PARTITION BY @", {std::move(key)}});
    }
    const SqlType ordered = calm_type();
    const bool has_order = chance(85);
    const bool orders_totally = is_total && chance(70);
    if (has_order) {
      Node key = calm(ordered, 1);
      const std::string direction = any_of({"", " DESC", " NULLS FIRST", " DESC NULLS LAST"});
      std::string rest;
      if (orders_totally) {
        for (const std::string& one : scopes_.back().unique) rest += ", " + one;
      }
      parts.push_back(Fixed{"ORDER BY @" + direction + rest, {std::move(key)}});
    }
    const bool rows_are_known = has_order && orders_totally;
    std::string frame;
    if (has_order && chance(40)) {
      const std::string unit =
          rows_are_known ? any_of({"ROWS", "ROWS", "GROUPS", "RANGE"}) : any_of({"GROUPS", "RANGE"});
      const bool takes_offsets = unit != "RANGE";
      const std::string begin =
          takes_offsets ? any_of({"UNBOUNDED PRECEDING", "1 PRECEDING", "2 PRECEDING", "CURRENT ROW"})
                        : any_of({"UNBOUNDED PRECEDING", "CURRENT ROW"});
      const std::string end = takes_offsets ? any_of({"UNBOUNDED FOLLOWING", "1 FOLLOWING", "CURRENT ROW"})
                                            : any_of({"UNBOUNDED FOLLOWING", "CURRENT ROW"});
      frame = unit + " BETWEEN " + begin + " AND " + end;
      if (rows_are_known || unit != "ROWS")
        frame += any_of({"", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"});
      // CURRENT ROW alone names one row of its peers where the frame leaves it out.
      if (!rows_are_known && frame.find("EXCLUDE CURRENT") != std::string::npos) frame.clear();
    }
    Node call = windowed_call(want, rows_are_known);
    parts.push_back(Optional{frame});
    Node over = List{" ", std::move(parts), 0};
    scopes_.back().has_windows = true;
    return Expression{want, "@ OVER (@)", {std::move(call), std::move(over)}};
  }

  Node windowed_call(const SqlType& want, bool rows_are_known) {
    if (want.is_number() && chance(50)) {
      const std::string name =
          rows_are_known ? any_of({"rank()", "dense_rank()", "row_number()", "ntile(3)", "percent_rank()",
                                   "cume_dist()", "count(*)"})
                         : any_of({"rank()", "dense_rank()", "percent_rank()", "cume_dist()", "count(*)"});
      return Fixed{name};
    }
    if (rows_are_known && chance(60)) {
      const std::string name = any_of({"lag(@)", "lead(@)", "first_value(@)", "last_value(@)",
                                       "nth_value(@, 2)", "lag(@, 2)", "lead(@, 0)"});
      Node argument = calm(want, 1);
      return Fixed{name, {std::move(argument)}};
    }
    if (want.base == Base::kBoolean) {
      Node argument = calm_condition(1);
      return Fixed{chance(50) ? "bool_or(@)" : "bool_and(@)", {std::move(argument)}};
    }
    const std::string name = want.is_number() ? any_of({"sum(@)", "avg(@)", "min(@)", "max(@)", "count(@)"})
                                              : any_of({"min(@)", "max(@)"});
    const SqlType of = want.is_number() ? calm_number() : want;
    Node argument = calm(of, 1);
    return Fixed{name, {std::move(argument)}};
  }

  // --- Expressions

  Node calm(const SqlType& want, int depth) {
    if (depth <= 0 || chance(35)) return calm_leaf(want);
    if (chance(20)) return calm_general(want, depth - 1);
    if (want.base == Base::kBoolean) return calm_condition(depth - 1);
    if (want.is_text()) return calm_string(want, depth - 1);
    if (want.base == Base::kDate || want.base == Base::kTimestamp || want.base == Base::kTime)
      return calm_time(want, depth - 1);
    return calm_arithmetic(want, depth - 1);
  }

  Node calm_general(const SqlType& want, int depth) {
    switch (below(8)) {
      case 0: {
        std::vector<Node> branches;
        for (size_t i = 1 + below(2); i > 0; --i) {
          Node condition = calm_condition(depth);
          Node value = calm(want, depth);
          branches.push_back(Fixed{"WHEN @ THEN @", {std::move(condition), std::move(value)}});
        }
        Node last = calm(want, depth);
        return Expression{
            want, "CASE @@ END", {List{" ", std::move(branches)}, Optional{" ELSE @", {std::move(last)}}}};
      }
      case 1: {
        const SqlType subject = calm_type();
        Node left = calm(subject, depth);
        Node right = calm(subject, 0);
        Node value = calm(want, depth);
        Node last = calm(want, depth);
        return Expression{want,
                          "CASE @ WHEN @ THEN @ ELSE @ END",
                          {std::move(left), std::move(right), std::move(value), std::move(last)}};
      }
      case 2:
      case 3: {
        std::vector<Node> items;
        for (size_t i = 2 + below(2); i > 0; --i) items.push_back(calm(want, depth));
        return Expression{
            want, any_of({"coalesce(@)", "greatest(@)", "least(@)", "coalesce(@)"}), {List{", ", items}}};
      }
      case 4: {
        Node left = calm(want, depth);
        Node right = calm(want, depth);
        return Expression{want, "nullif(@, @)", {std::move(left), std::move(right)}};
      }
      case 5: {
        // From types whose every value converts.
        const SqlType from = want.is_text() ? calm_type() : want.is_number() ? calm_number() : want;
        const std::string name = name_of_type(want.base);
        Node inner = calm(from, depth);
        return Expression{want, chance(50) ? "CAST(@ AS " + name + ")" : "(@)::" + name, {std::move(inner)}};
      }
      default:
        if (!may_query()) return calm_leaf(want);
        return Expression{want, "@", {subquery({want}, true)}};
    }
  }

  Node calm_arithmetic(const SqlType& want, int depth) {
    switch (below(14)) {
      case 0: {
        Node of = calm(plain(Base::kText), depth);
        return Expression{want,
                          any_of({"length(@)", "char_length(@)", "octet_length(@)", "strpos(@, 'a')"}),
                          {std::move(of)}};
      }
      case 1: {
        const std::string field =
            any_of({"year", "month", "day", "hour", "minute", "second", "dow", "doy", "quarter", "epoch"});
        const bool is_date = field == "year" || field == "month" || field == "day" || field == "epoch";
        const bool is_clock = field == "hour" || field == "minute" || field == "second";
        Node of = calm(plain(is_date && chance(50)    ? Base::kDate
                             : is_clock && chance(40) ? Base::kTime
                                                      : Base::kTimestamp),
                       depth);
        return Expression{want, "extract(" + field + " FROM @)", {std::move(of)}};
      }
      case 2: {
        Node of = calm(want, depth);
        return Expression{
            want, any_of({"abs(@)", "sign(@)", "ceil(@)", "floor(@)", "round(@)", "trunc(@)"}), {of}};
      }
      case 3: {
        Node left = calm(want, depth);
        Node right = calm(want, depth);
        return Expression{want, "(@ / nullif(@, 0))", {std::move(left), std::move(right)}};
      }
      case 4: {
        const SqlType whole = plain(any(std::vector<Base>{Base::kInt, Base::kBigInt, Base::kNumeric}));
        Node left = calm(whole, depth);
        return Expression{want, any_of({"(@ % 3)", "mod(@, 4)", "(@ / 2)"}), {std::move(left)}};
      }
      case 5: {
        Node of = calm(plain(Base::kNumeric), depth);
        return Expression{want,
                          any_of({"round(@, 1)", "trunc(@, 1)", "round(@, 0)", "trim_scale(@)", "div(@, 3)"}),
                          {std::move(of)}};
      }
      case 6: {
        Node left = calm(plain(Base::kDate), depth);
        Node right = calm(plain(Base::kDate), depth);
        return Expression{want, "(@ - @)", {std::move(left), std::move(right)}};
      }
      case 7: {
        Node of = calm(want, depth);
        return Expression{want, any_of({"(- @)", "(+ @)"}), {std::move(of)}};
      }
      default: {
        Node left = calm(chance(70) ? want : calm_number(), depth);
        Node right = calm(chance(70) ? want : calm_number(), depth);
        return Expression{
            want, any_of({"(@ + @)", "(@ - @)", "(@ * @)"}), {std::move(left), std::move(right)}};
      }
    }
  }

  Node calm_string(const SqlType& want, int depth) {
    const SqlType text = plain(any(std::vector<Base>{Base::kText, Base::kVarchar, Base::kChar}));
    Node first = calm(text, depth);
    switch (below(8)) {
      case 0:
        return Expression{
            want, any_of({"upper(@)", "lower(@)", "trim(@)", "reverse(@)", "initcap(@)", "md5(@)"}), {first}};
      case 1:
        return Expression{want,
                          any_of({"substr(@, 2)", "left(@, 1)", "right(@, 2)", "substring(@ FROM 1 FOR 2)"}),
                          {std::move(first)}};
      case 2: {
        Node second = calm(plain(Base::kText), depth);
        return Expression{want, "replace(@, 'a', @)", {std::move(first), std::move(second)}};
      }
      case 3: {
        const SqlType other = calm_type();
        Node second = calm(other, depth);
        return Expression{
            want, any_of({"concat(@, @)", "concat_ws('-', @, @)"}), {std::move(first), std::move(second)}};
      }
      case 4:
        return Expression{
            want, any_of({"lpad(@, 4, '*')", "rpad(@, 3)", "repeat(@, 2)"}), {std::move(first)}};
      default: {
        const SqlType other = chance(60) ? plain(Base::kText) : calm_type();
        Node second = calm(other, depth);
        return Expression{want, "(@ || @)", {std::move(first), std::move(second)}};
      }
    }
  }

  Node calm_time(const SqlType& want, int depth) {
    Node first = calm(want, depth);
    if (want.base == Base::kDate) {
      return Expression{
          want, any_of({"(@ + 1)", "(@ - 30)", "CAST(@ AS DATE)", "(@ + 7)"}), {std::move(first)}};
    }
    if (want.base == Base::kTime) {
      if (chance(30)) return Expression{want, "CAST(@ AS TIME)", {calm(plain(Base::kTimestamp), depth)}};
      return Expression{want,
                        any_of({"(@ + INTERVAL '90 min')", "(@ - INTERVAL '2 hours')", "CAST(@ AS TIME)"}),
                        {std::move(first)}};
    }
    if (chance(15)) {
      Node day = calm(plain(Base::kDate), depth);
      Node clock = calm(plain(Base::kTime), depth);
      return Expression{want, "(@ + @)", {std::move(day), std::move(clock)}};
    }
    return Expression{want,
                      any_of({"(@ + INTERVAL '1 day')", "date_trunc('month', @)", "(@ - INTERVAL '2 hours')",
                              "date_trunc('hour', @)", "CAST(@ AS TIMESTAMP)"}),
                      {std::move(first)}};
  }

  // --- Conditions

  Node calm_condition(int depth) {
    const SqlType type = calm_type();
    const std::string compares = any_of({"=", "=", "<>", "<", ">", "<=", ">="});
    switch (below(20)) {
      case 0:
      case 1:
      case 2: {
        Node left = calm_condition(depth - 1);
        Node right = calm_condition(depth - 1);
        return Expression{kBoolean, any_of({"(@ AND @)", "(@ OR @)"}), {std::move(left), std::move(right)}};
      }
      case 3: {
        Node inner = calm_condition(depth - 1);
        return Expression{kBoolean,
                          any_of({"(NOT @)", "((@) IS TRUE)", "((@) IS NOT FALSE)", "((@) IS UNKNOWN)"}),
                          {std::move(inner)}};
      }
      case 4: {
        Node inner = calm(type, depth);
        return Expression{kBoolean, any_of({"(@ IS NULL)", "(@ IS NOT NULL)"}), {std::move(inner)}};
      }
      case 5: {
        std::vector<Node> items;
        Node left = calm(type, depth);
        for (size_t i = 1 + below(3); i > 0; --i) items.push_back(calm(type, 0));
        return Expression{
            kBoolean, chance(70) ? "(@ IN (@))" : "(@ NOT IN (@))", {std::move(left), List{", ", items}}};
      }
      case 6: {
        Node left = calm(type, depth);
        Node low = calm(type, depth);
        Node high = calm(type, depth);
        return Expression{kBoolean,
                          any_of({"(@ BETWEEN @ AND @)", "(@ NOT BETWEEN @ AND @)"}),
                          {std::move(left), std::move(low), std::move(high)}};
      }
      case 7: {
        Node left = calm(plain(Base::kText), depth);
        return Expression{kBoolean,
                          any_of({"(@ LIKE 'a%')", "(@ NOT LIKE '%b%')", "(@ ILIKE 'A_')", "(@ ~ '^a')",
                                  "(@ SIMILAR TO '(a|b)%')"}),
                          {std::move(left)}};
      }
      case 8: {
        Node left = calm(type, depth);
        Node right = calm(type, depth);
        return Expression{kBoolean,
                          any_of({"(@ IS DISTINCT FROM @)", "(@ IS NOT DISTINCT FROM @)"}),
                          {std::move(left), std::move(right)}};
      }
      case 9: {
        const SqlType second = calm_type();
        Node a = calm(type, depth);
        Node b = calm(second, depth);
        Node c = calm(type, 0);
        Node d = calm(second, 0);
        return Expression{kBoolean,
                          "((@, @) " + compares + " (@, @))",
                          {std::move(a), std::move(b), std::move(c), std::move(d)}};
      }
      case 10:
      case 11:
      case 12:
        if (may_query()) return query_condition(type, depth, compares);
        break;
      case 13:
        return calm_leaf(kBoolean);
      default:
        break;
    }
    Node left = calm(type, depth);
    Node right = calm(type, depth);
    return Expression{kBoolean, "(@ " + compares + " @)", {std::move(left), std::move(right)}};
  }

  Node query_condition(const SqlType& type, int depth, const std::string& compares) {
    const size_t kind = below(5);
    if (kind == 0) {
      return Expression{kBoolean, chance(60) ? "EXISTS @" : "(NOT EXISTS @)", {subquery({type}, false)}};
    }
    Node left = calm(type, depth);
    if (kind == 1) {
      const SqlType second = calm_type();
      Node right = calm(second, depth);
      Node rows = subquery({type, second}, false);
      return Expression{kBoolean,
                        chance(60) ? "((@, @) IN @)" : "((@, @) NOT IN @)",
                        {std::move(left), std::move(right), std::move(rows)}};
    }
    Node rows = subquery({type}, false);
    if (kind == 2) {
      return Expression{kBoolean,
                        "(@ " + compares + any_of({" ANY @)", " ALL @)", " SOME @)"}),
                        {std::move(left), std::move(rows)}};
    }
    return Expression{kBoolean, chance(60) ? "(@ IN @)" : "(@ NOT IN @)", {std::move(left), std::move(rows)}};
  }

  std::deque<Scope> scopes_;  // references to scopes stay, as others are pushed
  size_t queries_left_ = 0;   // how many queries may still be made within the statement
};

}  // namespace mneme::differential
