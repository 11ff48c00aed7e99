// Goal: blocks and header pages come back as written, and no changed bit passes for intact.
// Method: round trips, every single-bit mutation, random mutations of several bytes.
#include "logging/record/block_format.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/crc32c.h"
#include "base/testing/test_refusal.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using Page = std::vector<std::byte>;

void flip(Page& page, size_t bit) {
  page[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
}

Page make_block(uint32_t used_bytes) {
  Page block(kBlockBytes);
  const auto payload = test::payload_of(used_bytes, used_bytes);
  std::copy(payload.begin(), payload.end(), block.begin() + kBlockHeaderBytes);
  BlockHeader header;
  header.used_bytes = used_bytes;
  header.begin = StreamPosition{987654321};
  header.durable = Lsn{987654000};
  header.incarnation = 3;
  header.segment = 17;
  header.index = 42;
  header.encode(block.data());
  return block;
}

TEST(BlockFormat, RoundTrip) {
  for (const uint32_t used : {1u, 100u, static_cast<uint32_t>(kBlockPayloadBytes)}) {
    const Page block = make_block(used);
    const auto header = BlockHeader::decode(block);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->used_bytes, used);
    EXPECT_EQ(header->begin, StreamPosition{987654321});
    EXPECT_EQ(header->durable, Lsn{987654000});
    EXPECT_EQ(header->incarnation, 3u);
    EXPECT_EQ(header->segment, 17u);
    EXPECT_EQ(header->index, 42u);
    EXPECT_TRUE(header->payload_is_intact(block));
  }
}

TEST(BlockFormat, EveryFlippedBitIsSeen) {
  Page block = make_block(500);
  for (size_t bit = 0; bit < 8 * kBlockBytes; ++bit) {
    flip(block, bit);
    const auto header = BlockHeader::decode(block);
    const bool in_header = bit < 8 * kBlockHeaderBytes;
    EXPECT_EQ(header.has_value(), !in_header) << "bit " << bit;
    if (header.has_value()) {
      EXPECT_FALSE(header->payload_is_intact(block)) << "bit " << bit;
    }
    flip(block, bit);
  }
}

TEST(BlockFormat, RandomBytesAreNoBlock) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20000; ++round) {
    Page block = make_block(500);
    for (int i = 0; i < 4; ++i) block[random() % kBlockHeaderBytes] = static_cast<std::byte>(random());
    const bool changed = std::memcmp(block.data(), make_block(500).data(), kBlockBytes) != 0;
    EXPECT_EQ(BlockHeader::decode(block).has_value(), !changed);
  }
  EXPECT_FALSE(BlockHeader::decode(Page(kBlockBytes)).has_value());
  EXPECT_FALSE(BlockHeader::decode(Page(kBlockHeaderBytes - 1)).has_value());
}

TEST(BlockFormat, HeaderPageRoundTripAndEveryFlippedBitIsSeen) {
  Page page(kBlockBytes);
  SegmentHeader{11, 22, 33, 44}.encode(page.data());
  const SegmentHeader header = test::must(SegmentHeader::decode(page, "x"));
  EXPECT_EQ(header.database_id, 11u);
  EXPECT_EQ(header.catalog_hash, 22u);
  EXPECT_EQ(header.number, 33u);
  EXPECT_EQ(header.incarnation, 44u);
  for (size_t bit = 0; bit < 8 * kBlockBytes; ++bit) {
    flip(page, bit);
    const auto mutated = SegmentHeader::decode(page, "x");
    ASSERT_FALSE(mutated.ok()) << "bit " << bit;
    EXPECT_EQ(mutated.error().kind, ErrorKind::kDamaged);
    flip(page, bit);
  }
}

TEST(BlockFormat, HeaderPageOfPersistentMemoryRoundTripAndEveryFlippedBitIsSeen) {
  Page page(kBlockBytes);
  SegmentHeader written{11, 22, 33, 44};
  written.nvm = {StreamPosition{uint64_t{1} << 40}, 5, 600};
  written.encode(page.data());
  const SegmentHeader header = test::must(SegmentHeader::decode(page, "x"));
  EXPECT_EQ(header.incarnation, 44u);
  ASSERT_TRUE(header.nvm.has_value());
  EXPECT_EQ(header.nvm->begin, StreamPosition{uint64_t{1} << 40});
  EXPECT_EQ(header.nvm->writers, 5u);
  EXPECT_EQ(header.nvm->longest_record_bytes, 600u);
  for (size_t bit = 0; bit < 8 * 64; ++bit) {
    flip(page, bit);
    const auto damaged = SegmentHeader::decode(page, "x");
    ASSERT_FALSE(damaged.ok()) << "bit " << bit;
    EXPECT_EQ(damaged.error().message.find("is no log segment"), std::string::npos) << "bit " << bit;
    flip(page, bit);
  }
}

// Sectors are whole or still zeros.
TEST(BlockFormat, WhatACrashMayLeaveOfABlock) {
  Page block = test::payload_of(7, kBlockBytes);
  const size_t used = 2000;
  std::fill(block.begin() + kBlockHeaderBytes + used, block.end(), std::byte{0});
  BlockHeader header{
      .used_bytes = used, .begin = StreamPosition{64}, .durable = Lsn{64}, .incarnation = 1, .segment = 1};
  header.encode(block.data());
  for (size_t lost = 0; lost < kBlockBytes; lost += kSectorBytes) {
    Page torn = block;
    std::fill_n(torn.begin() + static_cast<ptrdiff_t>(lost), kSectorBytes, std::byte{0});
    EXPECT_EQ(may_be_torn(torn, BlockHeader::decode(torn)), lost < kBlockHeaderBytes + used) << lost;
  }
  for (size_t byte = 0; byte < kBlockBytes; byte += 13) {
    Page rotten = block;
    flip(rotten, 8 * byte + byte % 8);
    EXPECT_FALSE(may_be_torn(rotten, BlockHeader::decode(rotten))) << byte;
  }
  EXPECT_TRUE(may_be_torn(Page(kBlockBytes), std::nullopt));
  EXPECT_TRUE(may_be_torn(ByteSpan(block).first(kBlockBytes - 1), std::nullopt)) << "the file ends there";
}

TEST(BlockFormat, HeaderPageOfAForeignFileAndOfAnotherVersion) {
  const auto foreign = SegmentHeader::decode(test::payload_of(1, kBlockBytes), "DIR/log");
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().message.find("DIR/log is no log segment of Mneme"), std::string::npos);

  SegmentHeader reused{11, 22, 33, 44};
  reused.file_bytes = block_offset(100);
  reused.former = FormerBlocks{100, 1};
  Page page(kBlockBytes);
  reused.encode(page.data());
  test::expect_refused(SegmentHeader::decode(page, "DIR/log"), ErrorKind::kDamaged,
                       "100 blocks with their table take others");
  reused.file_bytes += former_table_bytes(100);
  reused.encode(page.data());
  EXPECT_EQ(test::must(SegmentHeader::decode(page, "DIR/log")).former, reused.former);

  SegmentHeader{11, 22, 33, 44}.encode(page.data());
  store(page.data() + 8, uint32_t{99});
  const ByteSpan bytes(page);
  store(page.data() + 12, crc32c(bytes.subspan(16), crc32c(bytes.first(12))));
  const auto version = SegmentHeader::decode(page, "DIR/log");
  ASSERT_FALSE(version.ok());
  EXPECT_EQ(version.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(version.error().message.find("format version 99"), std::string::npos);
}

}  // namespace
}  // namespace mneme
