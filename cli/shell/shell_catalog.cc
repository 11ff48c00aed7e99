#include "cli/shell/shell_catalog.h"

#include <fmt/format.h>

#include <vector>

#include "base/ascii.h"
#include "cli/output/result_table.h"

namespace mneme {

namespace {

// As a literal of SQL.
std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

// psql's pattern as a regular expression: * is any text, ? any character, and letters outside of double
// quotes are lower-case ones.
std::string regular_expression(std::string_view pattern) {
  std::string text = "^(";
  bool is_quoted = false;
  for (const char c : pattern) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == '*' && !is_quoted) {
      text += ".*";
    } else if (c == '?' && !is_quoted) {
      text += ".";
    } else if (is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || (c & 0x80) != 0) {
      text += is_quoted ? c : ascii_lower(c);
    } else {
      text += fmt::format("\\{}", c);
    }
  }
  return text + ")$";
}

// The condition on a name, and on its schema where the pattern has one.
std::string matches(std::string_view name, std::string_view pattern) {
  const size_t dot = pattern.find('.');
  if (pattern.empty()) return "n.nspname = 'public'";
  if (dot == pattern.npos) {
    return fmt::format("{} ~ {} AND n.nspname IN ('public', 'pg_catalog')", name,
                       in_quotes(regular_expression(pattern)));
  }
  return fmt::format("n.nspname ~ {} AND {} ~ {}", in_quotes(regular_expression(pattern.substr(0, dot))),
                     name, in_quotes(regular_expression(pattern.substr(dot + 1))));
}

Description not_found(std::string_view what, std::string_view pattern) {
  if (pattern.empty()) return {fmt::format("Did not find any {}s.\n", what), {}, false};
  return {fmt::format("Did not find any {} named \"{}\".\n", what, pattern), {}, false};
}

const std::string& text_of(const StatementResult& result, size_t row, size_t column) {
  static const std::string empty;
  return result.rows[row][column] ? *result.rows[row][column] : empty;
}

// One relation, as \d NAME shows it.
class RelationText {
 public:
  RelationText(std::string oid, std::string name, std::string kind, Ask ask)
      : oid_(std::move(oid)), name_(std::move(name)), kind_(std::move(kind)), ask_(ask) {}

  Description make() {
    if (kind_ == "S") {
      add_sequence();
    } else if (kind_ == "i" || kind_ == "I") {
      add_index();
    } else {
      add_table();
    }
    return std::move(description_);
  }

 private:
  // An empty result where the query, or one before it, has failed.
  StatementResult ask(const std::string& query) {
    if (description_.failure) return {};
    StatementResult result = ask_(query);
    if (!result.ok()) {
      description_.failure = std::move(result);
      return {};
    }
    return result;
  }

  void print(const StatementResult& result, std::string_view what) {
    if (!description_.failure)
      description_.text = table_text(result, fmt::format("{} \"{}\"", what, name_), footers_);
  }

  void add_sequence() {
    const StatementResult owner = ask(
        fmt::format("SELECT t.relname, a.attname FROM pg_catalog.pg_depend d, pg_catalog.pg_class t, "
                    "pg_catalog.pg_attribute a WHERE d.objid = {} AND d.deptype = 'a' AND t.oid = d.refobjid "
                    "AND a.attrelid = t.oid AND a.attnum = d.refobjsubid",
                    oid_));
    for (size_t row = 0; row < owner.rows.size(); ++row)
      footers_.push_back(
          fmt::format("Owned by: public.{}.{}", text_of(owner, row, 0), text_of(owner, row, 1)));
    print(ask(fmt::format("SELECT pg_catalog.format_type(seqtypid, NULL) AS \"Type\", seqstart AS \"Start\", "
                          "seqmin AS \"Minimum\", seqmax AS \"Maximum\", seqincrement AS \"Increment\", "
                          "CASE WHEN seqcycle THEN 'yes' ELSE 'no' END AS \"Cycles?\", seqcache AS \"Cache\" "
                          "FROM pg_catalog.pg_sequence WHERE seqrelid = {}",
                          oid_)),
          "Sequence");
  }

