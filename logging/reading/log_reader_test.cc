// Goal: the log ends exactly where decision 9 of docs/architecture.md says, and what was durable is never
// taken for a torn tail. Method: a log is written with a known pattern of flushes; then its files are cut,
// changed or taken away, and it is read anew, kept and in windows: both must tell the same. Reading must not
// change the directory.
#include "logging/reading/log_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <span>
#include <thread>

#include "base/file/file.h"
#include "base/testing/test_effort.h"
#include "logging/reading/log_windows.h"
#include "logging/record/block_format.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr size_t kPayload = 500;

// A directory with one record a flush, each made durable before the next: all but the last are known to be
// durable.
class LogReader : public ::testing::Test {
 protected:
  void write_records(uint64_t count, size_t payload_bytes = kPayload) {
    OpenLog opened = open_for_work(directory_.path(), small_log());
    for (uint64_t i = 0; i < count; ++i) {
      lsns_.push_back(append(*opened.log, kWorker, payload_of(lsns_.size(), payload_bytes)));
      ASSERT_TRUE(opened.log->wait_durable(lsns_.back()));
    }
  }
  std::string path(const std::string& file) const { return directory_.path() + "/" + file; }
  std::string content(const std::string& file) const { return must(read_text_file(path(file))); }
  void replace(const std::string& file, const std::string& text) const {
    std::ofstream(path(file), std::ios::binary | std::ios::trunc) << text;
  }
  // Takes back what says that records from this one on were durable. They lie in one file.
  void forget_durable_from(size_t first) const {
    const LogContents log = must(read_directory(directory_.path()));
    const std::string file = log.place_of(lsns_[first]).file;
    std::string text = content(file);
    for (size_t i = first; i < lsns_.size(); ++i) {
      auto* block =
          reinterpret_cast<std::byte*>(text.data()) + log.place_of(lsns_[i]).offset - kBlockHeaderBytes;
      BlockHeader header = BlockHeader::decode({block, kBlockBytes}).value();
      header.durable = lsns_[first - 1];
      header.encode(block);
    }
    replace(file, text);
  }
  // As a crash leaves it where it takes this one of a block's sectors.
  void lose_sector(const std::string& file, uint64_t byte) const {
    std::string text = content(file);
    std::fill_n(text.begin() + static_cast<ptrdiff_t>(byte / kSectorBytes * kSectorBytes), kSectorBytes,
                '\0');
    replace(file, text);
  }
  void flip_bit(const std::string& file, uint64_t byte, int bit = 0) const {
    std::string text = content(file);
    text[byte] = static_cast<char>(text[byte] ^ (1 << bit));
    replace(file, text);
  }
  std::map<std::string, std::string> directory_content() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      files[entry.path().filename()] = content(entry.path().filename());
    }
    return files;
  }
  // Reads the log, which must be refused as damaged, with these words, and left alone.
  void expect_damaged(const std::string& words) const {
    const auto before = directory_content();
    const auto log = read_directory(directory_.path());
    ASSERT_FALSE(log.ok()) << "read up to LSN " << log->end.value;
    EXPECT_EQ(log.error().kind, ErrorKind::kDamaged);
    EXPECT_NE(log.error().message.find(words), std::string::npos) << log.error().message;
    const auto windowed = read_directory(directory_.path(), {.most_kept_bytes = 0});
    ASSERT_FALSE(windowed.ok());
    EXPECT_EQ(windowed.error().message, log.error().message);
    EXPECT_EQ(directory_content(), before);
  }
  // Reads the log, which must hold exactly the first `count` records.
  void expect_records(uint64_t count) const {
    const auto log = read_directory(directory_.path(), {.threads = 3});
    ASSERT_TRUE(log.ok()) << log.error().message;
    ASSERT_EQ(log->records.size(), count);
    for (uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(log->records[i].lsn, lsns_[i]);
      EXPECT_TRUE(std::ranges::equal(log->records[i].payload, payload_of(i, log->records[i].payload.size())));
    }
    EXPECT_EQ(log->end, count < lsns_.size() ? lsns_[count] : log->end);
    expect_same_in_windows(*log);
  }

  void expect_same_in_windows(const LogContents& kept) const {
    const LogContents log =
        must(read_directory(directory_.path(), {.threads = 3, .most_kept_bytes = 0, .window_bytes = 3000}));
    EXPECT_EQ(log.end, kept.end);
    EXPECT_EQ(log.dropped_bytes, kept.dropped_bytes);
    EXPECT_EQ(log.dropped_reason, kept.dropped_reason);
    EXPECT_EQ(log.record_bytes, kept.record_bytes);
    size_t next = 0;
    for (size_t w = 0; w < log.windows.size(); ++w) {
      const LogWindow window = must(read_window(directory_.path(), log, w));
      for (const RecordView& record : window.records) {
        ASSERT_LT(next, kept.records.size());
        EXPECT_EQ(record.lsn, kept.records[next].lsn);
        EXPECT_TRUE(std::ranges::equal(record.payload, kept.records[next].payload));
        ++next;
      }
    }
    EXPECT_EQ(next, kept.records.size());
  }

  TemporaryDirectory directory_;
  std::vector<Lsn> lsns_;
};

