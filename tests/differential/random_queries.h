// Random queries of all kinds, and changes of rows that contain them.
//
// Order       a query whose rows' order counts is ordered by all of its columns, so that rows which tie are
//             the same; so is a query that keeps some of its rows by LIMIT.
// Threads     one owner.
#pragma once

#include <utility>

#include "tests/differential/query_expressions.h"
#include "tests/differential/two_databases.h"

namespace mneme::differential {

class RandomQueries : protected QueryExpressions {
 protected:
  using QueryExpressions::QueryExpressions;

  using Types = std::vector<SqlType>;

  // --- Tables, rows, views

  Node create_query_table(size_t number) {
    TableShape table{
        .name = fmt::format("t{}", number), .columns = {{"id", kInteger}, {"k", kInteger}}, .key = 1};
    for (size_t i = 3 + below(4); i > 0; --i) {
      const SqlType type = calm_column();
      table.columns.push_back({fmt::format("{}{}", "abc"[number - 1], i), type});
    }
    std::vector<Node> elements;
    for (const Named& column : table.columns) {
      elements.push_back(
          Fixed{column.name + " " + column.type.text() + (column.name == "id" ? " PRIMARY KEY" : "")});
    }
    tables_.push_back(table);
    return Fixed{"CREATE TABLE " + table.name + " (@)", {List{", ", std::move(elements), 1}}};
  }

  Node fill(const TableShape& table) {
    std::vector<Node> rows;
    const size_t count = 4 + below(8);
    for (size_t row = 1; row <= count; ++row) {
      std::vector<Node> values;
      for (const Named& column : table.columns) {
        if (column.name == "id") {
          values.push_back(Fixed{std::to_string(row)});
        } else if (chance(18)) {
          values.push_back(Fixed{"NULL"});
        } else if (column.name == "k") {
          values.push_back(Fixed{std::to_string(below(6))});
        } else {
          values.push_back(Fixed{calm_text(column.type)});
        }
      }
      const size_t width = values.size();
      rows.push_back(Fixed{"(@)", {List{", ", std::move(values), width}}});
    }
    return Fixed{"INSERT INTO " + table.name + " VALUES @", {List{", ", std::move(rows), 1}}};
  }

  Node create_view(size_t number) {
    TableShape view{.name = fmt::format("v{}", number), .columns = {}, .key = 0};
    Types types;
    Strings names;
    for (size_t i = 1 + below(3); i > 0; --i) {
      types.push_back(calm_type());
      names.push_back(fmt::format("w{}{}", number, i));
      view.columns.push_back({names.back(), types.back()});
    }
    begin_statement();
    are_typed_ = true;
    Node body = query(types);
    are_typed_ = false;
    tables_.push_back(view);
    return Fixed{fmt::format("CREATE VIEW {} ({}) AS @", view.name, fmt::join(names, ", ")),
                 {std::move(body)}};
  }

  // --- Statements

  Step query_statement() {
    begin_statement();
    Step step;
    Types types;
    for (size_t i = 1 + below(4); i > 0; --i) types.push_back(calm_type());
    Node with = chance(18) ? with_clause() : Fixed{""};
    Node body = query(types);
    Node order = Fixed{""};
    if (chance(60)) {
      step.is_ordered = true;
      order = order_by_all(types.size(), chance(35));
    }
    step.sql = Fixed{"@@@", {std::move(with), std::move(body), std::move(order)}};
    return step;
  }

  Step change_statement() {
    Step step;
    step.sql = change();
    return step;
  }

