// Committed body: a procedure's statements as far as a transaction that committed can have run them.
//
// Only committed transactions are logged, so at replay no RAISE runs and no branch that must end in one is
// taken: `IF NOT FOUND THEN RAISE ..` orders nothing and keeps nothing alive, and neither does what only it
// looked at.
// Invariants  run with the same arguments on the same rows, both bodies do the same, if the whole one does
//             not raise.
#pragma once

#include <vector>

#include "procedures/ir/ir.h"

namespace mneme {

std::vector<ir::Statement> committed_body(const ir::Procedure& procedure);

}  // namespace mneme
