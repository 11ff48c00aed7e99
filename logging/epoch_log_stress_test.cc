// Goal: with many workers, several loggers and epochs that end at any moment, every record is in the log once, in the order
// in which LSNs were drawn, and acknowledged only when durable. Method: workers append self-proving records, some as
// skips, some waiting for durability, some through an acknowledgement queue; then the log is read back and compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "logging/ack_queue.h"
#include "logging/epoch_log.h"
#include "logging/test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kWorkers = 5;

struct Written {
  Lsn lsn;
  Lsn returned_before;  // by some worker, before this one drew
  uint64_t seed;
  size_t bytes;
  bool skip;
};

std::vector<Written> work(CommitLog& log, WorkerId worker, uint64_t records, std::atomic<uint64_t>& highest) {
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
    record.returned_before = Lsn{highest.load(std::memory_order_acquire)};
    record.lsn = log.reserve(worker, static_cast<uint32_t>(record.bytes));
    uint64_t known = record.returned_before.value;
    while (known < record.lsn.value &&
           !highest.compare_exchange_weak(known, record.lsn.value, std::memory_order_acq_rel)) {
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

struct Case {
  LogDeviceKind device;
  uint32_t loggers;
};
class EpochLogStress : public ::testing::TestWithParam<Case> {};

TEST_P(EpochLogStress, EveryRecordIsThereOnceAndInOrder) {
  constexpr uint64_t kRecords = 2000;
  TemporaryDirectory directory;
  std::vector<Written> written;
  for (uint32_t life = 0; life < 2; ++life) {
    DurableLogOptions options = small_log(kWorkers);
    options.layout = LogLayout::kEpoch;
    options.epoch.loggers = GetParam().loggers;
    options.epoch.interval = std::chrono::microseconds(300);
    options.largest_payload_bytes = 300;
    options.ring_bytes = 8192;
    options.device = GetParam().device;
    OpenLog opened = open_for_work(directory.path(), options);
    std::atomic<uint64_t> highest{0};
    std::vector<std::vector<Written>> by_worker(kWorkers);
    std::vector<std::thread> workers;
    for (uint32_t w = 0; w < kWorkers; ++w) {
      workers.emplace_back([&, w] { by_worker[w] = work(*opened.log, WorkerId{w}, kRecords, highest); });
    }
    for (std::thread& worker : workers) worker.join();
    for (const auto& each : by_worker) written.insert(written.end(), each.begin(), each.end());
    EXPECT_EQ(opened.log->counters().log_records, kWorkers * kRecords);
  }
  std::ranges::sort(written, {}, &Written::lsn);
  const LogContents log = must(read_directory(directory.path(), {.threads = 2, .with_skips = true}));
  ASSERT_EQ(log.records.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    EXPECT_GT(written[i].lsn, written[i].returned_before);
    EXPECT_EQ(log.records[i].lsn, written[i].lsn);
    EXPECT_EQ(log.records[i].kind, written[i].skip ? RecordKind::kSkip : RecordKind::kCommand);
    if (!written[i].skip) {
      EXPECT_TRUE(std::ranges::equal(log.records[i].payload, payload_of(written[i].seed, written[i].bytes)));
    }
  }
  EXPECT_GT(log.end, written.back().lsn);
}

INSTANTIATE_TEST_SUITE_P(DevicesAndLoggers, EpochLogStress,
                         ::testing::Values(Case{LogDeviceKind::kFile, 1}, Case{LogDeviceKind::kFile, 3},
                                           Case{LogDeviceKind::kLossy, 2}),
                         [](const auto& info) {
                           return std::string(name_of(info.param.device)) + "_" +
                                  std::to_string(info.param.loggers);
                         });

// Closing right after the last record: nobody waited for it, and it must be there all the same.
TEST(EpochLogClose, KeepsWhatWasFilledJustBefore) {
  TemporaryDirectory directory;
  DurableLogOptions options = small_log(2);
  options.layout = LogLayout::kEpoch;
  for (uint64_t life = 0; life < 30; ++life) {
    OpenLog opened = open_for_work(directory.path(), options);
    std::thread([&] { append(*opened.log, WorkerId{1}, payload_of(life, 50)); }).join();
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 30u);
}

}  // namespace
}  // namespace mneme
