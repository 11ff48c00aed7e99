// EXPLAIN as a client sends it: its options, and the statement that it is about.
//
// Errors  throws a StatementResult that has failed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "procedures/session/explanation.h"

namespace mneme {

struct Explained {
  ExplainOptions options;
  std::string text;  // the statement, with blanks before it, so that places in it stay
};

// Returns nullopt if the statement is another one.
std::optional<Explained> read_explain(std::string_view text);

}  // namespace mneme