  // A change, or a query whose rows are written down in the table seen, as a procedure's body does it.
  // `number`: of the block.
  Step block(size_t number) {
    Step step;
    if (chance(45)) {
      step.sql = Fixed{"DO $$ BEGIN @; END $$", {change()}};
      return step;
    }
    begin_statement();
    Types types;
    Strings names;
    Strings texts;
    for (size_t i = 1 + below(3); i > 0; --i) {
      types.push_back(calm_type());
      names.push_back(fmt::format("c{}", i));
      texts.push_back(fmt::format("CAST(c{} AS TEXT)", i));
    }
    Node with = chance(18) ? with_clause() : Fixed{""};
    Node body = query(types);
    const std::string text = fmt::format("concat_ws('|', {})", fmt::join(texts, ", "));
    const std::string from = fmt::format("FROM (@) AS q({}) WHERE n > 0", fmt::join(names, ", "));
    const std::string declared =
        fmt::format("DO $$ DECLARE found_row RECORD; n INT := {}; t TEXT; BEGIN ", number * 1000);
    step.sql = chance(60) ? Fixed{declared + "FOR found_row IN @SELECT " + text + " AS f " + from +
                                      " ORDER BY f LOOP n := n + 1; INSERT INTO seen VALUES (n, "
                                      "found_row.f); END LOOP; END $$",
                                  {std::move(with), std::move(body)}}
                          : Fixed{declared + "@SELECT max(" + text + "), count(*) + n INTO t, n " + from +
                                      "; INSERT INTO seen VALUES (n, t); END $$",
                                  {std::move(with), std::move(body)}};
    return step;
  }

 private:
  Node change() {
    begin_statement();
    const TableShape table = base_table();
    const size_t kind = below(10);
    return kind < 4 ? insert_rows(table) : kind < 8 ? update_rows(table) : delete_rows(table);
  }

  void begin_statement() {
    scopes_.clear();
    queries_left_ = 1 + below(5);
    names_ = 0;
    with_.clear();
  }

  TableShape base_table() {
    std::vector<TableShape> bases;
    for (const TableShape& table : tables_) {
      if (table.key > 0) bases.push_back(table);
    }
    return any(bases);
  }

  bool may_query() override { return queries_left_ > 0 && chance(70); }

  // --- Queries

