// Goal: acknowledgements leave in order and never before what they wait for. Method: small queues by hand.
#include "logging/commit/ack_queue.h"

#include <gtest/gtest.h>

#include "logging/commit/order_log.h"

namespace mneme {
namespace {

std::vector<uint64_t> poll(AckQueue& queue, Lsn durable) {
  std::vector<uint64_t> tags;
  const auto take = [&](const AckQueue::Entry& entry) { tags.push_back(entry.tag); };
  const size_t released = queue.poll(durable, take);
  EXPECT_EQ(released, tags.size());
  return tags;
}

TEST(AckQueue, ReleasesBelowTheDurableLsnOnly) {
  AckQueue queue(4);
  queue.push({Lsn{100}, 0, 1});
  queue.push({Lsn{200}, 0, 2});
  EXPECT_EQ(poll(queue, Lsn{100}), (std::vector<uint64_t>{}));
  EXPECT_EQ(poll(queue, Lsn{200}), (std::vector<uint64_t>{1}));
  EXPECT_EQ(poll(queue, Lsn{201}), (std::vector<uint64_t>{2}));
  EXPECT_TRUE(queue.empty());
}

TEST(AckQueue, AReaderOfOldRowsWaitsForThoseBeforeIt) {
  AckQueue queue(4);
  queue.push({Lsn{300}, 0, 1});
  queue.push({Lsn{50}, 0, 2});  // read only what was durable long ago
  queue.push({Lsn{400}, 0, 3});
  EXPECT_EQ(poll(queue, Lsn{300}), (std::vector<uint64_t>{}));
  EXPECT_EQ(poll(queue, Lsn{400}), (std::vector<uint64_t>{1, 2}));
}

TEST(AckQueue, FillsAndWrapsAround) {
  AckQueue queue(4);
  uint64_t acknowledged = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    if (queue.full()) {
      EXPECT_EQ(queue.size(), 4u);
      for (const uint64_t tag : poll(queue, queue.front().lsn + 1)) EXPECT_EQ(tag, acknowledged++);
    }
    queue.push({Lsn{64 + i}, 0, i});
  }
  EXPECT_EQ(acknowledged, 96u);
}

TEST(OrderLog, DrawsRisingLsnsThatAreDurableAtOnce) {
  OrderLog log(Lsn{1000});
  EXPECT_TRUE(log.await_space(WorkerId{0}, 10));
  EXPECT_EQ(log.reserve(WorkerId{0}, 10), Lsn{1000});
  EXPECT_EQ(log.reserve(WorkerId{1}, 10), Lsn{1000 + kRecordHeaderBytes + 10});
  EXPECT_LT(log.reserve(WorkerId{0}, 0), log.durable());
  EXPECT_TRUE(log.wait_durable(Lsn{1000}));
}

}  // namespace
}  // namespace mneme
