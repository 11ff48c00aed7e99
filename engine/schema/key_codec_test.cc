// Goal: comparing keys is comparing column values as SQL does, and a range holds exactly the rows that its
// bounds allow. Method: for each type a list of values in SQL order, bounds outside of the type among them;
// every pair, and every bound against every row, is compared with what the positions in the list say.
#include "engine/schema/key_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace mneme {
namespace {

Type string_type(TypeKind kind, uint16_t length) {
  return {.kind = kind, .length = length};
}
Type numeric(uint8_t precision) {
  return {.kind = TypeKind::kNumeric, .precision = precision, .scale = 2};
}

// Values of a column in ascending order. Those that the column cannot hold serve as bounds only.
struct Entry {
  Value value;
  bool fits = true;
};
struct Column1 {
  const char* name;
  Type type;
  std::vector<Entry> ascending;
};

Entry text(const char* s, bool fits = true) {
  return {Value::of_text(s), fits};
}
Entry integer(int64_t v, bool fits = true) {
  return {Value::of_int(v), fits};
}
Entry number(int128 v, bool fits = true) {
  return {Value::of_numeric(v), fits};
}
Entry decimal(int128 v, uint8_t digits) {
  return {Value::of_decimal(v, digits)};
}
Entry real(double v) {
  return {Value::of_double(v)};
}

std::vector<Column1> all_types() {
  static const std::string long_a(499, 'a'), longer_a(500, 'a'), longer_a_yet(501, 'a');
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int128 huge = int128{1} << 100;
  return {
      {"boolean", {.kind = TypeKind::kBoolean}, {integer(0), integer(1)}},
      {"smallint",
       {.kind = TypeKind::kSmallInt},
       {integer(kMin, false), integer(-32769, false), integer(-32768), integer(-1), integer(0), integer(1),
        integer(255), integer(256), integer(32767), integer(32768, false), integer(kMax, false)}},
      {"int",
       {.kind = TypeKind::kInt},
       {integer(-2147483649, false), integer(-2147483648), integer(-7), integer(0), integer(65536),
        integer(2147483647), integer(2147483648, false)}},
      {"bigint",
       {.kind = TypeKind::kBigInt},
       {integer(kMin), integer(-1), integer(0), integer(1), integer(kMax)}},
      {"timestamp", {.kind = TypeKind::kTimestamp}, {integer(-1), integer(0), integer(1000000)}},
      {"numeric(12,2)",
       numeric(12),
       {number(-huge, false), number(-999999999999), number(-1), number(0), number(12345),
        number(huge, false)}},
      {"numeric(30,2)", numeric(30), {number(-huge), number(-1), number(0), number(kMax), number(huge)}},
      {"numeric",
       {.kind = TypeKind::kDecimal},
       {decimal(-huge * 10000000, 0), decimal(-101, 0), decimal(-100, 0), decimal(-1, 0), decimal(-999, 3),
        decimal(-huge, 38), decimal(-1, 38), decimal(0, 0), decimal(1, 38), decimal(9, 38), decimal(1, 37),
        decimal(15, 1), decimal(151, 2), decimal(2, 0), decimal(9, 0), decimal(10, 0), decimal(huge, 0)}},
      {"double precision",
       {.kind = TypeKind::kDouble},
       {real(-kInfinity), real(-1.5), real(-1e-300), real(0.0), real(1e-300), real(2), real(kInfinity),
        real(std::nan(""))}},
      {"varchar(3)",
       string_type(TypeKind::kVarchar, 3),
       {text(""), text(" "), text("a"), text("a "), text("ab"), text("abc"), text("abcd", false), text("abd"),
        text("b"), text("zzz"), text("zzza", false), text("~~~"), text("~~~~", false)}},
      {"varchar(500)",
       string_type(TypeKind::kVarchar, 500),
       {text(""), text(long_a.c_str()), text(longer_a.c_str()), text(longer_a_yet.c_str(), false),
        text("b")}},
      {"char(2)",
       string_type(TypeKind::kChar, 2),
       {text(""), text("a"), text("ab"), text("abc", false), text("b")}},
  };
}

// A table (k, c, p) with primary key p and three indexes: unique (c), (k, c) and (c) again with c nullable.
struct Fixture {
  Fixture(const Type& type, bool nullable) {
    const Type int_type{.kind = TypeKind::kInt};
    table = *catalog.add_table("t", {{"k", int_type, false}, {"c", type, nullable}, {"p", int_type, false}},
                               {ColumnId{2}});
    if (!nullable) by_c = *catalog.add_index("by_c", table, {ColumnId{1}}, true);
    by_k_c = *catalog.add_index("by_k_c", table, {ColumnId{0}, ColumnId{1}}, false);
    layout.emplace(catalog, catalog.table(table));
  }

