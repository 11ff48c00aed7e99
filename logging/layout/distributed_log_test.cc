// Goal: what is appended to a log of several streams is read back in commit order, over segments,
// directories, numbers of streams and lives; it ends at the first hole over all streams, however far some are
// ahead; and what is missing or bad below what was durable is refused. Method: write records whose payload
// proves itself, close, read the directory anew; or change its files before.
#include "logging/layout/distributed_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/testing/test_refusal.h"
#include "logging/reading/log_truncation.h"
#include "logging/testing/test_checkpoint.h"
#include "logging/testing/test_log.h"
#include "logging/testing/test_rewrite.h"

namespace mneme {
namespace {

using namespace test;

DurableLogOptions distributed_log(uint32_t streams = 2, uint32_t workers = 4) {
  DurableLogOptions options = small_log(workers);
  options.layout = LogLayout::kDistributed;
  options.streams.count = streams;
  return options;
}

TEST(DistributedLog, ReadsBackInCommitOrderOverSegmentsAndLives) {
  TemporaryDirectory directory;
  TemporaryDirectory outside;
  std::vector<Lsn> lsns;
  for (const uint32_t streams : {3u, 1u, 8u, 2u}) {
    DurableLogOptions options = distributed_log(streams);
    if (streams == 8) options.stream_directories = {"here", outside.path()};
    OpenLog opened = open_for_work(directory.path(), options);
    const std::vector<Lsn> news = append_all(*opened.log, 4, lsns.size(), 1000);
    lsns.insert(lsns.end(), news.begin(), news.end());
    EXPECT_EQ(opened.log->counters().log_records, 1000u);
    EXPECT_EQ(opened.log->counters().streams.value().streams, streams);
  }
  const LogContents log = must(read_directory(directory.path(), {.threads = 2}));
  expect_records(log, lsns);
  EXPECT_EQ(log.begin(), kFirstLsn);
  EXPECT_EQ(log.end, lsns.back() + 1);
  EXPECT_EQ(log.dropped_bytes, 0u);
  EXPECT_EQ(log.streams->count, 2u);
  for (const std::string& part : {std::string("here/"), outside.path()}) {
    EXPECT_TRUE(std::ranges::any_of(log.segments, [&](const auto& s) { return s.file.starts_with(part); }));
  }
}

// Stretches of 64 bytes, each of a page of its own; the first of none.
void split_evenly(RecordKind, ByteSpan payload,
                  FunctionRef<void(size_t end, std::optional<uint64_t> page)> piece) {
  for (size_t begin = 0; begin < payload.size(); begin += 64) {
    piece(std::min(begin + 64, payload.size()), begin == 0 ? std::nullopt : std::optional(begin / 64));
  }
}

TEST(DistributedLog, PutsRecordsTogetherThatLieInSeveralStreams) {
  for (const uint32_t streams : {1u, 2u, 5u}) {
    TemporaryDirectory directory;
    std::vector<Lsn> lsns;
    DurableLogOptions options = distributed_log(streams);
    options.streams.partition = StreamPartition::kPage;
    options.streams.split = split_evenly;
    for (int life = 0; life < 2; ++life) {
      OpenLog opened = open_for_work(directory.path(), options);
      const std::vector<Lsn> news = append_all(*opened.log, 4, lsns.size(), 500);
      lsns.insert(lsns.end(), news.begin(), news.end());
    }
    const LogContents log = must(read_directory(directory.path(), {.threads = 2}));
    expect_records(log, lsns);
    EXPECT_EQ(log.joined.empty(), streams == 1);
    for (const RecordView& record : log.records) EXPECT_FALSE(log.place_of(record).file.empty());
  }
}

TEST(DistributedLog, WhatIsTooLongForPartsStaysWhole) {
  TemporaryDirectory directory;
  DurableLogOptions options = distributed_log(3);
  options.streams.partition = StreamPartition::kPage;
  options.streams.split = split_evenly;
  const auto payload = payload_of(7, options.largest_payload_bytes);
  {
    OpenLog opened = open_for_work(directory.path(), options);
    append(*opened.log, WorkerId{1}, payload);
    EXPECT_EQ(opened.log->counters().log_records, 1u);
  }
  const LogContents log = must(read_directory(directory.path()));
  ASSERT_EQ(log.records.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(log.records[0].payload, payload));
}

TEST(DistributedLog, SkipRecordsKeepTheirPlace) {
  expect_skips_keep_their_place(distributed_log());
}

// Two nodes, four streams: each node's workers have two of them. The test's thread moves from node to node.
thread_local uint32_t test_node = 0;
TEST(DistributedLog, WorkersWriteToAStreamOfTheirNode) {
  TemporaryDirectory directory;
  const DurableLogOptions options = distributed_log(4, 6);
  {
    Manifest born = new_manifest();
    born.layout = LogLayout::kDistributed;
    auto manifest = must(ManifestFile::create(directory.path(), born));
    must(begin_incarnation(*manifest, LogContents{}));
    auto log = must(DistributedLog::open(*manifest, options, {2, [] { return test_node; }}));
    for (uint32_t worker = 0; worker < 6; ++worker) {
      test_node = worker < 4 ? 1 : 0;
      append(*log, WorkerId{worker}, payload_of(worker, 100));
      test_node = 0;  // a worker stays with its stream
      append(*log, WorkerId{worker}, payload_of(worker, 100));
    }
    EXPECT_EQ(log->counters().streams->nodes, 2u);
  }
  const LogContents log = must(read_directory(directory.path()));
  ASSERT_EQ(log.records.size(), 12u);
  const Manifest manifest = must(read_manifest(directory.path()));
  std::vector<uint32_t> streams;
  for (size_t i = 0; i < 12; i += 2) {
    const auto stream_of = [&](const RecordView& record) {
      const std::string file = log.place_of(record).file;
      return std::ranges::find(manifest.segments, file, &SegmentEntry::file)->logger.value();
    };
    streams.push_back(stream_of(log.records[i]));
    EXPECT_EQ(stream_of(log.records[i + 1]), streams.back());
  }
  EXPECT_EQ(streams, (std::vector<uint32_t>{1, 3, 1, 3, 0, 2}));
}

TEST(DistributedLog, NullDeviceKeepsNothing) {
  TemporaryDirectory directory;
  DurableLogOptions options = distributed_log();
  options.device = LogDeviceKind::kNull;
  for (int life = 0; life < 2; ++life) {
    OpenLog opened = open_for_work(directory.path(), options);
    append_all(*opened.log, 4, 0, 500);
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 0u);
}

TEST(DistributedLog, RefusesWhatItCannotDo) {
  TemporaryDirectory directory;
  const DurableLogOptions options = distributed_log();
  { OpenLog opened = open_for_work(directory.path(), options); }
  auto manifest = must(ManifestFile::open(directory.path()));
  must(begin_incarnation(*manifest, must(read_log(directory.path(), manifest->current(), {}))));
  const auto refusal = [&](const DurableLogOptions& wanted) {
    const auto log = open_directory_log(*manifest, wanted);
    return log.ok() ? std::string("not refused") : log.error().message;
  };
  for (const LogLayout layout : {LogLayout::kStream, LogLayout::kEpoch}) {
    DurableLogOptions other = options;
    other.layout = layout;
    EXPECT_NE(refusal(other).find("--log-buffer distributed"), std::string::npos) << refusal(other);
  }
  DurableLogOptions other = options;
  other.device = LogDeviceKind::kNvm;
  other.buffer = LogBufferKind::kMutex;
  EXPECT_NE(refusal(other).find("--stream-buffer mutex"), std::string::npos);
  other = options;
  other.streams.commit = StreamCommit::kPassive;
  EXPECT_NE(refusal(other).find("--log-device nvm"), std::string::npos);
  other.streams.commit = StreamCommit::kDurableCache;
  other.device = LogDeviceKind::kNvmLossy;
  EXPECT_NE(refusal(other).find("durable-cache"), std::string::npos);
  other = options;
  other.device = LogDeviceKind::kStriped;
  EXPECT_NE(refusal(other).find("file"), std::string::npos);
  other = options;
  other.streams.count = kMostStreams + 1;
  EXPECT_NE(refusal(other).find("65 streams"), std::string::npos);
}

// A stream without writers holds up no transaction, and a slow one only those past its own records.
TEST(DistributedLog, AnIdleStreamHoldsNobodyUp) {
  TemporaryDirectory directory;
  DurableLogOptions options = distributed_log(2, 2);
  options.streams.latencies = {std::chrono::nanoseconds(0), std::chrono::seconds(2)};
  options.group.waiters_hurry = true;
  options.device = LogDeviceKind::kNull;  // so that no disk is waited for; nothing is read back
  OpenLog opened = open_for_work(directory.path(), options);
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(opened.log->wait_durable(append(*opened.log, WorkerId{0}, payload_of(i, 100))));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
  const Lsn slow = append(*opened.log, WorkerId{1}, payload_of(1, 100));
  const Lsn fast = append(*opened.log, WorkerId{0}, payload_of(2, 100));
  EXPECT_LE(opened.log->durable(), slow);
  EXPECT_TRUE(opened.log->wait_durable(fast));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
  EXPECT_GT(opened.log->durable(), fast);
}

// A checkpoint at any LSN leaves every record above it, and files that are read as before.
TEST(DistributedLog, WhatLiesBelowACheckpointIsRemovedAndNothingElse) {
  TemporaryDirectory directory;
  std::vector<Lsn> lsns;
  for (int life = 0; life < 2; ++life) {
    OpenLog opened = open_for_work(directory.path(), distributed_log());
    const std::vector<Lsn> news = append_all(*opened.log, 4, lsns.size(), 1500);
    lsns.insert(lsns.end(), news.begin(), news.end());
  }
  auto manifest = must(ManifestFile::open(directory.path()));
  size_t removed = 0;
  for (size_t i = 100; i < lsns.size(); i += 200) {
    removed += take_checkpoint(directory.path(), *manifest, lsns[i]);
    expect_records(must(read_directory(directory.path(), {.threads = 2})), {lsns.begin() + i + 1, lsns.end()},
                   i + 1);
  }
  EXPECT_GT(removed, 8u);
}

// With all that a stream held gone below a checkpoint, nothing tells where it ended: its archived segments
// are read whole.
TEST(DistributedLog, AStreamThatACheckpointHasRemovedIsThereAgainWithItsArchive) {
  TemporaryDirectory directory;
  std::vector<Lsn> lsns;
  {
    OpenLog opened = open_for_work(directory.path(), distributed_log(2));
    lsns = append_all(*opened.log, 4, 0, 400);
  }
  std::vector<SegmentEntry> archived;
  must(must(ManifestFile::open(directory.path()))->update([&](Manifest& manifest) {
    manifest.checkpoint_lsn = lsns.back();
    std::ranges::copy_if(manifest.segments, std::back_inserter(archived),
                         [](const SegmentEntry& each) { return each.logger == 1; });
    std::erase_if(manifest.segments, [](const SegmentEntry& each) { return each.logger == 1; });
  }));
  ASSERT_FALSE(archived.empty());
  for (SegmentEntry& each : archived) {
    const std::string kept = directory.path() + "/archived-" + each.file;
    std::filesystem::rename(directory.path() + "/" + each.file, kept);
    each.file = kept;
  }
  {
    OpenLog opened = open_for_work(directory.path(), distributed_log(2));
    const std::vector<Lsn> news = append_all(*opened.log, 4, 400, 100);
    lsns.insert(lsns.end(), news.begin(), news.end());
  }
  Manifest whole = must(read_manifest(directory.path()));
  for (const SegmentEntry& each : whole.segments)
    EXPECT_EQ(std::ranges::count(archived, each.number, &SegmentEntry::number), 0)
        << "a number came up again";
  whole.checkpoint_lsn = kCheckpointLsn;
  whole.segments.insert(whole.segments.end(), archived.begin(), archived.end());
  std::ranges::sort(whole.segments, {}, &SegmentEntry::number);
  expect_records(must(read_log(directory.path(), whole, {})), lsns);
}

class CutDistributedLog : public ::testing::Test {
 protected:
  // Records in turns; the last thirty of stream 1 are in blocks of their own.
  void write(uint32_t streams) {
    OpenLog opened = open_for_work(directory_.path(), distributed_log(streams));
    lsns_ = append_all(*opened.log, 4, 0, 1000);
  }