  void add_index() {
    const StatementResult columns = ask(fmt::format(
        "SELECT a.attname AS \"Column\", pg_catalog.format_type(a.atttypid, a.atttypmod) AS \"Type\", "
        "'yes' AS \"Key?\", pg_catalog.pg_get_indexdef(a.attrelid, a.attnum, true) AS \"Definition\" "
        "FROM pg_catalog.pg_attribute a WHERE a.attrelid = {} AND a.attnum > 0 ORDER BY a.attnum",
        oid_));
    const StatementResult index = ask(
        fmt::format("SELECT i.indisprimary, i.indisunique, a.amname, t.relname FROM pg_catalog.pg_index i, "
                    "pg_catalog.pg_class c, pg_catalog.pg_class t, pg_catalog.pg_am a "
                    "WHERE i.indexrelid = {} AND c.oid = i.indexrelid AND t.oid = i.indrelid "
                    "AND a.oid = c.relam",
                    oid_));
    for (size_t row = 0; row < index.rows.size(); ++row) {
      const char* const kind = text_of(index, row, 0) == "t"   ? "primary key, "
                               : text_of(index, row, 1) == "t" ? "unique, "
                                                               : "";
      footers_.push_back(
          fmt::format("{}{}, for table \"public.{}\"", kind, text_of(index, row, 2), text_of(index, row, 3)));
    }
    print(columns, "Index");
  }

  void add_table() {
    const StatementResult columns = ask(fmt::format(
        "SELECT a.attname AS \"Column\", pg_catalog.format_type(a.atttypid, a.atttypmod) AS \"Type\", "
        "'' AS \"Collation\", CASE WHEN a.attnotnull THEN 'not null' ELSE '' END AS \"Nullable\", "
        "coalesce((SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d "
        "WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum), '') AS \"Default\" "
        "FROM pg_catalog.pg_attribute a WHERE a.attrelid = {} AND a.attnum > 0 ORDER BY a.attnum",
        oid_));
    if (kind_ == "r") {
      add_indexes();
      add_constraints("Check constraints:", "conrelid", "c");
      add_constraints("Foreign-key constraints:", "conrelid", "f");
      add_constraints("Referenced by:", "confrelid", "f");
    }
    print(columns, kind_ == "v" ? "View" : "Table");
  }

  void add_indexes() {
    const StatementResult indexes = ask(fmt::format(
        "SELECT c.relname, i.indisprimary, i.indisunique, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), "
        "o.contype FROM pg_catalog.pg_class c, pg_catalog.pg_index i LEFT JOIN pg_catalog.pg_constraint o "
        "ON o.conrelid = i.indrelid AND o.conindid = i.indexrelid AND o.contype IN ('p', 'u') "
        "WHERE i.indrelid = {} AND i.indexrelid = c.oid ORDER BY i.indisprimary DESC, c.relname",
        oid_));
    if (!indexes.rows.empty()) footers_.emplace_back("Indexes:");
    for (size_t row = 0; row < indexes.rows.size(); ++row) {
      const char* const kind = text_of(indexes, row, 1) == "t"   ? "PRIMARY KEY, "
                               : text_of(indexes, row, 4) == "u" ? "UNIQUE CONSTRAINT, "
                               : text_of(indexes, row, 2) == "t" ? "UNIQUE, "
                                                                 : "";
      const std::string& definition = text_of(indexes, row, 3);
      const size_t method = definition.find(" USING ");
      footers_.push_back(fmt::format("    \"{}\" {}{}", text_of(indexes, row, 0), kind,
                                     method == definition.npos ? definition : definition.substr(method + 7)));
    }
  }

