// Goal: a stream's ring in persistent memory gives back what was stored last at each place, over laps, the
// end of the ring and holes; a distributed log whose buffers are such rings reads back in commit order, be it
// closed or crashed, destaged or not, and what is missing below what was durable is refused. Method: records
// whose payload proves itself; files as a crash would leave them, and changed ones.
#include "logging/nvm/nvm_ring.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/testing/test_refusal.h"
#include "logging/directory/database_files.h"
#include "logging/layout/distributed_log.h"
#include "logging/reading/log_truncation.h"
#include "logging/reading/segment_reader.h"
#include "logging/testing/nvm_test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr size_t kRingBytes = 4096;

class NvmRingTest : public ::testing::Test {
 protected:
  NvmRingTest() {
    manifest_ = must(ManifestFile::create(directory_.path(), new_manifest()));
    must(begin_incarnation(*manifest_, LogContents{}));
    ring_ = must(NvmRing::make(*manifest_, 1, 3, "", kRingBytes, {.latency = std::chrono::nanoseconds(0)}));
  }

  // Stores it where the last one ended. Returns the place.
  StreamPosition store(Lsn gsn, size_t payload_bytes) {
    const StreamPosition at = at_;
    const auto payload = payload_of(gsn.value, payload_bytes);
    std::byte bytes[kRecordHeaderBytes];
    RecordHeader header{0, static_cast<uint32_t>(kRecordHeaderBytes + payload_bytes), RecordKind::kCommand,
                        gsn};
    header.encode(bytes);
    header.checksum = record_checksum(bytes, payload, ring_->layout().seed_at(at));
    header.encode(bytes);
    ring_->store_record(at, bytes, payload);
    at_ = at + ring_->layout().stream_bytes(header.record_bytes);
    return at;
  }
  LogContents::Segment scan(StreamPosition begin, StreamPosition end = StreamPosition{~uint64_t{0}}) {
    const LoadedSegment loaded =
        must(load_segment(directory_.path(), manifest_->current(), manifest_->current().segments.front(),
                          kFirstPosition, end, std::chrono::milliseconds(0)));
    durable_ = loaded.durable;
    LogContents::Segment segment;
    scan_nvm_ring(loaded, begin, end, segment);
    return segment;
  }
  // The GSNs of a segment's records.
  static std::vector<uint64_t> gsns(const LogContents::Segment& segment) {
    std::vector<uint64_t> found;
    for (size_t index = 0; index < segment.bytes.size();) {
      const RecordHeader header = RecordHeader::decode(segment.bytes.data() + index);
      found.push_back(header.lsn.value);
      index += segment.layout.stream_bytes(header.record_bytes);
    }
    return found;
  }
  void close() { ring_.reset(); }  // a reader waits until there is no writer

  TemporaryDirectory directory_;
  std::unique_ptr<ManifestFile> manifest_;
  std::unique_ptr<NvmRing> ring_;
  StreamPosition at_ = kFirstPosition;
  Lsn durable_;
};

TEST_F(NvmRingTest, IsListedAsTheStreams) {
  const SegmentEntry entry = manifest_->current().segments.front();
  EXPECT_TRUE(entry.is_ring);
  EXPECT_EQ(entry.logger, 3u);
  EXPECT_TRUE(must(read_manifest(directory_.path())).segments.front().is_ring);
}

