#include "procedures/parser/syntax_advice.h"

#include <algorithm>

#include "procedures/parser/reserved_words.h"

namespace mneme {

namespace {

// In a statement that begins with `first`, an error at `word` ("": at any).
struct StatementAdvice {
  std::string_view first;
  std::string_view word;
  std::string_view text;
};

constexpr StatementAdvice kStatementAdvice[] = {
    {"create", "using",
     "index methods are not supported; leave USING out: every index is a hash table or a B+tree"},
    {"create", "(",
     "expressions are not supported as an index's columns; give the table a column GENERATED ALWAYS AS "
     "(expression) STORED, and index that"},
    {"create", "select", "a procedure's body is LANGUAGE plpgsql AS $$ BEGIN ... END $$"},
    {"create", "with", "storage parameters are not supported; leave WITH out"},
    {"insert", "on",
     "ON CONFLICT is not supported; look for the row with SELECT ... INTO, then use IF FOUND"},
    {"return", "query", "functions that return rows are not supported; insert the rows into a table"},
    {"return", "next", "functions that return rows are not supported; insert the rows into a table"},
    {"exit", "", "EXIT is written EXIT label WHEN condition, the label and the condition being optional"},
};

std::string_view statement_advice(const ErrorContext& context) {
  if (context.before.empty()) return {};
  for (const StatementAdvice& advice : kStatementAdvice) {
    if (advice.first == context.before.back() && (advice.word.empty() || advice.word == context.offending)) {
      return advice.text;
    }
  }
  return {};
}

bool begins_accepted_statement(std::string_view word) {
  return word == "select";
}

// A call where a table's name stands: FROM f(, JOIN f(, or a comma in a list that FROM began.
bool calls_in_from(const ErrorContext& context) {
  const auto& before = context.before;
  if (context.offending != "(" || before.size() < 2) return false;
  if (before[1] == "from" || before[1] == "join") return true;
  return before[1] == "," && std::ranges::find(before, "from") != before.end();
}

}  // namespace

bool is_statement_of_others(std::string_view word) {
  constexpr std::string_view kStatements[] = {"checkpoint", "cluster",  "import",   "listen",
                                              "load",       "notify",   "reassign", "refresh",
                                              "revoke",     "security", "unlisten"};
  return std::ranges::find(kStatements, word) != std::end(kStatements);
}

bool is_object_of_others(std::string_view word) {
  constexpr std::string_view kObjects[] = {
      "access",     "aggregate",   "cast",      "collation", "conversion", "database",     "domain",
      "event",      "extension",   "foreign",   "group",     "language",   "materialized", "operator",
      "policy",     "publication", "role",      "rule",      "server",     "statistics",   "subscription",
      "tablespace", "text",        "transform", "user"};
  return std::ranges::find(kObjects, word) != std::end(kObjects);
}

SyntaxAdvice advice_for(const ErrorContext& context) {
  const auto advice_for_word = [&](std::string_view word) {
    return mneme::advice_for_word(word, context.in_session);
  };
  if (calls_in_from(context)) {
    return {
        context.in_session
            ? "functions in FROM are not supported; name a table, or select the values in a procedure's loop"
            : "functions in FROM are not supported; use FOR i IN a..b LOOP",
        0};
  }
  if (const auto text = statement_advice(context); !text.empty()) return {text, -1};
  if (context.reserved_as_name) return {};
  const auto& before = context.before;
  // EXISTS (SELECT: the error is found at SELECT.
  if (context.offending == "select" && before.size() >= 2 && before[0] == "(" && before[1] == "exists") {
    return {advice_for_word("exists"), 1};
  }
  // EXECUTE 'text' reads as a type's literal.
  if (before.size() >= 2 && before[0].starts_with('\'') && before[1] == "execute")
    return {advice_for_word("execute"), 1};
  // The word before the error may be a reserved word that was taken for a name.
  for (size_t i = 0; i < before.size(); ++i) {
    const bool says_most = before[i] == "union" || before[i] == "except" || before[i] == "intersect" ||
                           before[i] == "natural" || before[i] == "cross" || before[i] == "lateral" ||
                           before[i] == "foreign";
    if (says_most) return {advice_for_word(before[i]), static_cast<int>(i)};
  }
  if (const auto text = advice_for_word(context.offending); !text.empty() && !before.empty())
    return {text, -1};
  if (before.empty()) {
    if (begins_accepted_statement(context.offending)) return {};
    return {advice_for_word(context.offending), -1};
  }
  const auto at = [&](size_t i) {
    return begins_accepted_statement(before[i]) ? "" : advice_for_word(before[i]);
  };
  if (const auto text = at(before.size() - 1); !text.empty())
    return {text, static_cast<int>(before.size() - 1)};
  return {at(0), 0};
}

}  // namespace mneme