  void add_constraints(const char* title, std::string_view column, std::string_view kind) {
    const StatementResult found =
        ask(fmt::format("SELECT r.conname, t.relname, pg_catalog.pg_get_constraintdef(r.oid, true) "
                        "FROM pg_catalog.pg_constraint r, pg_catalog.pg_class t WHERE t.oid = r.conrelid "
                        "AND r.{} = {} AND r.contype = '{}' ORDER BY r.conname",
                        column, oid_, kind));
    if (!found.rows.empty()) footers_.emplace_back(title);
    for (size_t row = 0; row < found.rows.size(); ++row) {
      const std::string& name = text_of(found, row, 0);
      footers_.push_back(column == "confrelid"
                             ? fmt::format("    TABLE \"{}\" CONSTRAINT \"{}\" {}", text_of(found, row, 1),
                                           name, text_of(found, row, 2))
                             : fmt::format("    \"{}\" {}", name, text_of(found, row, 2)));
    }
  }

  const std::string oid_;
  const std::string name_;  // with its schema
  const std::string kind_;
  const Ask ask_;
  std::vector<std::string> footers_;
  Description description_;
};

}  // namespace

Description list_relations(std::string_view kinds, std::string_view pattern, Ask ask) {
  std::string wanted;
  for (const char kind : kinds) wanted += fmt::format("{}'{}'", wanted.empty() ? "" : ", ", kind);
  const bool has_indexes = kinds.find('i') != kinds.npos;
  StatementResult found = ask(fmt::format(
      "SELECT n.nspname AS \"Schema\", c.relname AS \"Name\", CASE c.relkind WHEN 'r' THEN 'table' "
      "WHEN 'v' THEN 'view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' END AS \"Type\", "
      "pg_catalog.pg_get_userbyid(c.relowner) AS \"Owner\"{} FROM pg_catalog.pg_class c "
      "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace {} WHERE c.relkind IN ({}) AND {} "
      "ORDER BY 1, 2",
      has_indexes ? ", t.relname AS \"Table\"" : "",
      has_indexes ? "LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid "
                    "LEFT JOIN pg_catalog.pg_class t ON t.oid = i.indrelid"
                  : "",
      wanted, matches("c.relname", pattern)));
  if (!found.ok()) return {"", std::move(found), true};
  if (found.rows.empty()) return not_found("relation", pattern);
  const std::string count = fmt::format("({} row{})", found.rows.size(), found.rows.size() == 1 ? "" : "s");
  return {table_text(found, "List of relations", {count}), {}, true};
}

Description list_procedures(std::string_view pattern, Ask ask) {
  StatementResult found = ask(
      fmt::format("SELECT n.nspname AS \"Schema\", p.proname AS \"Name\", "
                  "pg_catalog.pg_get_function_result(p.oid) AS \"Result data type\", "
                  "pg_catalog.pg_get_function_arguments(p.oid) AS \"Argument data types\", "
                  "CASE p.prokind WHEN 'p' THEN 'proc' ELSE 'func' END AS \"Type\" FROM pg_catalog.pg_proc p "
                  "JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE {} ORDER BY 1, 2, 4",
                  matches("p.proname", pattern)));
  if (!found.ok()) return {"", std::move(found), true};
  const std::string count = fmt::format("({} row{})", found.rows.size(), found.rows.size() == 1 ? "" : "s");
  return {table_text(found, "List of functions", {count}), {}, true};
}

Description describe_relations(std::string_view pattern, Ask ask) {
  StatementResult found =
      ask(fmt::format("SELECT c.oid, n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c "
                      "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE {} ORDER BY 2, 3",
                      matches("c.relname", pattern)));
  if (!found.ok()) return {"", std::move(found), true};
  if (found.rows.empty()) return not_found("relation", pattern);
  Description all;
  for (size_t row = 0; row < found.rows.size(); ++row) {
    RelationText relation(text_of(found, row, 0),
                          fmt::format("{}.{}", text_of(found, row, 1), text_of(found, row, 2)),
                          text_of(found, row, 3), ask);
    Description one = relation.make();
    if (one.failure) return one;
    all.text += one.text;
  }
  return all;
}

}  // namespace mneme
