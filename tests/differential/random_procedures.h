// Random procedures.
//
// Threads     one owner.
#pragma once

#include "tests/differential/random_statements.h"

namespace mneme::differential {

class RandomProcedures : protected RandomStatements {
 protected:
  using RandomStatements::RandomStatements;

  Node body(int depth, size_t most = 4) {
    std::vector<Node> statements;
    for (size_t i = 1 + below(most); i > 0; --i) statements.push_back(Optional{"  @", {procedural(depth)}});
    return List{"\n", std::move(statements), 0};
  }

  Node assignment() {
    const Named target = any(variables_);
    scope_ = outer();
    if (target.type.is_array) {
      SqlType element = target.type;
      element.is_array = false;
      if (chance(10)) return Fixed{target.name + "[@] := @;", {small_or(1), expr(element, 2)}};
      if (chance(15))
        return Fixed{target.name + " := " + (chance(50) ? "'{}'" : "ARRAY[]::" + target.type.text()) + ";"};
      if (chance(75))
        return Fixed{fmt::format("{} := array_append({}, @);", target.name, target.name), {expr(element, 2)}};
    }
    return Fixed{target.name + any_of({" := @;", " := @;", " = @;"}),
                 {expr(chance(85) ? target.type : near(target.type), 3)}};
  }

  Node procedural(int depth) {
    const size_t kind = below(100);
    scope_ = outer();
    if (depth > 0 && kind < 18) return chance(70) ? if_statement(depth) : case_statement(depth);
    if (depth > 0 && kind < 25) return chance(70) ? for_range(depth) : bounded_loop(depth);
    if (depth > 0 && kind < 32) return chance(50) ? for_query(depth) : for_record(depth);
    if (depth > 0 && kind < 34) return nested_block(depth);
    if (kind < 55) return assignment();
    if (kind < 69) return select_into();
    if (kind < 71) return perform();
    if (kind < 78) return Fixed{"@;", {insert(targets_or_none())}};
    if (kind < 88) return Fixed{"@;", {update(targets_or_none())}};
    if (kind < 92) return Fixed{"@;", {remove(targets_or_none())}};
    if (kind < 95) return raise();
    if (kind < 97) return Fixed{"IF @ THEN RETURN; END IF;", {expr(kBoolean, 2)}};
    if (kind < 98) return Fixed{"NULL;"};
    return assignment();
  }

  // --- Branches

  Node else_branch(int depth, size_t percent) {
    return chance(percent) ? Optional{" ELSE\n@", {body(depth - 1, 2)}} : Optional{""};
  }

  Node if_statement(int depth) {
    Node condition = expr(kBoolean, 2);
    Node then = body(depth - 1, 2);
    scope_ = outer();
    Node other = chance(25) ? Optional{any_of({" ELSIF @ THEN\n@", " ELSEIF @ THEN\n@"}),
                                       {expr(kBoolean, 2), body(depth - 1, 2)}}
                            : Optional{""};
    Node otherwise = else_branch(depth, 50);
    return Fixed{"IF @ THEN\n@@@ END IF;",
                 {std::move(condition), std::move(then), std::move(other), std::move(otherwise)}};
  }

  Node case_statement(int depth) {
    const bool has_subject = chance(70);
    const SqlType subject = type();
    Node value = has_subject ? expr(subject, 2) : Fixed{""};
    std::vector<Node> branches;
    for (size_t i = 1 + below(2); i > 0; --i) {
      scope_ = outer();
      std::vector<Node> values;
      for (size_t j = has_subject ? 1 + below(2) : 1; j > 0; --j)
        values.push_back(has_subject ? expr(near(subject), 1) : expr(kBoolean, 2));
      branches.push_back(Fixed{" WHEN @ THEN\n@", {List{", ", std::move(values)}, body(depth - 1, 2)}});
    }
    Node otherwise = else_branch(depth, 60);
    return Fixed{"CASE @@@ END CASE;",
                 {std::move(value), List{"", std::move(branches)}, std::move(otherwise)}};
  }

  // --- Loops

