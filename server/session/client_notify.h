// LISTEN, UNLISTEN and NOTIFY, as they are read.
#pragma once

#include <optional>

#include "server/session/client_statement.h"
#include "server/session/client_tokens.h"

namespace mneme {

// Returns nullopt where the statement is another one.
std::optional<NotifyStatement> read_notify(Tokens& tokens);

}  // namespace mneme
