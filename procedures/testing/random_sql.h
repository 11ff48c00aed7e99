// Random SQL for tests: schemas, procedures over them, rows and arguments. Everything follows from the random
// numbers given.
//
// Statements are weighted towards what runs: keys come from few values, so that rows are found, and numbers
// lie now and then at the ends of their types, so that errors are met as well. What the binder refuses its
// caller leaves out.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "procedures/testing/random_expressions.h"

namespace mneme {

class RandomSql : private RandomExpressions {
 public:
  explicit RandomSql(uint64_t seed) : RandomExpressions(seed) {}

  // Tables t0, t1, ... for the procedures that follow.
  std::string schema() {
    tables_.clear();
    std::string sql;
    for (uint32_t i = 0; i < 4; ++i) sql += table(i);
    return sql;
  }

  std::string procedure(std::string_view name) {
    loops_ = 0;
    records_ = 0;
    depth_ = 0;
    // One variable of each kind, and a second of some: parameters, results and locals.
    scope_ = {{"p_i", kInt},  {"p_j", kInt},   {"p_s", kSmall},   {"p_b", kBig},  {"p_n", kNumeric},
              {"p_t", kText}, {"r_i", kInt},   {"r_n", kNumeric}, {"r_t", kText}, {"r_d", kDouble},
              {"r_f", kFlag}, {"r_c", kChar},  {"v_i", kInt},     {"v_b", kBig},  {"v_n", kNumeric},
              {"v_w", kWide}, {"v_t", kText},  {"v_d", kDouble},  {"v_f", kFlag}, {"v_c", kChar},
              {"v_z", kTime}, {"v_s", kSmall}, {"v_g", kDate},    {"v_h", kReal}};
    std::string sql = fmt::format(
        "CREATE PROCEDURE {}(p_i INT, p_j INT, p_s SMALLINT, p_b BIGINT, p_n NUMERIC(8,2), p_t VARCHAR(8), "
        "p_a INT[], INOUT r_i INT, INOUT r_n NUMERIC(8,2), INOUT r_t VARCHAR(8), INOUT r_d DOUBLE PRECISION, "
        "INOUT r_f BOOLEAN, INOUT r_c CHAR(4), INOUT r_a INT[], INOUT r_b VARCHAR(8)[]) LANGUAGE plpgsql AS "
        "$$\n"
        "DECLARE v_i INT := 1; v_b BIGINT := 4; v_n NUMERIC(8,2) := 2.5; v_w NUMERIC(30,6) := 3; v_t "
        "VARCHAR(8) "
        ":= 'ab'; "
        "v_d DOUBLE PRECISION := 1.5; v_f BOOLEAN := true; v_c CHAR(4) := 'c'; v_z TIMESTAMP := TIMESTAMP "
        "'2001-02-03 04:05:06'; v_s SMALLINT := 3; v_g DATE := DATE '2024-02-28'; v_h REAL := CAST('0.25' AS "
        "REAL); "
        "v_k INT; {}\nBEGIN\n",
        name, records());
    if (!chance(4)) {
      sql +=
          "r_i := 1; r_n := 2.25; r_t := 'a'; r_d := 0.5; r_f := false; r_c := 'bcde'; r_a := p_a; r_b := "
          "'{}';\n";
    }
    for (uint64_t i = 2 + below(5); i > 0; --i) sql += statement();
    return sql + "END $$;\n";
  }

  // One for each loop over a query: a record's fields keep their types.
  static std::string records() {
    std::string sql;
    for (int i = 1; i <= kRecords; ++i) sql += fmt::format(" q{} RECORD;", i);
    return sql;
  }
  // A value of parameter `number` of such a procedure, as SQL; empty for NULL.
  std::string argument(size_t number) {
    if (chance(8)) return "";
    switch (number) {
      case 0:
      case 1:
        return value(kInt);
      case 2:
        return value(kSmall);
      case 3:
        return value(kBig);
      case 4:
        return exact_value(kNumeric);
      case 5:
        return value(kText);
      case 6: {
        std::string list = "{";
        for (uint64_t i = below(5); i > 0; --i)
          list += (list.size() > 1 ? "," : "") + (chance(10) ? "NULL" : value(kInt));
        return list + "}";
      }
      default:
        return "";
    }
  }
  // A value of a column of the table, as text; empty for NULL.
  std::string column_value(size_t table, size_t column) {
    const Column& c = tables_[table].columns[column];
    if (c.nullable && chance(5)) return "";
    const std::string value = exact_value(c.kind);
    if (!c.is_long || chance(2)) return value;
    std::string text;
    for (int i = 0; i < kLongTimes; ++i) text += value;
    return text;
  }
  size_t column_count(size_t table) const { return tables_[table].columns.size(); }
  using RandomExpressions::below;

