// Constraint rows: what the catalogs say of keys, CHECKs and foreign keys. Private to the room.
#pragma once

#include "procedures/catalog/system_rows.h"

namespace mneme::constraint_rows {

// pg_constraint
void constraints(const SystemCatalog& catalog, RowMaker& rows);

// The tables of these names in information_schema; key_columns is key_column_usage, constraint_columns
// constraint_column_usage.
void table_constraints(const SystemCatalog& catalog, RowMaker& rows);
void key_columns(const SystemCatalog& catalog, RowMaker& rows);
void constraint_columns(const SystemCatalog& catalog, RowMaker& rows);
void referential_constraints(const SystemCatalog& catalog, RowMaker& rows);
void constraint_tables(const SystemCatalog& catalog, RowMaker& rows);
void check_constraints(const SystemCatalog& catalog, RowMaker& rows);

}  // namespace mneme::constraint_rows
