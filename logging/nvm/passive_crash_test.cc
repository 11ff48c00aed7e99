// Goal: every record that was told of as durable survives a kill, of streams whose buffers lie in persistent
// memory behind caches that a crash empties; and without passive group commit, or without the fences, losses
// are seen. Method: a child process with several workers, one stream slower than the other, reports each
// record that durable() has passed through a pipe; it is killed at a random moment, and the parent reads the
// directory as recovery would, over many lives.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "logging/testing/reported_records.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kPassiveWorkers = 4;

DurableLogOptions options_of(LogDeviceKind device, std::optional<StreamCommit> commit, uint64_t life) {
  DurableLogOptions options = small_log(kPassiveWorkers);
  options.layout = LogLayout::kDistributed;
  options.device = device;
  options.largest_payload_bytes = 1000;
  options.ring_bytes = 1;  // raised to what the workers' largest records need
  options.streams.count = 2;
  options.streams.commit = commit;
  options.streams.latencies = {std::chrono::microseconds(0), std::chrono::microseconds(100)};
  options.device_options.lossy_seed = life;
  return options;
}

[[noreturn]] void run_passive_child(const std::string& directory, const DurableLogOptions& options,
                                    uint64_t life, int reports) {
  OpenLog opened = open_for_work(directory, options);
  std::vector<std::thread> threads;
  for (uint32_t w = 0; w < kPassiveWorkers; ++w) {
    threads.emplace_back([&, w] {
      for (uint64_t index = life << 32 | uint64_t{w} << 24;; ++index) {
        const bool is_skip = index % 5 == 0;  // not fenced
        const Lsn lsn = append(*opened.log, WorkerId{w}, payload_of(index, payload_bytes_of(index)),
                               is_skip ? RecordKind::kSkip : RecordKind::kCommand);
        if (is_skip) continue;
        const ReportedRecord report{index, lsn};
        if (!opened.log->wait_durable(lsn)) std::_Exit(1);
        if (::write(reports, &report, sizeof report) != sizeof report) std::_Exit(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::_Exit(1);
}

std::vector<ReportedRecord> run_passive_and_kill(const std::string& directory, LogDeviceKind device,
                                                 std::optional<StreamCommit> commit, uint64_t life) {
  return test::run_and_kill<ReportedRecord>(life, [&](int reports) {
    run_passive_child(directory, options_of(device, commit, life), life, reports);
  });
}

TEST(PassiveCrash, NothingDurableIsLostOverManyLives) {
  TemporaryDirectory directory;
  std::vector<ReportedRecord> reports;
  for (uint64_t life = 1; life <= 8; ++life) {
    const auto news = run_passive_and_kill(directory.path(), LogDeviceKind::kNvmLossy, std::nullopt, life);
    ASSERT_GE(news.size(), 100u);
    reports.insert(reports.end(), news.begin(), news.end());
    ASSERT_EQ(fault(directory.path(), reports), "") << "life " << life;
  }
}

TEST(PassiveCrash, TheSameHoldsOfCachesThatAreDurable) {
  TemporaryDirectory directory;
  std::vector<ReportedRecord> reports;
  for (uint64_t life = 1; life <= 3; ++life) {
    const auto news =
        run_passive_and_kill(directory.path(), LogDeviceKind::kNvm, StreamCommit::kDurableCache, life);
    reports.insert(reports.end(), news.begin(), news.end());
    ASSERT_EQ(fault(directory.path(), reports), "") << "life " << life;
  }
}

// A kill may find all records fenced, the more so on a busy machine: one of thirty finds losses.
bool is_caught(LogDeviceKind device, std::optional<StreamCommit> commit) {
  for (uint64_t life = 1; life <= 30; ++life) {
    TemporaryDirectory directory;
    if (fault(directory.path(), run_passive_and_kill(directory.path(), device, commit, life)) != "")
      return true;
  }
  return false;
}

TEST(PassiveCrashCanary, WithoutGroupCommitLossesAreSeen) {
  EXPECT_TRUE(is_caught(LogDeviceKind::kNvmLossy, StreamCommit::kNone));
}

TEST(PassiveCrashCanary, WithoutFencesLossesAreSeen) {
  EXPECT_TRUE(is_caught(LogDeviceKind::kNvmLossyUnfenced, std::nullopt));
}

}  // namespace
}  // namespace mneme
