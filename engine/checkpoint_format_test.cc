// Goal: a row comes out of a checkpoint's bytes as it went in, and bytes that are no row are told apart from one.
// Method: a table with a column of each kind; rows of edge values and NULLs go through encode and decode, and every
// prefix of a row's bytes, which lacks something, is refused. Headers survive the round trip and no flipped bit.
#include "engine/checkpoint_format.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace mneme {
namespace {

TableDefinition every_kind() {
  const std::array types = {Type{.kind = TypeKind::kBoolean},
                            Type{.kind = TypeKind::kSmallInt},
                            Type{.kind = TypeKind::kBigInt},
                            Type{.kind = TypeKind::kNumeric, .precision = 12, .scale = 2},
                            Type{.kind = TypeKind::kNumeric, .precision = 38, .scale = 4},
                            Type{.kind = TypeKind::kDouble},
                            Type{.kind = TypeKind::kVarchar, .length = 9},
                            Type{.kind = TypeKind::kTimestamp}};
  TableDefinition table;
  for (const Type& type : types) table.columns.push_back({"c", type, true});
  return table;
}

std::vector<Value> row_of(int64_t number, std::string_view text) {
  return {Value::of_bool(number % 2 == 0),
          Value::of_int(static_cast<int16_t>(number)),
          Value::of_int(number),
          Value::of_numeric(number % 1'000'000'000'000),
          Value::of_numeric(int128{number} * 1'000'000'000'000),
          Value::of_double(static_cast<double>(number) / 3),
          Value::of_text(text),
          Value::of_int(-number)};
}

TEST(CheckpointFormat, RowsComeOutAsTheyWentIn) {
  const TableDefinition table = every_kind();
  const RowLayout layout(table);
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{77}, std::numeric_limits<int64_t>::max()}) {
    for (size_t absent = 0; absent <= layout.column_count(); ++absent) {
      std::vector<Value> values = row_of(number, number == 77 ? "ninechars" : "");
      if (absent < values.size()) values[absent] = Value::null();
      std::vector<std::byte> image(layout.image_bytes());
      for (uint32_t c = 0; c < values.size(); ++c) layout.set(image.data(), ColumnId{c}, values[c]);

      ByteBuffer bytes;
      encode_checkpoint_row(layout, image.data(), bytes);
      ByteReader reader(bytes.span());
      std::vector<Value> decoded(values.size());
      ASSERT_TRUE(decode_checkpoint_row(layout, reader, decoded));
      EXPECT_EQ(reader.remaining(), 0u);
      for (uint32_t c = 0; c < values.size(); ++c) {
        ASSERT_EQ(decoded[c].is_null(), values[c].is_null());
        if (values[c].is_null()) continue;
        if (table.columns[c].type.is_string())
          EXPECT_EQ(decoded[c].as_text(), values[c].as_text());
        else
          EXPECT_TRUE(decoded[c].as_numeric() == layout.get(image.data(), ColumnId{c}).as_numeric());
      }
      for (size_t length = 0; length < bytes.size(); ++length) {
        ByteReader cut(bytes.span().first(length));
        EXPECT_FALSE(decode_checkpoint_row(layout, cut, decoded))
            << length << " of " << bytes.size() << " bytes";
      }
    }
  }
}

TEST(CheckpointFormat, AStringLongerThanItsColumnIsRefused) {
  const TableDefinition table = every_kind();
  ByteBuffer bytes;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    bytes.put<uint8_t>(c == 6 ? 0 : 1);
    if (c == 6) bytes.put_text("ten chars!");
  }
  ByteReader reader(bytes.span());
  std::vector<Value> decoded(table.columns.size());
  EXPECT_FALSE(decode_checkpoint_row(RowLayout(table), reader, decoded));
}

TEST(CheckpointFormat, HeadersSurviveNoFlippedBit) {
  CheckpointChunkHeader chunk{3, 500, 70000, 0xabcdef01, 4096};
  std::array<std::byte, kCheckpointChunkHeaderBytes> bytes;
  chunk.encode(bytes.data());
  const auto read = CheckpointChunkHeader::decode(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->rows, 500u);
  EXPECT_EQ(read->offset, 4096u);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(CheckpointChunkHeader::decode(bytes).has_value()) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }

  CheckpointHeader header{1, 2, Lsn{3}, 4, 5, 6};
  std::vector<std::byte> page(kCheckpointHeaderBytes);
  header.encode(page.data());
  const Result<CheckpointHeader> page_read = CheckpointHeader::decode(page, "file");
  ASSERT_TRUE(page_read.ok());
  EXPECT_EQ(page_read->file_bytes, 6u);
  for (size_t bit = 0; bit < 8 * page.size(); bit += 13) {
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(CheckpointHeader::decode(page, "file").ok()) << "bit " << bit;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

}  // namespace
}  // namespace mneme
