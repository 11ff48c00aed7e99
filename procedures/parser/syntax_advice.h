// Syntax advice: what a text that the grammar does not take most likely meant, and what to write instead.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mneme {

// Words around a syntax error, in lower case.
struct ErrorContext {
  std::string offending;
  bool reserved_as_name = false;        // the offending word is reserved and stands where a name is expected
  bool in_session = false;              // in a session's statement, not in a file or a procedure's body
  std::span<const std::string> before;  // of the same statement, nearest first
};

struct SyntaxAdvice {
  std::string_view text;  // empty: nothing to say
  int at = -1;            // the word that it is about: -1 the offending one, else an index into `before`
};

// Whether PostgreSQL has statements that begin with this word, or objects of this kind to create, that are
// not here.
bool is_statement_of_others(std::string_view lower_case_word);
bool is_object_of_others(std::string_view lower_case_word);

SyntaxAdvice advice_for(const ErrorContext& context);

}  // namespace mneme
