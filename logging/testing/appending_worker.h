// For tests: a worker that appends self-proving records to a log, and notes what was acknowledged.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "logging/commit/ack_queue.h"
#include "logging/testing/test_log.h"

namespace mneme::test {

struct Written {
  Lsn lsn;
  Lsn returned_before;  // by some worker, before this one drew
  uint64_t seed;
  size_t bytes;
  bool skip;
};

// One worker's part: appends, of which some are skips; waits for some to be durable, and acknowledges all in
// order. `highest`, where given: the highest LSN that any worker has been given. It orders the workers'
// steps, which the log must do without: ThreadSanitizer sees more where it is not given.
inline std::vector<Written> work(CommitLog& log, WorkerId worker, uint64_t records,
                                 std::atomic<uint64_t>* highest) {
  std::mt19937_64 random(worker.value + 100);
  std::vector<Written> written;
  AckQueue queue(256);
  uint64_t acknowledged = 0;
  const auto acknowledge = [&](const AckQueue::Entry& entry) {
    EXPECT_LT(entry.lsn, log.durable());
    EXPECT_EQ(entry.tag, acknowledged++);
  };
  for (uint64_t i = 0; i < records; ++i) {
    Written record{{}, {}, random(), random() % 300, random() % 10 == 0};
    const auto payload = payload_of(record.seed, record.bytes);
    EXPECT_TRUE(log.await_space(worker, static_cast<uint32_t>(record.bytes)));
    if (highest != nullptr) record.returned_before = Lsn{highest->load(std::memory_order_acquire)};
    record.lsn = log.reserve(worker, static_cast<uint32_t>(record.bytes));
    uint64_t known = record.returned_before.value;
    while (highest != nullptr && known < record.lsn.value &&
           !highest->compare_exchange_weak(known, record.lsn.value, std::memory_order_acq_rel)) {
    }
    if (random() % 50 == 0) std::this_thread::yield();
    log.fill(worker, record.lsn, record.skip ? RecordKind::kSkip : RecordKind::kCommand, payload);
    written.push_back(record);
    if (random() % 200 == 0) {
      EXPECT_TRUE(log.wait_durable(record.lsn));
      EXPECT_LT(record.lsn, log.durable());
    }
    if (queue.full()) {
      EXPECT_TRUE(log.wait_durable(queue.front().lsn));
      queue.poll(log.durable(), acknowledge);
    }
    queue.push({record.lsn, 0, i});
    queue.poll(log.durable(), acknowledge);
  }
  EXPECT_TRUE(log.wait_durable(written.back().lsn));
  queue.poll(log.durable(), acknowledge);
  EXPECT_EQ(acknowledged, records);
  return written;
}

}  // namespace mneme::test