TEST_F(NvmRingTest, HoldsWhatTheLastLapLeft) {
  std::vector<StreamPosition> places;
  for (uint64_t gsn = 100; gsn < 170; ++gsn) places.push_back(store(Lsn{gsn}, gsn % 3 * 70));
  ASSERT_GT(at_.value, 2 * kRingBytes - 1024);
  close();
  // From the oldest place that is not overwritten.
  const auto first =
      std::ranges::find_if(places, [&](StreamPosition at) { return at.value + kRingBytes >= at_.value; });
  const LogContents::Segment all = scan(*first);
  std::vector<uint64_t> expected;
  for (auto place = first; place != places.end(); ++place) {
    expected.push_back(100 + static_cast<uint64_t>(place - places.begin()));
  }
  EXPECT_EQ(gsns(all), expected);
  EXPECT_EQ(all.position_at(0), *first);
  EXPECT_EQ(all.position_at(all.bytes.size() - 1).value, at_.value - 1);
  // One block up to the end of the ring, one from its beginning.
  ASSERT_EQ(all.blocks.size(), 2u);
  EXPECT_EQ(all.blocks[1].offset, kRingBegin);
  EXPECT_EQ(all.place_at(all.blocks[0].used_bytes).offset, kRingBegin);
  // Bytes before the place that is asked for are another lap's: none of them is taken.
  EXPECT_TRUE(gsns(scan(StreamPosition{places.front().value})).empty());
  EXPECT_EQ(gsns(scan(*first, *(first + 2))), (std::vector<uint64_t>{expected[0], expected[1]}));
}

TEST_F(NvmRingTest, PassesOverHoles) {
  store(Lsn{110}, 30);
  at_ = at_ + 3 * kNvmLineBytes;  // a worker that had not stored yet
  const StreamPosition behind = store(Lsn{109}, 100);
  store(Lsn{112}, 0);
  close();
  const LogContents::Segment found = scan(kFirstPosition);
  EXPECT_EQ(gsns(found), (std::vector<uint64_t>{110, 109, 112}));
  ASSERT_EQ(found.blocks.size(), 2u);
  EXPECT_EQ(found.position_at(kNvmLineBytes), behind);
  EXPECT_EQ(found.place_at(kNvmLineBytes).offset, kRingBegin + behind.value);
}

TEST_F(NvmRingTest, TheHigherOfTwoMarksCounts) {
  ring_->mark(Lsn{70});
  ring_->mark(Lsn{90});
  const std::string path = directory_.path() + "/" + manifest_->current().segments.front().file;
  close();
  scan(kFirstPosition);
  EXPECT_EQ(durable_, Lsn{90});
  // Torn: the one before counts.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(kRingMarksAt + kNvmLineBytes + 16);
  file.put('x');
  file.close();
  scan(kFirstPosition);
  EXPECT_EQ(durable_, Lsn{70});
}

// Zeros behind the header page, as a copy may leave them that broke off.
TEST_F(NvmRingTest, ARingThatLostItsMarksIsRefusedUnlessItWasMadeWithoutAny) {
  store(Lsn{100}, 30);
  const SegmentEntry entry = manifest_->current().segments.front();
  const std::string path = directory_.path() + "/" + entry.file;
  close();
  EXPECT_TRUE(must(holds_records(path)));
  scan(kFirstPosition);
  EXPECT_EQ(durable_, manifest_->current().incarnations.back().begin);
  std::filesystem::resize_file(path, kRingMarksAt);
  std::filesystem::resize_file(path, kRingBegin + kRingBytes);
  const auto load = [&] {
    return load_segment(directory_.path(), manifest_->current(), entry, kFirstPosition,
                        StreamPosition{~uint64_t{0}}, std::chrono::milliseconds(0));
  };
  expect_refused(load(), ErrorKind::kDamaged, path + " is damaged at byte 4096: the ring has no mark");
  // A former program's header page doesn't promise one.
  const auto file = must(File::open(path, O_RDWR));
  std::vector<std::byte> page(kSegmentHeaderBytes);
  must(file.read_at(page, 0));
  SegmentHeader header = must(SegmentHeader::decode(page, path));
  ASSERT_TRUE(header.is_marked);
  header.is_marked = false;
  header.encode(page.data());
  must(file.write_at(page, 0));
  EXPECT_TRUE(load().ok());
}

// A crash may come before the manifest lists it.
TEST_F(NvmRingTest, OneAsItWasMadeHoldsNoRecords) {
  close();
  EXPECT_FALSE(must(holds_records(directory_.path() + "/" + manifest_->current().segments.front().file)));
}