  // Leaves the loop, or all of it that has the label.
  Node leave(const std::string& label = "") {
    if (!chance(30)) return Fixed{""};
    scope_ = outer();
    const std::string where = label.empty() || chance(50) ? "" : " " + label;
    return Optional{any_of({" EXIT", " CONTINUE"}) + where + " WHEN @;", {expr(kBoolean, 2)}};
  }

  Node for_range(int depth) {
    const std::string name = fmt::format("n{}", depth);
    const std::string label = chance(25) ? fmt::format("outer{}", depth) : "";
    Node from = small_or(1);
    Node to = chance(80) ? Node(Literal{kInteger, any_of({"1", "2", "3", "4"})}) : small_or(0);
    Node by = chance(15) ? Optional{" BY @", {Literal{kInteger, any_of({"1", "2", "3", "0", "-1", "NULL"})}}}
                         : Optional{""};
    variables_.push_back({name, kInteger});
    Node inner = body(depth - 1, 2);
    Node left = leave(label);
    variables_.pop_back();
    return Fixed{(label.empty() ? "" : "<<" + label + ">> ") + "FOR " + name + " IN " +
                     (chance(20) ? "REVERSE " : "") + "@ .. @@ LOOP\n@@ END LOOP;",
                 {std::move(from), std::move(to), std::move(by), std::move(left), std::move(inner)}};
  }

  // WHILE or LOOP, of three iterations at most.
  Node bounded_loop(int depth) {
    const std::string name = fmt::format("w{}", depth);
    const Named counter{name, kInteger};
    variables_.push_back(counter);
    scope_ = outer();
    Node condition = expr(kBoolean, 2);
    variables_.pop_back();  // the body does not assign to it
    Node inner = body(depth - 1, 2);
    Node left = leave();
    const std::string count = name + " := " + name + " + 1;";
    const std::string loop = chance(50) ? "WHILE " + name + " < 3 AND (@) LOOP " + count
                                        : "LOOP " + count + " EXIT WHEN " + name + " > 3 OR @;";
    return Fixed{"DECLARE " + name + " INT := 0; BEGIN " + loop + "\n@@ END LOOP; END;",
                 {std::move(condition), std::move(left), std::move(inner)}};
  }

  std::string by_key(const TableShape& table) {
    Strings keys;
    for (size_t i = 0; i < table.key; ++i) keys.push_back(table.name + "." + table.columns[i].name);
    return keys.empty() ? "" : fmt::format(" ORDER BY {}", fmt::join(keys, ", "));
  }

  Node for_query(int depth) {
    const TableShape& table = any(tables_);
    see(table, "");
    Node condition = where();
    std::vector<Node> items;
    Strings names;
    for (const Named& target : targets(2)) {
      items.push_back(expr(target.type, 1));
      names.push_back(target.name);
    }
    const size_t count = items.size();
    Node left = leave();
    return Fixed{
        fmt::format("FOR {} IN SELECT @ FROM {}@{} LOOP\n@@ END LOOP;", fmt::join(names, ", "), table.name,
                    by_key(table)),
        {List{", ", std::move(items), count}, std::move(condition), std::move(left), body(depth - 1, 2)}};
  }

  Node for_record(int depth) {
    const TableShape& table = any(tables_);
    see(table, "");
    Node condition = where();
    const std::string name = fmt::format("r{}", depth);
    std::vector<Node> items;
    const size_t outside = variables_.size();
    for (size_t i = 1 + below(2); i > 0; --i) {
      const SqlType type = column_type();
      items.push_back(Fixed{fmt::format("CAST(@ AS {}) AS f{}", type.text(), i), {expr(type, 1)}});
      variables_.push_back({fmt::format("{}.f{}", name, i), type});
    }
    const size_t count = items.size();
    Node inner = body(depth - 1, 2);
    Node left = leave();
    variables_.resize(outside);
    return Fixed{
        fmt::format("DECLARE {} RECORD; BEGIN FOR {} IN SELECT @ FROM {}@{} LOOP\n@@ END LOOP; END;", name,
                    name, table.name, by_key(table)),
        {List{", ", std::move(items), count}, std::move(condition), std::move(left), std::move(inner)}};
  }

