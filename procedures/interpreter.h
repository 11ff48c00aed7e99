// Interpreter: the reference semantics of the IR. Runs a procedure's body, or a slice of it, over any RowAccess.
//
// Flow        ProcedureCall -> Interpreter::run over a Transaction, a replayer's access, or a map in tests.
// Invariants  variables start as the arguments, then NULL; a run leaves nothing behind but the frame's variables.
//             The same call over the same rows always does the same.
// Threads     one Interpreter a thread; frames and arenas are its own and reused, so a run allocates nothing once warm.
// Errors      a user's rollback and SQL run-time errors (overflow, NOT NULL, duplicate key, no row for STRICT) are
//             Outcomes with a message; conflicts are Outcomes with the access's status.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/function_ref.h"
#include "engine/database.h"
#include "engine/row_access.h"
#include "procedures/ir.h"
#include "procedures/program.h"
#include "procedures/recording.h"

namespace mneme {

// The arguments of a call: one a parameter (INOUT's initial value included), then the hidden ones.
struct Argument {
  Value scalar;
  std::span<const Value> array;  // for array parameters
  bool null_array = true;
};
using Arguments = std::vector<Argument>;

}  // namespace mneme
