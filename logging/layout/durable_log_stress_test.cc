// Goal: under many workers, each kind of device and each way to wait, every record is in the log once, where
// its worker was told, and acknowledged only when durable. Method: workers append self-proving records, some
// as skips, some waiting for durability, some through an acknowledgement queue; then the log is read back and
// compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "logging/layout/durable_log.h"
#include "logging/testing/appending_worker.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kAppenders = 4;

struct LogCase {
  LogDeviceKind device;
  LogBufferKind buffer;
};
class DurableLogStress : public ::testing::TestWithParam<LogCase> {};

TEST_P(DurableLogStress, EveryRecordIsThereOnceAndWhereItWasTold) {
  constexpr uint64_t kRecords = 3000;
  TemporaryDirectory directory;
  std::vector<Written> written;
  {
    DurableLogOptions options = small_log(kAppenders);
    options.largest_payload_bytes = 300;
    options.ring_bytes = 8192;
    options.device = GetParam().device;
    options.buffer = GetParam().buffer;
    options.group.interval = std::chrono::microseconds(100);
    OpenLog opened = open_for_work(directory.path(), options);
    std::vector<std::vector<Written>> by_worker(kAppenders);
    std::vector<std::thread> workers;
    for (uint32_t w = 0; w < kAppenders; ++w) {
      workers.emplace_back([&, w] { by_worker[w] = work(*opened.log, WorkerId{w}, kRecords, nullptr); });
    }
    for (std::thread& worker : workers) worker.join();
    for (const auto& each : by_worker) written.insert(written.end(), each.begin(), each.end());
    EXPECT_EQ(opened.log->counters().log_records, kAppenders * kRecords);
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

// Closing right after the last record: no thread waited for it, and it must be there all the same.
TEST(DurableLogClose, KeepsWhatWasFilledJustBefore) {
  TemporaryDirectory directory;
  for (uint64_t life = 0; life < 50; ++life) {
    OpenLog opened = open_for_work(directory.path(), small_log());
    std::thread([&] { append(*opened.log, WorkerId{0}, payload_of(life, 50)); }).join();
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 50u);
}

// Every buffer on a good device, and the default one on every device.
std::vector<LogCase> cases() {
  std::vector<LogCase> all{{LogDeviceKind::kLossy, kDefaultLogBuffer}};
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
