// Goal: after a crash everything below the highest durable LSN that was returned is there, and a log that
// forgets to sync is caught. Method: a child process writes to the lossy device, reports each durable LSN
// through a pipe, and is killed at a random moment: what no sync covered dies with it. The parent reads the
// directory as recovery would. The canary is the same device with the syncs left out: the same check must
// fail on it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "logging/testing/crash_child.h"
#include "logging/testing/stale_blocks.h"
#include "logging/testing/test_checkpoint.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;

// A report of the child's: a record that it wrote, and how far it knows the log to be durable.
struct Report {
  uint64_t index;
  Lsn lsn;
  Lsn durable;
};

// So small that a life fills many.
constexpr size_t kSmallSegment = size_t{24} << 10;
// The records between two checkpoints.
constexpr uint64_t kCheckpointRecords = 50;

DurableLogOptions one_stream(LogDeviceKind device) {
  DurableLogOptions options = small_log();
  options.device = device;
  return options;
}

DurableLogOptions two_loggers(LogDeviceKind device) {
  DurableLogOptions options = small_log(/*workers=*/3);
  options.device = device;
  options.layout = LogLayout::kEpoch;
  options.epoch.loggers = 2;
  options.epoch.interval = std::chrono::microseconds(500);
  return options;
}

// Streams that are flushed at very different rates, with more workers than streams.
DurableLogOptions distributed(LogDeviceKind device, uint32_t streams) {
  DurableLogOptions options = small_log(/*workers=*/3);
  options.device = device;
  options.layout = LogLayout::kDistributed;
  options.streams.count = streams;
  if (streams > 1) options.streams.latencies = {std::chrono::nanoseconds(0), std::chrono::milliseconds(2)};
  return options;
}

DurableLogOptions one_of_streams(LogDeviceKind device) {
  return distributed(device, 1);
}

DurableLogOptions two_streams(LogDeviceKind device) {
  return distributed(device, 2);
}

DurableLogOptions eight_streams(LogDeviceKind device) {
  return distributed(device, 8);
}

DurableLogOptions reusing(DurableLogOptions options) {
  options.largest_payload_bytes = size_t{4} << 10;
  options.segments.bytes = kSmallSegment;
  return options;
}

DurableLogOptions one_reusing_stream(LogDeviceKind device) {
  return reusing(one_stream(device));
}

DurableLogOptions two_reusing_loggers(LogDeviceKind device) {
  return reusing(two_loggers(device));
}

DurableLogOptions two_reusing_streams(LogDeviceKind device) {
  return reusing(two_streams(device));
}

[[noreturn]] void run_child(const std::string& directory, const DurableLogOptions& options, uint64_t first,
                            int reports) {
  OpenLog opened = open_for_work(directory, options);
  const bool takes_checkpoints = options.segments.bytes == kSmallSegment;
  for (uint64_t index = first;; ++index) {
    const WorkerId worker{static_cast<uint32_t>(index % options.workers)};
    const Lsn lsn = append(*opened.log, worker, payload_of(index, payload_bytes_of(index)));
    if (index % 16 == 0) opened.log->wait_durable(lsn);
    if (takes_checkpoints && index % kCheckpointRecords == 0) {
      opened.log->wait_durable(lsn);
      take_checkpoint(directory, *opened.manifest, lsn);
    }
    const Report report{index, lsn, opened.log->durable()};
    if (::write(reports, &report, sizeof report) != sizeof report) std::_Exit(1);
  }
}

// Runs a child, kills it, and returns what it reported. Between `first` and what is lost it counts on.
std::vector<Report> run_and_kill(const std::string& directory, DurableLogOptions options, uint64_t seed,
                                 uint64_t first) {
  options.device_options.lossy_seed = seed;
  return test::run_and_kill<Report>(seed,
                                    [&](int reports) { run_child(directory, options, first, reports); });
}

// Returns what is wrong with the directory's log, given the child's reports; empty if nothing is.
std::string fault(const std::string& directory, const std::vector<Report>& reports) {
  const auto log = read_directory(directory);
  if (!log.ok()) return log.error().message;
  const Lsn checkpoint = must(read_manifest(directory)).checkpoint_lsn;
  Lsn durable;
  for (const Report& report : reports) durable = std::max(durable, report.durable);
  if (log->end < durable)
    return fmt::format("ends at {}, was durable up to {}", log->end.value, durable.value);
  for (const Report& report : reports) {
    if (report.lsn >= log->end || report.lsn <= checkpoint) continue;
    const auto at = std::ranges::lower_bound(log->records, report.lsn, {}, &RecordView::lsn);
    if (at == log->records.end() || at->lsn != report.lsn)
      return fmt::format("no record at {}", report.lsn.value);
    if (!std::ranges::equal(at->payload, payload_of(report.index, payload_bytes_of(report.index)))) {
      return fmt::format("another record at {}", report.lsn.value);
    }
  }
  return "";
}

