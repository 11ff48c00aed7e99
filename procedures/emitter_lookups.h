// Lookups emitter: the function that names, before a procedure runs, the rows that it will look up, as far as its
// arguments alone tell.
//
// Method      the procedure's statements in order, over variables that are known: arguments, and what is assigned from
//             known ones. Branches on known conditions are taken, loops over known bounds run; what a statement of the
//             database sets is unknown from there on, and what depends on it is passed over.
// Invariants  nothing rests on it: it may name too much or too little. An error in an expression ends it.
#pragma once

#include <string>

#include "engine/schema.h"
#include "procedures/native_abi.h"

namespace mneme {

// The text of `lookups_NAME`, a NativeLookupFunction, for a unit that is a procedure's whole body.
std::string emit_lookups(const Schema& schema, const NativeUnit& unit);

}  // namespace mneme
