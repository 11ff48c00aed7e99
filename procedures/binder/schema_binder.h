// Schema binder: CREATE TABLE and CREATE INDEX into the catalog.
#pragma once

#include "engine/schema/catalog.h"
#include "procedures/parser/syntax.h"

namespace mneme {

void bind_table(const syntax::Table& table, Catalog& catalog);
void bind_index(const syntax::Index& index, Catalog& catalog);

}  // namespace mneme