  Node order_by_all(size_t columns, bool has_limit) {
    std::vector<size_t> positions;
    for (size_t i = 1; i <= columns; ++i) positions.push_back(i);
    std::shuffle(positions.begin(), positions.end(), random_);
    std::vector<Node> keys;
    for (const size_t position : positions) {
      keys.push_back(Fixed{std::to_string(position) +
                           any_of({"", "", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC"})});
    }
    std::string limit;
    if (has_limit)
      limit = any_of({" LIMIT 3", " LIMIT 1", " OFFSET 2", " LIMIT 2 OFFSET 1", " FETCH FIRST 2 ROWS ONLY",
                      " FETCH FIRST 2 ROWS WITH TIES", " LIMIT 0", " LIMIT ALL"});
    return Fixed{" ORDER BY @@", {List{", ", std::move(keys), columns}, Optional{limit}}};
  }

  Node subquery(const Types& outputs, bool is_one_row) override {
    if (queries_left_ > 0) --queries_left_;
    const bool typed = are_typed_;
    are_typed_ = false;
    Node result = is_one_row ? one_row(outputs) : Fixed{"(@)", {query(outputs)}};
    are_typed_ = typed;
    return result;
  }

  Node one_row(const Types& outputs) {
    if (chance(45)) return Fixed{"(@)", {select(outputs, true)}};
    Node body = query(outputs);
    Node order = order_by_all(outputs.size(), false);
    return Fixed{"(@@ LIMIT 1)", {std::move(body), std::move(order)}};
  }

  Node query(const Types& outputs) {
    if (chance(16)) {
      if (queries_left_ > 0) --queries_left_;
      const std::string set =
          any_of({"UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL", "UNION"});
      Node left = query(outputs);
      Node right = query(outputs);
      return Expression{kInteger, chance(50) ? "@ " + set + " @" : "(@) " + set + " (@)", {left, right}};
    }
    if (chance(5)) return values_list(outputs);
    return select(outputs, false);
  }

  Node values_list(const Types& outputs) {
    std::vector<Node> rows;
    scopes_.push_back({});
    for (size_t i = 1 + below(3); i > 0; --i) {
      std::vector<Node> values;
      for (const SqlType& type : outputs)
        values.push_back(Fixed{"@::" + name_of_type(type.base), {calm(type, 1)}});
      rows.push_back(Fixed{"(@)", {List{", ", std::move(values), outputs.size()}}});
    }
    scopes_.pop_back();
    return Fixed{"VALUES @", {List{", ", std::move(rows), 1}}};
  }

  // A SELECT without ORDER BY; of one row where all of them are one group.
  Node select(const Types& outputs, bool is_one_group) {
    scopes_.push_back({});
    Node from = chance(is_one_group ? 100 : 94) ? from_clause() : Fixed{""};
    Node where = Fixed{""};
    if (chance(55)) {
      Node condition = calm_condition(2);
      where = Optional{" WHERE @", {std::move(condition)}};
    }
    const size_t kind = is_one_group ? 0 : below(100);
    std::string distinct;
    Node grouping = Fixed{""};
    if (kind < 24 && !scopes_.back().names.empty()) {
      grouping = group_by(is_one_group);
    } else if (kind < 40) {
      scopes_.back().has_windows = true;
    } else if (kind < 52) {
      distinct = "DISTINCT ";
    }
    std::vector<Node> items;
    for (size_t i = 0; i < outputs.size(); ++i) {
      Node item = is_one_group ? set_function(outputs[i]) : calm(outputs[i], 2);
      if (are_typed_ && chance(70)) item = Fixed{"CAST(@ AS " + name_of_type(outputs[i].base) + ")", {item}};
      const std::string name = chance(20) ? fmt::format(" AS o{}", i + 1) : "";
      items.push_back(name.empty() ? item : Fixed{"@" + name, {item}});
    }
    scopes_.pop_back();
    return Expression{kInteger,
                      "SELECT " + distinct + "@@@@",
                      {List{", ", std::move(items), outputs.size()}, from, where, grouping}};
  }

  Node group_by(bool is_one_group) {
    Scope& scope = scopes_.back();
    scope.rows = scope.names;
    scope.is_grouped = true;
    scope.unique.clear();
    std::vector<Named> keys;
    std::vector<Node> written;
    for (size_t i = is_one_group ? 0 : 1 + below(3); i > 0; --i) {
      Named key = any(scope.rows);
      if (chance(20)) {
        const SqlType type = calm_type();
        const Node made = among_rows([&] { return calm(type, 1); });
        if (made.kind == NodeKind::kExpression) key = {made.text(), type};
      }
      const bool is_there = std::ranges::any_of(keys, [&](const Named& one) { return one.name == key.name; });
      if (is_there) continue;
      keys.push_back(key);
      written.push_back(Fixed{key.name});
      scope.unique.push_back(key.name);
    }
    scope.names = keys;
    const size_t count = written.size();
    std::string kind = "@";
    if (count > 0 && chance(25)) {
      kind = any_of({"ROLLUP (@)", "CUBE (@)", "GROUPING SETS ((@), ())"});
      scope.unique.clear();
      scope.names.push_back({"grouping(" + keys[0].name + ")", kInteger});
    }
    if (chance(12)) scope.has_windows = true;
    Node having = Fixed{""};
    if (chance(25)) {
      const bool windows = scopes_.back().has_windows;
      scopes_.back().has_windows = false;
      Node condition = calm_condition(1);
      scopes_.back().has_windows = windows;
      having = Optional{" HAVING @", {std::move(condition)}};
    }
    if (count == 0) return Fixed{"@", {std::move(having)}};
    return Fixed{" GROUP BY " + kind + "@", {List{", ", std::move(written), 1}, std::move(having)}};
  }

  // --- FROM

  std::string new_name() { return fmt::format("x{}", ++names_); }

  void see_columns(const std::string& alias, const std::vector<Named>& columns) {
    for (const Named& column : columns)
      scopes_.back().names.push_back({alias + "." + column.name, column.type});
  }

  Node from_clause() {
    bool is_total = true;
    Strings unique;
    Node joined = source(is_total, unique);
    for (size_t i = chance(50) ? 0 : 1 + below(2); i > 0; --i)
      joined = join(std::move(joined), is_total, unique);
    if (chance(8)) {
      Node second = source(is_total, unique);
      joined = Fixed{"@, @", {std::move(joined), std::move(second)}};
    }
    if (is_total) scopes_.back().unique = unique;
    return Fixed{" FROM @", {std::move(joined)}};
  }

  Node join(Node left, bool& is_total, Strings& unique) {
    const std::vector<Named> before = scopes_.back().names;
    const std::string way = any_of({"JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"});
    // What is LATERAL may stand behind JOIN and LEFT JOIN alone.
    const bool allowed = std::exchange(allows_lateral_, way == "JOIN" || way == "LEFT JOIN");
    Node right = source(is_total, unique);
    allows_lateral_ = allowed;
    const std::vector<Named> all = scopes_.back().names;
    const size_t kind = below(12);
    if (kind == 0) return Fixed{"@ CROSS JOIN @", {std::move(left), std::move(right)}};
    const auto has_k = [](const std::vector<Named>& names, size_t begin) {
      size_t count = 0;
      for (size_t i = begin; i < names.size(); ++i) count += names[i].name.ends_with(".k") ? 1 : 0;
      return count == 1;
    };
    if (kind < 4 && has_k(before, 0) && has_k(all, before.size())) {
      scopes_.back().names.push_back({"k", kInteger});
      return Expression{kInteger, "@ " + way + " @ USING (k)", {std::move(left), std::move(right)}};
    }
    Node on =
        equation(before, std::vector<Named>(all.begin() + static_cast<ptrdiff_t>(before.size()), all.end()));
    if (way != "FULL JOIN" && chance(35)) {
      Node further = calm_condition(1);
      on = Expression{kBoolean, chance(70) ? "@ AND @" : "(@ OR @)", {std::move(on), std::move(further)}};
    }
    return Expression{kInteger, "@ " + way + " @ ON @", {std::move(left), std::move(right), std::move(on)}};
  }

  Node equation(const std::vector<Named>& left, const std::vector<Named>& right) {
    for (size_t i = 0; i < 8; ++i) {
      const Named a = any(left);
      const Named b = any(right);
      if (are_kin(a.type, b.type)) return Expression{kBoolean, a.name + " = " + b.name, {}};
    }
    return Expression{kBoolean, "TRUE", {}};
  }

  Node source(bool& is_total, Strings& unique) {
    const std::string alias = new_name();
    const size_t kind = below(100);
    if (kind < 16 && queries_left_ > 0) {
      --queries_left_;
      is_total = false;
      return derived(alias);
    }
    if (kind < 20) {
      is_total = false;
      scopes_.back().names.push_back({alias + ".n", kInteger});
      return Fixed{any_of({"generate_series(1, 3)", "generate_series(5, 1, -2)",
                           "unnest(ARRAY[3, 1, NULL, 3])", "(VALUES (1), (2), (NULL))"}) +
                   " AS " + alias + "(n)"};
    }
    if (kind < 40 && !with_.empty()) {
      const TableShape chosen = any(with_);
      is_total = false;
      see_columns(alias, chosen.columns);
      return Fixed{chosen.name + " " + alias};
    }
    const TableShape table = any(tables_);
    see_columns(alias, table.columns);
    if (table.key == 0) is_total = false;
    if (is_total) unique.push_back(alias + ".id");
    return Fixed{table.name + any_of({" ", " AS "}) + alias};
  }

  Node derived(const std::string& alias) {
    Types types;
    Strings names;
    std::vector<Named> columns;
    for (size_t i = 1 + below(3); i > 0; --i) {
      const SqlType type = calm_type();
      types.push_back(type);
      names.push_back(fmt::format("d{}", i));
      columns.push_back({names.back(), type});
    }
    const bool is_lateral = allows_lateral_ && chance(30) && !scopes_.back().names.empty();
    const bool typed = are_typed_;
    are_typed_ = true;
    // One that is not LATERAL doesn't see what stands beside it.
    std::deque<Scope> outside = scopes_;
    if (!is_lateral) scopes_.pop_back();
    const bool allowed = std::exchange(allows_lateral_, true);
    Node body = query(types);
    allows_lateral_ = allowed;
    scopes_ = std::move(outside);
    are_typed_ = typed;
    Node limit = chance(25) ? order_by_all(types.size(), true) : Fixed{""};
    see_columns(alias, columns);
    const std::string listed = fmt::format("{}", fmt::join(names, ", "));
    return Fixed{(is_lateral ? "LATERAL (@@) AS " : "(@@) AS ") + alias + "(" + listed + ")",
                 {std::move(body), std::move(limit)}};
  }

  Node with_clause() {
    if (chance(20)) {
      with_.push_back({.name = "r", .columns = {{"n", kInteger}, {"s", kText}}, .key = 0});
      return Fixed{
          any_of({"WITH RECURSIVE r(n, s) AS (SELECT 1, 'a'::text UNION ALL SELECT n + 1, s || 'b' FROM r "
                  "WHERE n < 4) ",
                  "WITH RECURSIVE r(n, s) AS (SELECT id, 'a'::text FROM t1 WHERE id < 3 UNION SELECT "
                  "t.id, r.s || t.id FROM r JOIN t1 t ON t.k = r.n WHERE length(r.s) < 4) "})};
    }
    std::vector<Node> parts;
    const size_t count = 1 + below(2);
    for (size_t i = 1; i <= count; ++i) {
      TableShape made{.name = fmt::format("w{}", i), .columns = {}, .key = 0};
      Types types;
      Strings names;
      for (size_t column = 1 + below(3); column > 0; --column) {
        types.push_back(calm_type());
        names.push_back(fmt::format("e{}", column));
        made.columns.push_back({names.back(), types.back()});
      }
      are_typed_ = true;
      Node body = query(types);
      are_typed_ = false;
      with_.push_back(made);
      parts.push_back(Fixed{fmt::format("{}({}) AS {}(@)", made.name, fmt::join(names, ", "),
                                        any_of({"", "", "MATERIALIZED ", "NOT MATERIALIZED "})),
                            {std::move(body)}});
    }
    return Fixed{"WITH @ ", {List{", ", std::move(parts), count}}};
  }

  // --- Changes

  Node returned(const std::string& qualifier, const TableShape& table) {
    if (!chance(40)) return Fixed{""};
    if (chance(30)) return Optional{" RETURNING " + qualifier + ".*"};
    scopes_.clear();
    scopes_.push_back({});
    see_columns(qualifier, table.columns);
    queries_left_ = 0;
    std::vector<Node> items;
    for (size_t i = 1 + below(2); i > 0; --i) {
      const SqlType type = calm_type();
      items.push_back(calm(type, 2));
    }
    return Optional{" RETURNING @", {List{", ", std::move(items)}}};
  }

  Node insert_rows(const TableShape& table) {
    Strings names;
    std::vector<Node> items;
    const TableShape from = base_table();
    const bool is_query = chance(60);
    scopes_.push_back({});
    if (is_query) see_columns("s", from.columns);
    for (const Named& column : table.columns) {
      if (column.name != "id" && chance(25)) continue;
      names.push_back(column.name);
      if (column.name == "id") {
        items.push_back(
            Fixed{is_query ? fmt::format("s.id + {}", below(4) * 4) : std::to_string(1 + below(30))});
      } else if (!is_query && chance(10)) {
        items.push_back(Fixed{"DEFAULT"});
      } else {
        items.push_back(chance(60) ? calm_literal(column.type) : calm(column.type, 2));
      }
    }
    Node where = Fixed{""};
    if (is_query && chance(60)) {
      Node condition = calm_condition(2);
      where = Optional{" WHERE @", {std::move(condition)}};
    }
    scopes_.clear();
    const size_t width = items.size();
    Node rows = is_query ? Fixed{"SELECT @ FROM " + from.name + " s@", {List{", ", items, width}, where}}
                         : Fixed{"VALUES (@)", {List{", ", items, width}}};
    Node conflict = Fixed{""};
    if (chance(25)) {
      conflict = Optional{any_of({" ON CONFLICT DO NOTHING", " ON CONFLICT (id) DO NOTHING"})};
    } else if (chance(35)) {
      scopes_.push_back({});
      see_columns(table.name, table.columns);
      see_columns("excluded", table.columns);
      const Named target = table.columns[1 + below(table.columns.size() - 1)];
      Node value = calm(target.type, 2);
      Node condition = chance(25) ? calm_condition(1) : Literal{kBoolean, "TRUE"};
      scopes_.clear();
      conflict = Optional{" ON CONFLICT (id) DO UPDATE SET " + target.name + " = @ WHERE @",
                          {std::move(value), std::move(condition)}};
    }
    Node tail = returned(table.name, table);
    return Fixed{fmt::format("INSERT INTO {} ({}) @@@", table.name, fmt::join(names, ", ")),
                 {std::move(rows), std::move(conflict), std::move(tail)}};
  }

  Node update_rows(const TableShape& table) {
    scopes_.push_back({});
    see_columns("u", table.columns);
    const TableShape from = base_table();
    const bool joins = chance(40);
    if (joins) see_columns("f", from.columns);
    std::vector<Node> settings;
    const Named target = table.columns[1 + below(table.columns.size() - 1)];
    const size_t allowed = queries_left_;
    if (chance(12)) {
      Node row = subquery({target.type, kInteger}, true);
      if (target.name == "k") row = subquery({target.type}, true);
      settings.push_back(
          Fixed{(target.name == "k" ? "k = @" : "(" + target.name + ", k) = @"), {std::move(row)}});
    } else {
      Node value = calm(target.type, 3);
      settings.push_back(Fixed{target.name + " = @", {std::move(value)}});
    }
    queries_left_ = allowed;
    Node condition = calm_condition(2);
    // A row of the table meets one row of the other at most.
    Node where = joins ? Fixed{" FROM " + from.name + " f WHERE u.k = f.id AND @", {std::move(condition)}}
                       : Fixed{" WHERE @", {std::move(condition)}};
    Node tail = returned("u", table);
    return Fixed{"UPDATE " + table.name + " u SET @@@",
                 {List{", ", std::move(settings)}, std::move(where), std::move(tail)}};
  }

  Node delete_rows(const TableShape& table) {
    scopes_.push_back({});
    see_columns("u", table.columns);
    const TableShape from = base_table();
    const bool joins = chance(40);
    if (joins) see_columns("f", from.columns);
    Node condition = calm_condition(2);
    Node where = joins ? Fixed{" USING " + from.name + " f WHERE u.k = f.k AND @", {std::move(condition)}}
                       : Fixed{" WHERE u.k = 3 AND @", {std::move(condition)}};
    Node tail = returned("u", table);
    return Fixed{"DELETE FROM " + table.name + " u@@", {std::move(where), std::move(tail)}};
  }

  std::vector<TableShape> with_;  // what WITH names
  size_t names_ = 0;
  bool allows_lateral_ = true;
  bool are_typed_ = false;  // the outputs' types are written, as another query reads them

 protected:
  std::vector<TableShape> tables_;  // and views, whose key is 0
};

}  // namespace mneme::differential
