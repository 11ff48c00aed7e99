// Goal: a checkpoint's headers come out as they went in, and bytes that are none are told apart from them.
// Method: headers survive the round trip, and no flipped bit.
#include "engine/checkpoint/checkpoint_format.h"

#include <gtest/gtest.h>

#include <array>

#include "logging/record/format_version.h"

namespace mneme {
namespace {

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

  CheckpointHeader header{1, 2, Lsn{3}, 4, 5, 6, 7, 8};
  std::vector<std::byte> page(kCheckpointHeaderBytes);
  header.encode(page.data());
  const Result<CheckpointHeader> page_read = CheckpointHeader::decode(page, "file");
  ASSERT_TRUE(page_read.ok());
  EXPECT_EQ(page_read->file_bytes, 6u);
  EXPECT_EQ(page_read->chunks_end(), 7u);
  EXPECT_EQ(page_read->bounds_checksum, 8u);
  for (size_t bit = 0; bit < 8 * page.size(); bit += 13) {
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(CheckpointHeader::decode(page, "file").ok()) << "bit " << bit;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(CheckpointFormat, AFormerEnginesHeaderHasNoBounds) {
  std::vector<std::byte> page(kCheckpointHeaderBytes);
  CheckpointHeader{1, 2, Lsn{3}, 4, 5, 6}.encode(page.data());
  EXPECT_EQ(load<uint32_t>(page.data() + 8), kFormatVersion);
  const Result<CheckpointHeader> read = CheckpointHeader::decode(page, "file");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bounds_offset, 0u);
  EXPECT_EQ(read->chunks_end(), 6u);
}

TEST(CheckpointFormat, BoundsComeOutAsTheyWentIn) {
  std::vector<std::byte> bytes;
  CheckpointChunkBounds{7, {1, 2, 3, 4}}.append_to(bytes);
  CheckpointChunkBounds{9, {}}.append_to(bytes);
  ByteSpan rest = bytes;
  const CheckpointChunkBounds first = CheckpointChunkBounds::take_from(rest, 4);
  EXPECT_EQ(first.slot_end, 7u);
  EXPECT_EQ(first.words, (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(CheckpointChunkBounds::take_from(rest, 0).slot_end, 9u);
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace mneme