TEST_F(NvmRingTest, AFileOfAnotherSizeIsRefused) {
  const std::string path = directory_.path() + "/" + manifest_->current().segments.front().file;
  close();
  std::filesystem::resize_file(path, kRingBegin + kRingBytes + kNvmLineBytes);
  expect_refused(load_segment(directory_.path(), manifest_->current(), manifest_->current().segments.front(),
                              kFirstPosition, StreamPosition{~uint64_t{0}}, std::chrono::milliseconds(0)),
                 ErrorKind::kDamaged, " has 12352 bytes, and 12288 were written");
}

DurableLogOptions streams_in_memory(uint32_t streams, uint32_t workers = 4) {
  DurableLogOptions options = small_log(workers);
  options.layout = LogLayout::kDistributed;
  options.device = LogDeviceKind::kNvm;
  options.device_options.latency = std::chrono::nanoseconds(0);
  options.largest_payload_bytes = 1000;
  options.streams.count = streams;
  options.ring_bytes = 1;  // raised to what the workers' largest records need
  return options;
}

class StreamsInMemory : public ::testing::TestWithParam<StreamCommit> {
 protected:
  DurableLogOptions options(uint32_t streams = 2) {
    DurableLogOptions options = streams_in_memory(streams);
    options.streams.commit = GetParam();
    return options;
  }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Commits, StreamsInMemory,
                         ::testing::Values(StreamCommit::kPassive, StreamCommit::kDurableCache,
                                           StreamCommit::kNone),
                         [](const auto& info) {
                           return "of" + std::to_string(static_cast<int>(info.param));
                         });

// Records in the ring alone, and ones that were destaged; lives on other devices between.
TEST_P(StreamsInMemory, ReadBackInCommitOrderOverLapsAndLives) {
  std::vector<Lsn> lsns;
  for (int life = 0; life < 4; ++life) {
    DurableLogOptions of_life = options(life + 1);
    if (life == 2) {
      of_life.device = LogDeviceKind::kFile;
      of_life.streams.commit.reset();
    }
    OpenLog opened = open_for_work(directory_.path(), of_life);
    const uint64_t count = life % 2 == 0 ? 1500 : 20;
    const std::vector<Lsn> news = append_all(*opened.log, 4, lsns.size(), count);
    lsns.insert(lsns.end(), news.begin(), news.end());
    if (life == 0) {
      EXPECT_GT(opened.log->counters().device.flushes, 3u);
    }
    if (life != 2) {
      EXPECT_EQ(opened.log->counters().streams->commit, GetParam());
    }
    if (life == 2) continue;
    // All that is durable is there without the log's being closed.
    ASSERT_TRUE(opened.log->wait_durable(lsns.back()));
    const CrashImage crash(directory_.path());
    expect_records(must(read_directory(crash.path(), {.threads = 2})), lsns);
  }
  expect_records(must(read_directory(directory_.path(), {.threads = 2})), lsns);
}

// Crashes, one after the other, each with records in its rings that no file holds.
TEST_P(StreamsInMemory, GoOnAfterCrashes) {
  std::vector<Lsn> lsns;
  std::vector<std::unique_ptr<CrashImage>> lives;
  {
    OpenLog opened = open_for_work(directory_.path(), options());
    lsns = append_all(*opened.log, 4, 0, 901);
    ASSERT_TRUE(opened.log->wait_durable(lsns.back()));
    lives.push_back(std::make_unique<CrashImage>(directory_.path()));
  }
  for (int life = 0; life < 3; ++life) {
    OpenLog opened = open_for_work(lives.back()->path(), options(life + 1));
    const std::vector<Lsn> news = append_all(*opened.log, 4, lsns.size(), 301);
    EXPECT_EQ(news.front(), lsns.back() + 1);
    lsns.insert(lsns.end(), news.begin(), news.end());
    ASSERT_TRUE(opened.log->wait_durable(lsns.back()));
    lives.push_back(std::make_unique<CrashImage>(lives.back()->path()));
    const LogContents log = must(read_directory(lives.back()->path()));
    expect_records(log, lsns);
    for (const RecordView& record : log.records) EXPECT_FALSE(log.place_of(record).file.empty());
  }
}

