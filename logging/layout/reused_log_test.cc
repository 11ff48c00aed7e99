// Goal: a log whose segments are reused is read as one over fresh files is: no record of a former segment is
// taken for one of this log, a torn tail ends the log, and rot is damage. Method: a log without threads, so
// that it is known which file becomes which segment and what it held; its last blocks are torn and rotten in
// every way over that.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "base/testing/test_effort.h"
#include "base/testing/test_refusal.h"
#include "logging/record/format_version.h"
#include "logging/testing/stale_blocks.h"
#include "logging/testing/test_checkpoint.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;
namespace fs = std::filesystem;

ino_t identity(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
  return facts.st_ino;
}

class ReusedLog : public testing::Test {
 protected:
  static DurableLogOptions options() {
    DurableLogOptions options = small_log();
    options.segments.at_need = true;
    return options;
  }
  void open() { opened_.emplace(open_for_work(directory_.path(), options())); }
  // Each is durable before the next: a flush for each.
  void write(int count, size_t bytes) {
    for (int i = 0; i < count; ++i) {
      lsns_.push_back(append(*opened_->log, kWorker, payload_of(lsns_.size(), bytes)));
      ASSERT_TRUE(opened_->log->wait_durable(lsns_.back()));
    }
  }
  size_t take_checkpoint() {
    return test::take_checkpoint(directory_.path(), *opened_->manifest, lsns_.back());
  }
  // Fills segments, takes a checkpoint, and writes on, until the log has got to the `most`-th block of a
  // reused file; notes what that file held before. Then writes three records of different lengths, and
  // closes as a crash does.
  void write_into_reused(uint32_t most = 5) {
    open();
    write(120, 3900);
    ASSERT_GE(take_checkpoint(), 2u);
    std::map<ino_t, std::string> spares;
    for (const std::string& path : must(unlisted_files(directory_.path(), opened_->manifest->current())))
      spares[identity(path)] = must(read_text_file(path));
    ASSERT_FALSE(spares.empty());
    while (true) {
      write(1, 100);
      const SegmentEntry last = opened_->manifest->current().segments.back();
      file_ = directory_.path() + "/" + last.file;
      const auto spare = spares.find(identity(file_));
      if (spare == spares.end()) continue;
      before_ = spare->second;
      const auto header = BlockHeader::decode(block(block_offset(most)));
      if (header && header->segment == last.number) break;
    }
    write(1, 100);
    write(1, 10000);
    write(1, 3500);
    ASSERT_GE(opened_->log->counters().device.segments_reused, 1u);
    opened_.reset();
    saved_ = must(read_text_file(file_));
    ASSERT_GT(count_stale_blocks(directory_.path(), must(read_manifest(directory_.path()))), 10u);
  }
  std::vector<std::byte> block(uint64_t at) const {
    std::vector<std::byte> bytes(kBlockBytes);
    EXPECT_EQ(must(must(File::open(file_, O_RDONLY)).read_at(bytes, at)), kBlockBytes);
    return bytes;
  }
  void put(uint64_t at, std::string_view bytes) const {
    must(must(File::open(file_, O_RDWR)).write_at(as_bytes(bytes), at));
  }
  void flip(uint64_t at, int bit) const {
    std::vector<std::byte> byte(1);
    const File file = must(File::open(file_, O_RDWR));
    must(file.read_at(byte, at));
    byte[0] ^= std::byte{static_cast<unsigned char>(1 << bit)};
    must(file.write_at(byte, at));
  }
  // The log ends behind so many of all records, and what there is of it is right.
  void expect_end_behind(size_t count) const {
    const LogContents log = must(read_directory(directory_.path()));
    ASSERT_FALSE(log.records.empty());
    EXPECT_EQ(log.records.back().lsn, lsns_[count - 1]);
    const size_t first = count - log.records.size();
    for (size_t i = 0; i < log.records.size(); ++i) {
      const RecordView& record = log.records[i];
      ASSERT_EQ(record.lsn, lsns_[first + i]);
      ASSERT_TRUE(std::ranges::equal(record.payload, payload_of(first + i, record.payload.size())));
    }
  }
  void expect_damage(const std::string& words) const {
    expect_refused(read_directory(directory_.path()), ErrorKind::kDamaged, words);
  }
  uint64_t last_block() const {
    const LogContents log = must(read_directory(directory_.path()));
    return log.segments.back().blocks.back().offset - kBlockHeaderBytes;
  }

  const TemporaryDirectory directory_;
  std::optional<OpenLog> opened_;
  std::vector<Lsn> lsns_;
  std::string file_;    // the last segment's
  std::string saved_;   // its bytes, at the end
  std::string before_;  // and before it was reused
};

TEST_F(ReusedLog, HasItsOwnRecordsAlone) {
  write_into_reused();
  expect_end_behind(lsns_.size());
  EXPECT_EQ(must(read_directory(directory_.path())).dropped_bytes, 0u);
  // Nor does the next life take what is left for its own.
  open();
  write(3, 200);
  opened_.reset();
  expect_end_behind(lsns_.size());
}