TEST_F(LogReader, AnEmptyLogEndsAtTheFirstLsn) {
  open_for_work(directory_.path(), small_log());
  const LogContents log = must(read_directory(directory_.path()));
  EXPECT_EQ(log.end, kFirstLsn);
  EXPECT_TRUE(log.records.empty());
}

TEST_F(LogReader, ATornLastRecordEndsTheLogJustBeforeIt) {
  write_records(20);
  const LogContents::Place last = must(read_directory(directory_.path())).place_of(lsns_.back());
  lose_sector(last.file, last.offset + kPayload);
  expect_records(19);
  const LogContents torn = must(read_directory(directory_.path()));
  EXPECT_GT(torn.dropped_bytes, 0u);
  EXPECT_NE(torn.dropped_reason.find(last.file), std::string::npos) << torn.dropped_reason;
  lose_sector(last.file, last.offset);
  expect_records(19);
}

TEST_F(LogReader, ASegmentThatIsCutOrWasAddedToIsDamage) {
  write_records(20);
  const LogContents::Place last = must(read_directory(directory_.path())).place_of(lsns_.back());
  const auto whole = std::filesystem::file_size(path(last.file));
  for (const uint64_t bytes : {whole + 1, whole - 1, last.offset + kPayload, last.offset - kBlockHeaderBytes,
                               2 * kBlockBytes, kBlockBytes}) {
    std::filesystem::resize_file(path(last.file), bytes);
    expect_damaged(fmt::format("{} has {} bytes, and {} were written", last.file, bytes, whole));
  }
}

// Where the log was closed in order the manifest says where it ends, and nothing below is taken for what a
// crash left.
TEST_F(LogReader, AnEndBelowThatOfAClosedLogIsDamage) {
  {
    OpenLog opened = open_for_work(directory_.path(), small_log());
    opened.forgets_end = false;
    for (int i = 0; i < 5; ++i)
      lsns_.push_back(append(*opened.log, kWorker, payload_of(lsns_.size(), kPayload)));
  }
  const LogContents::Place last = must(read_directory(directory_.path())).place_of(lsns_.back());
  replace(last.file, content(last.file).substr(0, kBlockBytes) +
                         std::string(content(last.file).size() - kBlockBytes, '\0'));
  expect_damaged(last.file);
}

TEST_F(LogReader, ATornLastRecordOverSeveralBlocksEndsTheLogJustBeforeIt) {
  write_records(5, 10000);
  const LogContents::Place last = must(read_directory(directory_.path())).place_of(lsns_.back());
  lose_sector(last.file, last.offset + 9000);
  expect_records(4);
}

TEST_F(LogReader, AFlippedBitBelowTheDurableLsnIsDamageWithFileAndOffset) {
  write_records(20);
  const LogContents log = must(read_directory(directory_.path()));
  for (const uint64_t at : {uint64_t{0}, uint64_t{7}, uint64_t{13}, uint64_t{kPayload}}) {
    const LogContents::Place place = log.place_of(lsns_[10]);
    flip_bit(place.file, place.offset + at);
    expect_damaged(fmt::format("{} at byte {}", place.file, place.offset));
    flip_bit(place.file, place.offset + at);
  }
  expect_records(20);
}

