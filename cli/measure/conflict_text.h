// Conflict text: why attempts of calls were aborted, as text and as JSON.
//
// Threads     functions of their arguments.
#pragma once

#include <string>

#include "cli/measure/call_tally.h"
#include "cli/output/output.h"

namespace mneme {

// "validation 12, lock 3".
std::string causes_text(const ProcedureReport& part);

// Attempts that met a conflict, by cause, and calls that their procedure rolled back.
Json causes_json(const ProcedureReport& part);

}  // namespace mneme
