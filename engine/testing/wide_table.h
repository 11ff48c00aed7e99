// Wide table, for the tests of partial reads and writes: its rows span more parts than ImageParts
// distinguishes.
//
// wide(id int primary key, text_0 varchar(100), ... text_79 varchar(100)): every text begins in a part of its
// own, but for those that lie in the last part together.
#pragma once

#include <fmt/format.h>

#include "engine/testing/test_database.h"

namespace mneme {

struct WideTable {
  static constexpr TableId kWide{0};
  static constexpr IndexId kById{0};
  static constexpr uint32_t kTexts = 80;
  static constexpr uint32_t kTextLength = 100;

  explicit WideTable(uint32_t workers) : db(make_catalog(), workers) { db.attach_log(log); }

  static Catalog make_catalog() {
    std::vector<Column> columns{{"id", {.kind = TypeKind::kInt}, false}};
    for (uint32_t i = 0; i < kTexts; ++i)
      columns.push_back(
          {fmt::format("text_{}", i), {.kind = TypeKind::kVarchar, .length = kTextLength}, false});
    Catalog catalog;
    CHECK(catalog.add_table("wide", std::move(columns), {ColumnId{0}}).ok());
    return catalog;
  }

  static ColumnId text_column(uint32_t i) { return ColumnId{i + 1}; }
  const RowLayout& layout() const { return db.schema().layout(kWide); }
  ImageParts parts(uint32_t text) const { return layout().parts(text_column(text)); }
  std::string_view get(const RowRef& row, uint32_t text) const {
    return layout().get(row.image, text_column(text)).as_text();
  }
  IndexKey key(int64_t id) const {
    const Value value = Value::of_int(id);
    return *db.schema().codec(kById).of_whole({&value, 1});
  }
  // A text that fills its column, so that its bytes reach into every part that the column touches.
  static std::string text_of(uint64_t number) { return fmt::format("{:0{}}", number, kTextLength); }

  void load(int64_t id, uint64_t number) {
    UnloggedWriter writer(db);
    const std::string text = text_of(number);
    std::vector<Value> values(1 + kTexts, Value::of_text(text));
    values[0] = Value::of_int(id);
    CHECK(writer.insert(kWide, values) == AccessStatus::kOk);
  }
  AccessStatus find(Transaction& x, int64_t id, ImageParts parts, RowRef& row) const {
    return x.find_parts(kById, key(id), parts, Purpose::kRead, row);
  }
  static AccessStatus set(Transaction& x, RowRef& row, uint32_t text, std::string_view to) {
    const ColumnValue change{text_column(text), Value::of_text(to)};
    return x.update(kWide, row, {&change, 1});
  }

  CountingLog log;
  Database db;
};

}  // namespace mneme
