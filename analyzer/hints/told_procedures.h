// Told procedures: procedures' bodies that tell keys while they run, so that the records of their calls can
// have hints (procedures/interpreter/call_hints.h).
//
// Which       operations tell: those of an access that its slice finds by what the slice itself reads, in a
//             table of whose rows dispatch could say no lanes without. Replay would run all pieces there in
//             one lane, or across all of them (lane_plan.h).
// Invariants  replay may take procedures apart in other ways, and so miss hints, or have some that it does
//             not need: a record lists which operations have told (told_key()).
// Source      ours; MySQL's WRITESET and Taurus (VLDB 2021) put into the log what orders its transactions,
//             too.
#pragma once

#include <vector>

#include "procedures/binder/program.h"
#include "procedures/interpreter/call_hints.h"

namespace mneme {

// Returns the procedures' bodies that tell keys, by ProcedureId. The program outlives them.
std::vector<ToldProcedure> told_procedures(const Program& program);

}  // namespace mneme