 private:
  // With no more digits than its type keeps: an argument is not rounded.
  std::string exact_value(Kind kind) {
    std::string text = value(kind);
    while (text == "1.005") text = value(kind);
    return text;
  }

  static constexpr int kRecords = 12;
  struct Column {
    std::string name;
    Kind kind;
    bool nullable;
    bool is_long = false;  // TEXT, which has values of hundreds of bytes, too
  };
  static constexpr int kLongTimes = 40;
  struct Table {
    std::string name;
    std::vector<Column> columns;
    std::vector<std::vector<size_t>> indexes;  // their columns
    bool keyed;
  };
  // ---- schemas ----

  std::string table(uint32_t number) {
    Table t{fmt::format("t{}", number), {}, {}, number != 3};
    const uint64_t keys = t.keyed ? 1 + below(3) : 0;
    const uint64_t columns = keys + 3 + below(4);
    for (uint64_t i = 0; i < columns; ++i) {
      static constexpr Kind kKeyKinds[] = {kInt,  kInt,  kSmall, kBig,    kText, kChar, kNumeric,
                                           kFlag, kWide, kTime,  kDouble, kDate, kReal};
      const Kind kind = i < keys ? kKeyKinds[below(chance(3) ? 13 : 4)] : static_cast<Kind>(below(12));
      t.columns.push_back({fmt::format("c{}_{}", number, i), kind, i >= keys && !chance(3),
                           kind == kText && i >= keys && chance(2)});
    }
    std::string sql = fmt::format("CREATE TABLE {} (", t.name);
    for (const Column& c : t.columns)
      sql += fmt::format("{} {}{}, ", c.name, c.is_long ? "TEXT" : type_of(c.kind),
                         c.nullable ? "" : " NOT NULL");
    if (t.keyed) {
      t.indexes.emplace_back();
      for (uint64_t i = 0; i < keys; ++i) t.indexes[0].push_back(i);
      sql += "PRIMARY KEY (" + names_of(t, t.indexes[0]) + "), ";
    }
    sql += constraints(t);
    sql.resize(sql.size() - 2);
    sql += ");\n";
    for (uint64_t i = below(3) + (t.keyed ? 0 : 1); i > 0; --i) {
      std::vector<size_t> on;
      for (uint64_t k = 1 + below(2); k > 0; --k) {
        const size_t column = below(t.columns.size());
        if (std::find(on.begin(), on.end(), column) == on.end()) on.push_back(column);
      }
      t.indexes.push_back(on);
      const bool unique =
          chance(3) && std::ranges::none_of(on, [&](size_t k) { return t.columns[k].nullable; });
      sql += fmt::format("CREATE {}INDEX {}_by_{} ON {} ({});\n", unique ? "UNIQUE " : "", t.name, i, t.name,
                         names_of(t, on));
    }
    tables_.push_back(std::move(t));
    return sql;
  }
  // A condition that most rows fulfil, and a foreign key to a table that is there.
  std::string constraints(const Table& t) {
    std::string sql;
    if (chance(4)) {
      const Column& c = t.columns[below(t.columns.size())];
      sql += fmt::format("CHECK ({} IS NULL OR {} <> {}), ", c.name, c.name, literal(c.kind));
    }
    if (!chance(4)) return sql;
    for (const Table& other : tables_) {
      if (!other.keyed || other.indexes[0].size() != 1) continue;
      const Column& key = other.columns[other.indexes[0][0]];
      const auto own =
          std::ranges::find_if(t.columns, [&](const Column& c) { return c.kind == key.kind && c.nullable; });
      if (own == t.columns.end()) continue;
      return sql + fmt::format("FOREIGN KEY ({}) REFERENCES {}{}{}, ", own->name, other.name,
                               one_of("", " ON DELETE CASCADE", " ON DELETE SET NULL"),
                               one_of("", " ON UPDATE CASCADE"));
    }
    return sql;
  }
  static std::string names_of(const Table& t, const std::vector<size_t>& columns) {
    std::string names;
    for (const size_t column : columns) names += (names.empty() ? "" : ", ") + t.columns[column].name;
    return names;
  }

