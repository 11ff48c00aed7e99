// Goal: what is appended to a durable log is read back, over segments, incarnations and devices, and what the
// device can't keep is told. Method: write records whose payload proves itself, close, read the directory
// anew.
#include "logging/layout/durable_log.h"

#include <gtest/gtest.h>

#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;

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

DurableLogOptions striped_log(const std::string& outside) {
  DurableLogOptions options = small_log();
  options.device = LogDeviceKind::kStriped;
  options.device_options.directories = {"here", outside, "there"};
  return options;
}

TEST(DurableLog, ReadsAStripedLogBackOverLives) {
  TemporaryDirectory directory;
  TemporaryDirectory outside;
  std::vector<Lsn> lsns;
  for (uint64_t life = 0; life < 3; ++life) {
    OpenLog opened = open_for_work(directory.path(), striped_log(outside.path()));
    for (uint64_t i = 0; i < 500; ++i) {
      lsns.push_back(append(*opened.log, kWorker, payload_of(lsns.size(), 700)));
      if (i % 10 == 0) {
        EXPECT_TRUE(opened.log->wait_durable(lsns.back()));
      }
    }
  }
  const LogContents log = must(read_directory(directory.path(), {.threads = 2}));
  ASSERT_EQ(log.records.size(), lsns.size());
  for (uint64_t i = 0; i < lsns.size(); ++i) {
    EXPECT_EQ(log.records[i].lsn, lsns[i]);
    EXPECT_TRUE(std::ranges::equal(log.records[i].payload, payload_of(i, 700)));
  }
  EXPECT_GT(log.runs.size(), 100u);
  for (const char* part : {"here/", "there/", outside.path().c_str()}) {
    EXPECT_TRUE(std::ranges::any_of(log.segments, [&](const auto& s) { return s.file.starts_with(part); }))
        << part;
  }
}

TEST(DurableLog, AMissingStripeIsDamage) {
  TemporaryDirectory directory;
  TemporaryDirectory outside;
  {
    OpenLog opened = open_for_work(directory.path(), striped_log(outside.path()));
    for (uint64_t i = 0; i < 100; ++i) append(*opened.log, kWorker, payload_of(i, 700));
  }
  for (const std::string& stripe : {directory.path() + "/here", outside.path()}) {
    std::filesystem::rename(stripe, stripe + "-gone");
    const auto read = read_directory(directory.path());
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
    EXPECT_NE(read.error().message.find(stripe), std::string::npos) << read.error().message;
    std::filesystem::rename(stripe + "-gone", stripe);
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 100u);
}

TEST(DurableLog, RefusesAStripeOutsideThatIsNotThere) {
  TemporaryDirectory directory;
  DurableLogOptions options = striped_log(directory.path() + "/nowhere");
  auto manifest = must(ManifestFile::create(directory.path(), new_manifest()));
  must(begin_incarnation(*manifest, LogContents{}));
  const auto opened = DurableLog::open(*manifest, options);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("nowhere"), std::string::npos);
}

// Every way to write, over the file system's own limits: what is read back is what was appended.
TEST(DurableLog, EveryWayOfWritingIsReadBack) {
  for (const IoMethod method :
       {IoMethod::kUring, IoMethod::kPolledUring, IoMethod::kThreads, IoMethod::kInline}) {
    for (const IoSync sync : {IoSync::kFlush, IoSync::kWriteThrough}) {
      for (const bool registered : {false, true}) {
        TemporaryDirectory directory;
        DurableLogOptions options = small_log();
        options.device_options.io = {method, sync, registered, /*depth=*/3, /*unit_bytes=*/2 * kBlockBytes};
        {
          OpenLog opened = open_for_work(directory.path(), options);
          for (uint64_t i = 0; i < 300; ++i) append(*opened.log, kWorker, payload_of(i, i * 7));
        }
        const LogContents log = must(read_directory(directory.path()));
        ASSERT_EQ(log.records.size(), 300u);
        for (uint64_t i = 0; i < 300; ++i) {
          EXPECT_TRUE(std::ranges::equal(log.records[i].payload, payload_of(i, i * 7)));
        }
      }
    }
  }
}

TEST(DurableLog, SkipRecordsKeepTheirPlaceAndAreLeftOutOnDemand) {
  expect_skips_keep_their_place(small_log());
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