TEST_F(LogReader, AFlippedBitAnywhereInADurableBlockIsDamage) {
  write_records(6);
  const LogContents::Place place = must(read_directory(directory_.path())).place_of(lsns_[2]);
  const uint64_t block = place.offset - kBlockHeaderBytes;
  for (uint64_t at = 0; at < kBlockBytes; at += 61) {
    flip_bit(place.file, block + at, static_cast<int>(at % 8));
    expect_damaged(place.file);
    flip_bit(place.file, block + at, static_cast<int>(at % 8));
  }
}

// Whatever length a record claims then, or whatever it seems to belong to: the file is named that it lies in.
TEST_F(LogReader, AFlippedBitInAnyRecordsHeaderIsDamageOfItsFile) {
  write_records(200);
  const LogContents log = must(read_directory(directory_.path()));
  std::set<std::string> files;
  for (size_t i = 0; i + 20 < lsns_.size(); i += step_if_sanitized(4)) {
    const LogContents::Place place = log.place_of(lsns_[i]);
    files.insert(place.file);
    for (uint64_t at = i % 3; at < kRecordHeaderBytes; at += 3) {
      flip_bit(place.file, place.offset + at, static_cast<int>((i + at) % 8));
      expect_damaged(place.file);
      flip_bit(place.file, place.offset + at, static_cast<int>((i + at) % 8));
    }
  }
  EXPECT_GT(files.size(), 3u);
}

// Nor does any block say that a life's last records were durable: the next life does, which built on them.
TEST_F(LogReader, AFlippedBitInAFormerLifesLastRecordsIsDamageOfTheirFile) {
  for (int life = 0; life < 3; ++life) write_records(7);
  const LogContents log = must(read_directory(directory_.path()));
  std::set<std::string> files;
  for (const size_t i : {5, 6, 12, 13}) {
    const LogContents::Place place = log.place_of(lsns_[i]);
    files.insert(place.file);
    for (uint64_t bit = 0; bit < 8 * kRecordHeaderBytes; bit += step_if_sanitized(3)) {
      flip_bit(place.file, place.offset + bit / 8, static_cast<int>(bit % 8));
      expect_damaged(place.file);
      flip_bit(place.file, place.offset + bit / 8, static_cast<int>(bit % 8));
    }
  }
  EXPECT_GE(files.size(), 2u);
}

// No block tells that the last ones were durable. But no crash leaves them so.
TEST_F(LogReader, AFlippedBitAnywhereInTheLastBlocksIsDamage) {
  write_records(6);
  write_records(1, 10000);
  const LogContents log = must(read_directory(directory_.path()));
  const LogContents::Segment& segment = log.segments[log.run_of(one_stream_position(lsns_.back()))->segment];
  ASSERT_GE(segment.blocks.size(), 3u);
  for (const LogContents::Block& block : std::span(segment.blocks).last(3)) {
    const uint64_t begin = block.offset - kBlockHeaderBytes;
    for (uint64_t at = 0; at < kBlockBytes; at += at < 600 ? 7 : 61) {
      flip_bit(segment.file, begin + at, static_cast<int>(at % 8));
      expect_damaged(fmt::format("{} at byte {}", segment.file, begin));
      flip_bit(segment.file, begin + at, static_cast<int>(at % 8));
    }
  }
  expect_records(7);
}

TEST_F(LogReader, ABlockThatWentAstrayPastTheLastIsDamage) {
  write_records(5);
  const LogContents::Place last = must(read_directory(directory_.path())).place_of(lsns_.back());
  const size_t behind = last.offset - kBlockHeaderBytes + kBlockBytes;
  const std::string saved = content(last.file);
  ASSERT_LE(behind + kBlockBytes, saved.size());
  replace(last.file, saved.substr(0, behind) + saved.substr(behind - kBlockBytes, kBlockBytes) +
                         saved.substr(behind + kBlockBytes));
  expect_damaged(fmt::format("{} at byte {}", last.file, behind));
  replace(last.file, saved);
  // A few bytes that rotted where nothing has been written say nothing.
  for (const uint64_t at : {0, 5, 16}) flip_bit(last.file, behind + at);
  expect_records(5);
}

