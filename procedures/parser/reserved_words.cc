#include "procedures/parser/reserved_words.h"

#include <algorithm>
#include <array>
#include <map>

#include "procedures/parser/tree_reader.h"

namespace mneme {
namespace {

constexpr auto kReserved = std::to_array<std::string_view>({"all",
                                                            "analyse",
                                                            "analyze",
                                                            "and",
                                                            "any",
                                                            "array",
                                                            "as",
                                                            "asc",
                                                            "asymmetric",
                                                            "authorization",
                                                            "begin",
                                                            "binary",
                                                            "both",
                                                            "by",
                                                            "case",
                                                            "cast",
                                                            "check",
                                                            "collate",
                                                            "collation",
                                                            "column",
                                                            "concurrently",
                                                            "constraint",
                                                            "create",
                                                            "cross",
                                                            "current_catalog",
                                                            "current_date",
                                                            "current_role",
                                                            "current_schema",
                                                            "current_time",
                                                            "current_timestamp",
                                                            "current_user",
                                                            "declare",
                                                            "default",
                                                            "deferrable",
                                                            "desc",
                                                            "distinct",
                                                            "do",
                                                            "else",
                                                            "end",
                                                            "except",
                                                            "execute",
                                                            "false",
                                                            "fetch",
                                                            "for",
                                                            "foreach",
                                                            "foreign",
                                                            "freeze",
                                                            "from",
                                                            "full",
                                                            "grant",
                                                            "group",
                                                            "having",
                                                            "if",
                                                            "ilike",
                                                            "in",
                                                            "initially",
                                                            "inner",
                                                            "intersect",
                                                            "into",
                                                            "is",
                                                            "isnull",
                                                            "join",
                                                            "lateral",
                                                            "leading",
                                                            "left",
                                                            "like",
                                                            "limit",
                                                            "localtime",
                                                            "localtimestamp",
                                                            "loop",
                                                            "natural",
                                                            "not",
                                                            "notnull",
                                                            "null",
                                                            "offset",
                                                            "on",
                                                            "only",
                                                            "or",
                                                            "order",
                                                            "outer",
                                                            "overlaps",
                                                            "placing",
                                                            "primary",
                                                            "references",
                                                            "returning",
                                                            "right",
                                                            "select",
                                                            "session_user",
                                                            "similar",
                                                            "some",
                                                            "strict",
                                                            "symmetric",
                                                            "table",
                                                            "tablesample",
                                                            "then",
                                                            "to",
                                                            "trailing",
                                                            "true",
                                                            "union",
                                                            "unique",
                                                            "user",
                                                            "using",
                                                            "variadic",
                                                            "verbose",
                                                            "when",
                                                            "where",
                                                            "while",
                                                            "window",
                                                            "with"});
static_assert(std::ranges::is_sorted(kReserved));

constexpr auto kNoProcedures = std::to_array<std::string_view>(
    {"between",      "bigint",    "bit",       "boolean",       "char",     "character",     "coalesce",
     "dec",          "decimal",   "exists",    "extract",       "float",    "greatest",      "grouping",
     "inout",        "int",       "integer",   "interval",      "least",    "national",      "nchar",
     "none",         "normalize", "nullif",    "numeric",       "out",      "overlay",       "position",
     "precision",    "real",      "row",       "setof",         "smallint", "substring",     "time",
     "timestamp",    "treat",     "trim",      "values",        "varchar",  "xmlattributes", "xmlconcat",
     "xmlelement",   "xmlexists", "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi",         "xmlroot",
     "xmlserialize", "xmltable"});
static_assert(std::ranges::is_sorted(kNoProcedures));

constexpr auto kWithoutParentheses = std::to_array<std::string_view>(
    {"current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp",
     "current_user", "localtime", "localtimestamp", "session_user", "user"});

constexpr auto kReservedInPlpgsql = std::to_array<std::string_view>(
    {"all",  "begin",   "by",     "case", "declare", "else",  "end",  "execute",
     "for",  "foreach", "from",   "if",   "in",      "into",  "loop", "not",
     "null", "or",      "strict", "then", "to",      "using", "when", "while"});
static_assert(std::ranges::is_sorted(kReservedInPlpgsql));

// In a session's statement these mean something else than inside a procedure.
const std::map<std::string_view, std::string_view> kSessionAdvice = {
    {"alter", "ALTER is not supported: drop the table or index, and create it as it should be"},
    {"call",
     "a CALL is written CALL name(argument, ...), with the parentheses also where there are no arguments"},
    {"close", "cursors are not supported; use ORDER BY with LIMIT and OFFSET"},
    {"commit", "COMMIT is written alone, or as COMMIT WORK or COMMIT TRANSACTION"},
    {"copy", "COPY is not supported; use INSERT"},
    {"cursor", "cursors are not supported; use ORDER BY with LIMIT and OFFSET"},
    {"declare", "cursors are not supported; use ORDER BY with LIMIT and OFFSET"},
    {"do", "DO blocks are not supported; create a procedure, and CALL it"},
    {"drop", "DROP is written DROP TABLE name, DROP INDEX name or DROP PROCEDURE name"},
    {"execute", "prepared statements are not supported; create a procedure, and CALL it"},
    {"exists",
     "EXISTS and subqueries are not supported; select the inner rows first, in the same BEGIN block"},
    {"move", "cursors are not supported; use ORDER BY with LIMIT and OFFSET"},
    {"prepare", "prepared statements are not supported; create a procedure, and CALL it"},
    {"rollback", "prepared transactions are not supported; ROLLBACK, alone, rolls the whole block back"},
    {"select", "subqueries are not supported; select the inner rows first, in the same BEGIN block"},
    {"set", "settings are not supported: every transaction is serializable; leave SET out"},
    {"temp", "temporary tables are not supported; create a table, and drop it"},
    {"temporary", "temporary tables are not supported; create a table, and drop it"},
    {"vacuum", "VACUUM is not supported: rows that nobody needs are freed without it; leave it out"},
    {"view", "views are not supported; write the SELECT itself"},
    {"with", "WITH is not supported; use a SELECT for each part, in the same BEGIN block"},
};

const std::map<std::string_view, std::string_view> kReservedWordAdvice = {
    {"alter", "ALTER is not supported: write the table or index as it should be in its CREATE"},
    {"analyze", "ANALYZE is not supported: there are no statistics; leave it out"},
    {"array", "array constructors other than ARRAY[] are not supported; fill an array with array_append()"},
    {"collate", "COLLATE is supported for columns only, as COLLATE \"C\": strings compare by their bytes"},
    {"commit",
     "COMMIT is not supported inside a procedure: a call is one transaction, which commits at its end"},
    {"concurrently",
     "CONCURRENTLY is not supported; leave it out: nothing else runs while the schema is made"},
    {"copy", "COPY is not supported: a file holds tables, indexes and procedures only"},
    {"cross", "CROSS JOIN is not supported; write FROM a, b WHERE ... or a JOIN b ON ..."},
    {"default", "DEFAULT is not supported here; give the value in each INSERT or CALL"},
    {"desc", "DESC is not supported for an index's columns: an index is read both ways; leave it out"},
    {"distinct",
     "SELECT DISTINCT is not supported; DISTINCT is accepted in count(DISTINCT x) and IS DISTINCT FROM"},
    {"do", "DO blocks are not supported: a file holds tables, indexes and procedures only"},
    {"drop", "DROP is not supported: a file describes a database from its beginning; leave it out"},
    {"execute",
     "EXECUTE (dynamic SQL) is not supported: the log's replay needs every statement known beforehand; write "
     "the "
     "statement itself"},
    {"exists", "EXISTS and subqueries are not supported; use PERFORM 1 FROM ... WHERE ..., then IF FOUND"},
    {"fetch",
     "FETCH is not supported here: procedures have cursors of their own (DECLARE c CURSOR FOR ...; OPEN c; "
     "FETCH c INTO ...), and a server's sessions have DECLARE and FETCH"},
    {"generated", "a generated column is written GENERATED ALWAYS AS (expression) STORED"},
    {"grant", "GRANT is not supported: there are no users; leave it out"},
    {"include", "INCLUDE columns are not supported: an index leads to the whole row; leave them out"},
    {"lock", "LOCK is not supported: transactions are serializable as they are; leave it out"},
    {"merge", "MERGE is not supported; use SELECT ... INTO, IF FOUND, then UPDATE or INSERT"},
    {"nowait", "NOWAIT is not supported; FOR UPDATE alone is accepted"},
    {"nulls",
     "NULLS FIRST and NULLS LAST are not supported: NULLs come last, and first under DESC, as by default"},
    {"of", "FOR UPDATE OF is not supported; FOR UPDATE alone is accepted"},
    {"partition", "PARTITION BY is not supported; leave it out"},
    {"rollback",
     "ROLLBACK is not supported inside a procedure; RAISE EXCEPTION '...' rolls the whole call back"},
    {"savepoint",
     "SAVEPOINT is not supported: a call is one transaction; RAISE EXCEPTION '...' rolls all of it back"},
    {"security", "SECURITY is not supported: there are no users; leave it out"},
    {"select", "subqueries are not supported; use SELECT ... INTO a variable first, and the variable here"},
    {"sequence",
     "sequences are not supported: draw numbers from a row of a table with UPDATE ... RETURNING ... INTO"},
    {"setof",
     "functions that return rows are not supported; return one value, or insert the rows into a table"},
    {"share", "FOR SHARE is not supported; leave it out: transactions are serializable as they are"},
    {"similar", "SIMILAR TO is not supported; compare with left(...), or strpos(text, part) > 0"},
    {"skip", "SKIP LOCKED is not supported; FOR UPDATE alone is accepted"},
    {"slice", "array slices are not supported; use a[i] in a FOR loop"},
    {"temp", "temporary tables are not supported; use variables and arrays"},
    {"temporary", "temporary tables are not supported; use variables and arrays"},
    {"trigger", "triggers are not supported; write the statements in the procedures"},
    {"truncate", "TRUNCATE is not supported; use DELETE FROM"},
    {"type", "CREATE TYPE is supported AS ENUM (...) alone; give a table columns for the parts of a value"},
    {"unlogged", "UNLOGGED tables are not supported; leave the word out"},
    {"view", "views are not supported; write the SELECT in the procedures"},
    {"with", "WITH is not supported; use SELECT ... INTO variables first, and the variables here"},
};

}  // namespace

bool is_reserved_word(std::string_view lower_case_word) {
  return std::ranges::binary_search(kReserved, lower_case_word);
}

bool is_reserved_for_procedures(std::string_view lower_case_word) {
  return std::ranges::binary_search(kNoProcedures, lower_case_word);
}

bool is_function_without_parentheses(std::string_view lower_case_word) {
  return std::ranges::binary_search(kWithoutParentheses, lower_case_word);
}

bool is_reserved_in_plpgsql(std::string_view lower_case_word) {
  return std::ranges::binary_search(kReservedInPlpgsql, lower_case_word);
}

std::string_view advice_for_word(std::string_view lower_case_word, bool in_session) {
  if (in_session) {
    if (const auto found = kSessionAdvice.find(lower_case_word); found != kSessionAdvice.end())
      return found->second;
  }
  const auto found = kReservedWordAdvice.find(lower_case_word);
  return found == kReservedWordAdvice.end() ? std::string_view() : found->second;
}

std::vector<std::string> keywords() {
  std::vector<std::string> words;
  antlr4::ANTLRInputStream empty;
  const MnemeLexer names(&empty);
  const antlr4::dfa::Vocabulary& vocabulary = names.getVocabulary();
  for (size_t type = 0; type <= vocabulary.getMaxTokenType(); ++type) {
    // A keyword's token has the word for its name, with an underscore where C++ has the word too.
    std::string word(vocabulary.getSymbolicName(type));
    if (word.ends_with('_')) word.pop_back();
    antlr4::ANTLRInputStream input(word);
    MnemeLexer lexer(&input);
    lexer.removeErrorListeners();
    if (!word.empty() && lexer.nextToken()->getType() == type) words.push_back(std::move(word));
  }
  std::ranges::sort(words);
  return words;
}

}  // namespace mneme
