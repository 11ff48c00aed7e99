// Activity rows: pg_stat_activity, of the sessions that set_activities() has put among the session's values.
// Private to the room.
#pragma once

#include "procedures/catalog/system_rows.h"

namespace mneme::activity_rows {

void activities(const SystemCatalog& catalog, RowMaker& rows);

}  // namespace mneme::activity_rows