  // ---- statements ----

  std::string statement() {
    if (depth_ >= 3) return simple_statement();
    ++depth_;
    std::string sql;
    switch (below(12)) {
      case 0:
        sql = fmt::format("IF {} THEN\n{}ELSE\n{}END IF;\n", expr(kFlag, 2), block(), block());
        break;
      case 1:
        sql = loop();
        break;
      case 2:
        sql = query_loop();
        break;
      case 3:
        sql = fmt::format("CASE {} WHEN {} THEN\n{}WHEN {} THEN\n{}ELSE\n{}END CASE;\n", leaf(kInt),
                          literal(kInt), block(), literal(kInt), block(), block());
        break;
      default:
        sql = simple_statement();
    }
    --depth_;
    return sql;
  }
  std::string block() {
    std::string sql;
    for (uint64_t i = 1 + below(2); i > 0; --i) sql += statement();
    return sql;
  }
  std::string loop() {
    const std::string label = fmt::format("l{}", ++loops_);
    const std::string variable = fmt::format("i{}", loops_);
    std::string head;
    const bool counted = !in_while_ && chance(4);
    if (counted) {
      in_while_ = true;
      // v_k counts; a loop of this kind inside another would set it back.
      head = fmt::format("v_k := 0;\n<<{}>> WHILE v_k < 3 LOOP\nv_k := v_k + 1;\n", label);
    } else {
      const bool reverse = chance(3);
      head = fmt::format("<<{}>> FOR {} IN {}{}..{}{} LOOP\n", label, variable, reverse ? "REVERSE " : "",
                         reverse ? "3" : leaf_bound("1"),
                         reverse ? leaf_bound("1") : one_of("2", "3", "cardinality(p_a)"),
                         chance(3) ? " BY 2" : "");
      scope_.push_back({variable, kInt});
    }
    labels_.push_back(label);
    std::string sql = head + block();
    if (chance(2)) {
      sql += fmt::format("{} {} WHEN {};\n", one_of("EXIT", "CONTINUE"), labels_[below(labels_.size())],
                         expr(kFlag, 1));
    }
    sql += simple_statement() + "END LOOP;\n";
    labels_.pop_back();
    if (scope_.back().sql == variable) scope_.pop_back();
    if (counted) in_while_ = false;
    return sql;
  }
  std::string leaf_bound(std::string_view usual) {
    return chance(6) ? name(kInt) + " % 3" : std::string(usual);
  }

  std::string query_loop() {
    if (records_ == kRecords) return simple_statement();
    const std::string record = fmt::format("q{}", ++records_);
    const Table& t = keyed_table();
    const size_t before = scope_.size();
    add_columns(t);
    const Column& c = t.columns[below(t.columns.size())];
    const bool casts = chance(3);  // as it goes from row to row
    std::string sql = casts ? fmt::format("FOR v_s, v_t IN SELECT {}, {} FROM {} WHERE {}{} LOOP\n",
                                          expr(kBig, 1), expr(kText, 1), t.name, where(t), order(t, true))
                            : fmt::format("FOR {} IN SELECT {} AS a, {} AS b FROM {} WHERE {}{} LOOP\n",
                                          record, c.name, expr(kInt, 1), t.name, where(t), order(t, true));
    scope_.resize(before);
    if (casts) {
      sql += block();
      if (chance(2)) sql += fmt::format("{} WHEN {};\n", one_of("EXIT", "CONTINUE"), expr(kFlag, 1));
      return sql + "END LOOP;\n";
    }
    scope_.push_back({record + ".a", c.kind});
    scope_.push_back({record + ".b", kInt});
    // Labels of loops around it stay in reach.
    sql += block();
    if (chance(3)) sql += fmt::format("{} WHEN {};\n", one_of("EXIT", "CONTINUE"), expr(kFlag, 1));
    scope_.resize(before);
    return sql + "END LOOP;\n";
  }

