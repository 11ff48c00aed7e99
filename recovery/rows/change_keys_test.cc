// Goal: a key read from a logged change is the key under which its row stands. Method: tables with keys of
// integers of each width, alone, together and in another order than their columns, and of other types; random
// rows, the extremes among them, are laid out as the log has them. Cut bytes are refused.
#include "recovery/rows/change_keys.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "procedures/binder/program.h"

namespace mneme {
namespace {

constexpr std::string_view kTablesSql = R"(
CREATE TABLE one (a INT PRIMARY KEY, z INT);
CREATE TABLE widths (a SMALLINT, b BIGINT, c INT, d SMALLINT, z VARCHAR(9), PRIMARY KEY (c, a, d, b));
CREATE TABLE amounts (a NUMERIC(12, 2), b TIMESTAMP, PRIMARY KEY (a, b));
CREATE TABLE wide (a INT, b NUMERIC(30, 2), PRIMARY KEY (a, b));
CREATE TABLE names (a INT, b VARCHAR(12), c BOOLEAN, PRIMARY KEY (b, a, c));
)";

int64_t draw(std::mt19937_64& random, int64_t lowest, int64_t highest) {
  switch (random() % 4) {
    case 0:
      return lowest;
    case 1:
      return highest;
    case 2:
      return static_cast<int64_t>(random() % 200) - 100;
    default:
      return std::uniform_int_distribution<int64_t>(lowest, highest)(random);
  }
}

template <typename Integer>
Value draw_int(std::mt19937_64& random) {
  return Value::of_int(
      draw(random, std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max()));
}

Value draw_value(const Type& type, std::mt19937_64& random, std::string& text) {
  switch (type.kind) {
    case TypeKind::kSmallInt:
      return draw_int<int16_t>(random);
    case TypeKind::kInt:
      return draw_int<int32_t>(random);
    case TypeKind::kBoolean:
      return Value::of_bool(random() % 2 == 0);
    case TypeKind::kNumeric:
      return Value::of_numeric(draw(random, -999'999'999'999, 999'999'999'999));
    case TypeKind::kVarchar:
      text.assign(random() % 10, static_cast<char>('a' + random() % 26));
      return Value::of_text(text);
    default:
      return draw_int<int64_t>(random);
  }
}

TEST(ChangeKeys, AreThoseOfTheRows) {
  const auto program = compile(std::string(kTablesSql), "tables.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Database database((*program)->catalog, 1);
  ChangeKeys keys(database);
  std::mt19937_64 random(5);
  for (const TableDefinition& table : database.catalog().tables()) {
    const RowLayout& layout = database.table(table.id).layout();
    const RowCodec& codec = database.change_codec().key(table.id);
    for (int i = 0; i < 2000; ++i) {
      std::vector<std::byte> image(layout.image_bytes());
      std::string text;
      for (uint32_t c = 0; c < table.columns.size(); ++c)
        layout.set(image.data(), ColumnId{c}, draw_value(table.columns[c].type, random, text));
      std::vector<std::byte> columns(codec.max_bytes());
      columns.resize(static_cast<size_t>(codec.encode(image.data(), columns.data()) - columns.data()));
      IndexKey key;
      ASSERT_TRUE(keys.of(table.id, columns, key));
      ASSERT_EQ(key, database.table(table.id).primary()->codec->of_row(image.data(), 0)) << table.name;
      columns.pop_back();
      ASSERT_FALSE(keys.of(table.id, columns, key)) << table.name;
    }
  }
}

}  // namespace
}  // namespace mneme
