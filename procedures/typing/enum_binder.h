// Enum binder: CREATE TYPE ... AS ENUM, ALTER TYPE and DROP TYPE into the catalog.
//
// Invariants  a label keeps the position that it was given first (engine/schema/enum_types.h), so the same
//             statements give the same positions in any process.
// Errors      refuse(), with PostgreSQL's SQLSTATEs.
#pragma once

#include "engine/schema/catalog.h"
#include "procedures/parser/syntax.h"

namespace mneme {

// The columns of a type that is changed take the change on; rows stay as they are.
void bind_enum(const syntax::EnumChange& change, Catalog& catalog);

}  // namespace mneme
