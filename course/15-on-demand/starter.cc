// Your part of chapter 15: what must have been replayed before a new transaction may touch rows. Read
// recovery/demand/settling_rules.h first.
//
// This starter waits for nothing: each transaction reads what is there.
#include <algorithm>

#include "recovery/demand/settling_rules.h"

namespace mneme {

void SettlingRules::of_rows(TableId table, std::span<const ColumnId> columns, std::span<const Value> values,
                            std::vector<Need>& needs) const {
  (void)table;
  (void)columns;
  (void)values;
  (void)needs;
}

// The engine's own: a row's values, as lane_of() wants them.
void SettlingRules::lane_values(TableId table, const SettlingTable::Writer& writer, const std::byte* image,
                                std::vector<Value>& key) const {
  key.clear();
  for (const ColumnId column : writer.columns) key.push_back(schema_.layout(table).get(image, column));
}

void SettlingRules::of_insert(TableId table, const std::byte* image, std::vector<Need>& needs) const {
  (void)table;
  (void)image;
  (void)needs;
}

void SettlingRules::of_change(TableId table, ImageParts parts, std::span<const ColumnId> changes,
                              std::vector<Need>& needs) const {
  (void)table;
  (void)parts;
  (void)changes;
  (void)needs;
}

void SettlingRules::of_coming_and_going(TableId table, std::vector<Need>& needs) const {
  (void)table;
  (void)needs;
}

}  // namespace mneme
