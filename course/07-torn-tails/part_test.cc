// Goal: what was written is read, nothing else is, and what a crash leaves is told from what has rotted.
// Method: a block made here byte by byte, of which sectors are lost, bits flipped, and fields made wrong
// under right checksums.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "course/grading.h"
#include "logging/record/block_format.h"

namespace mneme::course {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kUsed = 2100;  // so that the payload ends in the fifth of eight sectors
constexpr size_t kUsedSectors = (kBlockHeaderBytes + kUsed + kSectorBytes - 1) / kSectorBytes;

void put(Bytes& to, size_t at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to[at + i] = static_cast<std::byte>(value >> 8 * i);
}

void put_header_checksum(Bytes& block) {
  put(block, 0, crc32c(ByteSpan(block).subspan(4, kBlockHeaderBytes - 4)), 4);
}

// A block as the format says, by hand; none of its payload's bytes is zero.
Bytes block_of(size_t used) {
  Bytes block(kBlockBytes);
  for (size_t i = 0; i < used; ++i) block[kBlockHeaderBytes + i] = static_cast<std::byte>(1 + i % 255);
  put(block, 4, 0x4b424e4d, 4);  // "MNBK"
  put(block, 8, crc32c(ByteSpan(block).subspan(kBlockHeaderBytes)), 4);
  put(block, 12, used, 4);
  put(block, 16, 0x1122334455, 8);
  put(block, 24, 0x1122334400, 8);
  put(block, 32, 3, 4);
  put(block, 36, 17, 4);
  put(block, 40, 42, 4);
  put(block, 44, 7, 4);
  put_header_checksum(block);
  return block;
}

void lose_sector(Bytes& block, size_t sector) {
  std::fill_n(block.begin() + static_cast<ptrdiff_t>(sector * kSectorBytes), kSectorBytes, std::byte{0});
}
void flip(Bytes& block, size_t byte, unsigned bit = 0) {
  block[byte] ^= static_cast<std::byte>(1u << bit);
}

bool is_header(const Bytes& block) {
  return BlockHeader::decode(block).has_value();
}
bool is_intact(const Bytes& block) {
  const auto header = BlockHeader::decode(block);
  return header && header->payload_is_intact(block);
}
bool torn(const Bytes& block) {
  return may_be_torn(block, BlockHeader::decode(block));
}

TEST(Block, WhatWasWrittenIsRead) {
  for (const size_t used : {size_t{1}, kUsed, kBlockPayloadBytes}) {
    const Bytes block = block_of(used);
    const auto header = BlockHeader::decode(block);
    ASSERT_TRUE(header.has_value()) << broken("A header that was written is read.",
                                              "The whole log is unreadable.");
    EXPECT_TRUE(header->used_bytes == used && header->begin.value == 0x1122334455 &&
                header->durable.value == 0x1122334400 && header->incarnation == 3 && header->segment == 17 &&
                header->index == 42 && header->progress == 7)
        << broken("Each field is read from its place.", "Recovery looks for records where there are none.");
    EXPECT_TRUE(header->payload_is_intact(block)) << broken(
        "A payload that was written is intact.", "Each block is taken for the torn end of the log.");
  }
}

TEST(Block, WhatIsNoHeaderIsNotReadAsOne) {
  EXPECT_FALSE(is_header(Bytes(kBlockBytes)))
      << broken("Zeros are no header.", "What was never written is taken for a block at position 0.");
  Bytes block = block_of(kUsed);
  for (size_t byte = 0; byte < kBlockHeaderBytes; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      flip(block, byte, bit);
      ASSERT_FALSE(is_header(block)) << broken(
          fmt::format("A header with a flipped bit is none. Here it is in byte {} of the block.", byte),
          "A wrong position or length is believed, and records are read from a wrong place. Or a "
          "wrong durable LSN is: then a good log is refused, or a damaged one taken.");
      flip(block, byte, bit);
    }
  }
  put(block, 4, 0x4b424e4e, 4);
  put_header_checksum(block);
  EXPECT_FALSE(is_header(block)) << broken(
      "A block begins with its magic, behind the checksum. Here the checksum is right, and the magic "
      "another.",
      "Bytes of another kind of file that happen to have their checksum there pass for a block.");
}

