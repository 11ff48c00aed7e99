// Goal: of a block over a former one, whatever sectors a crash took are told from what has rotted. Method:
// every set of sectors that stay as they were, and a flipped bit in each of the places, for payloads of
// several lengths.
#include "logging/record/former_sectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using Page = std::vector<std::byte>;

constexpr uint32_t kIndex = 3;
constexpr unsigned kSectors = kBlockBytes / kSectorBytes;

Page block_of(uint32_t segment, uint32_t used_bytes) {
  Page block(kBlockBytes);
  std::ranges::copy(test::payload_of(segment, used_bytes), block.begin() + kBlockHeaderBytes);
  BlockHeader header;
  header.used_bytes = used_bytes;
  header.begin = StreamPosition{1000 * segment};
  header.durable = Lsn{64};
  header.incarnation = 1;
  header.segment = segment;
  header.index = kIndex;
  header.encode(block.data());
  return block;
}

FormerSectors former_of(const Page& block) {
  FormerSectors former(kIndex + 1);
  former.note(kIndex, block);
  return former;
}

// As a reader sees it: a block of another segment has no header that counts.
bool may_be_torn(const FormerSectors& former, const Page& block) {
  auto header = BlockHeader::decode(block);
  if (header && header->segment != 9) header.reset();
  return former.may_be_torn(kIndex, block, header);
}

TEST(FormerSectors, AnySectorsMayBeAsTheyWere) {
  for (const uint32_t before : {1u, 900u, 4048u}) {
    for (const uint32_t used : {1u, 464u, 500u, 2000u, 4048u}) {
      const Page old = block_of(5, before);
      const Page block = block_of(9, used);
      const FormerSectors former = former_of(old);
      for (unsigned lost = 1; lost < 1u << kSectors; ++lost) {
        Page torn = block;
        for (unsigned sector = 0; sector < kSectors; ++sector) {
          if ((lost >> sector & 1) != 0)
            std::copy_n(old.begin() + sector * kSectorBytes, kSectorBytes,
                        torn.begin() + sector * kSectorBytes);
        }
        // What both have as zeros is not lost.
        if (torn == block) continue;
        EXPECT_TRUE(may_be_torn(former, torn)) << before << " " << used << " " << lost;
      }
    }
  }
}

TEST(FormerSectors, AFlippedBitIsNone) {
  for (const uint32_t before : {1u, 900u, 4048u}) {
    const FormerSectors former = former_of(block_of(5, before));
    for (const uint32_t used : {1u, 500u, 4048u}) {
      for (size_t byte = 0; byte < kBlockBytes; ++byte) {
        Page rotten = block_of(9, used);
        rotten[byte] ^= std::byte{4};
        EXPECT_FALSE(may_be_torn(former, rotten)) << before << " " << used << " " << byte;
      }
    }
  }
}

// A block that has zeros where the former one's were lost is none that a crash leaves.
TEST(FormerSectors, ASectorThatBecameZerosHasRotted) {
  const FormerSectors former = former_of(block_of(5, 4048));
  for (unsigned sector = 0; sector < kSectors; ++sector) {
    Page rotten = block_of(9, 4048);
    std::fill_n(rotten.begin() + sector * kSectorBytes, kSectorBytes, std::byte{0});
    EXPECT_FALSE(may_be_torn(former, rotten)) << sector;
  }
}

// A block that was never written, and rotted, held nothing durable.
TEST(FormerSectors, ABlockThatWasNeverWrittenMayHaveRotted) {
  for (const Page& old : {block_of(5, 4048), block_of(5, 500), Page(kBlockBytes)}) {
    const FormerSectors former = former_of(old);
    EXPECT_TRUE(may_be_torn(former, old));
    for (const size_t byte : {0, 20, 511}) {
      Page rotten = old;
      rotten[byte] ^= std::byte{1};
      EXPECT_TRUE(may_be_torn(former, rotten)) << byte;
    }
  }
}

TEST(FormerSectors, TheTableIsWholeOrNone) {
  FormerSectors former(200);
  const Page old = block_of(5, 4048);
  for (uint32_t index = 0; index < 200; ++index) former.note(index, old);
  Page table(former_table_bytes(200));
  ASSERT_EQ(table.size(), 2 * kBlockBytes);
  const FormerBlocks said = former.encode(table);
  EXPECT_EQ(said.blocks, 200u);
  const auto decoded = FormerSectors::decode(table, said);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE(decoded->hold(199, old));
  EXPECT_FALSE(decoded->hold(199, block_of(9, 10)));
  for (size_t byte = 0; byte < table.size(); byte += 97) {
    Page rotten = table;
    rotten[byte] ^= std::byte{16};
    EXPECT_FALSE(FormerSectors::decode(rotten, said).has_value()) << byte;
  }
  EXPECT_FALSE(FormerSectors::decode(ByteSpan(table).first(kBlockBytes), said).has_value());
}

}  // namespace
}  // namespace mneme
