// Goal: whatever the threads do, a record that was filled is in the log, whole and where its worker was told,
// and a crash leaves holes only where one was not. Method: workers append self-proving records of all sizes
// into small segments; at the end some stop between reserve() and fill() while others go on; the directory is
// then read as a crash would leave it.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <map>
#include <random>
#include <thread>

#include "logging/testing/nvm_test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kNvmWorkers = 4;
constexpr uint32_t kStopped = 2;
constexpr uint64_t kRecords = 3000;

struct Written {
  uint64_t seed;
  size_t bytes;
};
using Records = std::map<Lsn, Written>;

void append_some(CommitLog& log, WorkerId worker, uint64_t count, std::mt19937_64& random, Records& written) {
  for (uint64_t i = 0; i < count; ++i) {
    const Written record{random(), random() % 400};
    ASSERT_TRUE(log.await_space(worker, static_cast<uint32_t>(record.bytes)));
    const Lsn lsn = log.reserve(worker, static_cast<uint32_t>(record.bytes));
    if (random() % 50 == 0) std::this_thread::yield();
    const bool skip = random() % 10 == 0;
    log.fill(worker, lsn, skip ? RecordKind::kSkip : RecordKind::kCommand,
             payload_of(record.seed, record.bytes));
    ASSERT_LT(lsn, log.durable());
    if (!skip) written.emplace(lsn, record);
  }
}

class NvmLogStress : public ::testing::TestWithParam<LogDeviceKind> {};

TEST_P(NvmLogStress, ACrashTakesOnlyWhatWasNotFilled) {
  TemporaryDirectory directory;
  DurableLogOptions options = small_nvm_log(kNvmWorkers);
  options.device = GetParam();
  options.largest_payload_bytes = 400;
  OpenLog opened = open_for_work(directory.path(), options);
  std::vector<Records> written(kNvmWorkers);
  std::vector<Lsn> reserved(kStopped);
  {
    // No worker stops while others still need many segments: they would wait for it.
    std::barrier almost_done(kNvmWorkers);
    std::vector<std::jthread> threads;
    for (uint32_t w = 0; w < kNvmWorkers; ++w) {
      threads.emplace_back([&, w] {
        std::mt19937_64 random(w + 1);
        append_some(*opened.log, WorkerId{w}, kRecords, random, written[w]);
        almost_done.arrive_and_wait();
        if (w >= kStopped) return append_some(*opened.log, WorkerId{w}, 20, random, written[w]);
        ASSERT_TRUE(opened.log->await_space(WorkerId{w}, 300));
        reserved[w] = opened.log->reserve(WorkerId{w}, 300);
      });
    }
  }
  Records all;
  for (const Records& each : written) all.insert(each.begin(), each.end());
  {
    const CrashImage crash(directory.path());
    const LogContents log = must(read_directory(crash.path(), {.threads = 2}));
    ASSERT_EQ(log.records.size(), all.size());
    auto expected = all.begin();
    for (const RecordView& record : log.records) {
      EXPECT_EQ(record.lsn, expected->first);
      EXPECT_TRUE(
          std::ranges::equal(record.payload, payload_of(expected->second.seed, expected->second.bytes)));
      ++expected;
    }
    EXPECT_LE(log.holes.size(), kStopped);
    for (const LogHole& hole : log.holes) {
      const bool is_theirs = std::ranges::any_of(reserved, [&](Lsn lsn) {
        return one_stream_lsn(hole.begin) <= lsn && lsn + 320 <= one_stream_lsn(hole.end);
      });
      EXPECT_TRUE(is_theirs) << "from " << hole.begin.value << " to " << hole.end.value;
    }
  }
  for (uint32_t w = 0; w < kStopped; ++w) {
    opened.log->fill(WorkerId{w}, reserved[w], RecordKind::kCommand, payload_of(w, 300));
  }
  opened.log.reset();
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), all.size() + kStopped);
}

INSTANTIATE_TEST_SUITE_P(Memories, NvmLogStress,
                         ::testing::Values(LogDeviceKind::kNvm, LogDeviceKind::kNvmLossy),
                         [](const auto& info) {
                           return info.param == LogDeviceKind::kNvm ? "Plain" : "Cached";
                         });

}  // namespace
}  // namespace mneme