struct Kept {
  const char* name;
  DurableLogOptions (*options)(LogDeviceKind device);
};
class Crash : public ::testing::TestWithParam<Kept> {};
INSTANTIATE_TEST_SUITE_P(Layouts, Crash,
                         ::testing::Values(Kept{"stream", one_stream}, Kept{"epoch", two_loggers},
                                           Kept{"distributed_1", one_of_streams},
                                           Kept{"distributed_2", two_streams},
                                           Kept{"distributed_8", eight_streams}),
                         [](const auto& info) { return std::string(info.param.name); });

// Returns how many blocks of former segments the crashes left in reused ones.
uint64_t expect_nothing_lost_over_many_lives(const Kept& kept) {
  TemporaryDirectory directory;
  std::vector<Report> reports;  // of all lives: what was durable once stays so
  uint64_t dropped = 0;
  uint64_t stale = 0;
  for (uint64_t life = 1; life <= 12; ++life) {
    const auto news = run_and_kill(directory.path(), kept.options(LogDeviceKind::kLossy), life, life << 32);
    EXPECT_GE(news.size(), 100u);
    reports.insert(reports.end(), news.begin(), news.end());
    EXPECT_EQ(fault(directory.path(), reports), "") << "life " << life;
    const LogContents log = must(read_directory(directory.path()));
    std::erase_if(reports, [&](const Report& report) { return report.lsn >= log.end; });
    dropped += log.dropped_bytes;
    stale += count_stale_blocks(directory.path(), must(read_manifest(directory.path())));
  }
  ::testing::Test::RecordProperty("dropped_bytes", static_cast<int>(dropped));
  return stale;
}

TEST_P(Crash, NothingDurableIsLostOverManyLives) {
  expect_nothing_lost_over_many_lives(GetParam());
}

// Crashes come upon segments that were reused, in which blocks of the former ones lie.
class ReusedCrash : public ::testing::TestWithParam<Kept> {};
INSTANTIATE_TEST_SUITE_P(Layouts, ReusedCrash,
                         ::testing::Values(Kept{"stream", one_reusing_stream},
                                           Kept{"epoch", two_reusing_loggers},
                                           Kept{"distributed", two_reusing_streams}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ReusedCrash, NothingDurableIsLostOverManyLives) {
  EXPECT_GT(expect_nothing_lost_over_many_lives(GetParam()), 0u);
}

TEST_P(Crash, TheSameHoldsOnTheRealDevice) {
  TemporaryDirectory directory;
  const auto reports = run_and_kill(directory.path(), GetParam().options(LogDeviceKind::kFile), 5, 1);
  EXPECT_EQ(fault(directory.path(), reports), "");
}

TEST_P(Crash, ALogThatLeavesOutTheSyncIsCaught) {
  int caught = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    TemporaryDirectory directory;
    const auto reports =
        run_and_kill(directory.path(), GetParam().options(LogDeviceKind::kLossyUnsynced), seed, 1);
    if (!fault(directory.path(), reports).empty()) ++caught;
  }
  EXPECT_EQ(caught, 5);
}

// A limit on the file size stands for a full disk: the second segment can't be made.
TEST_P(Crash, AFullDiskIsAClearErrorAndLosesNothingDurable) {
  TemporaryDirectory directory;
  const DurableLogOptions options = GetParam().options(LogDeviceKind::kFile);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::vector<Lsn> durable_lsns;
  std::optional<Error> failure;
  {
    OpenLog opened = open_for_work(directory.path(), options);
    const rlimit limit{.rlim_cur = 64 * 1024, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    while (opened.log->await_space(WorkerId{0}, 1000)) {
      const Lsn lsn = opened.log->reserve(WorkerId{0}, 1000);
      opened.log->fill(WorkerId{0}, lsn, RecordKind::kCommand, payload_of(lsn.value, 1000));
      if (opened.log->wait_durable(lsn)) durable_lsns.push_back(lsn);
    }
    failure = opened.log->failure();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(failure.has_value());
  EXPECT_NE(failure->message.find("log-"), std::string::npos) << failure->message;
  EXPECT_NE(failure->message.find("File too large"), std::string::npos) << failure->message;
  EXPECT_NE(failure->message.find("all that was acknowledged is durable"), std::string::npos)
      << failure->message;
  const LogContents log = must(read_directory(directory.path()));
  ASSERT_GE(log.records.size(), durable_lsns.size());
  for (size_t i = 0; i < durable_lsns.size(); ++i) EXPECT_EQ(log.records[i].lsn, durable_lsns[i]);
  // Room again: the database goes on.
  OpenLog again = open_for_work(directory.path(), options);
  EXPECT_TRUE(again.log->wait_durable(append(*again.log, WorkerId{0}, payload_of(1, 100))));
}

}  // namespace
}  // namespace mneme
