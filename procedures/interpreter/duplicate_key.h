// Duplicate keys: the error of a row that a unique index refuses, in PostgreSQL's words.
#pragma once

#include "base/memory/arena.h"
#include "engine/schema/schema.h"
#include "engine/transaction/row_access.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// Returns false, with the reason in `error`, its text in the arena: the constraint and the key that is there
// already, as far as the refusal tells them.
[[nodiscard]] bool fail_duplicate_key(const Schema& schema, const ir::Operation& operation,
                                      const KeyRefusal& refusal, Arena& arena, SqlError& error);

}  // namespace mneme
