// Goal: under many workers, each kind of device and each way to wait, every record is in the log once, where its
// worker was told, and acknowledged only when durable. Method: workers append self-proving records, some as skips,
// some waiting for durability, some through an acknowledgement queue; then the log is read back and compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "logging/ack_queue.h"
#include "logging/durable_log.h"
#include "logging/test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kWorkers = 4;

struct Written {
  Lsn lsn;
  uint64_t seed;
  size_t bytes;
  bool skip;
};

std::vector<Written> work(CommitLog& log, WorkerId worker, uint64_t records) {
  std::mt19937_64 random(worker.value + 100);
  std::vector<Written> written;
  AckQueue queue(256);
  uint64_t acknowledged = 0;
  const auto acknowledge = [&](const AckQueue::Entry& entry) {
    EXPECT_LT(entry.lsn, log.durable());
    EXPECT_EQ(entry.tag, acknowledged++);
  };
  for (uint64_t i = 0; i < records; ++i) {
    Written record{{}, random(), random() % 300, random() % 10 == 0};
    const auto payload = payload_of(record.seed, record.bytes);
    EXPECT_TRUE(log.await_space(worker, static_cast<uint32_t>(record.bytes)));
    record.lsn = log.reserve(worker, static_cast<uint32_t>(record.bytes));
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
  LogBufferKind buffer;
};
class DurableLogStress : public ::testing::TestWithParam<Case> {};

TEST_P(DurableLogStress, EveryRecordIsThereOnceAndWhereItWasTold) {
  constexpr uint64_t kRecords = 3000;
  TemporaryDirectory directory;
  std::vector<Written> written;
  {
    DurableLogOptions options = small_log(kWorkers);
    options.largest_payload_bytes = 300;
    options.ring_bytes = 8192;
    options.device = GetParam().device;
    options.buffer = GetParam().buffer;
    options.group.interval = std::chrono::microseconds(100);
    OpenLog opened = open_for_work(directory.path(), options);
    std::vector<std::vector<Written>> by_worker(kWorkers);
    std::vector<std::thread> workers;
    for (uint32_t w = 0; w < kWorkers; ++w) {
      workers.emplace_back([&, w] { by_worker[w] = work(*opened.log, WorkerId{w}, kRecords); });
    }
    for (std::thread& worker : workers) worker.join();
    for (const auto& each : by_worker) written.insert(written.end(), each.begin(), each.end());
    EXPECT_EQ(opened.log->counters().log_records, kWorkers * kRecords);
  }
  std::ranges::sort(written, {}, &Written::lsn);
  const LogContents log = must(read_directory(directory.path(), {.threads = 2, .with_skips = true}));
  ASSERT_EQ(log.records.size(), written.size());
  Lsn expected = kFirstLsn;
  for (size_t i = 0; i < written.size(); ++i) {
    EXPECT_EQ(written[i].lsn, expected);
    EXPECT_EQ(log.records[i].lsn, expected);
    EXPECT_EQ(log.records[i].kind, written[i].skip ? RecordKind::kSkip : RecordKind::kCommand);
    if (!written[i].skip) {
      EXPECT_TRUE(std::ranges::equal(log.records[i].payload, payload_of(written[i].seed, written[i].bytes)));
    }
    expected = expected + kRecordHeaderBytes + written[i].bytes;
  }
  EXPECT_EQ(log.end, expected);
}

// Closing right after the last record: nobody waited for it, and it must be there all the same.
TEST(DurableLogClose, KeepsWhatWasFilledJustBefore) {
  TemporaryDirectory directory;
  for (uint64_t life = 0; life < 50; ++life) {
    OpenLog opened = open_for_work(directory.path(), small_log());
    std::thread([&] { append(*opened.log, WorkerId{0}, payload_of(life, 50)); }).join();
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 50u);
}

// Every buffer on a good device, and the default one on every device.
std::vector<Case> cases() {
  std::vector<Case> all{{LogDeviceKind::kLossy, kDefaultLogBuffer}};
  for (const LogBufferKind buffer : log_buffer_kinds()) all.push_back({LogDeviceKind::kFile, buffer});
  return all;
}
INSTANTIATE_TEST_SUITE_P(DevicesAndBuffers, DurableLogStress, ::testing::ValuesIn(cases()),
                         [](const auto& info) {
                           return std::string(name_of(info.param.device)) + "_" +
                                  std::string(name_of(info.param.buffer));
                         });

}  // namespace
}  // namespace mneme
