#include "recovery/rows/change_keys.h"

#include <algorithm>

namespace mneme {

ChangeKeys::ChangeKeys(const Database& database) : database_(database) {
  const Catalog& catalog = database.catalog();
  size_t widest = 0;
  for (const TableDefinition& table : catalog.tables()) {
    widest = std::max(widest, database.table(table.id).layout().image_bytes());
    TableKeys& keys = tables_.emplace_back();
    if (!table.primary_key) continue;
    uint32_t offset = 0;
    for (const ColumnId id : catalog.index(*table.primary_key).columns) {
      const Column& column = table.column(id);
      if (column.nullable || !is_integer_in_key(column.type, key_bytes(column))) {
        keys.parts.clear();
        break;
      }
      keys.parts.push_back({offset, key_bytes(column)});
      offset += key_bytes(column);
    }
    keys.word_count = database.table(table.id).primary()->codec->word_count();
  }
  image_.resize(widest);
}

bool ChangeKeys::by_image(TableId table, ByteSpan columns, IndexKey& key) {
  if (!database_.change_codec().decode_key(table, columns, image_.data())) return false;
  key = database_.table(table).primary()->codec->of_row(image_.data(), 0);
  return true;
}

}  // namespace mneme
