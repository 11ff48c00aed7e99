#include "recovery/database/late_indexes.h"

#include <utility>

#include "engine/index/unread_index.h"
#include "recovery/rows/index_builder.h"

namespace mneme {

void LateIndexes::leave_out(std::span<const IndexId> indexes) {
  for (const IndexId id : indexes) {
    const uint32_t key_words = database_.index(id).index->key_words();
    left_out_.push_back({id, database_.table_of(id).exchange(id, make_unread_index(key_words))});
  }
}

Result<void> LateIndexes::build(uint32_t threads) {
  for (LeftOut& each : std::exchange(left_out_, {})) {
    IndexedTable& table = database_.table_of(each.id);
    (void)table.exchange(each.id, std::move(each.index));
    RETURN_IF_ERROR(build_index(table, database_.index(each.id), threads));
  }
  return {};
}

}  // namespace mneme
