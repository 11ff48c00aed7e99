// Goal: every record whose fill() returned survives a kill, and a log that forgets the fence is caught.
// Method: a child process with several workers appends behind caches that die with it, and reports each
// filled record through a pipe; it is killed at a random moment, and the parent reads the directory as
// recovery would, over many lives. The canary is the same log with the fences left out.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "logging/testing/nvm_test_log.h"
#include "logging/testing/reported_records.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kNvmWorkers = 3;

[[noreturn]] void run_nvm_child(const std::string& directory, LogDeviceKind device, uint64_t life,
                                int reports) {
  DurableLogOptions options = small_nvm_log(kNvmWorkers);
  options.device = device;
  options.device_options.lossy_seed = life;
  OpenLog opened = open_for_work(directory, options);
  std::vector<std::thread> threads;
  for (uint32_t w = 0; w < kNvmWorkers; ++w) {
    threads.emplace_back([&, w] {
      for (uint64_t index = life << 32 | uint64_t{w} << 24;; ++index) {
        const ReportedRecord report{
            index, append(*opened.log, WorkerId{w}, payload_of(index, payload_bytes_of(index)))};
        if (::write(reports, &report, sizeof report) != sizeof report) std::_Exit(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::_Exit(1);
}

std::vector<ReportedRecord> run_nvm_and_kill(const std::string& directory, LogDeviceKind device,
                                             uint64_t life) {
  return test::run_and_kill<ReportedRecord>(
      life, [&](int reports) { run_nvm_child(directory, device, life, reports); });
}

TEST(NvmCrash, NothingFilledIsLostOverManyLives) {
  TemporaryDirectory directory;
  std::vector<ReportedRecord> reports;
  for (uint64_t life = 1; life <= 12; ++life) {
    const auto news = run_nvm_and_kill(directory.path(), LogDeviceKind::kNvmLossy, life);
    ASSERT_GE(news.size(), 100u);
    reports.insert(reports.end(), news.begin(), news.end());
    ASSERT_EQ(fault(directory.path(), reports), "") << "life " << life;
  }
  RecordProperty("holes", static_cast<int>(must(read_directory(directory.path())).holes.size()));
}

TEST(NvmCrash, TheSameHoldsWithoutTheCaches) {
  TemporaryDirectory directory;
  EXPECT_EQ(fault(directory.path(), run_nvm_and_kill(directory.path(), LogDeviceKind::kNvm, 1)), "");
}

TEST(NvmCrashCanary, ALogThatLeavesOutTheFenceIsCaught) {
  for (uint64_t life = 1; life <= 5; ++life) {
    TemporaryDirectory directory;
    const auto reports = run_nvm_and_kill(directory.path(), LogDeviceKind::kNvmLossyUnfenced, life);
    EXPECT_NE(fault(directory.path(), reports), "");
  }
}

// A limit on the file size stands for a full disk: no further segment can be made.
TEST(NvmFullDisk, IsAClearErrorAndLosesNothing) {
  TemporaryDirectory directory;
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::vector<ReportedRecord> filled;
  std::optional<Error> failure;
  {
    OpenLog opened = open_for_work(directory.path(), small_nvm_log());
    const rlimit limit{.rlim_cur = 16 * 1024, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (uint64_t index = 0; opened.log->await_space(WorkerId{0}, 1000); ++index) {
      const auto bytes = static_cast<uint32_t>(payload_bytes_of(index));
      const Lsn lsn = opened.log->reserve(WorkerId{0}, bytes);
      opened.log->fill(WorkerId{0}, lsn, RecordKind::kCommand, payload_of(index, bytes));
      filled.push_back({index, lsn});
    }
    failure = opened.log->failure();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  }
  ASSERT_TRUE(failure.has_value());
  EXPECT_NE(failure->message.find("File too large"), std::string::npos) << failure->message;
  EXPECT_NE(failure->message.find("all that was acknowledged is durable"), std::string::npos)
      << failure->message;
  EXPECT_GT(filled.size(), 10u);
  EXPECT_EQ(fault(directory.path(), filled), "");
  // Room again: the database goes on.
  OpenLog again = open_for_work(directory.path(), small_nvm_log());
  filled.push_back({1, append(*again.log, WorkerId{0}, payload_of(1, payload_bytes_of(1)))});
  again.log.reset();
  EXPECT_EQ(fault(directory.path(), filled), "");
}

}  // namespace
}  // namespace mneme
