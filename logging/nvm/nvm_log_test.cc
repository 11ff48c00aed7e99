// Goal: a crash takes from a log in persistent memory the records that were not filled, and nothing else;
// what only looks like a record is not taken for one; and of damage as much is noticed as nvm_log.h says.
// Method: workers are stopped between reserve() and fill() while others go on, the directory is copied as a
// crash would leave it, and read; then bytes are changed by hand.
#include "logging/nvm/nvm_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>

#include "base/file/file.h"
#include "logging/record/nvm_format.h"
#include "logging/testing/nvm_test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr WorkerId kFirst{0};
constexpr WorkerId kSecond{1};
constexpr WorkerId kThird{2};
constexpr WorkerId kFourth{3};

LogHole hole_of(Lsn lsn, uint64_t bytes) {
  return {one_stream_position(lsn), one_stream_position(lsn) + bytes};
}

class NvmLogTest : public ::testing::Test {
 protected:
  // Appends a record whose content its index, the map's next, proves.
  Lsn put(DirectoryLog& log, WorkerId worker, size_t bytes = 100) {
    const Lsn lsn = append(log, worker, payload_of(next_, bytes));
    seeds_[lsn] = next_++;
    return lsn;
  }
  static Lsn reserve(DirectoryLog& log, WorkerId worker, uint32_t bytes = 100) {
    EXPECT_TRUE(log.await_space(worker, bytes));
    return log.reserve(worker, bytes);
  }
  void fill(DirectoryLog& log, WorkerId worker, Lsn lsn, size_t bytes = 100) {
    log.fill(worker, lsn, RecordKind::kCommand, payload_of(next_, bytes));
    seeds_[lsn] = next_++;
  }
  // The directory's log must hold all that was put, and nothing else.
  LogContents expect_all(const std::string& directory) const {
    LogContents log = must(read_directory(directory, {.threads = 3}));
    EXPECT_EQ(log.records.size(), seeds_.size());
    auto expected = seeds_.begin();
    for (const RecordView& record : log.records) {
      if (expected == seeds_.end()) break;
      EXPECT_EQ(record.lsn, expected->first);
      EXPECT_TRUE(std::ranges::equal(record.payload, payload_of(expected->second, record.payload.size())));
      ++expected;
    }
    return log;
  }
  static void expect_damaged(const std::string& directory, const std::string& words) {
    const auto log = read_directory(directory);
    ASSERT_FALSE(log.ok()) << "read up to LSN " << log->end.value;
    EXPECT_EQ(log.error().kind, ErrorKind::kDamaged);
    EXPECT_NE(log.error().message.find(words), std::string::npos) << log.error().message;
  }
  static void overwrite(const std::string& directory, const LogContents::Place& place, ByteSpan bytes) {
    std::fstream file(directory + "/" + place.file, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(place.offset));
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  static void spoil(const std::string& directory, const LogContents& log, Lsn lsn) {
    overwrite(directory, log.place_of(lsn + 30), payload_of(4711, 8));
  }

  TemporaryDirectory directory_;
  std::map<Lsn, uint64_t> seeds_;  // of the records that must be found
  uint64_t next_ = 0;
};

TEST_F(NvmLogTest, ReadsBackWhatWasFilledOverSegments) {
  {
    OpenLog opened = open_for_work(directory_.path(), small_nvm_log());
    EXPECT_TRUE(opened.log->leaves_holes());
    for (uint64_t i = 0; i < 1000; ++i) {
      const Lsn lsn = put(*opened.log, kFirst, i * 37 % 1025);
      EXPECT_LT(lsn, opened.log->durable());
    }
    const LogCounters counters = opened.log->counters();
    EXPECT_EQ(counters.log_records, 1000u);
    EXPECT_GT(counters.device.flushes, 1000u);  // some at segments' ends are skip records
    EXPECT_EQ(counters.device.device_bytes % kNvmLineBytes, 0u);
    ASSERT_EQ(opened.log->notices().size(), 1u);
  }
  const LogContents log = expect_all(directory_.path());
  EXPECT_GT(log.segments.size(), 10u);
  EXPECT_GT(log.skips, 10u);
  EXPECT_TRUE(log.holes.empty());
  EXPECT_EQ(log.record_bytes, log.end.value - kFirstLsn.value);
}

TEST_F(NvmLogTest, RecordsThatWereNeverFilledAreHoles) {
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log(3));
  put(*opened.log, kSecond);
  const Lsn first = reserve(*opened.log, kFirst, 1000);
  for (int i = 0; i < 10; ++i) put(*opened.log, kSecond);
  const Lsn second = reserve(*opened.log, kThird, 20);
  const Lsn after_second = put(*opened.log, kSecond);
  {
    const CrashImage crash(directory_.path());
    const LogContents log = expect_all(crash.path());
    EXPECT_EQ(log.holes, (std::vector<LogHole>{hole_of(first, 1024), hole_of(second, 64)}));
    EXPECT_EQ(log.hole_bytes(), 1088u);
    EXPECT_EQ(log.end, after_second + 128);
    EXPECT_EQ(log.record_bytes, log.end.value - kFirstLsn.value - 1088);
  }
  fill(*opened.log, kFirst, first, 1000);
  fill(*opened.log, kThird, second, 20);
  opened.log.reset();
  EXPECT_TRUE(expect_all(directory_.path()).holes.empty());
}