  // --- Others

  Node nested_block(int depth) {
    const TableShape& table = any(tables_);
    const Named& column = any(table.columns);
    const bool is_column_type = chance(40);
    const Named one{fmt::format("b{}", depth), is_column_type ? column.type : column_type()};
    Node initial = expr(one.type, 1);
    const bool is_constant = chance(20);
    const std::string type = is_column_type ? table.name + "." + column.name + "%TYPE" : one.type.text();
    if (!is_constant) variables_.push_back(one);
    Node inner = body(depth - 1, 3);
    if (!is_constant) variables_.pop_back();
    return Fixed{fmt::format("DECLARE {} {}{} {} @; BEGIN\n@ END;", one.name, is_constant ? "CONSTANT " : "",
                             type, any_of({":=", "DEFAULT", "="})),
                 {std::move(initial), std::move(inner)}};
  }

  // Into variables, or a record whose field is read.
  Node select_into() {
    const TableShape& table = any(tables_);
    see(table, "");
    std::vector<Node> items;
    const std::vector<Named> into_targets = targets(2);
    const size_t count = into_targets.size();
    const bool aggregates = chance(25);
    bool is_one_row = true;
    for (const Named& target : into_targets) {
      const bool is_aggregate = aggregates && target.type.is_number();
      is_one_row &= is_aggregate;
      items.push_back(is_aggregate ? aggregate_item() : expr(target.type, 2));
    }
    Node condition = where();
    // Which row is taken is open without an order.
    std::string tail = is_one_row ? "" : by_key(table);
    if (!tail.empty() && chance(50))
      tail += any_of({" LIMIT 1", " LIMIT 2", " LIMIT 1 FOR UPDATE", " OFFSET 1"});
    if (count == 1 && chance(15)) {
      return Fixed{
          fmt::format("DECLARE rec RECORD; BEGIN SELECT @ AS f INTO {}rec FROM {}@{}; {} := rec.f; END;",
                      chance(30) ? "STRICT " : "", table.name, tail, into_targets[0].name),
          {std::move(items[0]), std::move(condition)}};
    }
    const std::string into = into_clause(into_targets);
    return Fixed{"SELECT @" + into + " FROM " + table.name + "@" + tail + ";",
                 {List{", ", std::move(items), count}, std::move(condition)}};
  }

  Node perform() {
    const TableShape& table = any(tables_);
    see(table, "");
    Node condition = where();
    const std::string found = any(variables_).name;
    return Fixed{"PERFORM 1 FROM " + table.name + "@; IF " + any_of({"FOUND", "NOT FOUND"}) + " THEN " +
                     found + " := NULL; END IF;",
                 {std::move(condition)}};
  }

  Node raise() {
    if (chance(50)) return Fixed{"IF @ THEN RAISE EXCEPTION 'no'; END IF;", {expr(kBoolean, 2)}};
    Node condition = expr(kBoolean, 2);
    return Fixed{"IF @ THEN RAISE EXCEPTION '% of %%', @; END IF;", {std::move(condition), expr(type(), 2)}};
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
      declarations.push_back(Optional{"  " + one.name + " " + one.type.text() + "@;\n",
                                      {chance(40) ? Optional{" := @", {expr(one.type, 1)}} : Optional{""}}});
      variables_.push_back(one);
    }
    Step step;
    step.kind = Step::Kind::kProcedure;
    step.procedure = procedure.name;
    step.sql =
        Fixed{fmt::format("CREATE PROCEDURE {}({}) LANGUAGE plpgsql AS $$\n@BEGIN\n@\nEND $$", procedure.name,
                          fmt::join(parameters, ", ")),
              {declarations.empty() ? Fixed{""} : Fixed{"DECLARE\n@", {List{"", std::move(declarations), 0}}},
               body(chance(60) ? 1 : 2, 4)}};
    variables_.clear();
    procedures_.push_back(procedure);
    return step;
  }
};

}  // namespace mneme::differential
