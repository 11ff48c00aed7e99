// Information schema rows: the tables of information_schema but those of constraints (constraint_rows.h).
// Private to the room.
#pragma once

#include "procedures/catalog/system_rows.h"

namespace mneme::information_schema_rows {

// Each is the table of its name.
void tables(const SystemCatalog& catalog, RowMaker& rows);
void columns(const SystemCatalog& catalog, RowMaker& rows);
void schemata(const SystemCatalog& catalog, RowMaker& rows);
void routines(const SystemCatalog& catalog, RowMaker& rows);
void views(const SystemCatalog& catalog, RowMaker& rows);

}  // namespace mneme::information_schema_rows