// Whichever sectors of the last blocks a crash took: the log ends before the record that lay there.
TEST_F(LogReader, AnySectorsOfTheLastBlocksMayBeLost) {
  write_records(4);
  write_records(1, 3500);
  const LogContents::Place last = must(read_directory(directory_.path())).place_of(lsns_.back());
  const uint64_t block = last.offset - kBlockHeaderBytes;
  const std::string saved = content(last.file);
  for (unsigned lost = 1; lost < 1u << kBlockBytes / kSectorBytes; ++lost) {
    for (uint64_t i = 0; i < kBlockBytes / kSectorBytes; ++i) {
      if (lost >> i & 1) lose_sector(last.file, block + i * kSectorBytes);
    }
    const auto log = read_directory(directory_.path());
    ASSERT_TRUE(log.ok()) << log.error().message;
    // The last sector is padding alone.
    EXPECT_EQ(log->records.size(), lost == 1u << 7 ? 5u : 4u);
    replace(last.file, saved);
  }
}

TEST_F(LogReader, ADurableBlockThatIsMissingIsDamage) {
  write_records(6);
  const LogContents::Place place = must(read_directory(directory_.path())).place_of(lsns_[2]);
  std::string text = content(place.file);
  std::fill_n(text.begin() + static_cast<ptrdiff_t>(place.offset - kBlockHeaderBytes), kBlockBytes, '\0');
  replace(place.file, text);
  expect_damaged(fmt::format("{} at byte {}: the record at LSN {} is missing", place.file,
                             place.offset - kBlockHeaderBytes, lsns_[2].value));
}

// One of a segment that has no other: the log may as well go on where the segment before ends.
TEST_F(LogReader, TheFirstBlockOfASegmentIsNamedWhereItIsMissing) {
  write_records(200);
  const LogContents log = must(read_directory(directory_.path()));
  size_t tried = 0;
  for (size_t s = 1; s + 1 < log.segments.size(); ++s) {
    if (log.segments[s].blocks.empty() || log.segments[s + 1].blocks.empty()) continue;
    const std::string& file = log.segments[s].file;
    const std::string saved = content(file);
    replace(file, saved.substr(0, kBlockBytes) + std::string(saved.size() - kBlockBytes, '\0'));
    expect_damaged(fmt::format("{} at byte {}", file, kBlockBytes));
    replace(file, saved);
    ++tried;
  }
  EXPECT_GT(tried, 2u);
}

TEST_F(LogReader, ABadRecordAboveTheDurableLsnIsATornTailThoughIntactOnesFollow) {
  write_records(20);
  forget_durable_from(15);
  const LogContents::Place bad = must(read_directory(directory_.path())).place_of(lsns_[16]);
  lose_sector(bad.file, bad.offset + kPayload);
  expect_records(16);
  const LogContents cut = must(read_directory(directory_.path()));
  EXPECT_EQ(cut.durable_seen, lsns_[14]);
  EXPECT_EQ(cut.dropped_bytes, 4 * (kRecordHeaderBytes + kPayload));
}

TEST_F(LogReader, AMissingSegmentIsDamage) {
  write_records(200);
  const Manifest manifest = must(read_manifest(directory_.path()));
  ASSERT_GT(manifest.segments.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::string saved = content(manifest.segments[i].file);
    std::filesystem::remove(path(manifest.segments[i].file));
    expect_damaged(manifest.segments[i].file + " is missing");
    replace(manifest.segments[i].file, saved);
  }
  expect_records(200);
}