TEST_F(NvmLogTest, HolesAtTheBeginningAndOverTheEndOfASegment) {
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log(4));
  const Lsn first = reserve(*opened.log, kFirst);  // 128 bytes of the segment's 32 KiB
  for (int i = 0; i < 31; ++i) put(*opened.log, kSecond, 1000);
  const Lsn second = reserve(*opened.log, kThird, 880);  // what is left
  const Lsn third = reserve(*opened.log, kFourth, 1000);
  ASSERT_EQ(third.value, first.value + 32 * 1024);
  put(*opened.log, kSecond, 1000);
  {
    const CrashImage crash(directory_.path());
    EXPECT_EQ(expect_all(crash.path()).holes,
              (std::vector<LogHole>{hole_of(first, 128),
                                    {one_stream_position(second), one_stream_position(third + 1024)}}));
  }
  fill(*opened.log, kFirst, first);
  fill(*opened.log, kThird, second, 880);
  fill(*opened.log, kFourth, third, 1000);
}

TEST_F(NvmLogTest, ATornRecordIsAHoleAsLongAsACrashCanHaveTornIt) {
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log(2));
  std::vector<Lsn> lsns;
  for (int i = 0; i < 10; ++i) lsns.push_back(put(*opened.log, kFirst));
  const CrashImage crash(directory_.path());
  const LogContents whole = expect_all(crash.path());
  for (const size_t torn : {3, 5}) {
    spoil(crash.path(), whole, lsns[torn]);
    seeds_.erase(lsns[torn]);
    EXPECT_EQ(expect_all(crash.path()).holes.back(), hole_of(lsns[torn], 128));
  }
  // Two workers tear two records, never three.
  spoil(crash.path(), whole, lsns[7]);
  expect_damaged(crash.path(),
                 fmt::format("{} at byte {}", whole.place_of(lsns[3]).file, whole.place_of(lsns[3]).offset));
}

TEST_F(NvmLogTest, LongerHolesThanTheWorkersCanLeaveAreDamage) {
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log());
  std::vector<Lsn> lsns;
  for (int i = 0; i < 20; ++i) lsns.push_back(put(*opened.log, kFirst));
  const CrashImage crash(directory_.path());
  const LogContents whole = expect_all(crash.path());
  // Eight records of two lines each are one hole of 1024 bytes; a worker's longest record takes 1088.
  for (size_t i = 5; i < 13; ++i) spoil(crash.path(), whole, lsns[i]);
  EXPECT_EQ(must(read_directory(crash.path())).holes.size(), 1u);
  spoil(crash.path(), whole, lsns[13]);
  expect_damaged(crash.path(), "more than a crash of 1 workers can leave");
}

TEST_F(NvmLogTest, AClosedLogHasNoHoles) {
  std::vector<Lsn> lsns;
  {
    OpenLog opened = open_for_work(directory_.path(), small_nvm_log(2));
    for (int i = 0; i < 10; ++i) lsns.push_back(put(*opened.log, kFirst));
  }
  const LogContents whole = expect_all(directory_.path());
  for (const Lsn lsn : {lsns[0], lsns[4], lsns[9]}) {
    const CrashImage damaged(directory_.path());
    spoil(damaged.path(), whole, lsn);
    expect_damaged(damaged.path(),
                   fmt::format("{} at byte {}", whole.place_of(lsn).file, whole.place_of(lsn).offset));
  }
}

TEST_F(NvmLogTest, TheNextLifeGoesOnBehindTheLastRecordAndNotesTheHoles) {
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log(2));
  put(*opened.log, kSecond);
  const Lsn lost = reserve(*opened.log, kFirst);
  const Lsn last = put(*opened.log, kSecond);
  const CrashImage crash(directory_.path());
  const Lsn end = expect_all(crash.path()).end;
  {
    OpenLog next = open_for_work(crash.path(), small_nvm_log(2));
    EXPECT_EQ(put(*next.log, kFirst), end);
    put(*next.log, kSecond);
  }
  const LogContents log = expect_all(crash.path());
  EXPECT_EQ(log.holes, std::vector<LogHole>{hole_of(lost, 128)});
  EXPECT_EQ(must(read_manifest(crash.path())).holes, log.holes);
  // Another one in the former life is damage now, though it is not more than its workers could have left.
  spoil(crash.path(), log, last);
  expect_damaged(crash.path(), "missing");
  fill(*opened.log, kFirst, lost);
}