// A horizon that takes a worker's own fence for enough says so in the files, too.
class SoundStreamsInMemory : public StreamsInMemory {};
INSTANTIATE_TEST_SUITE_P(Commits, SoundStreamsInMemory,
                         ::testing::Values(StreamCommit::kPassive, StreamCommit::kDurableCache),
                         [](const auto& info) {
                           return "of" + std::to_string(static_cast<int>(info.param));
                         });

TEST_P(SoundStreamsInMemory, ARecordThatIsNotFilledEndsTheLog) {
  OpenLog opened = open_for_work(directory_.path(), options());
  std::vector<Lsn> lsns = append_all(*opened.log, 4, 0, 11);
  ASSERT_TRUE(opened.log->wait_durable(lsns.back()));
  ASSERT_TRUE(opened.log->await_space(WorkerId{3}, 10));
  const Lsn missing = opened.log->reserve(WorkerId{3}, 10);
  append(*opened.log, WorkerId{0}, payload_of(1, 100));
  EXPECT_LE(opened.log->durable(), missing);
  {
    const CrashImage crash(directory_.path());
    const LogContents log = must(read_directory(crash.path()));
    expect_records(log, lsns);
    EXPECT_GT(log.dropped_bytes, 0u);
    OpenLog again = open_for_work(crash.path(), options());
    EXPECT_EQ(append(*again.log, WorkerId{0}, payload_of(11, payload_bytes_of(11))), missing);
    lsns.push_back(missing);
    again.log.reset();
    expect_records(must(read_directory(crash.path())), lsns);
  }
  opened.log->fill(WorkerId{3}, missing, RecordKind::kCommand, payload_of(1, 10));
}

// Were one of them put back as it was made, the other would tell.
TEST_F(NvmRingTest, WhatWasDurableIsNotedInTwoRings) {
  TemporaryDirectory directory;
  DurableLogOptions options = streams_in_memory(3);
  options.streams.commit = StreamCommit::kPassive;
  OpenLog opened = open_for_work(directory.path(), options);
  const std::vector<Lsn> lsns = append_all(*opened.log, 4, 0, 12);
  ASSERT_TRUE(opened.log->wait_durable(lsns.back()));
  const CrashImage crash(directory.path());
  const Manifest manifest = must(read_manifest(crash.path()));
  std::vector<Lsn> durable;
  for (const SegmentEntry& each : manifest.segments) {
    if (!each.is_ring) continue;
    durable.push_back(must(load_segment(crash.path(), manifest, each, kFirstPosition,
                                        StreamPosition{~uint64_t{0}}, std::chrono::milliseconds(0)))
                          .durable);
  }
  EXPECT_EQ(durable,
            (std::vector<Lsn>{lsns.back() + 1, manifest.incarnations.back().begin, lsns.back() + 1}));
}

void flip_byte(const std::string& path, uint64_t offset) {
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  const char with = static_cast<char>(stream.get() ^ 0x40);
  stream.seekp(static_cast<std::streamoff>(offset));
  stream.put(with);
}

TEST_P(StreamsInMemory, DamageBelowWhatWasDurableIsRefused) {
  std::vector<Lsn> lsns;
  std::unique_ptr<CrashImage> crash;
  {
    OpenLog opened = open_for_work(directory_.path(), options());
    lsns = append_all(*opened.log, 4, 0, 901);
    ASSERT_TRUE(opened.log->wait_durable(lsns.back()));
    crash = std::make_unique<CrashImage>(directory_.path());
  }
  // Closed in order, all of it is covered; crashed, what the daemon had marked, or a later destaged block's
  // header says. What is damaged in a file and still in the ring is taken from there.
  size_t refused = 0;
  for (const std::string& directory : {directory_.path(), crash->path()}) {
    const LogContents log = must(read_directory(directory));
    const bool has_marks = directory != crash->path() || GetParam() == StreamCommit::kPassive;
    for (size_t i = 0; i < log.records.size(); i += 90) {
      const LogContents::Place place = log.place_of(log.records[i]);
      const std::string path = directory + "/" + place.file;
      flip_byte(path, place.offset + 20);
      const auto read = read_directory(directory);
      flip_byte(path, place.offset + 20);
      if (!read.ok()) {
        EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
        ++refused;
      } else if (has_marks) {
        expect_records(*read, lsns);
      }
    }
    expect_records(must(read_directory(directory)), lsns);
  }
  EXPECT_GT(refused, 15u);
  // All is destaged, so the rings' bytes may go; then there is nothing to take it from.
  const LogContents log = must(read_directory(directory_.path()));
  const LogContents::Place last = log.place_of(log.records.back());
  for (const SegmentEntry& each : must(read_manifest(directory_.path())).segments) {
    if (!each.is_ring) continue;
    const std::string path = directory_.path() + "/" + each.file;
    const auto bytes = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, kRingBegin);
    std::filesystem::resize_file(path, bytes);
  }
  expect_records(must(read_directory(directory_.path())), lsns);
  flip_byte(directory_.path() + "/" + last.file, last.offset + 20);
  EXPECT_EQ(read_directory(directory_.path()).error().kind, ErrorKind::kDamaged);
}

