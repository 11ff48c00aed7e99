// Goal: what is appended to a log of several loggers is read back in commit order, over epochs, segments,
// directories and lives; it ends with the pepoch; and what is missing or bad below that is refused, where a
// torn tail is not. Method: write records whose payload proves itself, close, read the directory anew; or
// change its files before.
#include "logging/layout/epoch_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/file/file.h"
#include "logging/layout/pepoch_file.h"
#include "logging/reading/log_truncation.h"
#include "logging/testing/test_checkpoint.h"
#include "logging/testing/test_log.h"
#include "logging/testing/test_rewrite.h"

namespace mneme {
namespace {

using namespace test;

DurableLogOptions epoch_log(uint32_t workers = 4, uint32_t loggers = 2) {
  DurableLogOptions options = small_log(workers);
  options.layout = LogLayout::kEpoch;
  options.epoch.loggers = loggers;
  options.epoch.interval = std::chrono::microseconds(1000);
  return options;
}

TEST(EpochLog, ReadsBackInCommitOrderOverSegmentsAndLives) {
  TemporaryDirectory directory;
  TemporaryDirectory outside;
  std::vector<Lsn> lsns;
  for (uint32_t life = 0; life < 3; ++life) {
    DurableLogOptions options = epoch_log(4, 3 - life);
    if (life == 1) options.stream_directories = {"here", outside.path()};
    OpenLog opened = open_for_work(directory.path(), options);
    const std::vector<Lsn> news = append_all(*opened.log, 4, lsns.size(), 1000);
    lsns.insert(lsns.end(), news.begin(), news.end());
    const LogCounters counters = opened.log->counters();
    EXPECT_EQ(counters.log_records, 1000u);
    EXPECT_EQ(counters.epochs.value().loggers, 3 - life);
    EXPECT_GT(counters.epochs->pepoch_writes, 10u);
  }
  EXPECT_TRUE(std::ranges::is_sorted(lsns));
  const LogContents log = must(read_directory(directory.path(), {.threads = 2}));
  expect_records(log, lsns);
  EXPECT_GT(log.segments.size(), 9u);
  EXPECT_EQ(log.dropped_bytes, 0u);
  EXPECT_LT(epoch_of(lsns.back()), epoch_of(log.end));
  EXPECT_EQ(epoch_of(log.end).value, *log.streams->pepoch + 1);
  for (const std::string& part : {std::string("here/"), outside.path()}) {
    EXPECT_TRUE(std::ranges::any_of(log.segments, [&](const auto& s) { return s.file.starts_with(part); }));
  }
}

TEST(EpochLog, TellsWhereEachRecordLies) {
  TemporaryDirectory directory;
  {
    OpenLog opened = open_for_work(directory.path(), epoch_log());
    append_all(*opened.log, 4, 0, 500);
  }
  const LogContents log = must(read_directory(directory.path()));
  for (const RecordView& record : log.records) {
    const LogContents::Place place = log.place_of(record);
    std::ifstream file(directory.path() + "/" + place.file, std::ios::binary);
    // A header may lie across two blocks; its checksum does not.
    if (place.offset % kBlockBytes + sizeof(uint32_t) > kBlockBytes) continue;
    file.seekg(static_cast<std::streamoff>(place.offset));
    uint32_t checksum = 0;
    file.read(reinterpret_cast<char*>(&checksum), sizeof checksum);
    EXPECT_EQ(checksum, load<uint32_t>(record.payload.data() - kRecordHeaderBytes));
  }
}

TEST(EpochLog, SkipRecordsKeepTheirPlace) {
  expect_skips_keep_their_place(epoch_log());
}

TEST(EpochLog, AnEpochThatOverflowsItsPlacesCarriesIntoTheNext) {
  TemporaryDirectory directory;
  auto manifest = must(ManifestFile::create(directory.path(), [] {
    Manifest born = new_manifest();
    born.layout = LogLayout::kEpoch;
    return born;
  }()));
  LogContents before;
  before.end = Lsn{kPlacesPerEpoch - 100};
  must(begin_incarnation(*manifest, before));
  std::vector<Lsn> lsns;
  {
    DurableLogOptions options = epoch_log();
    options.epoch.interval = std::chrono::seconds(10);
    options.group.waiters_hurry = false;
    auto log = must(open_directory_log(*manifest, options));
    for (uint64_t i = 0; i < 200; ++i) {
      lsns.push_back(
          append(*log, WorkerId{static_cast<uint32_t>(i % 4)}, payload_of(i, payload_bytes_of(i))));
    }
  }
  EXPECT_EQ(epoch_of(lsns[99]), LogEpoch{0});
  EXPECT_EQ(epoch_of(lsns[100]), LogEpoch{1});
  EXPECT_EQ(place_in_epoch(lsns[100]), 0u);
  expect_records(must(read_directory(directory.path())), lsns);
}

// A full ring ends the epoch, however long that would take otherwise.
TEST(EpochLog, DoesNotWaitForTheClockWhereTheRingIsFull) {
  TemporaryDirectory directory;
  DurableLogOptions options = epoch_log(2, 1);
  options.epoch.interval = std::chrono::seconds(1000);
  options.largest_payload_bytes = 1000;
  options.ring_bytes = 8192;
  {
    OpenLog opened = open_for_work(directory.path(), options);
    for (uint64_t i = 0; i < 500; ++i) append(*opened.log, WorkerId{0}, payload_of(i, payload_bytes_of(i)));
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 500u);
}

TEST(EpochLog, NullDeviceKeepsNothing) {
  TemporaryDirectory directory;
  DurableLogOptions options = epoch_log();
  options.device = LogDeviceKind::kNull;
  for (int life = 0; life < 2; ++life) {
    OpenLog opened = open_for_work(directory.path(), options);
    append_all(*opened.log, 4, 0, 500);
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 0u);
}

TEST(EpochLog, RefusesWhatItCannotDo) {
  TemporaryDirectory directory;
  DurableLogOptions options = epoch_log();
  { OpenLog opened = open_for_work(directory.path(), options); }
  auto manifest = must(ManifestFile::open(directory.path()));
  must(begin_incarnation(*manifest, must(read_log(directory.path(), manifest->current(), {}))));
  const auto refusal = [&](const DurableLogOptions& wanted) {
    const auto log = open_directory_log(*manifest, wanted);
    return log.ok() ? std::string("not refused") : log.error().message;
  };
  DurableLogOptions other = options;
  other.layout = LogLayout::kStream;
  EXPECT_NE(refusal(other).find("--log-buffer epoch"), std::string::npos) << refusal(other);
  other = options;
  other.device = LogDeviceKind::kNvm;
  EXPECT_NE(refusal(other).find("nvm"), std::string::npos);
  other.device = LogDeviceKind::kStriped;
  EXPECT_NE(refusal(other).find("file"), std::string::npos);
  other = options;
  other.epoch.loggers = 5;
  EXPECT_NE(refusal(other).find("5 loggers of 4 workers"), std::string::npos);
  // Before any server is asked.
  other = options;
  other.device = LogDeviceKind::kNats;
  EXPECT_NE(refusal(other).find("on nats one stream goes to the servers"), std::string::npos)
      << refusal(other);
  other = epoch_log(kMostLoggers + 1, kMostLoggers + 1);
  EXPECT_NE(refusal(other).find("257 loggers: there are 256 at most"), std::string::npos) << refusal(other);
}

// A checkpoint at any LSN leaves every record above it, and files that are read as before.
TEST(EpochLog, WhatLiesBelowACheckpointIsRemovedAndNothingElse) {
  TemporaryDirectory directory;
  std::vector<Lsn> lsns;
  for (int life = 0; life < 2; ++life) {
    OpenLog opened = open_for_work(directory.path(), epoch_log());
    const std::vector<Lsn> news = append_all(*opened.log, 4, lsns.size(), 1500);
    lsns.insert(lsns.end(), news.begin(), news.end());
  }
  auto manifest = must(ManifestFile::open(directory.path()));
  size_t removed = 0;
  for (size_t i = 100; i < lsns.size(); i += 200) {
    removed += take_checkpoint(directory.path(), *manifest, lsns[i]);
    const LogContents log = must(read_directory(directory.path(), {.threads = 2}));
    ASSERT_EQ(log.records.size(), lsns.size() - i - 1);
    for (size_t k = 0; k < log.records.size(); ++k) {
      EXPECT_EQ(log.records[k].lsn, lsns[i + 1 + k]);
      EXPECT_TRUE(
          std::ranges::equal(log.records[k].payload, payload_of(i + 1 + k, payload_bytes_of(i + 1 + k))));
    }
  }
  EXPECT_GT(removed, 8u);
}

// A helper's records, as a checkpoint's, are in the order as everybody's.
TEST(EpochLog, HelpersAppendBesideWorkers) {
  TemporaryDirectory directory;
  DurableLogOptions options = epoch_log(2, 2);
  options.helpers = 1;
  std::vector<Lsn> lsns;
  {
    OpenLog opened = open_for_work(directory.path(), options);
    lsns = append_all(*opened.log, 3, 0, 300);
    EXPECT_EQ(opened.log->counters().log_records, 300u);
  }
  expect_records(must(read_directory(directory.path())), lsns);
}

class DamagedEpochLog : public ::testing::Test {
 protected:
  // Two loggers, some segments each, a few hundred epochs.
  void SetUp() override {
    OpenLog opened = open_for_work(directory_.path(), epoch_log());
    lsns_ = append_all(*opened.log, 4, 0, 1000);
  }

