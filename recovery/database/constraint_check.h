// Constraint check: whether a table's rows fulfil the CHECKs and foreign keys that a change of the schema
// adds.
#pragma once

#include "engine/schema/catalog.h"
#include "procedures/session/sql_session.h"
#include "recovery/database/data_directory.h"

namespace mneme {

// Returns a success, or the failure that names the first constraint that some row violates. `changed` follows
// from the database's catalog. No transaction is open, and none begins before this returns.
StatementResult check_added_constraints(WorkingDatabase& working, const Catalog& changed);

}  // namespace mneme
