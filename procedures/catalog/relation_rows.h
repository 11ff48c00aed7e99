// Relation rows: the system tables that describe sequences and views. Private to the room.
#pragma once

#include "procedures/catalog/system_rows.h"

namespace mneme::relation_rows {

void sequences(const SystemCatalog& catalog, RowMaker& rows);
void sequence_list(const SystemCatalog& catalog, RowMaker& rows);
void views(const SystemCatalog& catalog, RowMaker& rows);
void schema_views(const SystemCatalog& catalog, RowMaker& rows);

}  // namespace mneme::relation_rows
