// LOCK TABLE and SET CONSTRAINTS as a client sends them.
//
// Errors  throws a StatementResult that has failed.
#pragma once

#include <optional>

#include "server/session/client_statement.h"
#include "server/session/client_tokens.h"

namespace mneme {

// Returns nullopt if the statement is another one.
std::optional<LockStatement> read_lock_table(Tokens& tokens);

// What stands behind SET CONSTRAINTS.
ConstraintsStatement read_constraints(Tokens& tokens);

}  // namespace mneme
