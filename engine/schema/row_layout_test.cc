// Goal: what set() puts into an image get() finds there, and no column touches another's bytes. Method: a
// table with every type; each column is set over a background of garbage and all bytes outside its place must
// stay as they were.
#include "engine/schema/row_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mneme {
namespace {

Catalog catalog_of_all_types() {
  std::vector<Column> columns;
  for (const bool nullable : {false, true}) {
    const auto add = [&](Type type) {
      columns.push_back({"c" + std::to_string(columns.size()), type, nullable});
    };
    add({.kind = TypeKind::kBoolean});
    add({.kind = TypeKind::kSmallInt});
    add({.kind = TypeKind::kInt});
    add({.kind = TypeKind::kBigInt});
    add({.kind = TypeKind::kNumeric, .precision = 18, .scale = 4});
    add({.kind = TypeKind::kNumeric, .precision = 38, .scale = 0});
    add({.kind = TypeKind::kDouble});
    add({.kind = TypeKind::kChar, .length = 3});
    add({.kind = TypeKind::kVarchar, .length = 21});
    add({.kind = TypeKind::kTimestamp});
  }
  Catalog catalog;
  CHECK(catalog.add_table("t", std::move(columns), {}).ok());
  return catalog;
}

Value sample(const Type& type, int64_t seed) {
  static const std::string kText = "abcdefghijklmnopqrstuvwxyz";
  switch (type.kind) {
    case TypeKind::kBoolean:
      return Value::of_bool(seed % 2 != 0);
    case TypeKind::kNumeric:
      return Value::of_numeric(type.precision == 38 ? -(int128{seed} << 70) : int128{-seed * 1000003});
    case TypeKind::kDouble:
      return Value::of_double(-0.5 * static_cast<double>(seed));
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return Value::of_text(std::string_view(kText).substr(static_cast<size_t>(seed) % 5, type.length));
    default:
      return Value::of_int(-seed);
  }
}

bool equal(const Type& type, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return a.is_null() == b.is_null();
  if (type.is_string()) return a.as_text() == b.as_text();
  if (type.kind == TypeKind::kNumeric) return a.as_numeric() == b.as_numeric();
  if (type.kind == TypeKind::kDouble) return a.as_double() == b.as_double();
  return a.as_int() == b.as_int();
}

TEST(RowLayout, ValuesComeBackAndColumnsShareNoByte) {
  const Catalog catalog = catalog_of_all_types();
  const TableDefinition& table = catalog.tables()[0];
  const RowLayout layout(Catalog(), table);
  EXPECT_EQ(layout.image_bytes() % 8, 0u);

  for (uint32_t i = 0; i < table.columns.size(); ++i) {
    const ColumnId column{i};
    const RowLayout::Place& place = layout.place(column);
    for (int64_t seed = 0; seed < 9; ++seed) {
      const bool null = table.columns[i].nullable && seed % 3 == 0;
      const Value value = null ? Value::null() : sample(table.columns[i].type, seed);
      std::vector<std::byte> image(layout.image_bytes(), std::byte{0x5a});
      layout.set(image.data(), column, value);
      EXPECT_TRUE(equal(table.columns[i].type, layout.get(image.data(), column), value)) << i << " " << seed;
      for (uint32_t at = 0; at < image.size(); ++at) {
        const bool own = (at >= place.offset && at < place.offset + place.bytes) ||
                         static_cast<int32_t>(at) == place.null_flag;
        if (!own) {
          EXPECT_EQ(image[at], std::byte{0x5a}) << "column " << i << " wrote byte " << at;
        }
      }
    }
  }
}

TEST(RowLayout, StringsLieBehindAllElseTheShortestFirst) {
  const Catalog catalog = catalog_of_all_types();
  const TableDefinition& table = catalog.tables()[0];
  const RowLayout layout(Catalog(), table);
  uint32_t fixed_end = 0;
  uint32_t strings_begin = ~uint32_t{0};
  for (uint32_t i = 0; i < table.columns.size(); ++i) {
    const RowLayout::Place& place = layout.place(ColumnId{i});
    if (table.columns[i].nullable)
      fixed_end = std::max(fixed_end, static_cast<uint32_t>(place.null_flag) + 1);
    if (!table.columns[i].type.is_string()) {
      fixed_end = std::max(fixed_end, place.offset + place.bytes);
      continue;
    }
    strings_begin = std::min(strings_begin, place.offset);
    for (uint32_t j = 0; j < table.columns.size(); ++j) {
      const Type& other = table.columns[j].type;
      if (other.is_string() && other.length < table.columns[i].type.length) {
        EXPECT_LT(layout.place(ColumnId{j}).offset, place.offset);
      }
    }
  }
  EXPECT_LE(fixed_end, strings_begin);
}

// A stock row of TPC-C in short: what does not fit where the last column ended goes to the next line, while
// there is room.
TEST(RowLayout, AStringMovesOnToTheNextPartWhereTheRowGetsNoLonger) {
  const auto layout_of = [](std::initializer_list<uint16_t> lengths) {
    std::vector<Column> columns = {{"n", {.kind = TypeKind::kBigInt}, false}};
    for (const uint16_t length : lengths)
      columns.push_back(
          {"s" + std::to_string(length), {.kind = TypeKind::kVarchar, .length = length}, false});
    Catalog catalog;
    CHECK(catalog.add_table("t", std::move(columns), {}).ok());
    return RowLayout(catalog, catalog.tables()[0]);
  };
  // 8 bytes of header, 8 of n, 2 + 40 of the first string; 2 + 56 of the second would reach into the next
  // line.
  const RowLayout with_room = layout_of({40, 56});
  EXPECT_EQ(with_room.place(ColumnId{1}).offset, 8u);
  EXPECT_EQ(with_room.place(ColumnId{2}).offset, 56u);
  EXPECT_EQ(with_room.column_bytes(), 8u + 42 + 58);
  // One that is longer than a line lies on two, wherever it begins.
  const RowLayout long_one = layout_of({40, 100});
  EXPECT_EQ(long_one.place(ColumnId{2}).offset, 50u);
  // Here the row would get longer.
  const RowLayout full = layout_of({40, 44});
  EXPECT_EQ(full.place(ColumnId{2}).offset, 50u);
}

TEST(RowLayout, AStringMaySetItsOwnPlace) {
  Catalog catalog;
  ASSERT_TRUE(catalog.add_table("t", {{"s", {.kind = TypeKind::kVarchar, .length = 8}, false}}, {}).ok());
  const RowLayout layout(catalog, catalog.tables()[0]);
  std::vector<std::byte> image(layout.image_bytes());
  layout.set(image.data(), ColumnId{0}, Value::of_text("abcdef"));
  layout.set(image.data(), ColumnId{0},
             Value::of_text(layout.get(image.data(), ColumnId{0}).as_text().substr(2)));
  EXPECT_EQ(layout.get(image.data(), ColumnId{0}).as_text(), "cdef");
}

}  // namespace
}  // namespace mneme