TEST(Block, NoBlockIsEmptyOrOverfull) {
  for (const size_t used : {size_t{0}, kBlockPayloadBytes + 1, size_t{0xffffffff}}) {
    Bytes block = block_of(kUsed);
    put(block, 12, used, 4);
    put_header_checksum(block);
    EXPECT_FALSE(is_header(block)) << broken(
        fmt::format(
            "No block says that it has {} bytes of payload: no writer makes one. A block has from 1 to "
            "{}.",
            used, kBlockPayloadBytes),
        "With none the reader stands still at one place; with too many it reads behind the end of its "
        "memory.");
  }
}

TEST(Block, TheHeaderOfABlockThatIsCutOffIsRead) {
  const Bytes block = block_of(kUsed);
  EXPECT_FALSE(BlockHeader::decode(ByteSpan(block).first(kBlockHeaderBytes - 1)).has_value()) << broken(
      "Of 47 bytes no header is read.", "The reader reads behind the end of the file's bytes in memory.");
  const ByteSpan half = ByteSpan(block).first(1000);
  const auto header = BlockHeader::decode(half);
  ASSERT_TRUE(header.has_value()) << broken(
      "A header is read from its 48 bytes, also where the file's end cuts off the rest of the block.",
      "What the header knows is thrown away: how far the log was durable.");
  EXPECT_FALSE(header->payload_is_intact(half))
      << broken("The payload of a block that is cut off is not intact.",
                "The reader reads behind the end of the file's bytes in memory.");
}

TEST(Block, AHeaderCountsThoughItsPayloadIsTorn) {
  Bytes block = block_of(kUsed);
  lose_sector(block, 2);
  EXPECT_TRUE(is_header(block)) << broken(
      "decode() doesn't look at the payload: a header counts though its payload is torn.",
      "The last witness of how far the log was durable isn't heard. A durable record that is missing "
      "passes for the log's end.");
  EXPECT_FALSE(is_intact(block)) << broken("A payload of which a sector is missing is not intact.",
                                           "Zeros are taken for records, or for the rest of one.");
}

TEST(Block, AnyChangeOfThePayloadIsSeen) {
  Bytes block = block_of(kUsed);
  for (size_t byte = kBlockHeaderBytes; byte < kBlockBytes; ++byte) {
    flip(block, byte, byte % 8);
    ASSERT_FALSE(is_intact(block)) << broken(
        fmt::format(
            "A flipped bit in the payload is seen, and in the zeros behind it. Here it is in byte {}; "
            "the payload ends at {}.",
            byte, kBlockHeaderBytes + kUsed),
        "A rotten block passes for a good one. A record has a checksum of its own; but what isn't seen here "
        "is "
        "taken for the log's end there.");
    flip(block, byte, byte % 8);
  }
}

TEST(Block, AnySectorsMayBeLost) {
  for (unsigned lost = 1; lost < 1u << kUsedSectors; ++lost) {
    Bytes block = block_of(kUsed);
    std::string which;
    for (size_t sector = 0; sector < kUsedSectors; ++sector) {
      if ((lost >> sector & 1) == 0) continue;
      lose_sector(block, sector);
      which += fmt::format(" {}", sector);
    }
    ASSERT_TRUE(torn(block)) << broken(
        fmt::format(
            "A crash may lose any of a block's sectors, which then are zeros. Here the block has sectors "
            "0 to {}, and of them it has lost:{}.",
            kUsedSectors - 1, which),
        "The database refuses to start after a power failure, though nothing that was acknowledged is "
        "missing.");
  }
}

