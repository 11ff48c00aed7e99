// Random procedures: for tests, programs that no person would write.
//
// They terminate (every loop is bounded), mostly commit (values stay small, NULL bounds are avoided), and mix
// reads, writes, loops, jumps, FOUND and variables as freely as the language allows. Columns few and paid are
// mostly added to.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

class RandomProcedures {
 public:
  // The fewer tables, the more is one slice. Usually there are more of them than statements.
  explicit RandomProcedures(uint64_t seed, uint64_t tables = kTables.size())
      : random_(seed), tables_(tables) {}

  std::string program(uint32_t procedures) {
    std::string sql = "CREATE TABLE h (h1 INT, h2 INT);\n";
    for (char table : kTables.substr(0, tables_)) {
      sql += fmt::format(
          "CREATE TABLE {} (id INT NOT NULL, v INT NOT NULL, few SMALLINT NOT NULL, paid NUMERIC(6,2) NOT "
          "NULL, PRIMARY KEY "
          "(id));\n",
          table);
    }
    for (uint32_t i = 0; i < procedures; ++i) sql += procedure(fmt::format("t{}", i));
    return sql;
  }

 private:
  static constexpr std::string_view kTables = "abcdefgjklmnorstu";

  std::string procedure(const std::string& name) {
    loops_ = 0;
    variables_ = {"p", "q", "x", "y", "z"};
    return fmt::format(
        "CREATE PROCEDURE {}(p INT, q INT, INOUT z INT) LANGUAGE plpgsql AS $$\n"
        "DECLARE x INT := 0; y INT; w RECORD; fuel INT := 0;\nBEGIN\n{}END; $$;\n",
        name, statements(3, 3 + below(4)));
  }

  std::string statements(int depth, uint64_t count) {
    std::string text;
    for (uint64_t i = 0; i < count; ++i) text += statement(depth);
    return text;
  }

  std::string statement(int depth) {
    switch (below(depth > 0 ? 19 : 13)) {
      case 0:
      case 1:
        return fmt::format("{} := {};\n", target(), value());
      case 2:
      case 3:
        return fmt::format("SELECT {} INTO {} FROM {} WHERE id = {};\n", below(8) > 0 ? "v" : "few % 5",
                           target(), table(), value());
      case 4:
        return fmt::format("SELECT count(*) INTO {} FROM {} WHERE id < {};\n", target(), table(), value());
      case 5:
        return fmt::format("UPDATE {} SET v = COALESCE({}, 1) WHERE id = {};\n", table(), value(), value());
      case 6:
        return fmt::format("UPDATE {} SET v = (v + 1) % 7 WHERE id = {} RETURNING v INTO {};\n", table(),
                           value(), target());
      case 7:
        return below(3) > 0 ? fmt::format("INSERT INTO h VALUES ({}, {});\n", value(), value())
                            : fmt::format("DELETE FROM {} WHERE id = {};\n", table(), value());
      case 8: {
        const std::string into = table();
        return fmt::format(
            "x := COALESCE({}, 3);\nSELECT v INTO y FROM {} WHERE id = x;\n"
            "IF NOT FOUND THEN INSERT INTO {} VALUES (x, 2, 1, 0.5); END IF;\n",
            value(), into, into);
      }
      case 9:
      case 10:
        return fmt::format("UPDATE {} SET few = few {} COALESCE({}, 1) WHERE id = {};\n", table(),
                           below(2) == 0 ? "+" : "-", value(), value());
      case 11:
        return below(6) > 0
                   ? fmt::format("UPDATE {} SET paid = paid + 0.25, few = 2 + few WHERE id = {};\n", table(),
                                 value())
                   : fmt::format("UPDATE {} SET paid = paid * 1.5 WHERE id = {};\n", table(), value());
      case 12:
        return loops_ == 0 ? std::string(below(8) == 0 ? "IF " + condition() + " THEN RETURN; END IF;\n" : "")
                           : jump();
      case 13:
      case 14:
        return fmt::format("IF {} THEN\n{}END IF;\n", condition(), statements(depth - 1, 1 + below(3)));
      case 15:
        return fmt::format("IF {} THEN\n{}ELSE\n{}END IF;\n", condition(),
                           statements(depth - 1, 1 + below(2)), statements(depth - 1, 1 + below(2)));
      case 16:
        return loop(fmt::format("FOR i IN 1..COALESCE({}, 2) % 4 LOOP\n", value()), "i", depth);
      case 17:
        return loop(fmt::format("FOR w IN SELECT id, v FROM {} WHERE id <= {} LOOP\n", table(), value()),
                    "w.v", depth);
      default:
        return loop(fmt::format("WHILE {} AND fuel < 12 LOOP\nfuel := fuel + 1;\n", condition()), "fuel",
                    depth);
    }
  }

  std::string loop(const std::string& head, const std::string& variable, int depth) {
    ++loops_;
    variables_.push_back(variable);
    std::string text = head + statements(depth - 1, 1 + below(4)) + "END LOOP;\n";
    variables_.pop_back();
    --loops_;
    return text;
  }

  std::string jump() {
    switch (below(5)) {
      case 0:
      case 1:
        return "EXIT WHEN " + condition() + ";\n";
      case 2:
      case 3:
        return "CONTINUE WHEN " + condition() + ";\n";
      default:
        return "IF " + condition() + " THEN RETURN; END IF;\n";
    }
  }

  std::string condition() {
    if (below(5) == 0) return below(2) == 0 ? "FOUND" : "NOT FOUND";
    return fmt::format("{} {} {}", value(), below(2) == 0 ? "<" : "=", value());
  }

  std::string value() {
    switch (below(5)) {
      case 0:
        return fmt::format("{}", below(5));
      case 1:
        return fmt::format("(({} + {}) % 5)", variable(), variable());
      default:
        return variable();
    }
  }

  std::string variable() { return variables_[below(variables_.size())]; }
  std::string target() { return std::string(1, "xyz"[below(3)]); }
  std::string table() { return std::string(1, kTables[below(tables_)]); }
  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }

  std::mt19937_64 random_;
  const uint64_t tables_;
  std::vector<std::string> variables_;
  int loops_ = 0;
};

}  // namespace mneme
