// Goal: generated code's columns and keys are RowLayout's and KeyCodec's. Method: a table with a column of
// every type, an index that puts each at an odd place in the key; random rows go in and out both ways.
#include "procedures/native/native_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/schema/schema.h"
#include "procedures/binder/program.h"

namespace mneme::native {
namespace {

constexpr const char* kNativeSql =
    "CREATE TABLE t (flag BOOLEAN NOT NULL, word VARCHAR(11) NOT NULL, small SMALLINT NOT NULL, wide "
    "NUMERIC(30,2) NOT "
    "NULL, num INT NOT NULL, code CHAR(3) NOT NULL, big BIGINT NOT NULL, narrow NUMERIC(9,2) NOT NULL, at "
    "TIMESTAMP, "
    "PRIMARY KEY (flag, word, small, wide, num, code, big, narrow));"
    "CREATE INDEX t_by_at ON t (at, small);"
    // So that both indexes are read by a prefix, and that there is a procedure.
    "CREATE PROCEDURE p(a BOOLEAN, INOUT n INT) LANGUAGE plpgsql AS $$ BEGIN SELECT count(*) INTO n FROM t "
    "WHERE flag = "
    "a; END $$;";

class NativeRowsTest : public testing::Test {
 protected:
  NativeRowsTest() : program_(std::move(compile(kNativeSql, "t.sql")).value()), schema_(program_->catalog) {}

  std::string text(size_t most) {
    std::string text;
    for (size_t i = random_() % (most + 1); i > 0; --i) text += static_cast<char>('a' + random_() % 26);
    return text;
  }

  std::unique_ptr<Program> program_;
  Schema schema_;
  std::mt19937_64 random_{7};
};

TEST_F(NativeRowsTest, KeysAreTheCodecs) {
  const KeyCodec& codec = schema_.codec(IndexId{0});
  for (int i = 0; i < 2000; ++i) {
    const std::string word = text(11);
    const std::string code = text(3);
    const bool flag = random_() % 2 == 0;
    const auto small = static_cast<int16_t>(random_());
    const int128 wide = static_cast<int128>(random_()) * static_cast<int64_t>(random_());
    const auto num = static_cast<int32_t>(random_());
    const auto big = static_cast<int64_t>(random_());
    const auto narrow = static_cast<int64_t>(random_() % 1'000'000'000) - 500'000'000;
    const Value values[] = {Value::of_bool(flag),    Value::of_text(word),     Value::of_int(small),
                            Value::of_numeric(wide), Value::of_int(num),       Value::of_text(code),
                            Value::of_int(big),      Value::of_numeric(narrow)};
    // 1 + 11 + 2 + 16 + 4 + 3 + 8 + 8 bytes
    IndexKey key = zero_key<7>();
    put_bool<0>(key, flag);
    put_text<1, 11>(key, word);
    put_int<12, 2>(key, small);
    put_wide<14>(key, wide);
    put_int<30, 4>(key, num);
    IndexKey prefix = key;
    put_text<34, 3>(key, code);
    put_int<37, 8>(key, big);
    put_int<45, 8>(key, narrow);
    EXPECT_EQ(key, *codec.of_whole(values));
    KeyRange range{prefix, prefix};
    put_ones<34, 53>(range.high);
    const KeyRange expected = *codec.of_prefix(std::span(values).first(5));
    EXPECT_EQ(range.low, expected.low);
    EXPECT_EQ(range.high, expected.high);
  }
}

// A nullable column is led by a byte, and an index that is not unique has the primary key behind it.
TEST_F(NativeRowsTest, PrefixesOfSecondaryIndexesAreTheCodecs) {
  const KeyCodec& codec = schema_.codec(IndexId{1});
  for (int i = 0; i < 100; ++i) {
    const auto at = static_cast<int64_t>(random_());
    const Value value = Value::of_int(at);
    IndexKey low = zero_key<8>();
    put_int<1, 8>(low, at);
    KeyRange range{low, low};
    put_ones<9, 64>(range.high);
    const KeyRange expected = *codec.of_prefix({&value, 1});
    EXPECT_EQ(range.low, expected.low);
    EXPECT_EQ(range.high, expected.high);
  }
}

TEST_F(NativeRowsTest, ColumnsAreTheLayouts) {
  const RowLayout& layout = schema_.layout(TableId{0});
  const auto at = [&](uint32_t column) { return layout.place(ColumnId{column}).offset; };
  const Column<bool> flag{at(0)};
  const Column<std::string_view> word{at(1)};
  const Column<int16_t> small{at(2)};
  const Column<int128> wide{at(3)};
  const Column<int32_t> num{at(4)};
  const Column<int64_t> narrow{at(7)};
  const NullableColumn<int64_t> time{{at(8)}, static_cast<uint32_t>(layout.place(ColumnId{8}).null_flag)};
  for (int i = 0; i < 500; ++i) {
    const std::string chosen = text(11);
    std::vector<std::byte> image(layout.image_bytes());
    flag.set(image.data(), i % 2 == 0);
    word.set(image.data(), chosen);
    small.set(image.data(), -i);
    wide.set(image.data(), int128{i} << 70);
    num.set(image.data(), i * 1000);
    narrow.set(image.data(), -i * 7);
    time.set(image.data(), i, i % 3 == 0);
    EXPECT_EQ(layout.get(image.data(), ColumnId{0}).as_bool(), i % 2 == 0);
    EXPECT_EQ(layout.get(image.data(), ColumnId{1}).as_text(), chosen);
    EXPECT_EQ(layout.get(image.data(), ColumnId{2}).as_int(), -i);
    EXPECT_TRUE(layout.get(image.data(), ColumnId{3}).as_numeric() == int128{i} << 70);
    EXPECT_EQ(layout.get(image.data(), ColumnId{4}).as_int(), i * 1000);
    EXPECT_EQ(layout.get(image.data(), ColumnId{7}).as_numeric(), -i * 7);
    EXPECT_EQ(layout.get(image.data(), ColumnId{8}).is_null(), i % 3 == 0);
    EXPECT_EQ(word.get(image.data()), chosen);
    EXPECT_EQ(small.get(image.data()), -i);
    EXPECT_EQ(time.is_null(image.data()), i % 3 == 0);
    EXPECT_EQ(time.get(image.data()), i % 3 == 0 ? 0 : i);
  }
}

}  // namespace
}  // namespace mneme::native
