// Information schema rows: the tables of information_schema but those of constraints (constraint_rows.h).
// Private to the room.
#pragma once

#include "procedures/catalog/system_rows.h"

namespace mneme::information_schema_rows {

// Each is the table of its name.
// Appends the schema's tables.
void define_tables(std::vector<SystemTable>& all);

void tables(const SystemCatalog& catalog, RowMaker& rows);
void columns(const SystemCatalog& catalog, RowMaker& rows);
void element_types(const SystemCatalog& catalog, RowMaker& rows);
void schemata(const SystemCatalog& catalog, RowMaker& rows);
void routines(const SystemCatalog& catalog, RowMaker& rows);
void views(const SystemCatalog& catalog, RowMaker& rows);
void sequences(const SystemCatalog& catalog, RowMaker& rows);
void parameters(const SystemCatalog& catalog, RowMaker& rows);
void catalog_name(const SystemCatalog& catalog, RowMaker& rows);
void view_tables(const SystemCatalog& catalog, RowMaker& rows);
void enabled_roles(const SystemCatalog& catalog, RowMaker& rows);
// The owner of everything may do everything.
void table_privileges(const SystemCatalog& catalog, RowMaker& rows);
void column_privileges(const SystemCatalog& catalog, RowMaker& rows);
void collations(const SystemCatalog& catalog, RowMaker& rows);

}  // namespace mneme::information_schema_rows