  std::string path(const std::string& file) const { return directory_.path() + "/" + file; }
  void flip(const std::string& file, uint64_t offset) const {
    std::fstream stream(path(file), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    const char with = static_cast<char>(stream.get() ^ 0x40);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(with);
  }
  // As a crash leaves it that took this block. Returns what was there.
  std::string lose_block(const LogContents::Place& place) const {
    std::string bytes(kBlockBytes, '\0');
    std::ifstream(path(place.file), std::ios::binary)
        .seekg(begin_of_block(place))
        .read(bytes.data(), kBlockBytes);
    put_block(place, std::string(kBlockBytes, '\0'));
    return bytes;
  }
  void put_block(const LogContents::Place& place, const std::string& bytes) const {
    std::fstream stream(path(place.file), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(begin_of_block(place)).write(bytes.data(), kBlockBytes);
  }
  static std::streamoff begin_of_block(const LogContents::Place& place) {
    return static_cast<std::streamoff>(place.offset / kBlockBytes * kBlockBytes);
  }

  TemporaryDirectory directory_;
  std::vector<Lsn> lsns_;
};

TEST_F(CutDistributedLog, AFlippedByteBelowWhatWasDurableIsRefused) {
  write(2);
  const LogContents log = must(read_directory(directory_.path()));
  for (const size_t record : {size_t{0}, log.records.size() / 2, size_t{900}}) {
    const LogContents::Place place = log.place_of(log.records[record]);
    const uint64_t block = place.offset / kBlockBytes * kBlockBytes;
    for (const uint64_t offset : {block + 50, block + 20}) {  // of the payload, and of the header
      flip(place.file, offset);
      const auto read = read_directory(directory_.path());
      ASSERT_FALSE(read.ok());
      EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
      EXPECT_NE(read.error().message.find(fmt::format("{} at byte {}", place.file, block)), std::string::npos)
          << read.error().message;
      flip(place.file, offset);
    }
  }
  // Where a segment's first block is bad, or all its blocks are, the error names that segment, not the one
  // before.
  size_t tried = 0;
  for (const LogContents::Segment& segment : log.segments) {
    if (segment.blocks.empty()) continue;
    const uint64_t block = segment.blocks.front().offset - kBlockHeaderBytes;
    for (const bool all : {false, true}) {
      const auto flip_some = [&] {
        if (!all) return flip(segment.file, block + 50);
        for (const LogContents::Block& each : segment.blocks)
          flip(segment.file, each.offset - kBlockHeaderBytes + 20);
      };
      flip_some();
      const auto read = read_directory(directory_.path());
      flip_some();
      ASSERT_FALSE(read.ok());
      EXPECT_NE(read.error().message.find(fmt::format("{} at byte {}", segment.file, block)),
                std::string::npos)
          << read.error().message;
      ++tried;
    }
  }
  EXPECT_GT(tried, 6u);
  expect_records(must(read_directory(directory_.path())), lsns_);
}

TEST_F(CutDistributedLog, ABlockBelowWhatWasDurableThatIsMissingIsRefused) {
  write(2);
  const LogContents log = must(read_directory(directory_.path()));
  for (const size_t record : {size_t{0}, log.records.size() / 2, size_t{900}}) {
    const LogContents::Place place = log.place_of(log.records[record]);
    const std::string lost = lose_block(place);
    const auto read = read_directory(directory_.path());
    put_block(place, lost);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
    EXPECT_NE(read.error().message.find(fmt::format("{} at byte {}", place.file, begin_of_block(place))),
              std::string::npos)
        << read.error().message;
  }
  expect_records(must(read_directory(directory_.path())), lsns_);
}

// Nothing breaks off there, so it may be any stream's: all their ends are named.
TEST_F(CutDistributedLog, TheHeaderOfAStreamsLastBlockIsNamedWhereItWasDurable) {
  {
    OpenLog opened = open_for_work(directory_.path(), distributed_log(2));
    append_all(*opened.log, 4, 0, 600);
    append_all(*opened.log, 1, 600, 300);  // of one stream
  }
  const LogContents log = must(read_directory(directory_.path()));
  size_t refused = 0;
  for (const LogContents::Segment& segment : log.segments) {
    if (segment.blocks.empty()) continue;
    const uint64_t block = segment.blocks.back().offset - kBlockHeaderBytes;
    flip(segment.file, block + 20);
    const auto read = read_directory(directory_.path());
    flip(segment.file, block + 20);
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find(fmt::format("{} at byte {}", segment.file, block)), std::string::npos)
        << read.error().message;
    refused += read.error().message.find(", or ") != std::string::npos ? 1 : 0;
    // Neither does another stream's torn end hide it.
    const LogContents::Place end = log.place_of(log.records.back());
    if (end.file == segment.file) continue;
    flip(segment.file, block + 20);
    const std::string lost = lose_block(end);
    const auto beside_torn = read_directory(directory_.path());
    flip(segment.file, block + 20);
    put_block(end, lost);
    ASSERT_FALSE(beside_torn.ok());
    EXPECT_NE(beside_torn.error().message.find(fmt::format("{} at byte {}", segment.file, block)),
              std::string::npos)
        << beside_torn.error().message;
  }
  EXPECT_GT(refused, 0u);
}

// One stream lost its end: what the other holds past the first lost record is left out, and stays so once the
// database has gone on, though its blocks are intact.
TEST_F(CutDistributedLog, EndsAtTheFirstHoleOverAllStreams) {
  {
    DurableLogOptions options = distributed_log();
    options.group.interval = std::chrono::hours(1);
    OpenLog opened = open_for_work(directory_.path(), options);
    lsns_ = append_all(*opened.log, 4, 0, 901);
    // No thread waits for these: they gather until the end, and go out in each stream's last flush. Nothing
    // after it tells that they were durable.
    for (uint64_t i = 901; i < 940; ++i) {
      lsns_.push_back(
          append(*opened.log, WorkerId{static_cast<uint32_t>(i % 4)}, payload_of(i, payload_bytes_of(i))));
    }
  }
  const LogContents whole = must(read_directory(directory_.path()));
  const LogContents::Place place = whole.place_of(whole.records[whole.records.size() - 1]);
  const std::string lost = lose_block(place);
  const LogContents cut = must(read_directory(directory_.path()));
  ASSERT_LT(cut.records.size(), lsns_.size());
  ASSERT_GT(cut.records.size(), 900u);
  EXPECT_GT(cut.dropped_bytes, 0u);
  EXPECT_NE(cut.dropped_reason.find("in none of the 2 streams"), std::string::npos) << cut.dropped_reason;
  lsns_.resize(cut.records.size());
  expect_records(cut, lsns_);
  // The next life writes other records with the same LSNs.
  for (int life = 0; life < 2; ++life) {
    OpenLog opened = open_for_work(directory_.path(), distributed_log(3));
    const std::vector<Lsn> news = append_all(*opened.log, 4, lsns_.size(), 300);
    EXPECT_EQ(news.front(), lsns_.back() + 1);
    lsns_.insert(lsns_.end(), news.begin(), news.end());
  }
  put_block(place, lost);  // it turns up again: too late
  expect_records(must(read_directory(directory_.path())), lsns_);
}

// A record of which one part is lost is lost. It is the last, and has blocks to itself, so that none says
// that it was durable.
TEST_F(CutDistributedLog, APartThatIsMissingIsAHole) {
  DurableLogOptions options = distributed_log(3);
  options.streams.partition = StreamPartition::kPage;
  options.streams.split = split_evenly;
  {
    OpenLog opened = open_for_work(directory_.path(), options);
    lsns_ = append_all(*opened.log, 4, 0, 109);
    ASSERT_TRUE(opened.log->wait_durable(lsns_.back()));
    lsns_.push_back(append(*opened.log, WorkerId{0}, payload_of(109, payload_bytes_of(109))));
  }
  const LogContents whole = must(read_directory(directory_.path()));
  const auto in_parts = std::ranges::find_if(
      whole.joined, [&](const auto& each) { return each.first_part.lsn == lsns_.back(); });
  ASSERT_NE(in_parts, whole.joined.end());
  const LogContents::Place place = whole.place_of(in_parts->first_part);
  lose_block(place);
  const LogContents cut = must(read_directory(directory_.path()));
  lsns_.pop_back();
  expect_records(cut, lsns_);
}

// Behind right checksums.
TEST_F(CutDistributedLog, ARecordInTheSamePlaceAsAnotherIsRefused) {
  write(2);
  const LogContents log = must(read_directory(directory_.path()));
  const Lsn other = log.records[log.records.size() / 2].lsn;
  rewrite_record(directory_.path(), log.place_of(last_in_one_block(log)),
                 [&](RecordHeader& header, std::span<std::byte>) { header.lsn = other; });
  expect_refused(read_directory(directory_.path()), ErrorKind::kDamaged,
                 fmt::format("there is another record with the LSN {}, or it is none of the record's parts",
                             other.value));
}

TEST_F(CutDistributedLog, AMissingFileIsRefused) {
  write(3);
  const Manifest manifest = must(read_manifest(directory_.path()));
  for (const std::string& file : {manifest.segments.front().file, manifest.segments.back().file}) {
    std::filesystem::rename(path(file), path("away"));
    const auto read = read_directory(directory_.path());
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find(file + " is missing"), std::string::npos) << read.error().message;
    std::filesystem::rename(path("away"), path(file));
  }
}

}  // namespace
}  // namespace mneme