TEST_F(NvmLogTest, LivesOnFilesAndInPersistentMemoryFollowOneAnother) {
  {
    OpenLog opened = open_for_work(directory_.path(), small_log());
    for (int i = 0; i < 20; ++i) put(*opened.log, kFirst, 33);
  }
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log(2));
  const Lsn lost = reserve(*opened.log, kFirst);
  for (int i = 0; i < 20; ++i) put(*opened.log, kSecond, 33);
  const CrashImage crash(directory_.path());
  opened.log->fill(kFirst, lost, RecordKind::kSkip, {});
  {
    OpenLog next = open_for_work(crash.path(), small_log());
    for (int i = 0; i < 20; ++i) put(*next.log, kFirst, 33);
  }
  EXPECT_EQ(expect_all(crash.path()).holes, std::vector<LogHole>{hole_of(lost, 128)});
  EXPECT_EQ(must(read_manifest(crash.path())).incarnations.size(), 3u);
}

// Bytes in a hole that would be a record elsewhere, or in another life.
TEST_F(NvmLogTest, NothingElsePassesForARecord) {
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log(2));
  put(*opened.log, kSecond);
  const Lsn lost = reserve(*opened.log, kFirst, 500);
  put(*opened.log, kSecond);
  const CrashImage crash(directory_.path());
  LogContents log = expect_all(crash.path());
  const LogContents::Place before = log.place_of(Lsn{kFirstLsn.value});

  // A well-formed record of 100 bytes as it would stand `lines` behind the hole's begin.
  const auto record = [&](uint64_t lines, Lsn lsn, uint32_t seed) {
    std::vector<std::byte> bytes(kRecordHeaderBytes + 100);
    const auto payload = payload_of(77, 100);
    RecordHeader header{0, static_cast<uint32_t>(bytes.size()), RecordKind::kCommand, lsn};
    header.encode(bytes.data());
    header.checksum = record_checksum(bytes.data(), payload, seed);
    header.encode(bytes.data());
    std::ranges::copy(payload, bytes.begin() + kRecordHeaderBytes);
    overwrite(crash.path(),
              {before.file, before.offset + (lost.value - kFirstLsn.value) + lines * kNvmLineBytes}, bytes);
  };
  const Manifest manifest = must(read_manifest(crash.path()));
  const uint32_t right = nvm_layout(manifest.database_id, 1).checksum_seed;
  const Lsn inside = lost + 3 * kNvmLineBytes;
  record(3, inside, 0);  // a payload that looks like a record
  EXPECT_EQ(expect_all(crash.path()).holes.size(), 1u);
  record(3, inside, nvm_layout(manifest.database_id, 2).checksum_seed);  // of another life
  EXPECT_EQ(expect_all(crash.path()).holes.size(), 1u);
  record(3, inside, nvm_layout(manifest.database_id + 1, 1).checksum_seed);  // of another database
  EXPECT_EQ(expect_all(crash.path()).holes.size(), 1u);
  record(3, lost, right);  // of another place
  EXPECT_EQ(expect_all(crash.path()).holes.size(), 1u);
  record(3, inside,
         right);  // and one that is right, to see that the others were at a place where one is seen
  EXPECT_EQ(must(read_directory(crash.path())).records.size(), 3u);
  opened.log->fill(kFirst, lost, RecordKind::kSkip, {});
}

TEST_F(NvmLogTest, AWorkerThatStandsStillHoldsUpTheOthersOnlyAfterSeveralSegments) {
  OpenLog opened = open_for_work(directory_.path(), small_nvm_log(2));
  const Lsn held = reserve(*opened.log, kFirst);
  std::atomic<uint64_t> appended{0};
  std::thread other([&] {
    for (int i = 0; i < 400; ++i) {
      append(*opened.log, kSecond, payload_of(i, 1000));
      appended.fetch_add(1, std::memory_order_relaxed);
    }
  });
  // A segment holds 32 such records.
  while (appended.load(std::memory_order_relaxed) < 4 * 32) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(appended.load(std::memory_order_relaxed), 6 * 32u);
  opened.log->fill(kFirst, held, RecordKind::kCommand, payload_of(400, 100));
  other.join();
  opened.log.reset();
  EXPECT_EQ(must(read_directory(directory_.path())).records.size(), 401u);
}

}  // namespace
}  // namespace mneme
