#include "lab/table_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "procedures/values/value_text.h"

namespace mneme::lab {

Json describe_tables(const Database& database) {
  Json tables = Json::array();
  const Catalog& catalog = database.catalog();
  for (const TableDefinition& table : catalog.tables()) {
    Json columns = Json::array();
    for (const Column& column : table.columns)
      columns.push_back({{"name", column.name}, {"type", to_string(column.type)}});
    Json key = Json::array();
    if (table.primary_key) {
      for (const ColumnId column : catalog.index(*table.primary_key).columns)
        key.push_back(table.columns[column.value].name);
    }
    tables.push_back({{"name", table.name}, {"columns", std::move(columns)}, {"key", std::move(key)}});
  }
  return tables;
}

Json TableView::values(TableId table, const std::byte* image) const {
  Json texts = Json::array();
  const IndexedTable& of = database_.table(table);
  for (uint32_t c = 0; c < of.definition().columns.size(); ++c) {
    const Value value = of.layout().get(image, ColumnId{c});
    if (value.is_null()) {
      texts.push_back(nullptr);
      continue;
    }
    fmt::memory_buffer text;
    print_value(of.definition().columns[c].type, value, text);
    texts.push_back(std::string(text.data(), text.size()));
  }
  return texts;
}

Json TableView::changes() {
  Json changes = Json::array();
  for (uint32_t t = 0; t < database_.table_count(); ++t) {
    const IndexedTable& table = database_.table(TableId{t});
    std::vector<Json>& values_of_slots = seen_[t].values;
    values_of_slots.resize(std::max<size_t>(values_of_slots.size(), table.rows().slot_end()));
    for (uint64_t slot = 0; slot < table.rows().slot_end(); ++slot) {
      const Row* const row = table.rows().at(slot);
      const bool is_live = row != nullptr && row->word().is_live();
      Json after = is_live ? values(TableId{t}, row->image()) : Json();
      if (after == values_of_slots[slot]) continue;
      Json before = std::exchange(values_of_slots[slot], after);
      changes.push_back({{"table", table.definition().name},
                         {"slot", slot},
                         {"before", std::move(before)},
                         {"after", std::move(after)}});
    }
  }
  return changes;
}

Json TableView::rows() const {
  Json tables = Json::array();
  for (uint32_t t = 0; t < database_.table_count(); ++t) {
    const IndexedTable& table = database_.table(TableId{t});
    Json rows = Json::array();
    table.rows().for_each_live(0, table.rows().slot_end(),
                               [&](const Row* row) { rows.push_back(values(TableId{t}, row->image())); });
    tables.push_back({{"table", table.definition().name}, {"rows", std::move(rows)}});
  }
  return tables;
}

}  // namespace mneme::lab