TEST(Block, ABlockThatIsCutOffMayBeTorn) {
  for (const size_t size : {size_t{1}, size_t{1000}, kBlockBytes - 1}) {
    const Bytes block = block_of(kUsed);
    const ByteSpan cut = ByteSpan(block).first(size);
    EXPECT_TRUE(may_be_torn(cut, BlockHeader::decode(cut)))
        << broken("A block that the file's end cuts off may be a crash's doing, whatever its bytes are.",
                  "The database refuses to start after a crash in which the file did not grow to its size.");
  }
}

TEST(Block, WhatHasRottedIsNoTornTail) {
  for (size_t byte = kBlockHeaderBytes; byte < kBlockHeaderBytes + kUsed; byte += 7) {
    Bytes block = block_of(kUsed);
    flip(block, byte, 3);
    ASSERT_FALSE(torn(block)) << broken(
        fmt::format("No crash flips a bit. Here one is flipped in byte {}, and each sector that the payload "
                    "reaches has bytes.",
                    byte),
        "Rot passes for the torn end of the log: acknowledged transactions are dropped without a word.");
  }
}

TEST(Block, TheSectorsBehindThePayloadAreZerosAnyway) {
  Bytes block = block_of(100);
  flip(block, 80, 3);
  EXPECT_FALSE(torn(block)) << broken(
      "Sectors that the payload doesn't reach are zeros in a good block, too, so they are no sign of a "
      "crash. "
      "Here the payload has 100 bytes, and one of them is wrong.",
      "Rot in any block that isn't full passes for the torn end of the log: acknowledged transactions are "
      "dropped without a word.");
}

TEST(Block, BehindThePayloadThereIsNothing) {
  for (const size_t byte : {kBlockHeaderBytes + kUsed, kUsedSectors * kSectorBytes, kBlockBytes - 1}) {
    Bytes block = block_of(kUsed);
    lose_sector(block, 1);
    flip(block, byte, 3);
    EXPECT_FALSE(torn(block)) << broken(
        fmt::format(
            "Behind the payload zeros were written over zeros, so no crash leaves anything else. Here "
            "byte {} isn't zero, and a sector is lost as well.",
            byte),
        "Rot passes for the torn end of the log: acknowledged transactions are dropped without a word.");
  }
}

TEST(Block, AFirstSectorWithAHeaderThatIsNoneHasRotted) {
  for (const size_t byte : {size_t{0}, size_t{4}, size_t{12}, size_t{24}, size_t{40}}) {
    Bytes block = block_of(kUsed);
    flip(block, byte, 6);
    EXPECT_FALSE(torn(block)) << broken(
        fmt::format(
            "The first sector is whole or zeros, so a crash leaves a header whole or none. Here bit 6 of "
            "byte {} is flipped.",
            byte),
        "Rot in a header passes for the torn end of the log: acknowledged transactions are dropped without a "
        "word.");
  }
  Bytes small = block_of(1);
  lose_sector(small, 0);
  for (size_t i = 0; i < 8; ++i) flip(small, 60 + i, 3);
  EXPECT_FALSE(torn(small)) << broken(
      "A first sector with eight bytes that aren't zero was written, so a crash leaves its header.",
      "Rot in a header passes for the torn end of the log.");
}

TEST(Block, AFewBytesThatRottedWhereNothingWasAreNoBlock) {
  for (size_t bytes = 0; bytes <= 7; ++bytes) {
    Bytes nothing(kBlockBytes);
    for (size_t i = 0; i < bytes; ++i) flip(nothing, 100 + 40 * i, 3);
    EXPECT_TRUE(torn(nothing)) << broken(
        fmt::format("A first sector with at most seven bytes that aren't zero never held a header: each has "
                    "nine, of which one may have rotted. Here {} aren't zero.",
                    bytes),
        "The database refuses to start for a bit that rotted where nothing had been written.");
  }
}

}  // namespace
}  // namespace mneme::course