TEST_F(ReusedLog, AnySectorsOfTheLastBlockMayBeAsTheyWere) {
  write_into_reused();
  const uint64_t block = last_block();
  ASSERT_TRUE(BlockHeader::decode(as_bytes(before_).subspan(block, kBlockBytes))) << "a former block";
  for (unsigned lost = 1; lost < 1u << kBlockBytes / kSectorBytes; lost += step_if_sanitized(5)) {
    for (uint64_t i = 0; i < kBlockBytes / kSectorBytes; ++i) {
      const uint64_t at = block + i * kSectorBytes;
      const std::string& from = (lost >> i & 1) != 0 ? before_ : saved_;
      put(at, std::string_view(from).substr(at, kSectorBytes));
    }
    // The last sector lies behind the payload: without it the record is whole.
    const bool has_record = (lost & ((1u << (kBlockBytes / kSectorBytes - 1)) - 1)) == 0;
    expect_end_behind(lsns_.size() - (has_record ? 0 : 1));
  }
}

TEST_F(ReusedLog, AFlippedBitAnywhereInTheLastBlocksIsDamage) {
  write_into_reused();
  const uint64_t last = last_block();
  for (uint64_t block = last - 3 * kBlockBytes; block <= last; block += kBlockBytes) {
    for (uint64_t at = 0; at < kBlockBytes; at += at < 600 ? 7 : 61) {
      flip(block + at, static_cast<int>(at % 8));
      expect_damage(fs::path(file_).filename().string());
      flip(block + at, static_cast<int>(at % 8));
    }
  }
  expect_end_behind(lsns_.size());
}

// A fresh file's block may lose a sector to zeros. This one's sectors were none.
TEST_F(ReusedLog, ASectorOfZerosIsDamage) {
  write_into_reused();
  const uint64_t block = last_block();
  for (uint64_t at = block; at < block + kBlockBytes - kSectorBytes; at += kSectorBytes) {
    put(at, std::string(kSectorBytes, '\0'));
    expect_damage(fmt::format("at byte {}", block));
    put(at, std::string_view(saved_).substr(at, kSectorBytes));
  }
  expect_end_behind(lsns_.size());
}

TEST_F(ReusedLog, ABlockThatWentAstrayPastTheLastIsDamage) {
  write_into_reused();
  const uint64_t behind = last_block() + kBlockBytes;
  put(behind, std::string_view(saved_).substr(behind - kBlockBytes, kBlockBytes));
  expect_damage(fmt::format("at byte {}", behind));
}

// The table, and the header page that speaks of it.
TEST_F(ReusedLog, RotInItsTableIsDamage) {
  write_into_reused();
  const SegmentHeader header =
      must(SegmentHeader::decode(as_bytes(saved_).first(kSegmentHeaderBytes), file_));
  const uint64_t table = block_offset(header.former->blocks);
  for (uint64_t at = table; at < saved_.size(); at += 41) {
    flip(at, 3);
    expect_damage("the table of what its blocks held before");
    flip(at, 3);
  }
  for (const uint64_t at : {8, 56, 64, 65, 68, 71}) {
    flip(at, 0);
    expect_damage("its header page");
    flip(at, 0);
  }
  fs::resize_file(file_, saved_.size() - kBlockBytes);
  expect_damage("bytes, and");
}

// An older program takes what is left of the former segment for damage; it refuses the file by its version.
TEST_F(ReusedLog, HasAVersionOfItsOwn) {
  write_into_reused();
  EXPECT_EQ(load<uint32_t>(as_bytes(saved_).data() + 8), kReusedSegmentVersion);
}

// A checkpoint asks where a segment begins whether the one before it has been passed. A segment that has no
// block yet does not say, though its file has a former one.
TEST_F(ReusedLog, AFormerBlockDoesNotSayThatASegmentHasBeenPassed) {
  open();
  write(120, 3000);
  ASSERT_GE(take_checkpoint(), 2u);
  const auto spare = opened_->manifest->spares().take("");
  ASSERT_TRUE(spare);
  const Manifest before = opened_->manifest->current();
  SegmentFileOptions next{.segment_bytes = 128 * 1024, .direct_io = false};
  next.spare = *spare;
  bool is_reused = false;
  next.reused = [&is_reused] { is_reused = true; };
  must(make_segment(*opened_->manifest, {.number = before.next_segment_number()}, next));
  ASSERT_TRUE(is_reused);
  EXPECT_EQ(must(segments_below(directory_.path(), opened_->manifest->current(), lsns_.back())).size(), 0u);
}

// Once the log has gone on in the next life, its files are removed, not reused: what readers see of them may
// not be on the medium.
TEST_F(ReusedLog, FilesOfAFormerLifeAreNotReused) {
  open();
  write(120, 3000);
  opened_.reset();
  open();
  write(5, 100);
  ASSERT_GE(take_checkpoint(), 2u);
  EXPECT_TRUE(must(unlisted_files(directory_.path(), opened_->manifest->current())).empty());
  write(120, 3000);
  EXPECT_EQ(opened_->log->counters().device.segments_reused, 0u);
}

TEST_F(ReusedLog, LeavesNoSparesBehindWhenItIsClosed) {
  open();
  write(120, 3000);
  ASSERT_GE(take_checkpoint(), 2u);
  ASSERT_FALSE(must(unlisted_files(directory_.path(), opened_->manifest->current())).empty());
  opened_.reset();
  EXPECT_TRUE(must(unlisted_files(directory_.path(), must(read_manifest(directory_.path())))).empty());
}

}  // namespace
}  // namespace mneme
