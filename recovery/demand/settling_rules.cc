#include "recovery/demand/settling_rules.h"

#include <algorithm>

namespace mneme {

void SettlingRules::of_rows(TableId table, std::span<const ColumnId> columns, std::span<const Value> values,
                            std::vector<Need>& needs) const {
  std::vector<Value> key;
  for (const SettlingTable::Writer& writer : tables_[table.value].writers) {
    if (writer.only_inserts) {
      needs.push_back({writer.block, std::nullopt});
      continue;
    }
    key.clear();
    for (const ColumnId column : writer.columns) {
      const auto known = std::ranges::find(columns, column);
      if (known == columns.end()) break;
      key.push_back(values[static_cast<size_t>(known - columns.begin())]);
    }
    const bool is_known = key.size() == writer.columns.size();
    needs.push_back({writer.block, is_known ? std::optional(lane_of(table, writer, key)) : std::nullopt});
  }
}

void SettlingRules::lane_values(TableId table, const SettlingTable::Writer& writer, const std::byte* image,
                                std::vector<Value>& key) const {
  key.clear();
  for (const ColumnId column : writer.columns) key.push_back(schema_.layout(table).get(image, column));
}

void SettlingRules::of_insert(TableId table, const std::byte* image, std::vector<Need>& needs) const {
  std::vector<Value> key;
  for (const SettlingTable::Writer& writer : tables_[table.value].writers) {
    if (writer.only_inserts) continue;
    if (!writer.holds_keys) {
      needs.push_back({writer.block, std::nullopt});
      continue;
    }
    lane_values(table, writer, image, key);
    needs.push_back({writer.block, lane_of(table, writer, key)});
  }
  of_coming_and_going(table, needs);
}

void SettlingRules::of_change(TableId table, ImageParts parts, std::span<const ColumnId> changes,
                              std::vector<Need>& needs) const {
  for (const SettlingTable::Writer& writer : tables_[table.value].writers) {
    if (!(writer.moving & parts).is_empty()) needs.push_back({writer.block, std::nullopt});
  }
  for (const SettlingTable::Reader& reader : tables_[table.value].readers) {
    const auto reads = [&](ColumnId column) { return std::ranges::count(reader.columns, column) > 0; };
    const bool is_read =
        changes.empty() ? !(reader.parts & parts).is_empty() : std::ranges::any_of(changes, reads);
    if (is_read) needs.push_back({reader.block, std::nullopt});
  }
}

void SettlingRules::of_coming_and_going(TableId table, std::vector<Need>& needs) const {
  for (const SettlingTable::Reader& reader : tables_[table.value].readers)
    needs.push_back({reader.block, std::nullopt});
}

}  // namespace mneme
