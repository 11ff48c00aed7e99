// Goal: columns come out of bytes as they went in, and bytes that are none are told apart from them. Method:
// a table with a column of each kind; rows of edge values and NULLs go through encode and decode, and every
// prefix of a row's bytes, which lacks something, is refused. Random bytes and flipped bits are decoded into
// images of exactly their size, where AddressSanitizer sees a byte too far.
#include "engine/schema/row_codec.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>
#include <random>

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

TEST(RowCodec, RowsComeOutAsTheyWentIn) {
  const TableDefinition table = every_kind();
  const RowLayout layout(Catalog(), table);
  const RowCodec codec(layout);
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{77}, std::numeric_limits<int64_t>::max()}) {
    for (size_t absent = 0; absent <= layout.column_count(); ++absent) {
      std::vector<Value> values = row_of(number, number == 77 ? "ninechars" : "");
      if (absent < values.size()) values[absent] = Value::null();
      std::vector<std::byte> image(layout.image_bytes());
      for (uint32_t c = 0; c < values.size(); ++c) layout.set(image.data(), ColumnId{c}, values[c]);

      ByteBuffer bytes;
      codec.encode(image.data(), bytes);
      EXPECT_LE(bytes.size(), codec.max_bytes());
      ByteReader reader(bytes.span());
      std::vector<std::byte> decoded(layout.image_bytes());
      ASSERT_TRUE(codec.decode(reader, decoded.data()));
      EXPECT_EQ(reader.remaining(), 0u);
      EXPECT_EQ(decoded, image);
      for (size_t length = 0; length < bytes.size(); ++length) {
        ByteReader cut(bytes.span().first(length));
        EXPECT_FALSE(codec.decode(cut, decoded.data())) << length << " of " << bytes.size() << " bytes";
      }
    }
  }
}

TEST(RowCodec, AStringLongerThanItsColumnIsRefused) {
  const TableDefinition table = every_kind();
  ByteBuffer bytes;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    bytes.put<uint8_t>(c == 6 ? 0 : 1);
    if (c == 6) bytes.put_text("ten chars!");
  }
  ByteReader reader(bytes.span());
  const RowLayout layout(Catalog(), table);
  std::vector<std::byte> image(layout.image_bytes());
  EXPECT_FALSE(RowCodec(layout).decode(reader, image.data()));
}

TEST(RowCodec, SomeColumnsInAnyOrderLeaveTheOthersAlone) {
  const TableDefinition table = every_kind();
  const RowLayout layout(Catalog(), table);
  const std::array columns = {ColumnId{6}, ColumnId{1}, ColumnId{5}};
  const RowCodec codec(layout, columns);
  std::vector<std::byte> image(layout.image_bytes());
  const std::vector<Value> values = row_of(1234, "text");
  for (uint32_t c = 0; c < values.size(); ++c) layout.set(image.data(), ColumnId{c}, values[c]);
  ByteBuffer bytes;
  codec.encode(image.data(), bytes);

  std::vector<std::byte> other(layout.image_bytes());
  const std::vector<Value> others = row_of(-5, "other");
  for (uint32_t c = 0; c < others.size(); ++c) layout.set(other.data(), ColumnId{c}, others[c]);
  ByteReader reader(bytes.span());
  ASSERT_TRUE(codec.decode(reader, other.data()));
  EXPECT_EQ(layout.get(other.data(), ColumnId{6}).as_text(), "text");
  EXPECT_EQ(layout.get(other.data(), ColumnId{1}).as_int(), 1234);
  EXPECT_EQ(layout.get(other.data(), ColumnId{2}).as_int(), -5);
  EXPECT_EQ(layout.get(other.data(), ColumnId{7}).as_int(), 5);
}

TEST(RowCodec, NoBytesMakeItLeaveTheImage) {
  const TableDefinition table = every_kind();
  const RowLayout layout(Catalog(), table);
  const RowCodec codec(layout);
  std::vector<std::byte> valid(layout.image_bytes());
  const std::vector<Value> values = row_of(99, "text");
  for (uint32_t c = 0; c < values.size(); ++c) layout.set(valid.data(), ColumnId{c}, values[c]);
  ByteBuffer encoded;
  codec.encode(valid.data(), encoded);

  std::mt19937 random(5);
  uint32_t refused = 0;
  for (uint32_t round = 0; round < 20000; ++round) {
    const bool is_flipped = round % 2 == 0;
    const size_t size = is_flipped ? encoded.size() : random() % 64;
    // Each on the heap, without a byte of room behind it.
    const std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
    for (size_t i = 0; i < size; ++i) {
      bytes[i] = is_flipped ? encoded.span()[i] : static_cast<std::byte>(random() % 4 == 0 ? 0 : random());
    }
    if (is_flipped) bytes[random() % size] ^= std::byte{1} << (random() % 8);
    const std::unique_ptr<std::byte[]> image(new std::byte[layout.image_bytes()]());
    ByteReader reader({bytes.get(), size});
    if (!codec.decode(reader, image.get())) {
      ++refused;
      continue;
    }
    // Bytes that it accepted can be written again.
    ByteBuffer again;
    codec.encode(image.get(), again);
    EXPECT_LE(again.size(), codec.max_bytes());
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace mneme
