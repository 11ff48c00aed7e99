// Goal: the watermark buffer's prefix stops at the lowest unwritten record, whichever worker publishes first.
// Method: by hand.
#include "logging/buffer/watermark_buffer.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(WatermarkBuffer, HoldsBackAtTheLowestUnwrittenRecord) {
  WatermarkBuffer buffer({.workers = 3, .ring_bytes = 4096, .largest_record_bytes = 400});
  const StreamPosition first = buffer.reserve(WorkerId{0}, 100);
  const StreamPosition second = buffer.reserve(WorkerId{1}, 50);
  const StreamPosition third = buffer.reserve(WorkerId{2}, 10);
  buffer.publish(WorkerId{2}, third, 10);
  EXPECT_EQ(buffer.contiguous_prefix(), first);
  buffer.publish(WorkerId{0}, first, 100);
  EXPECT_EQ(buffer.contiguous_prefix(), second);
  EXPECT_FALSE(buffer.quiescent(second));
  buffer.publish(WorkerId{1}, second, 50);
  EXPECT_EQ(buffer.contiguous_prefix(), third + 10);
  EXPECT_TRUE(buffer.quiescent(third + 10));
}

}  // namespace
}  // namespace mneme
