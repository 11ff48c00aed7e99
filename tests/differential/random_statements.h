// Random schemas, and statements about their rows.
//
// Threads     one owner.
#pragma once

#include "tests/differential/random_expressions.h"
#include "tests/differential/two_databases.h"

namespace mneme::differential {

class RandomStatements : protected RandomExpressions {
 protected:
  using RandomExpressions::RandomExpressions;

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
      const std::string name =
          fmt::format("{}{}", number == 0 ? "abcdefg"[i] : "uvwxyzk"[i], chance(95) ? "" : "c");
      table.columns.push_back({name, column});
      std::vector<Node> parts;
      if (chance(15))
        parts.push_back(Optional{" NOT NULL"});
      else if (chance(3))
        parts.push_back(Optional{chance(95) ? " NOT NULL UNIQUE" : " UNIQUE"});
      if (chance(1) && chance(20)) {
        scope_ = {{name, column}};
        parts.push_back(Optional{" CHECK (@)", {expr(kBoolean, 2)}});
      }
      Node tail = List{"", std::move(parts), 0};
      elements.push_back(Fixed{name + " " + column.text() + "@", {std::move(tail)}});
    }
    if (has_key) {
      Strings key;
      for (size_t i = 0; i < table.key; ++i) key.push_back(table.columns[i].name);
      elements.push_back(Fixed{fmt::format("PRIMARY KEY ({})", fmt::join(key, ", "))});
    }
    tables_.push_back(table);
    return Fixed{"CREATE TABLE " + table.name + " (@)", {List{", ", std::move(elements), 1}}};
  }

  Node create_index() {
    const TableShape& table = any(tables_);
    Strings columns;
    for (size_t i = 1 + below(2); i > 0; --i) columns.push_back(any(table.columns).name);
    if (columns.size() == 2 && columns[0] == columns[1]) columns.pop_back();
    return Fixed{fmt::format("CREATE {}INDEX i1 ON {} ({})", chance(10) ? "UNIQUE " : "", table.name,
                             fmt::join(columns, ", "))};
  }

  // --- Statements on rows

  void see(const TableShape& table, const std::string& qualifier) {
    for (const Named& column : table.columns) {
      scope_.push_back({qualifier.empty() ? column.name : qualifier + "." + column.name, column.type});
    }
  }
  std::vector<Named> outer() {
    std::vector<Named> names = variables_;
    if (makes_procedure_ && chance(25)) names.push_back({"FOUND", kBoolean});
    return names;
  }

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
    Node statement = Fixed{fmt::format("INSERT INTO {}{} VALUES (@)@", table.name,
                                       lists ? fmt::format(" ({})", fmt::join(names, ", ")) : ""),
                           {List{", ", std::move(values), columns.size()}, Fixed{""}}};
    scope_ = outer();
    see(table, "");
    statement.children[1] = returning(into);
    return statement;
  }

  Node returning(const std::vector<Named>& into) {
    if (into.empty() && (makes_procedure_ || !chance(20))) return Fixed{""};
    std::vector<Node> items;
    if (!into.empty()) {
      for (const Named& target : into) items.push_back(expr(target.type, 2));
      const size_t count = items.size();
      return Optional{" RETURNING @" + into_clause(into), {List{", ", std::move(items), count}}};
    }
    if (chance(30)) {
      items.push_back(Fixed{"*"});
    } else {
      for (size_t i = 1 + below(2); i > 0; --i) items.push_back(expr(type(), 2));
    }
    return Optional{" RETURNING @", {List{", ", std::move(items)}}};
  }

  Node where(int depth = 2) {
    if (chance(15)) return Fixed{""};
    std::vector<Node> terms;
    for (size_t i = 1 + below(2); i > 0; --i) {
      const Named& one = any(scope_);
      if (chance(55)) {
        terms.push_back(Expression{kBoolean,
                                   fmt::format("@ {} @", any_of({"=", "=", "<>", "<", ">", "<=", ">="})),
                                   {Literal{one.type, one.name}, leaf(one.type)}});
      } else {
        terms.push_back(expr(kBoolean, depth));
      }
    }
    return Optional{" WHERE @", {List{" AND ", std::move(terms)}}};
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
      settings.push_back(
          Fixed{column.name + " = @", {expr(chance(90) ? column.type : near(column.type), 3)}});
    }
    Node condition = where();
    return Fixed{"UPDATE " + table.name + any_of({"", "", "", " x", " AS x"}) + " SET @@@",
                 {List{", ", std::move(settings)}, std::move(condition), returning(into)}};
  }

  Node remove(const std::vector<Named>& into = {}) {
    const TableShape& table = any(tables_);
    scope_ = outer();
    see(table, "");
    Node condition = where();
    return Fixed{"DELETE FROM " + table.name + any_of({"", "", "", " x", " AS x"}) + "@@",
                 {std::move(condition), returning(into)}};
  }

  Step select() {
    scope_ = outer();
    const bool joins = tables_.size() > 1 && chance(25);
    const TableShape& first = joins ? tables_[0] : any(tables_);
    std::string from = first.name;
    bool is_total = first.key > 0;
    Strings keys;
    for (size_t i = 0; i < first.key; ++i)
      keys.push_back((joins ? "l." : first.name + ".") + first.columns[i].name);
    see(first, joins ? "l" : "");
    Node joined = Fixed{""};
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
            Node other = fitting.empty() ? leaf(key.type) : Literal{key.type, any(fitting).name};
            terms.push_back(Expression{kBoolean, "@ = @", {Literal{key.type, key.name}, std::move(other)}});
          }
        }
        if (terms.empty() || chance(30)) terms.push_back(expr(kBoolean, 2));
        joined = Fixed{" l JOIN " + second.name + " r ON @", {List{" AND ", std::move(terms)}}};
      } else {
        joined = Fixed{" l, " + second.name + " r"};
      }
    }
    if (chance(18)) return aggregate(from, std::move(joined));
    std::vector<Node> items;
    if (chance(12))
      items.push_back(
          Fixed{joins ? any_of({"*", "l.*", "r.*"}) : (chance(70) ? "" : first.name + ".") + "*"});
    Strings aliases;
    for (size_t i = (items.empty() ? 1 : 0) + below(3); i > 0; --i) {
      Node item = expr(type(), 3);
      if (chance(25)) {
        aliases.push_back(chance(70) ? fmt::format("o{}", i) : any(scope_).name);
        if (aliases.back().find('.') != std::string::npos) aliases.back() = "o9";
        items.push_back(Fixed{"@ AS " + aliases.back(), {std::move(item)}});
      } else {
        items.push_back(std::move(item));
      }
    }
    Node condition = where();
    Step step;
    std::vector<Node> order;
    if (chance(45)) {
      for (size_t i = below(3); i > 0; --i) {
        Node key = !aliases.empty() && chance(40) ? Literal{kInteger, any(aliases)}
                   : chance(60)                   ? Literal{kInteger, any(scope_).name}
                                                  : expr(type(), 2);
        order.push_back(Fixed{"@" + any_of({"", "", " DESC", " ASC"}), {std::move(key)}});
      }
    }
    Node ordering = Fixed{""};
    Node limit = Fixed{""};
    if (is_total && (!order.empty() || chance(25))) {
      // The key's own columns make the order total. A bare name might mean a column of the result.
      for (const std::string& key : keys) order.push_back(Fixed{key});
      ordering = Fixed{" ORDER BY @", {List{", ", std::move(order)}}};
      step.is_ordered = true;
      if (chance(35)) {
        limit = Optional{any_of({" LIMIT @", " LIMIT @", " LIMIT 3 OFFSET @", " OFFSET @"}), {small_or(1)}};
      }
      // Leaving keys away would leave ties, so the list's keys stay.
      ordering.children[0].minimum = ordering.children[0].children.size();
    } else if (!order.empty()) {
      ordering = Optional{" ORDER BY @", {List{", ", std::move(order)}}};
    }
    step.sql = Fixed{"SELECT @ FROM " + from + "@@@@",
                     {List{", ", std::move(items)}, std::move(joined), std::move(condition),
                      std::move(ordering), std::move(limit)}};
    return step;
  }

  Node aggregate_item() {
    const std::string name =
        any_of({"count", "sum", "min", "max", "count", "sum", "min", "max", "sum", "min"});
    if (chance(2)) return Expression{kBoolean, "bool_and(@)", {expr(kBoolean, 2)}};
    if (chance(1)) {
      const Node each = expr(kText, 1);
      return Expression{kText, "string_agg(@, ',' ORDER BY @)", {each, each}};
    }
    const bool distinct = chance(20);
    if (name == "count" && chance(40)) return Literal{{.base = Base::kBigInt}, "count(*)"};
    const SqlType of = name == "sum" || name == "avg" ? number() : type();
    return Expression{of, name + (distinct ? "(DISTINCT @)" : "(@)"), {expr(of, 2)}};
  }

  Step aggregate(const std::string& from, Node joined) {
    std::vector<Node> items;
    for (size_t i = 1 + below(3); i > 0; --i) {
      Node item = aggregate_item();
      if (chance(25))
        item = Expression{
            item.type, any_of({"coalesce(@, 0)", "(@ + 1)", "(@) IS NULL", "CAST(@ AS BIGINT)"}), {item}};
      items.push_back(std::move(item));
    }
    std::string grouping;
    if (chance(4)) {
      const std::string key = any(scope_).name;
      items.push_back(Fixed{key});
      grouping = " GROUP BY " + key;
    }
    Node condition = where();
    Step step;
    step.sql = Fixed{"SELECT @ FROM " + from + "@@" + grouping,
                     {List{", ", std::move(items)}, std::move(joined), std::move(condition)}};
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
      step.sql = Fixed{"SELECT @", {List{", ", {expr(type(), 3)}}}};
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
    step.sql = Fixed{"CALL " + procedure.name + "(@)", {List{", ", std::move(arguments), count}}};
    return step;
  }

  // --- INTO

  std::vector<Named> targets(size_t most) {
    std::vector<Named> all = variables_;
    if (!chance(3))
      std::erase_if(all, [](const Named& one) { return one.type.is_array || one.name[0] == 'n'; });
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

  std::vector<TableShape> tables_;
  std::vector<ProcedureShape> procedures_;
  std::vector<Named> variables_;  // of the procedure that is being made
};

}  // namespace mneme::differential
