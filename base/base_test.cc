// Goal: the small tools that everything rests on do what their headers say.
// Method: known answers (CRC32C's published check value), round trips, and malformed input.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/histogram.h"
#include "base/memory/arena.h"
#include "base/result.h"

namespace mneme {
namespace {

TEST(Crc32c, HasThePublishedCheckValueAndChains) {
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(as_bytes("6789"), crc32c(as_bytes("12345"))), 0xE3069283u);
}

TEST(Bytes, VarintsRoundTripAtEveryWidth) {
  ByteBuffer buffer;
  std::vector<int64_t> values = {
      0, 1, -1, 63, -64, 64, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (int shift = 0; shift < 63; ++shift) values.push_back(int64_t{1} << shift);
  for (const int64_t value : values) buffer.put_signed(value);
  ByteReader reader(buffer.span());
  for (const int64_t value : values) EXPECT_EQ(reader.get_signed(), value);
  EXPECT_FALSE(reader.bad());
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(Bytes, VarintsThatEndEarlyTurnTheReaderBadAtEveryWidth) {
  for (size_t bytes = 1; bytes < kMaxVarintBytes; ++bytes) {
    const std::vector<std::byte> cut(bytes, std::byte{0x80});
    ByteReader reader(cut);
    EXPECT_EQ(reader.get_varint(), 0u);
    EXPECT_TRUE(reader.bad()) << bytes;
  }
}

TEST(Bytes, ShortAndOverlongInputTurnsTheReaderBad) {
  const std::vector<std::byte> unending(11, std::byte{0xff});
  ByteReader overlong(unending);
  EXPECT_EQ(overlong.get_varint(), 0u);
  EXPECT_TRUE(overlong.bad());

  ByteReader cut(as_bytes("abc"));
  EXPECT_EQ(cut.get<uint32_t>(), 0u);
  EXPECT_TRUE(cut.bad());
  EXPECT_EQ(cut.get<uint8_t>(), 0u) << "a bad reader stays bad";
  EXPECT_EQ(cut.remaining(), 0u);
  EXPECT_TRUE(cut.get_bytes(1).empty());
}

TEST(Arena, ReusesItsChunksAfterReset) {
  Arena arena(1024);
  void* const first = arena.allocate(100);
  for (int i = 0; i < 100; ++i) arena.allocate(500);
  arena.allocate(10'000);
  arena.reset();
  EXPECT_EQ(arena.allocate(100), first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.allocate(1)) % 16, 0u);
}

TEST(Histogram, QuantilesAreWithinOneThirtySecondOfTheTruth) {
  std::mt19937_64 random(7);
  std::vector<uint64_t> values;
  Histogram histogram;
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(random() >> (random() % 60));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.5, 0.95, 0.99, 0.999}) {
    const uint64_t truth = values[static_cast<size_t>(q * 100'000) - 1];
    EXPECT_GE(histogram.quantile(q), truth) << q;
    EXPECT_LE(static_cast<double>(histogram.quantile(q)), static_cast<double>(truth) * (1 + 1.0 / 32) + 1)
        << q;
  }
  EXPECT_EQ(histogram.max(), values.back());
}

TEST(Result, CarriesAValueOrAnErrorWithItsKind) {
  const Result<int> good = 7;
  EXPECT_EQ(*good, 7);
  const Result<int> bad = damaged("{}: block {} has a wrong checksum", "log/000001.log", 3);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, ErrorKind::kDamaged);
  EXPECT_EQ(bad.error().message, "log/000001.log: block 3 has a wrong checksum");
}

}  // namespace
}  // namespace mneme