  std::vector<std::byte> row(int64_t k, const Value& c, int64_t p) const {
    std::vector<std::byte> image(layout->image_bytes(), std::byte{0xee});
    layout->set(image.data(), ColumnId{0}, Value::of_int(k));
    layout->set(image.data(), ColumnId{1}, c);
    layout->set(image.data(), ColumnId{2}, Value::of_int(p));
    return image;
  }

  Catalog catalog;
  TableId table;
  IndexId by_c, by_k_c;
  std::optional<RowLayout> layout;
};

bool within(const IndexKey& key, const std::optional<KeyRange>& range) {
  return range && range->low <= key && key <= range->high;
}

TEST(KeyCodec, OrderOfKeysIsOrderOfValues) {
  for (const Column1& column : all_types()) {
    Fixture t(column.type, false);
    const KeyCodec codec(t.catalog, t.by_c, *t.layout);
    std::optional<IndexKey> previous;
    for (const Entry& entry : column.ascending) {
      if (!entry.fits) {
        EXPECT_EQ(codec.of_whole({&entry.value, 1}), std::nullopt) << column.name;
        EXPECT_FALSE(codec.of_prefix({&entry.value, 1})) << column.name;
        continue;
      }
      const IndexKey key = codec.of_row(t.row(0, entry.value, 0).data(), 0);
      EXPECT_EQ(key, *codec.of_whole({&entry.value, 1})) << column.name;
      EXPECT_EQ(codec.of_prefix({&entry.value, 1})->low, key) << column.name;
      EXPECT_EQ(codec.of_prefix({&entry.value, 1})->high, key) << column.name;
      if (previous) {
        EXPECT_LT(*previous, key) << column.name;
      }
      previous = key;
    }
  }
}

TEST(KeyCodec, NumbersThatAreWrittenOtherwiseHaveOneKey) {
  Fixture t({.kind = TypeKind::kDecimal}, false);
  const KeyCodec codec(t.catalog, t.by_c, *t.layout);
  const auto key = [&](const Value& value) { return codec.of_row(t.row(0, value, 0).data(), 0); };
  EXPECT_EQ(key(Value::of_decimal(15, 1)), key(Value::of_decimal(1500, 3)));
  EXPECT_EQ(key(Value::of_decimal(-100, 0)), key(Value::of_decimal(-10000, 2)));
  EXPECT_EQ(key(Value::of_decimal(0, 0)), key(Value::of_decimal(0, 20)));
  EXPECT_NE(key(Value::of_decimal(15, 1)), key(Value::of_decimal(15, 2)));
}

// What two keys have in common is their values up to the first that differ, and these make the key again.
TEST(KeyCodec, CommonValuesAreThoseThatMadeTheKeys) {
  for (const bool nullable : {false, true}) {
    for (const Column1& column : all_types()) {
      Fixture t(column.type, nullable);
      const KeyCodec codec(t.catalog, t.by_k_c, *t.layout);
      KeyValues common;
      std::optional<IndexKey> previous;
      for (const Entry& entry : column.ascending) {
        if (!entry.fits) continue;
        const IndexKey key = codec.of_row(t.row(5, entry.value, 0).data(), 0);
        codec.common_values({key, key}, common);
        ASSERT_EQ(common.values.size(), 2U) << column.name;
        EXPECT_EQ(common.values[0].as_int(), 5) << column.name;
        EXPECT_EQ(codec.of_row(t.row(5, common.values[1], 0).data(), 0), key) << column.name;
        if (previous) {
          codec.common_values({*previous, key}, common);
          EXPECT_EQ(common.values.size(), 1U) << column.name;
        }
        previous = key;
      }
      if (!nullable) continue;
      const IndexKey null = codec.of_row(t.row(5, Value::null(), 0).data(), 0);
      codec.common_values({null, null}, common);
      EXPECT_TRUE(common.values.size() == 2 && common.values[1].is_null()) << column.name;
    }
  }
}

TEST(KeyCodec, NegativeZeroEqualsZero) {
  Fixture t({.kind = TypeKind::kDouble}, false);
  const KeyCodec codec(t.catalog, t.by_c, *t.layout);
  const Value minus = Value::of_double(-0.0), plus = Value::of_double(0.0);
  EXPECT_EQ(codec.of_whole({&minus, 1}), codec.of_whole({&plus, 1}));
}

// Every bound, of both kinds, against every row, with NULLs among the rows and neighbouring prefixes around
// them.
TEST(KeyCodec, RangesHoldExactlyTheRowsBetweenTheirBounds) {
  for (const bool nullable : {false, true}) {
    for (const Column1& column : all_types()) {
      Fixture t(column.type, nullable);
      const KeyCodec codec(t.catalog, t.by_k_c, *t.layout);
      const Value k = Value::of_int(5);

      const auto expect_rows = [&](const std::optional<KeyRange>& range, bool nulls, auto&& expected) {
        for (const int64_t p : {-1000000, 0, 1000000}) {
          for (size_t i = 0; i < column.ascending.size(); ++i) {
            if (!column.ascending[i].fits) continue;
            const Value& c = column.ascending[i].value;
            EXPECT_EQ(within(codec.of_row(t.row(5, c, p).data(), 0), range), expected(i)) << column.name << i;
            EXPECT_FALSE(within(codec.of_row(t.row(4, c, p).data(), 0), range)) << column.name << i;
            EXPECT_FALSE(within(codec.of_row(t.row(6, c, p).data(), 0), range)) << column.name << i;
          }
          if (nullable) {
            EXPECT_EQ(within(codec.of_row(t.row(5, Value::null(), p).data(), 0), range), nulls)
                << column.name;
          }
        }
      };

      expect_rows(codec.of_prefix({&k, 1}), true, [](size_t) { return true; });
      for (size_t low = 0; low < column.ascending.size(); ++low) {
        for (const bool inclusive : {false, true}) {
          const KeyCodec::Bound lower{column.ascending[low].value, inclusive};
          const auto above = [&](size_t i) { return i > low || (inclusive && i == low); };
          expect_rows(codec.of_range({&k, 1}, lower, std::nullopt), false, above);
          for (size_t high = 0; high < column.ascending.size(); ++high) {
            const KeyCodec::Bound upper{column.ascending[high].value, !inclusive};
            const auto below = [&](size_t i) { return i < high || (!inclusive && i == high); };
            expect_rows(codec.of_range({&k, 1}, std::nullopt, upper), false, below);
            expect_rows(codec.of_range({&k, 1}, lower, upper), false,
                        [&](size_t i) { return above(i) && below(i); });
          }
        }
      }
    }
  }
}

TEST(KeyCodec, NullEqualsNothingAndBoundsNothing) {
  Fixture t({.kind = TypeKind::kInt}, true);
  const KeyCodec codec(t.catalog, t.by_k_c, *t.layout);
  const Value values[] = {Value::of_int(5), Value::null()};
  EXPECT_FALSE(codec.of_prefix(values));
  EXPECT_FALSE(codec.of_range({values, 1}, KeyCodec::Bound{Value::null(), true}, std::nullopt));
  EXPECT_FALSE(codec.of_range({values, 1}, std::nullopt, KeyCodec::Bound{Value::null(), false}));
  EXPECT_LT(codec.of_row(t.row(5, Value::of_int(2147483647), 0).data(), 0),
            codec.of_row(t.row(5, Value::null(), -5).data(), 0))
      << "NULL sorts last";
}

TEST(KeyCodec, WithoutAPrimaryKeyTheSlotTellsEqualKeysApart) {
  Catalog catalog;
  const TableId table = *catalog.add_table("h", {{"a", {.kind = TypeKind::kSmallInt}, false}}, {});
  const IndexId by_a = *catalog.add_index("h_a", table, {ColumnId{0}}, false);
  const IndexId all = *catalog.add_index("h_all", table, {}, false);
  const RowLayout layout(catalog, catalog.table(table));
  std::vector<std::byte> image(layout.image_bytes());
  layout.set(image.data(), ColumnId{0}, Value::of_int(-3));

  const KeyCodec codec(catalog, by_a, layout);
  EXPECT_EQ(codec.word_count(), 2u);
  EXPECT_LT(codec.of_row(image.data(), 1), codec.of_row(image.data(), 256));
  const Value value = Value::of_int(-3);
  EXPECT_TRUE(within(codec.of_row(image.data(), ~uint64_t{0}), codec.of_prefix({&value, 1})));

  const KeyCodec everything(catalog, all, layout);
  EXPECT_TRUE(within(everything.of_row(image.data(), 77), everything.of_prefix({})));
}

}  // namespace
}  // namespace mneme
