// Goal: what is appended to a durable log is read back, over segments, incarnations and devices, and what the device
// can't keep is told. Method: write records whose payload proves itself, close, read the directory anew.
#include "logging/durable_log.h"

#include <gtest/gtest.h>

#include "logging/test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr WorkerId kWorker{0};

TEST(DurableLog, ReadsBackWhatWasAppendedOverSegments) {
  TemporaryDirectory directory;
  std::vector<Lsn> lsns;
  {
    OpenLog opened = open_for_work(directory.path(), small_log());
    for (uint64_t i = 0; i < 2000; ++i) lsns.push_back(append(*opened.log, kWorker, payload_of(i, i % 700)));
    EXPECT_TRUE(opened.log->wait_durable(lsns.back()));
    EXPECT_EQ(opened.log->counters().log_records, 2000u);
  }
  const LogContents log = must(read_directory(directory.path(), {.threads = 2}));
  ASSERT_EQ(log.records.size(), lsns.size());
  EXPECT_GT(log.segments.size(), 3u);
  for (uint64_t i = 0; i < lsns.size(); ++i) {
    EXPECT_EQ(log.records[i].lsn, lsns[i]);
    EXPECT_EQ(log.records[i].kind, RecordKind::kCommand);
    EXPECT_TRUE(std::ranges::equal(log.records[i].payload, payload_of(i, i % 700)));
  }
  EXPECT_EQ(log.end, log.records.back().lsn + kRecordHeaderBytes + log.records.back().payload.size());
  EXPECT_EQ(log.dropped_bytes, 0u);
}

TEST(DurableLog, SkipRecordsKeepTheirPlaceAndAreLeftOutOnDemand) {
  TemporaryDirectory directory;
  {
    OpenLog opened = open_for_work(directory.path(), small_log());
    append(*opened.log, kWorker, payload_of(1, 100));
    opened.log->await_space(kWorker, 50);
    opened.log->fill(kWorker, opened.log->reserve(kWorker, 50), RecordKind::kSkip, {});
    append(*opened.log, kWorker, payload_of(2, 100));
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 2u);
  const LogContents all = must(read_directory(directory.path(), {.with_skips = true}));
  ASSERT_EQ(all.records.size(), 3u);
  EXPECT_EQ(all.records[1].kind, RecordKind::kSkip);
  EXPECT_EQ(all.records[1].payload.size(), 50u);
  EXPECT_EQ(all.skips, 1u);
}

TEST(DurableLog, GoesOnAtTheRecoveredEnd) {
  TemporaryDirectory directory;
  for (uint64_t life = 0; life < 4; ++life) {
    const Lsn end = holds_database(directory.path()) ? must(read_directory(directory.path())).end : kFirstLsn;
    OpenLog opened = open_for_work(directory.path(), small_log());
    EXPECT_EQ(append(*opened.log, kWorker, payload_of(life, 300)), end);
  }
  const LogContents log = must(read_directory(directory.path()));
  ASSERT_EQ(log.records.size(), 4u);
  for (uint64_t life = 0; life < 4; ++life) {
    EXPECT_TRUE(std::ranges::equal(log.records[life].payload, payload_of(life, 300)));
  }
  EXPECT_EQ(must(read_manifest(directory.path())).incarnations.size(), 4u);
}

TEST(DurableLog, NullDeviceIsDurableAtOnceAndKeepsNothing) {
  TemporaryDirectory directory;
  {
    DurableLogOptions options = small_log();
    options.device = LogDeviceKind::kNull;
    OpenLog opened = open_for_work(directory.path(), options);
    Lsn last;
    for (uint64_t i = 0; i < 1000; ++i) last = append(*opened.log, kWorker, payload_of(i, 1000));
    EXPECT_TRUE(opened.log->wait_durable(last));
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 0u);
}

}  // namespace
}  // namespace mneme
