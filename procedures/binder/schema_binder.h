// Schema binder: CREATE TABLE and CREATE INDEX into the catalog.
#pragma once

#include "engine/schema/catalog.h"
#include "procedures/parser/syntax.h"

namespace mneme {

void bind_table(const syntax::Table& table, Catalog& catalog);
// The name of the index, which PostgreSQL's rule gives where the statement doesn't.
std::string index_name(const syntax::Index& index, const Catalog& catalog);
void bind_alteration(const syntax::Alteration& alteration, Catalog& catalog);
void bind_index(const syntax::Index& index, Catalog& catalog);

}  // namespace mneme