TEST_F(LogReader, ForeignFilesAndSegmentsOutOfPlaceAreDamage) {
  write_records(200);
  const Manifest manifest = must(read_manifest(directory_.path()));
  const std::string file = manifest.segments[1].file;
  const std::string saved = content(file);
  replace(file, "someone's notes");
  expect_damaged("inside its header page");
  replace(file, std::string(saved.size(), 'x'));
  expect_damaged("is no log segment of Mneme");
  replace(file, content(manifest.segments[0].file));
  expect_damaged("where the manifest expects segment 2");
  replace(file, saved);
  flip_bit(file, 100);
  expect_damaged("header page doesn't match");
  replace(file, saved);

  auto opened = must(ManifestFile::open(directory_.path()));
  must(opened->update([](Manifest& m) { m.database_id += 1; }));
  expect_damaged("belongs to another database");
  must(opened->update([](Manifest& m) {
    m.database_id -= 1;
    m.catalog_hash += 1;
  }));
  expect_damaged("another catalog");
}

TEST_F(LogReader, BlocksPastTheRecoveredEndAreNeverReadAgain) {
  write_records(10);
  const LogContents log = must(read_directory(directory_.path()));
  // The crash: the last record was durable for no reader, and is torn. Keep the intact bytes to bring them
  // back later.
  const LogContents::Place place = log.place_of(lsns_[9]);
  const std::string intact = content(place.file);
  lose_sector(place.file, place.offset + kPayload);
  expect_records(9);
  {
    OpenLog opened = open_for_work(directory_.path(), small_log());
    EXPECT_EQ(append(*opened.log, kWorker, payload_of(77, 300)), lsns_[9]);
  }
  // The old incarnation's block is whole again. It lies past its incarnation's end.
  replace(place.file, intact);
  const LogContents again = must(read_directory(directory_.path()));
  ASSERT_EQ(again.records.size(), 10u);
  EXPECT_EQ(again.records[9].lsn, lsns_[9]);
  EXPECT_TRUE(std::ranges::equal(again.records[9].payload, payload_of(77, 300)));
}

// Blocks of which not even the beginning lies before the end.
TEST_F(LogReader, NorAreThoseFarPastIt) {
  write_records(20);
  forget_durable_from(15);
  const LogContents::Place place = must(read_directory(directory_.path())).place_of(lsns_[16]);
  const std::string intact = content(place.file);
  lose_sector(place.file, place.offset + kPayload);
  expect_records(16);
  { open_for_work(directory_.path(), small_log()); }
  replace(place.file, intact);
  expect_records(16);
}

TEST_F(LogReader, TheEndThatAnIncarnationBeganAtStaysDurable) {
  write_records(10);
  open_for_work(directory_.path(), small_log());
  const LogContents log = must(read_directory(directory_.path()));
  EXPECT_EQ(log.durable_seen, log.end);  // also the last record, which no later block covers
  const LogContents::Place place = log.place_of(lsns_[9]);
  flip_bit(place.file, place.offset + 30);
  expect_damaged(fmt::format("{} at byte {}", place.file, place.offset));
}

TEST_F(LogReader, ALogThatIsBeingWrittenIsRefused) {
  OpenLog opened = open_for_work(directory_.path(), small_log());
  const auto log = read_directory(directory_.path(), {.patience = std::chrono::milliseconds(20)});
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find("is being written by another process"), std::string::npos);
}

// Random damage of every sort: the reader must never crash, never invent a record, and never end the log
// below an LSN that a block header which is left says was durable.
TEST_F(LogReader, MutationsNeverInventRecords) {
  write_records(60);
  const Manifest manifest = must(read_manifest(directory_.path()));
  std::mt19937_64 random(3);
  int read = 0;
  for (int round = 0; round < 150; ++round) {
    const std::string file = manifest.segments[random() % 2].file;
    const std::string saved = content(file);
    std::string text = saved;
    const int changes = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < changes; ++i) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.resize(std::max<size_t>(at, 1));
      else
        text[at] = static_cast<char>(random());
    }
    replace(file, text);
    const auto log = read_directory(directory_.path());
    if (log.ok()) {
      ++read;
      ASSERT_GE(log->end, log->durable_seen);
      for (uint64_t i = 0; i < log->records.size(); ++i) {
        ASSERT_TRUE(std::ranges::equal(log->records[i].payload, payload_of(i, kPayload)));
      }
    }
    replace(file, saved);
  }
  // Both outcomes are legal, and both must have been tried: what was cut off with the headers that knew it
  // durable reads as a torn tail.
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 150);
  expect_records(60);
}

}  // namespace
}  // namespace mneme
