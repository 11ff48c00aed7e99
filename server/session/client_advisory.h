// SELECT pg_advisory_lock(key) and its kind as a client sends them.
#pragma once

#include <optional>

#include "server/session/client_statement.h"
#include "server/session/client_tokens.h"

namespace mneme {

// Returns nullopt if the statement is another one, or more than one such call.
std::optional<AdvisoryStatement> read_advisory(Tokens tokens);

}  // namespace mneme
