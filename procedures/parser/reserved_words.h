// Words: those that the grammar knows, those that PostgreSQL won't take for a name, and what to say about the
// constructs that words begin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme {

// The grammar's, for a shell that completes what is typed: in upper case, sorted.
std::vector<std::string> keywords();

// Words that PostgreSQL 15 reserves (pg_get_keywords(), categories R and T), and with them PL/pgSQL's own.
bool is_reserved_word(std::string_view lower_case_word);

// Words that PL/pgSQL itself reserves (its pl_reserved_kwlist.h): no label has one of them for its name.
bool is_reserved_in_plpgsql(std::string_view lower_case_word);

// Words that can name a table or column, but no procedure (category C).
bool is_reserved_for_procedures(std::string_view lower_case_word);

// current_timestamp, localtimestamp and their like.
bool is_function_without_parentheses(std::string_view lower_case_word);

// Returns a sentence: what is not supported about the construct that the word stands for, and what to use
// instead; empty if there is no advice. `in_session`: for a statement of its own, not one inside a procedure.
std::string_view advice_for_word(std::string_view lower_case_word, bool in_session = false);

}  // namespace mneme
