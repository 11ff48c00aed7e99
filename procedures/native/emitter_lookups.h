// Lookups emitter: the functions that name, before a procedure runs, the rows that it will look up.
//
// Rounds      the first function names what the arguments alone tell. What keys are made of may also lie in
//             rows: the second one names what the rows that the first has found tell, and so on
//             (row_peeks.h).
// Method      the procedure's statements in order, over variables that are known: arguments, what is assigned
//             from known ones, and, a round later, what a statement reads from the row that it looked up.
//             Branches on known conditions are taken, loops over known bounds run; what else a statement of
//             the database sets is unknown from there on, and what depends on it is passed over. Each round's
//             function takes the same way again, so that it peeks at rows in the order in which earlier
//             rounds have named them. Rounds that overlap nothing, having one look-up, are left out, with all
//             that follow.
// Invariants  nothing rests on it: it may name too much or too little, and rows may have changed since they
//             were peeked at. An error in an expression ends it.
#pragma once

#include <string>

#include "engine/schema/schema.h"
#include "procedures/interpreter/native_abi.h"

namespace mneme {

// For a unit that is a procedure's whole body.
struct LookupFunctions {
  std::string text;
  std::string names;  // of the NativeLookupFunctions, round by round, as an initialiser lists them
};
LookupFunctions emit_lookups(const Schema& schema, const NativeUnit& unit);

}  // namespace mneme
