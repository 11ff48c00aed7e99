// Goal: the grasshopper hops where a range is full and crawls where it is not, ends on record boundaries, and
// calls back once what it waits for is durable. Method: small hopping distance, one step after the other.
#include "logging/buffer/grasshopper_buffer.h"

#include <gtest/gtest.h>

#include <vector>

#include "logging/testing/test_buffer.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint64_t kHop = 256;

GrasshopperBuffer make(GrasshopperMode mode, StreamPosition begin = StreamPosition{kHop}) {
  LogBufferOptions options;
  options.workers = 2;
  options.ring_bytes = 4096;
  options.largest_record_bytes = 700;
  options.begin = begin;
  options.tuning.grasshopper = mode;
  options.tuning.hop_bytes = kHop;
  return GrasshopperBuffer(options);
}

constexpr WorkerId kOne{0};
constexpr WorkerId kTwo{1};

TEST(GrasshopperBuffer, CrawlsInARangeThatIsNotFull) {
  GrasshopperBuffer buffer = make(GrasshopperMode::kBoth);
  append(buffer, kOne, 100);
  const StreamPosition last = append(buffer, kTwo, 100);
  EXPECT_EQ(buffer.contiguous_prefix(), last + 100);
  EXPECT_EQ(buffer.crawling_ratio(), 1);
}

TEST(GrasshopperBuffer, HopsOverFullRangesToTheEndOfTheRecordAcross) {
  GrasshopperBuffer buffer = make(GrasshopperMode::kHop);
  StreamPosition across;
  for (uint64_t i = 0; i < 12; ++i) {
    const StreamPosition position = append(buffer, WorkerId{static_cast<uint32_t>(i % 2)}, 100);
    if (position.value < 5 * kHop && position.value + 100 > 5 * kHop) across = position;
  }
  ASSERT_NE(across,
            StreamPosition{});  // records reach over the end of the fourth range, and not of the fifth
  EXPECT_EQ(buffer.contiguous_prefix(), across + 100);
  EXPECT_EQ(buffer.crawling_ratio(), 0);
}

TEST(GrasshopperBuffer, HopsNoFurtherThanTheHole) {
  GrasshopperBuffer buffer = make(GrasshopperMode::kHop);
  append(buffer, kOne, kHop);
  const StreamPosition hole = buffer.reserve(kTwo, 50);
  for (int i = 0; i < 8; ++i) append(buffer, kOne, 100);
  EXPECT_EQ(buffer.contiguous_prefix(), hole);
  fill(buffer, kTwo, hole, 50);
  EXPECT_GT(buffer.contiguous_prefix(), hole + kHop);
}

TEST(GrasshopperBuffer, CrawlsUpToTheHoleAndHopsOnceItIsFilled) {
  GrasshopperBuffer buffer = make(GrasshopperMode::kBoth);
  append(buffer, kOne, 100);
  const StreamPosition hole = buffer.reserve(kTwo, 50);
  for (int i = 0; i < 10; ++i) append(buffer, kOne, 100);
  EXPECT_EQ(buffer.contiguous_prefix(), hole);
  fill(buffer, kTwo, hole, 50);
  EXPECT_EQ(buffer.contiguous_prefix(), hole + 1050);
  EXPECT_GT(buffer.crawling_ratio(), 0);
  EXPECT_LT(buffer.crawling_ratio(), 1);
}

TEST(GrasshopperBuffer, HopsOverARecordLongerThanARange) {
  GrasshopperBuffer buffer = make(GrasshopperMode::kHop);
  append(buffer, kOne, 10);
  const StreamPosition longest = append(buffer, kTwo, 700);
  EXPECT_EQ(buffer.contiguous_prefix(), longest + 700);
  append(buffer, kOne, 10);
  EXPECT_EQ(buffer.contiguous_prefix(), longest + 700);  // its range is not full
  append(buffer, kOne, 300);
  EXPECT_EQ(buffer.contiguous_prefix(), longest + 1010);
}

TEST(GrasshopperBuffer, BeginsInTheMiddleOfARange) {
  GrasshopperBuffer buffer = make(GrasshopperMode::kHop, StreamPosition{kHop + 56});
  append(buffer, kOne, 200);
  EXPECT_EQ(buffer.contiguous_prefix(), StreamPosition{2 * kHop});
}

// Over many rounds of the ring, with gc behind.
TEST(GrasshopperBuffer, HopsAndCrawlsRoundAfterRound) {
  for (const GrasshopperMode mode :
       {GrasshopperMode::kBoth, GrasshopperMode::kCrawl, GrasshopperMode::kHop}) {
    GrasshopperBuffer buffer = make(mode);
    Drainer drainer(buffer, StreamPosition{kHop}, 700);
    StreamPosition end{kHop};
    for (uint64_t i = 0; i < 2000; ++i) {
      const auto bytes = static_cast<uint32_t>(8 + i * 37 % 300);
      end = append(buffer, WorkerId{static_cast<uint32_t>(i / 3 % 2)}, bytes) + bytes;
      if (i % 5 == 0) drainer.drain();
    }
    drainer.drain();
    if (mode == GrasshopperMode::kHop) {
      EXPECT_GE(drainer.at().value, end.value / kHop * kHop);
    } else {
      EXPECT_EQ(drainer.at(), end);
    }
  }
}

// Commits wait for the storage-durable position, not for the prefix; each is reported once, in order, on its
// worker.
TEST(GrasshopperBuffer, CallsBackWhatIsDurable) {
  GrasshopperBuffer buffer = make(GrasshopperMode::kBoth);
  std::vector<StreamPosition> told;
  const CommitCallback tell{[](void* to, StreamPosition position) {
                              static_cast<std::vector<StreamPosition>*>(to)->push_back(position);
                            },
                            &told};
  std::vector<StreamPosition> commits;
  for (int i = 0; i < 6; ++i) {
    append(buffer, kOne, 20);
    const StreamPosition position = buffer.reserve(kOne, 30);
    buffer.publish(kOne, position, 30, tell);
    commits.push_back(position);
  }
  EXPECT_EQ(buffer.contiguous_prefix(), commits.back() + 30);
  EXPECT_EQ(buffer.collect(kOne, commits[2]), 2u);
  EXPECT_EQ(buffer.collect(kOne, commits[2] + 29), 0u);
  EXPECT_EQ(buffer.collect(kOne, commits[2] + 30), 1u);
  EXPECT_EQ(buffer.collect(kTwo, commits.back() + 30), 0u);
  EXPECT_EQ(buffer.collect(kOne, commits.back() + 30), 3u);
  EXPECT_EQ(told, commits);
  EXPECT_EQ(buffer.collect(kOne, commits.back() + 30), 0u);
}

}  // namespace
}  // namespace mneme
