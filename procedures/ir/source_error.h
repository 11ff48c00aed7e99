// SourceError: what is wrong with a .sql file, and where. Thrown inside the parser and the binder, whose
// recursion is deep and whose first error ends the work; compile() and sessions catch it and make it a
// Result.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "procedures/ir/ir.h"

namespace mneme {

struct SourceError {
  ir::SourceLocation where;
  std::string message;             // the construct, why it can't be, and what is accepted instead
  const char* sqlstate = nullptr;  // where it is another than a syntax error's
  std::string hint = {};
  // What PostgreSQL says of it, where that is less; its clients are shown `message` as the hint then.
  std::string client_message = {};
  std::string detail = {};
};

// Returns whether a statement that was refused so may be accepted as a query of any form, which has functions
// that procedures lack and shows numbers whatever their digits are.
inline bool may_be_of_queries(const SourceError& error) {
  const std::string_view code = error.sqlstate == nullptr ? "" : error.sqlstate;
  return code == sqlstate::kNotSupported || code == sqlstate::kUndefinedFunction ||
         code == sqlstate::kNotUnique;
}

template <typename... Args>
[[noreturn]] void refuse(ir::SourceLocation where, fmt::format_string<Args...> text, Args&&... args) {
  throw SourceError{where, fmt::format(text, std::forward<Args>(args)...)};
}

template <typename... Args>
[[noreturn]] void refuse_as(const char* sqlstate, ir::SourceLocation where, fmt::format_string<Args...> text,
                            Args&&... args) {
  throw SourceError{where, fmt::format(text, std::forward<Args>(args)...), sqlstate};
}

// As refuse_as(), with what PostgreSQL's clients are shown.
template <typename... Args>
[[noreturn]] void refuse_showing(std::string client_message, const char* sqlstate, ir::SourceLocation where,
                                 fmt::format_string<Args...> text, Args&&... args) {
  throw SourceError{
      where, fmt::format(text, std::forward<Args>(args)...), sqlstate, {}, std::move(client_message)};
}

}  // namespace mneme