  std::string path(const std::string& file) const { return directory_.path() + "/" + file; }

  void change(const std::string& file, uint64_t offset, char with) const {
    std::fstream stream(path(file), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(with);
  }
  void flip(const std::string& file, uint64_t offset) const {
    std::ifstream stream(path(file), std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    change(file, offset, static_cast<char>(stream.get() ^ 0x40));
  }

  void expect_refused(const std::string& what) const {
    const auto read = read_directory(directory_.path());
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
    EXPECT_NE(read.error().message.find(what), std::string::npos) << read.error().message;
    const auto again = read_directory(directory_.path());
    EXPECT_FALSE(again.ok());
  }

  // Writes a slot anew, as a crash in an earlier write would have left the file: with this slot the newest.
  PepochSlot newest_slot() const {
    return must(read_pepoch(directory_.path(), must(read_manifest(directory_.path())),
                            LogReadOptions().patience))
        .value();
  }
  void write_both_slots(const PepochSlot& slot) const {
    std::vector<std::byte> bytes(2 * 4096);
    slot.encode(bytes.data());
    slot.encode(bytes.data() + 4096);
    std::ofstream stream(path(kPepochFile), std::ios::binary);
    stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  TemporaryDirectory directory_;
  std::vector<Lsn> lsns_;
};

TEST_F(DamagedEpochLog, AFlippedByteBelowThePepochIsRefusedWithItsPlace) {
  const LogContents log = must(read_directory(directory_.path()));
  for (const size_t record : {size_t{0}, log.records.size() / 2, log.records.size() - 1}) {
    const LogContents::Place place = log.place_of(log.records[record]);
    const uint64_t block = place.offset / kBlockBytes * kBlockBytes;
    for (const uint64_t offset : {block + 50, block + 20}) {  // of the payload, and of the header
      flip(place.file, offset);
      expect_refused(fmt::format("{} at byte {}", place.file, block));
      flip(place.file, offset);
    }
  }
  expect_records(must(read_directory(directory_.path())), lsns_);
}

// Where no block of a segment is intact, the missing one was to lie there, not behind the end of the segment
// before it.
TEST_F(DamagedEpochLog, ASegmentOfWhichNothingIsIntactIsNamed) {
  const LogContents log = must(read_directory(directory_.path()));
  size_t later = 0;
  for (size_t s = 0; s < log.segments.size(); ++s) {
    const LogContents::Segment& segment = log.segments[s];
    if (segment.blocks.empty()) continue;
    for (const LogContents::Block& block : segment.blocks)
      flip(segment.file, block.offset - kBlockHeaderBytes + 20);
    expect_refused(fmt::format("{} at byte {}", segment.file, kSegmentHeaderBytes));
    for (const LogContents::Block& block : segment.blocks)
      flip(segment.file, block.offset - kBlockHeaderBytes + 20);
    later += segment.blocks.front().begin > kFirstPosition ? 1 : 0;
  }
  EXPECT_GT(later, 2u);
  expect_records(must(read_directory(directory_.path())), lsns_);
}

TEST_F(DamagedEpochLog, AMissingOrForeignFileIsRefused) {
  const Manifest manifest = must(read_manifest(directory_.path()));
  for (const std::string& file :
       {manifest.segments.front().file, manifest.segments.back().file, std::string(kPepochFile)}) {
    std::filesystem::rename(path(file), path("away"));
    expect_refused(file + " is missing");
    std::filesystem::rename(path("away"), path(file));
  }
  // The other logger's segment in the place of this one's.
  const auto other = std::ranges::find_if(manifest.segments, [&](const SegmentEntry& each) {
    return each.logger != manifest.segments.front().logger;
  });
  ASSERT_NE(other, manifest.segments.end());
  std::filesystem::rename(path(manifest.segments.front().file), path("away"));
  std::filesystem::copy(path(other->file), path(manifest.segments.front().file));
  expect_refused("belongs to another logger");
  std::filesystem::rename(path("away"), path(manifest.segments.front().file));
  PepochSlot foreign = newest_slot();
  foreign.database_id += 1;
  write_both_slots(foreign);
  expect_refused("belongs to another database");
}

TEST_F(DamagedEpochLog, AnOlderManifestIsRefused) {
  PepochSlot later = newest_slot();
  later.incarnation += 1;
  write_both_slots(later);
  expect_refused("/MANIFEST is older than the log: ");
}

// Behind right checksums: a record whose place is past the log's end, and one that takes another's.
TEST_F(DamagedEpochLog, ARecordInAnotherPlaceIsRefused) {
  const LogContents log = must(read_directory(directory_.path()));
  const RecordView last = last_in_one_block(log);
  const LogContents::Place place = log.place_of(last);
  const auto put_at = [&](Lsn lsn) {
    rewrite_record(directory_.path(), place,
                   [&](RecordHeader& header, std::span<std::byte>) { header.lsn = lsn; });
  };
  put_at(log.end + 5);
  expect_refused(fmt::format("{} at byte {}: the record is not what was written, though it was durable",
                             place.file, place.offset));
  put_at(log.records[log.records.size() / 2].lsn);
  expect_refused(fmt::format(
      "of incarnation 1 records are missing between LSN {} and {}, though all of its files are as they were "
      "written",
      kFirstLsn.value, log.end.value));
  put_at(last.lsn);
  expect_records(must(read_directory(directory_.path())), lsns_);
}

TEST_F(DamagedEpochLog, AManifestWhoseSegmentsAreNoLoggersIsRefused) {
  const auto manifest = must(ManifestFile::open(directory_.path()));
  for (const std::optional<uint32_t> logger : {std::optional<uint32_t>(), std::optional(kMostLoggers)}) {
    must(manifest->update([&](Manifest& changed) { changed.segments.front().logger = logger; }));
    expect_refused("doesn't say whose stream " + manifest->current().segments.front().file + " belongs to");
  }
}

// The newest write of the file was lost, and the loggers wrote on: they know better.
TEST_F(DamagedEpochLog, AStalePepochIsRefused) {
  PepochSlot old = newest_slot();
  old.pepoch.value = epoch_of(lsns_[100]).value - 1;
  old.end = begin_of(epoch_of(lsns_[100]));
  old.number = 1;
  old.stream_ends = {kFirstPosition, kFirstPosition};
  write_both_slots(old);
  expect_refused(kPepochFile);
}

// A disk writes a sector whole or not at all, and these loggers' numbers fit one.
TEST_F(DamagedEpochLog, AFlippedByteOfASlotIsRefused) {
  for (const uint64_t slot : {uint64_t{0}, uint64_t{4096}}) {
    for (const uint64_t at : {0, 5, 12, 13, 33, 50, 70, 100, 600, 4095}) {
      flip(kPepochFile, slot + at);
      expect_refused(fmt::format("{} is damaged at byte {}", kPepochFile, slot));
      flip(kPepochFile, slot + at);
    }
  }
  expect_records(must(read_directory(directory_.path())), lsns_);
}

// Many loggers' don't. Then a crash may leave some sectors of the slot that is being written as they were.
TEST_F(DamagedEpochLog, ATornSlotOfManyLoggersIsNoHarmAndTwoAre) {
  Manifest manifest = must(read_manifest(directory_.path()));
  manifest.segments.back().logger = 63;
  PepochSlot slot = newest_slot();
  slot.stream_ends.resize(64, kFirstPosition);
  const auto read = [&] { return read_pepoch(directory_.path(), manifest, LogReadOptions().patience); };
  for (const uint64_t sector : {0, 512}) {
    write_both_slots(slot);
    for (uint64_t i = 0; i < 512; ++i) change(kPepochFile, sector + i, 0);  // the first write, over zeros
    const auto whole = must(read());
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(whole->stream_ends, slot.stream_ends);
  }
  flip(kPepochFile, 4096 + 600);
  const auto refused = read();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("neither slot"), std::string::npos) << refused.error().message;
}

TEST_F(DamagedEpochLog, ASlotThatIsEmptyAgainIsRefused) {
  ASSERT_GT(newest_slot().number, 2u);
  const std::string saved = must(read_text_file(path(kPepochFile)));
  for (const uint64_t slot : {uint64_t{0}, uint64_t{4096}}) {
    for (uint64_t i = 0; i < 4096; ++i) change(kPepochFile, slot + i, 0);
    expect_refused(fmt::format("{} is damaged at byte {}: the slot is empty", kPepochFile, slot));
    std::ofstream(path(kPepochFile), std::ios::binary) << saved;
  }
  expect_records(must(read_directory(directory_.path())), lsns_);
}

// No slot of a former life is left that a crash could mix with the slots that are written now, for other
// loggers.
TEST_F(DamagedEpochLog, AnOpeningBeginsWithEmptySlots) {
  ASSERT_GT(newest_slot().number, 0u);
  const auto manifest = must(ManifestFile::open(directory_.path()));
  must(PepochFile::open(*manifest, LogDeviceKind::kFile, {}));
  const std::string bytes = must(read_text_file(path(kPepochFile)));
  EXPECT_EQ(bytes.size(), 2u * 4096);
  EXPECT_TRUE(is_zeros(as_bytes(bytes)));
}

// As if the crash had come before the last pepoch was written: what the loggers had of it is a torn tail,
// intact or not.
TEST_F(DamagedEpochLog, WhatLiesPastThePepochIsATornTail) {
  const LogContents whole = must(read_directory(directory_.path()));
  const uint64_t last_epoch = epoch_of(lsns_.back()).value;
  const size_t kept =
      static_cast<size_t>(std::ranges::lower_bound(lsns_, begin_of(LogEpoch{last_epoch})) - lsns_.begin());
  ASSERT_LT(kept, lsns_.size());
  std::vector<StreamPosition> ends = newest_slot().stream_ends;
  for (size_t i = kept; i < lsns_.size(); ++i) {
    const size_t logger = i % 4 / 2;
    ends[logger].value -= kRecordHeaderBytes + payload_bytes_of(i);
  }
  PepochSlot slot = newest_slot();
  slot.pepoch = LogEpoch{last_epoch - 1};
  slot.end = first_of(LogEpoch{last_epoch}, kFirstLsn, kept);
  slot.stream_ends = ends;
  write_both_slots(slot);

  std::vector<Lsn> expected(lsns_.begin(), lsns_.begin() + static_cast<ptrdiff_t>(kept));
  LogContents log = must(read_directory(directory_.path()));
  expect_records(log, expected);
  EXPECT_GT(log.dropped_bytes, 0u);
  EXPECT_NE(log.dropped_reason, "");
  // Once a new incarnation has begun, what was dropped never comes back, and what was kept is never lost.
  {
    OpenLog opened = open_for_work(directory_.path(), epoch_log());
    const std::vector<Lsn> news = append_all(*opened.log, 4, kept, 200);
    expected.insert(expected.end(), news.begin(), news.end());
  }
  log = must(read_directory(directory_.path()));
  expect_records(log, expected);
  EXPECT_EQ(log.dropped_bytes, 0u);
}

}  // namespace
}  // namespace mneme
