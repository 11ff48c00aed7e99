// Constraint binder: CHECK and FOREIGN KEY into the catalog. What they ask of each INSERT, UPDATE and DELETE
// is the change binder's (change_binder.h).
//
// Errors      refuse(), with PostgreSQL's SQLSTATEs.
#pragma once

#include "engine/schema/catalog.h"
#include "procedures/parser/syntax.h"

namespace mneme {

void bind_check(const syntax::Check& check, TableId table, Catalog& catalog);

// Adds an index over the key's columns, too, unless the table has one that finds the rows which refer to a
// key.
void bind_foreign_key(const syntax::ForeignKey& key, TableId table, Catalog& catalog);

}  // namespace mneme