  std::string simple_statement() {
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
        return assignment();
      case 3:
        return fmt::format("r_a := array_append(r_a, {});\n", expr(kInt, 1));
      case 4:
        return std::string(
            one_of("r_a := p_a;\n", "r_a := '{}';\n", "r_b := '{}';\n", "r_b := array_append(r_b, v_t);\n"));
      case 5:
        return fmt::format("IF NOT FOUND OR {} THEN\n{}END IF;\n", expr(kFlag, 1), assignment());
      case 6:
        return chance(3) ? fmt::format("IF {} THEN\nRAISE EXCEPTION 'bad % and %%, %', {}, {};\nEND IF;\n",
                                       expr(kFlag, 1), leaf(kInt), printable(static_cast<Kind>(below(10))))
                         : assignment();
      case 7:
        return chance(4) ? fmt::format("IF {} THEN\nRETURN;\nEND IF;\n", expr(kFlag, 1)) : assignment();
      case 8:
      case 9:
        return insert();
      case 10:
      case 11:
        return update();
      case 12:
        return erase();
      case 13:
        return aggregate();
      case 14:
        return join();
      default:
        return select();
    }
  }
  const Name& target() {
    // No parameter is set.
    static const std::vector<Name> kTargets = {
        {"r_i", kInt},   {"r_n", kNumeric}, {"r_t", kText}, {"r_d", kDouble},  {"r_f", kFlag},
        {"r_c", kChar},  {"v_i", kInt},     {"v_b", kBig},  {"v_n", kNumeric}, {"v_w", kWide},
        {"v_t", kText},  {"v_d", kDouble},  {"v_f", kFlag}, {"v_c", kChar},    {"v_z", kTime},
        {"v_s", kSmall}, {"v_g", kDate},    {"v_h", kReal}};
    return kTargets[below(kTargets.size())];
  }
  std::string assignment() {
    const Name& to = target();
    return fmt::format("{} := {};\n", to.sql, expr_for(to, 3));
  }

