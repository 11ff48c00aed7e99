// Relation rows: what pg_catalog says of tables, views, sequences and indexes, and of their columns. Private
// to the room.
#pragma once

#include <vector>

#include "procedures/binder/command_binder.h"
#include "procedures/catalog/system_rows.h"

namespace mneme::relation_rows {

// Each is the table of pg_catalog that its name abbreviates.
void classes(const SystemCatalog& catalog, RowMaker& rows);
void attributes(const SystemCatalog& catalog, RowMaker& rows);
void defaults(const SystemCatalog& catalog, RowMaker& rows);
void indexes(const SystemCatalog& catalog, RowMaker& rows);
void table_list(const SystemCatalog& catalog, RowMaker& rows);
void counted_tables(const SystemCatalog& catalog, RowMaker& rows);
void counted_indexes(const SystemCatalog& catalog, RowMaker& rows);
void index_list(const SystemCatalog& catalog, RowMaker& rows);
void sequences(const SystemCatalog& catalog, RowMaker& rows);
void sequence_list(const SystemCatalog& catalog, RowMaker& rows);
void views(const SystemCatalog& catalog, RowMaker& rows);
void descriptions(const SystemCatalog& catalog, RowMaker& rows);
void dependencies(const SystemCatalog& catalog, RowMaker& rows);

// Returns a view's columns, with their types; none if it cannot be bound any more.
std::vector<ResultColumn> columns_of(const SystemCatalog& catalog, const View& view);

}  // namespace mneme::relation_rows
