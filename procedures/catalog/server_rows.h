// Server rows: what pg_catalog says of types, procedures, roles and settings. Private to the room.
#pragma once

#include "procedures/catalog/system_rows.h"

namespace mneme::server_rows {

// Each is the table of pg_catalog that its name abbreviates; keywords is pg_get_keywords().
void namespaces(const SystemCatalog& catalog, RowMaker& rows);
void enums(const SystemCatalog& catalog, RowMaker& rows);
void types(const SystemCatalog& catalog, RowMaker& rows);
void procedures(const SystemCatalog& catalog, RowMaker& rows);
void access_methods(const SystemCatalog& catalog, RowMaker& rows);
void databases(const SystemCatalog& catalog, RowMaker& rows);
void roles(const SystemCatalog& catalog, RowMaker& rows);
void users(const SystemCatalog& catalog, RowMaker& rows);
void languages(const SystemCatalog& catalog, RowMaker& rows);
void tablespaces(const SystemCatalog& catalog, RowMaker& rows);
void collations(const SystemCatalog& catalog, RowMaker& rows);
void settings(const SystemCatalog& catalog, RowMaker& rows);
void keywords(const SystemCatalog& catalog, RowMaker& rows);

}  // namespace mneme::server_rows