  // Without a key it depends on chance which rows come first.
  const Table& keyed_table() { return tables_[below(tables_.size() - 1)]; }
  const Table& any_table() { return tables_[below(tables_.size())]; }
  void add_columns(const Table& t) {
    // Takes as much of a long text as a variable holds.
    for (const Column& c : t.columns)
      scope_.push_back({c.is_long ? fmt::format("left({}, 8)", c.name) : c.name, c.kind});
  }
  // Returns conditions: a key's first columns equal something outside the table; then perhaps a bound, or a
  // condition.
  std::string where(const Table& t) {
    std::string sql;
    const auto add = [&](const std::string& condition) { sql += (sql.empty() ? "" : " AND ") + condition; };
    std::vector<Name> inside = std::exchange(scope_, outer_scope(t));
    if (!t.keyed || !chance(6)) {
      const std::vector<size_t>& index = t.indexes[below(t.indexes.size())];
      const uint64_t used = !t.keyed ? 1 : chance(3) ? below(index.size() + 1) : index.size();
      for (uint64_t i = 0; i < used; ++i) {
        const Column& c = t.columns[index[i]];
        if (chance(8)) {
          add(fmt::format("{} IN ({}, {}, {})", c.name, leaf(c.kind), literal(c.kind), expr(c.kind, 1)));
        } else if (chance(12) && c.kind <= kBig) {
          add(fmt::format("{} = ANY (p_a)", c.name));
        } else {
          add(fmt::format("{} = {}", c.name, chance(3) ? expr(c.kind, 1) : leaf(c.kind)));
        }
      }
      if (used < index.size() && chance(2)) {
        const Column& c = t.columns[index[used]];
        if (c.kind != kFlag) add(fmt::format("{} {} {}", c.name, one_of("<", "<=", ">", ">="), leaf(c.kind)));
        if (c.kind != kFlag && chance(3))
          add(fmt::format("{} {} {}", c.name, one_of("<", ">="), leaf(c.kind)));
      }
    }
    scope_ = std::move(inside);
    if (sql.empty() || chance(4)) add(expr(kFlag, 2));
    return sql;
  }
  std::vector<Name> outer_scope(const Table& t) const {
    std::vector<Name> outer;
    for (const Name& n : scope_) {
      const bool own = std::ranges::any_of(t.columns, [&](const Column& c) { return c.name == n.sql; });
      if (!own) outer.push_back(n);
    }
    return outer;
  }
  std::string order(const Table& t, bool all) {
    std::string sql;
    if (chance(2)) {
      sql += fmt::format(" ORDER BY {}{}", t.columns[below(t.columns.size())].name, one_of("", " DESC"));
      if (chance(3))
        sql += fmt::format(", {}{}", t.columns[below(t.columns.size())].name, one_of("", " DESC"));
    } else if (t.keyed && chance(2)) {
      sql += fmt::format(" ORDER BY {} DESC", t.columns[0].name);
    }
    if (chance(all ? 4 : 3))
      sql += fmt::format(" LIMIT {}", chance(4) ? leaf(kInt) : std::string(one_of("1", "2", "3")));
    if (chance(6)) sql += fmt::format(" OFFSET {}", chance(4) ? leaf(kInt) : std::string(one_of("0", "1")));
    return sql;
  }
  // An expression for a variable: a numeric or char(n) parameter takes nothing that its modifiers would
  // change.
  std::string expr_for(const Name& to, int depth) { return fixed(to.kind, expr(to.kind, depth)); }
  static std::string fixed(Kind kind, const std::string& sql) {
    const bool varies = kind == kNumeric || kind == kWide || kind == kChar;
    return varies ? fmt::format("CAST({} AS {})", sql, type_of(kind)) : sql;
  }
  std::string printable(Kind kind) { return fixed(kind, leaf(kind)); }
  Name target_beside(const Name& other, std::optional<Kind> no_kind = std::nullopt) {
    Name name = target();
    while (name.sql == other.sql || name.kind == no_kind) name = target();
    return name;
  }
  std::string select() {
    const Table& t = keyed_table();
    const Name a = target();
    const Name b = target_beside(a);
    const size_t before = scope_.size();
    add_columns(t);
    const std::string sql =
        fmt::format("SELECT {}, {} INTO {}{}, {} FROM {} WHERE {}{};\n", expr_for(a, 1), expr_for(b, 2),
                    chance(8) ? "STRICT " : "", a.sql, b.sql, t.name, where(t), order(t, false));
    scope_.resize(before);
    return sql;
  }
  std::string aggregate() {
    const uint64_t form = below(4);
    // Doubles add up to what depends on their order.
    const Table& t = form == 3 ? keyed_table() : any_table();
    const size_t before = scope_.size();
    add_columns(t);
    std::string sql;
    switch (form) {
      case 0:
        sql = fmt::format("SELECT count(*), count({}{}) INTO v_i, v_b FROM {} WHERE {};\n",
                          one_of("", "DISTINCT "), leaf(kText), t.name, where(t));
        break;
      case 1:
        sql = fmt::format("SELECT sum({}{}), count(*) + 1 INTO {}, v_b FROM {} WHERE {};\n",
                          one_of("", "DISTINCT "), expr(chance(2) ? kInt : kNumeric, 1),
                          one_of("v_w", "v_n", "v_w"), t.name, where(t));
        break;
      case 2: {
        const Name to = target();
        sql = fmt::format("SELECT {} INTO {} FROM {} WHERE {};\n",
                          fixed(to.kind, fmt::format("{}({})", one_of("min", "max"), leaf(to.kind))), to.sql,
                          t.name, where(t));
        break;
      }
      default:
        sql = fmt::format("SELECT sum({}), max({}) INTO v_d, v_t FROM {} WHERE {};\n", expr(kDouble, 1),
                          leaf(kText), t.name, where(t));
    }
    scope_.resize(before);
    return sql;
  }
  std::string join() {
    const size_t first = below(tables_.size() - 1);
    const size_t second = (first + 1 + below(tables_.size() - 2)) % (tables_.size() - 1);
    const Table& outer = tables_[first];
    const Table& inner = tables_[second];
    const size_t before = scope_.size();
    add_columns(outer);
    // The inner rows are found by an index that the outer row fixes a column of.
    const Column& key = inner.columns[inner.indexes[below(inner.indexes.size())][0]];
    std::string on = fmt::format("{} = {}", key.name, column_like(outer, key.kind));
    if (chance(2)) on += " AND " + where(inner);
    add_columns(inner);
    const Name a = target_beside({"v_b", kBig});
    const std::string sql =
        chance(2)
            ? fmt::format("SELECT count(*), sum({}) INTO v_i, v_w FROM {} JOIN {} ON {} WHERE {};\n",
                          leaf(kNumeric), outer.name, inner.name, on, where(outer))
            : fmt::format("SELECT {}, {} INTO {}, v_b FROM {} JOIN {} ON {} WHERE {}{};\n", expr_for(a, 1),
                          leaf(kBig), a.sql, outer.name, inner.name, on, where(outer), order(outer, false));
    scope_.resize(before);
    return sql;
  }
  std::string column_like(const Table& t, Kind kind) {
    for (const Column& c : t.columns) {
      if (meets(kind, c.kind)) return c.name;
    }
    return leaf(kind);
  }
  std::string value_for(const Column& c) {
    std::string sql = literal(c.kind);
    while (!c.nullable && sql.starts_with("CAST(NULL")) sql = literal(c.kind);
    return sql;
  }
  std::string lengthened(const Column& c, std::string sql) {
    return c.is_long ? fmt::format("repeat({}, {})", sql, chance(2) ? 1 : kLongTimes) : std::move(sql);
  }
  std::string insert() {
    const Table& t = any_table();
    std::string columns;
    std::string values;
    for (const Column& c : t.columns) {
      if (c.nullable && chance(4)) continue;
      columns += (columns.empty() ? "" : ", ") + c.name;
      values += (values.empty() ? "" : ", ") + lengthened(c, chance(2)   ? value_for(c)
                                                             : chance(2) ? leaf(c.kind)
                                                                         : expr(c.kind, 1));
    }
    std::string sql = fmt::format("INSERT INTO {} ({}) VALUES ({})", t.name, columns, values);
    return sql + on_conflict(t) + returning(t) + ";\n";
  }
  std::string on_conflict(const Table& t) {
    if (!t.keyed || !chance(3)) return "";
    if (chance(2)) return " ON CONFLICT DO NOTHING";
    const Column& set = t.columns.back();
    return fmt::format(" ON CONFLICT ({}) DO UPDATE SET {} = {}.{}{}", names_of(t, t.indexes[0]), set.name,
                       one_of("excluded", t.name), set.name,
                       chance(2) ? fmt::format(" WHERE {}.{} IS NOT NULL", t.name, set.name) : "");
  }
  std::string returning(const Table& t) {
    if (!chance(3)) return "";
    const Name to = target_beside({"v_i", kInt});
    const size_t before = scope_.size();
    add_columns(t);
    const std::string sql =
        fmt::format(" RETURNING {}, {} INTO {}, v_i", expr_for(to, 1), leaf(kInt), to.sql);
    scope_.resize(before);
    return sql;
  }
  // The value that a column is set to; a long one now and then to another of them, or to itself and more.
  std::string assigned(const Table& t, const Column& to) {
    if (!to.is_long || !chance(3)) return lengthened(to, expr(to.kind, 2));
    const Column& other = t.columns[below(t.columns.size())];
    if (!other.is_long || (other.nullable && !to.nullable)) return "substr(" + to.name + ", 2)";
    return chance(2) ? other.name : fmt::format("left({} || {}, 1000)", other.name, to.name);
  }
  std::string update() {
    const Table& t = any_table();
    const size_t before = scope_.size();
    add_columns(t);
    std::string sql = fmt::format("UPDATE {} SET ", t.name);
    const size_t first = chance(4) ? 0 : t.columns.size() / 2;
    const size_t step = 1 + below(3);
    for (size_t i = first; i < t.columns.size(); i += step) {
      sql += fmt::format("{}{} = {}", i == first ? "" : ", ", t.columns[i].name, assigned(t, t.columns[i]));
    }
    sql += " WHERE " + where(t);
    scope_.resize(before);
    return sql + returning(t) + ";\n";
  }
  std::string erase() {
    const Table& t = any_table();
    const size_t before = scope_.size();
    add_columns(t);
    std::string sql = fmt::format("DELETE FROM {} WHERE {}", t.name, where(t));
    scope_.resize(before);
    return sql + returning(t) + ";\n";
  }

  std::vector<Table> tables_;
  std::vector<std::string> labels_;
  bool in_while_ = false;
  int loops_ = 0;
  int records_ = 0;
  int depth_ = 0;
};

}  // namespace mneme
