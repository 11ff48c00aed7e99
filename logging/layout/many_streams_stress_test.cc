// Goal: with many workers, and several loggers and epochs that end at any moment, or several streams that are
// flushed at different rates, or have their buffers in persistent memory, where stragglers are signalled,
// every record is in the log once, in the order in which LSNs were drawn, and acknowledged only when durable,
// and then it is. Method: workers append self-proving records, some as skips, some waiting for durability,
// some through an acknowledgement queue; then the log is read back and compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "logging/testing/appending_worker.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kStreamWorkers = 5;

struct StreamsCase {
  LogDeviceKind device;
  LogLayout layout;
  uint32_t streams;
  LogBufferKind buffer = kDefaultLogBuffer;
  StreamPartition partition = StreamPartition::kTransaction;
  std::optional<StreamCommit> commit{};
  IoMethod io = IoMethod::kUring;
};

// Sends stretches of 20 bytes of a payload to one stream after the other.
void split_evenly(RecordKind, ByteSpan payload,
                  FunctionRef<void(size_t end, std::optional<uint64_t> page)> piece) {
  for (size_t begin = 0; begin < payload.size(); begin += 20)
    piece(std::min(begin + 20, payload.size()), begin / 20);
}

class ManyStreamsStress : public ::testing::TestWithParam<StreamsCase> {};

TEST_P(ManyStreamsStress, EveryRecordIsThereOnceAndInOrder) {
  constexpr uint64_t kRecords = 2000;
  TemporaryDirectory directory;
  std::vector<Written> written;
  for (uint32_t life = 0; life < 2; ++life) {
    DurableLogOptions options = small_log(kStreamWorkers);
    options.layout = GetParam().layout;
    options.epoch.loggers = GetParam().streams;
    options.epoch.interval = std::chrono::microseconds(300);
    options.streams.count = GetParam().streams;
    options.buffer = GetParam().buffer;
    options.streams.partition = GetParam().partition;
    options.streams.commit = GetParam().commit;
    options.streams.split = split_evenly;
    if (life == 1 && GetParam().streams > 1) {
      options.streams.latencies = {std::chrono::microseconds(0), std::chrono::microseconds(700)};
    }
    options.largest_payload_bytes = 300;
    options.ring_bytes = 8192;
    if (!traits_of(GetParam().device).has_flusher) {
      options.ring_bytes = 65536;  // some dozen laps: each waits for the disk
      if (life == 1)
        options.streams.latencies = {std::chrono::microseconds(0), std::chrono::microseconds(50)};
    }
    options.device = GetParam().device;
    options.device_options.io.method = GetParam().io;
    OpenLog opened = open_for_work(directory.path(), options);
    std::atomic<uint64_t> highest{0};
    std::vector<std::vector<Written>> by_worker(kStreamWorkers);
    std::vector<std::thread> workers;
    for (uint32_t w = 0; w < kStreamWorkers; ++w) {
      workers.emplace_back([&, w] { by_worker[w] = work(*opened.log, WorkerId{w}, kRecords, &highest); });
    }
    for (std::thread& worker : workers) worker.join();
    for (const auto& each : by_worker) written.insert(written.end(), each.begin(), each.end());
    EXPECT_GE(opened.log->counters().log_records, kStreamWorkers * kRecords);  // a part counts as one
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

INSTANTIATE_TEST_SUITE_P(
    DevicesAndLayouts, ManyStreamsStress,
    ::testing::Values(
        StreamsCase{.device = LogDeviceKind::kFile,
                    .layout = LogLayout::kStream,
                    .streams = 1,
                    .io = IoMethod::kInline},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kEpoch, 1},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kEpoch, 3},
        StreamsCase{LogDeviceKind::kLossy, LogLayout::kEpoch, 2},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kDistributed, 1},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kDistributed, 3},
        StreamsCase{LogDeviceKind::kLossy, LogLayout::kDistributed, 2},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kDistributed, 8},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kDistributed, 4, LogBufferKind::kMutex},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kDistributed, 5, LogBufferKind::kDelegated},
        StreamsCase{LogDeviceKind::kFile, LogLayout::kDistributed, 6, LogBufferKind::kGrasshopper},
        StreamsCase{LogDeviceKind::kLossy, LogLayout::kDistributed, 4, kDefaultLogBuffer,
                    StreamPartition::kPage},
        StreamsCase{LogDeviceKind::kNvm, LogLayout::kDistributed, 1},
        StreamsCase{LogDeviceKind::kNvm, LogLayout::kDistributed, 3},
        StreamsCase{LogDeviceKind::kNvmLossy, LogLayout::kDistributed, 2},
        StreamsCase{LogDeviceKind::kNvmLossy, LogLayout::kDistributed, 4, kDefaultLogBuffer,
                    StreamPartition::kPage},
        StreamsCase{LogDeviceKind::kNvm, LogLayout::kDistributed, 2, kDefaultLogBuffer,
                    StreamPartition::kTransaction, StreamCommit::kDurableCache}),
    [](const auto& info) {
      std::string name = std::string(name_of(info.param.layout)) + "_" +
                         std::string(name_of(info.param.device)) + "_" + std::to_string(info.param.streams);
      std::ranges::replace(name, '-', '_');
      return name;
    });

// Closing right after the last record: no thread waited for it, and it must be there all the same.
class ManyStreamsClose : public ::testing::TestWithParam<LogLayout> {};
INSTANTIATE_TEST_SUITE_P(Layouts, ManyStreamsClose,
                         ::testing::Values(LogLayout::kEpoch, LogLayout::kDistributed),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(ManyStreamsClose, KeepsWhatWasFilledJustBefore) {
  TemporaryDirectory directory;
  DurableLogOptions options = small_log(2);
  options.layout = GetParam();
  for (uint64_t life = 0; life < 30; ++life) {
    OpenLog opened = open_for_work(directory.path(), options);
    std::thread([&] { append(*opened.log, WorkerId{1}, payload_of(life, 50)); }).join();
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 30u);
}

}  // namespace
}  // namespace mneme