// The manifest's checksum is right, and what it says of a file is wrong.
TEST_P(StreamsInMemory, AManifestThatMistakesRingsIsRefused) {
  {
    OpenLog opened = open_for_work(directory_.path(), options());
    append_all(*opened.log, 4, 0, 3000);
  }
  const Manifest whole = must(read_manifest(directory_.path()));
  const auto entry = [](Manifest& manifest, bool is_ring) {
    return std::ranges::find_if(manifest.segments, [&](const SegmentEntry& each) {
      return each.logger == 0u && each.is_ring == is_ring;
    });
  };
  for (const bool is_ring : {true, false}) {
    Manifest changed = whole;
    const auto mistaken = entry(changed, is_ring);
    ASSERT_NE(mistaken, changed.segments.end());
    // The stream's own ring away: a second one is seen before any file is.
    if (!is_ring) changed.segments.erase(entry(changed, true));
    entry(changed, is_ring)->is_ring = !is_ring;
    expect_refused(
        read_log(directory_.path(), changed, {}), ErrorKind::kDamaged,
        "is a ring in persistent memory where the manifest says a segment, or the other way round");
  }
  Manifest twice = whole;
  const auto segment = entry(twice, false);
  segment->is_ring = true;
  expect_refused(read_log(directory_.path(), twice, {}), ErrorKind::kDamaged,
                 "/MANIFEST lists two rings of one stream, of which ");
}

TEST_P(StreamsInMemory, ACheckpointLeavesTheRingAndWhatIsAboveIt) {
  OpenLog opened = open_for_work(directory_.path(), options());
  std::vector<Lsn> lsns = append_all(*opened.log, 4, 0, 3001);
  ASSERT_TRUE(opened.log->wait_durable(lsns.back()));
  size_t removed = 0;
  for (size_t i = 100; i < lsns.size(); i += 500) {
    const auto below = must(segments_below(directory_.path(), opened.manifest->current(), lsns[i]));
    for (const SegmentEntry& each : below) EXPECT_FALSE(each.is_ring);
    must(opened.manifest->update([&](Manifest& changed) {
      changed.checkpoint_lsn = lsns[i];
      std::erase_if(changed.segments, [&](const SegmentEntry& each) {
        return std::ranges::any_of(below, [&](const SegmentEntry& old) { return old.number == each.number; });
      });
    }));
    removed += below.size();
    const CrashImage crash(directory_.path());
    expect_records(must(read_directory(crash.path(), {.threads = 2})), {lsns.begin() + i + 1, lsns.end()},
                   i + 1);
  }
  EXPECT_GT(removed, 3u);
  // Everything of a former life that lies below goes, its rings as well.
  const CrashImage crash(directory_.path());
  OpenLog again = open_for_work(crash.path(), options());
  const Lsn last = append(*again.log, WorkerId{0}, payload_of(1, 1));
  const auto below = must(segments_below(crash.path(), again.manifest->current(), last));
  size_t former = 0;
  for (const SegmentEntry& each : again.manifest->current().segments) former += each.incarnation == 1 ? 1 : 0;
  EXPECT_EQ(below.size(), former);
}

}  // namespace
}  // namespace mneme
