// Goal: COPY's lines mean what PostgreSQL 15 says, in text and CSV, however they are cut in pieces.
// Method: rows with every escape and quote; there and back at random, arriving byte by byte.
#include "server/session/copy_text.h"

#include <gmock/gmock.h>

#include <random>

namespace mneme {
namespace {

using Row = std::vector<std::optional<std::string>>;

CopyStatement csv() {
  CopyStatement copy;
  copy.is_csv = true;
  copy.delimiter = ',';
  copy.null_text.clear();
  return copy;
}

std::vector<Row> read_all(const CopyStatement& copy, std::string_view text, size_t piece) {
  CopyReader reader(copy);
  std::vector<Row> rows;
  const auto drain = [&] {
    for (;;) {
      const Result<bool> next = reader.next();
      EXPECT_TRUE(next.ok()) << next.error().message;
      if (!next.ok() || !*next) return;
      Row& row = rows.emplace_back();
      for (const auto& field : reader.fields())
        row.push_back(field ? std::optional(std::string(*field)) : std::nullopt);
    }
  };
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    reader.add(text.substr(0, piece));
    drain();
  }
  reader.finish();
  drain();
  return rows;
}

TEST(CopyText, FieldsNullsAndEscapes) {
  const std::vector<Row> wanted = {{"1", "a\tb", std::nullopt}, {"2", "x\ny", ""}, {"3", "A\\", "end"}};
  const std::string_view text = "1\ta\\tb\t\\N\n2\tx\\\ny\t\n3\t\\101\\\\\tend\n\\.\nrest is ignored\n";
  for (const size_t piece : {size_t{1}, size_t{5}, text.size()}) EXPECT_EQ(read_all({}, text, piece), wanted);
}

TEST(CopyText, QuotesOfCsv) {
  const std::vector<Row> wanted = {
      {"1", "a,b", std::nullopt}, {"2", "say \"hi\"", ""}, {"3", "two\nlines", "x"}};
  const std::string_view text = "1,\"a,b\",\n2,\"say \"\"hi\"\"\",\"\"\r\n3,\"two\nlines\",x";
  for (const size_t piece : {size_t{1}, size_t{7}, text.size()})
    EXPECT_EQ(read_all(csv(), text, piece), wanted);
}

TEST(CopyText, AQuoteThatNeverEndsIsRefused) {
  CopyReader reader(csv());
  reader.add("1,\"abc\n");
  reader.finish();
  const Result<bool> next = reader.next();
  ASSERT_FALSE(next.ok());
  EXPECT_THAT(next.error().message, testing::HasSubstr("unterminated"));
}

TEST(CopyText, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(20261125);
  for (int round = 0; round < 500; ++round) {
    const CopyStatement copy = round % 2 == 0 ? CopyStatement() : csv();
    std::vector<Row> rows(1 + random() % 4, Row(2 + random() % 3));
    std::string text;
    for (Row& row : rows) {
      for (auto& field : row) {
        if (random() % 5 == 0) continue;
        field.emplace();
        for (size_t i = random() % 6; i > 0; --i) field->push_back("\\\t\n\r\",.aN"[random() % 9]);
      }
      write_copy_row(copy, row, text);
    }
    EXPECT_EQ(read_all(copy, text, 1 + random() % 9), rows) << text;
  }
}

std::string binary(std::initializer_list<std::string_view> parts) {
  std::string bytes(kBinaryHeader);
  bytes.append(8, '\0');
  for (const std::string_view part : parts) bytes += part;
  return bytes;
}

CopyStatement in_binary() {
  CopyStatement copy;
  copy.is_binary = true;
  return copy;
}

std::string refusal_of(std::string_view bytes) {
  CopyReader reader(in_binary());
  reader.add(bytes);
  reader.finish();
  for (;;) {
    const Result<bool> next = reader.next();
    if (!next) return next.error().message;
    if (!*next) return "";
  }
}

constexpr std::string_view kRow("\0\2\0\0\0\3a\0b\xff\xff\xff\xff", 13);
constexpr std::string_view kEmptyField("\0\1\0\0\0\0", 6);
constexpr std::string_view kTrailer("\xff\xff", 2);

TEST(CopyText, RowsInBinaryArriveInPiecesOfAnySize) {
  const std::string bytes = binary({kRow, kEmptyField, kTrailer});
  const std::vector<Row> wanted = {{std::string("a\0b", 3), std::nullopt}, {""}};
  for (size_t piece = 1; piece <= bytes.size(); ++piece)
    EXPECT_EQ(read_all(in_binary(), bytes, piece), wanted);
  EXPECT_EQ(read_all(in_binary(), binary({kRow, kEmptyField}), 4), wanted);  // the trailer may be missing
}

TEST(CopyText, BytesThatAreNoRowsInBinaryAreRefused) {
  EXPECT_EQ(refusal_of("a line of text, which is longer than the header"),
            "COPY file signature not recognized");
  EXPECT_EQ(refusal_of(binary({kRow}).substr(0, 25)), "unexpected EOF in COPY data");
  EXPECT_EQ(refusal_of(binary({kTrailer, kRow})), "received copy data after EOF marker");
  EXPECT_EQ(refusal_of(binary({std::string_view("\0\1\xff\xff\xff\xfe", 6)})), "invalid field size");
  EXPECT_EQ(refusal_of(binary({std::string_view("\0\1\x7f\xff\xff\xff", 6)})), "unexpected EOF in COPY data");
  EXPECT_EQ(refusal_of(std::string(kBinaryHeader) + std::string("\0\1\0\0\0\0\0\0", 8)),
            "unrecognized critical flags in COPY file header");
}

TEST(CopyText, ARowThatNeverEndsIsRefused) {
  for (const CopyStatement& copy : {CopyStatement(), in_binary()}) {
    CopyReader reader(copy);
    // A field of a binary row says that it has 2,147,483,647 bytes.
    if (copy.is_binary) reader.add(binary({std::string_view("\0\1\x7f\xff\xff\xff", 6)}));
    const std::string piece(size_t{1} << 20, 'x');
    Result<bool> next = false;
    for (int i = 0; i < 70 && next; ++i) {
      reader.add(piece);
      next = reader.next();
    }
    ASSERT_FALSE(next.ok());
    EXPECT_THAT(next.error().message, testing::HasSubstr("longer than 64 MiB"));
  }
}

}  // namespace
}  // namespace mneme
