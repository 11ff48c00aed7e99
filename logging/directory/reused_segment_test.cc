// Goal: a spare becomes a segment that holds nothing, or is removed where it cannot serve; and there are
// never more spares than the log will ask for. Method: spares in each state that forbids them, and counts.
#include "logging/directory/reused_segment.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"
#include "logging/directory/database_files.h"
#include "logging/directory/newest_manifest.h"
#include "logging/directory/segment_supply.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using test::must;
namespace fs = std::filesystem;

constexpr size_t kFileBytes = 10 * kBlockBytes;

class ReusedSegments : public testing::Test {
 protected:
  ReusedSegments() {
    Manifest born = test::new_manifest();
    born.incarnations = {{1, kFirstLsn}};
    manifest_ = must(ManifestFile::create(directory_.path(), born));
  }

  std::string path(uint32_t number) const {
    return directory_.path() + fmt::format("/log-{:06}.segment", number);
  }
  // Segment 1, with bytes in its blocks, which the manifest lists no more.
  SpareSegment make_spare(size_t bytes = kFileBytes) {
    {
      const File file = must(make_segment(*manifest_, {.number = 1}, options(bytes)));
      must(file.write_at(test::payload_of(1, 3 * kBlockBytes), kSegmentHeaderBytes));
    }
    must(manifest_->update([](Manifest& manifest) { manifest.segments.clear(); }));
    return {"", path(1), 1};
  }
  static SegmentFileOptions options(size_t bytes = kFileBytes) {
    return {.segment_bytes = bytes, .direct_io = false};
  }
  // Makes segment 2 of the spare, or of a fresh file. Returns whether it was of the spare.
  bool make_second(const SpareSegment& spare, SegmentFileOptions with = options()) {
    bool is_reused = false;
    with.spare = spare;
    with.reused = [&is_reused] { is_reused = true; };
    const File file = must(make_segment(*manifest_, {.number = 2}, with));
    EXPECT_EQ(file.path(), path(2));
    EXPECT_FALSE(fs::exists(path(1))) << "a spare is gone either way";
    EXPECT_FALSE(must(holds_records(path(2))));
    EXPECT_EQ(manifest_->current().segments.size(), 1u);
    EXPECT_EQ(must(file.size()) > kFileBytes, is_reused) << "the table stands behind the blocks";
    return is_reused;
  }

  const test::TemporaryDirectory directory_;
  std::unique_ptr<ManifestFile> manifest_;
};

TEST_F(ReusedSegments, HoldWhatTheFormerOnesHeldAndNoRecord) {
  const SpareSegment spare = make_spare();
  ASSERT_TRUE(must(holds_records(spare.path)));
  const std::string before = must(read_text_file(spare.path));
  ASSERT_TRUE(make_second(spare));
  const std::string after = must(read_text_file(path(2)));
  EXPECT_EQ(after.substr(kBlockBytes, kFileBytes - kBlockBytes), before.substr(kBlockBytes));
  const SegmentHeader header = must(SegmentHeader::decode(as_bytes(after).first(kBlockBytes), "it"));
  EXPECT_EQ(header.number, 2u);
  EXPECT_EQ(header.file_bytes, after.size());
  // A first block is noticed, wherever it lies.
  for (const uint64_t at : {block_offset(0), block_offset(8) + 4095}) {
    const File file = must(File::open(path(2), O_RDWR));
    const auto old = as_bytes(after).subspan(at, 1);
    must(file.write_at(std::vector{old[0] ^ std::byte{1}}, at));
    EXPECT_TRUE(must(holds_records(path(2)))) << at;
    must(file.write_at(old, at));
  }
  EXPECT_FALSE(must(holds_records(path(2))));
}

TEST_F(ReusedSegments, MayBeReusedAgain) {
  SpareSegment spare = make_spare();
  ASSERT_TRUE(make_second(spare));
  {
    const File file = must(File::open(path(2), O_RDWR));
    must(file.write_at(test::payload_of(2, 2 * kBlockBytes), block_offset(4)));
  }
  must(manifest_->update([](Manifest& manifest) { manifest.segments.clear(); }));
  SegmentFileOptions third = options();
  third.spare = SpareSegment{"", path(2), 2};
  bool is_reused = false;
  third.reused = [&is_reused] { is_reused = true; };
  const File file = must(make_segment(*manifest_, {.number = 3}, third));
  EXPECT_TRUE(is_reused);
  EXPECT_FALSE(must(holds_records(path(3))));
  EXPECT_EQ(must(file.size()), kFileBytes + former_table_bytes(9));
}

// A copy by links, or an archive, keeps what it has.
TEST_F(ReusedSegments, AFileWithASecondNameKeepsItsContent) {
  const SpareSegment spare = make_spare();
  const std::string copy = directory_.path() + "/copy";
  fs::create_hard_link(spare.path, copy);
  const std::string before = must(read_text_file(copy));
  EXPECT_FALSE(make_second(spare));
  EXPECT_EQ(must(read_text_file(copy)), before);
}

TEST_F(ReusedSegments, AFileThatAnotherHasLockedIsNotTaken) {
  const SpareSegment spare = make_spare();
  const File reader = must(File::open(spare.path, O_RDONLY));
  ASSERT_EQ(::flock(reader.descriptor(), LOCK_SH | LOCK_NB), 0);
  const std::string before = must(read_text_file(spare.path));
  EXPECT_FALSE(make_second(spare));
  std::vector<std::byte> after(before.size());
  EXPECT_EQ(must(reader.read_at(after, 0)), before.size());
  EXPECT_TRUE(std::ranges::equal(after, as_bytes(before)));
}

TEST_F(ReusedSegments, AFileOfAnotherSizeIsNotTaken) {
  EXPECT_FALSE(make_second(make_spare(kFileBytes + kBlockBytes)));
}

TEST_F(ReusedSegments, AFileThatIsCutIsNotTaken) {
  const SpareSegment spare = make_spare();
  fs::resize_file(spare.path, kFileBytes - 1);
  EXPECT_FALSE(make_second(spare));
}

TEST_F(ReusedSegments, AFileThatSomebodyPutThereIsNotTaken) {
  const SpareSegment spare = make_spare();
  SegmentHeader header{0x4321, 0x5678, 1, 1};
  header.file_bytes = kFileBytes;
  std::vector<std::byte> page(kBlockBytes);
  header.encode(page.data());
  must(must(File::open(spare.path, O_RDWR)).write_at(page, 0));
  EXPECT_FALSE(make_second(spare));
}

TEST_F(ReusedSegments, OneThatIsGoneIsNotTaken) {
  const SpareSegment spare = make_spare();
  fs::remove(spare.path);
  EXPECT_FALSE(make_second(spare));
}

TEST_F(ReusedSegments, NothingIsOverwrittenThatHasTheSegmentsName) {
  const SpareSegment spare = make_spare();
  fs::copy_file(spare.path, path(2));
  SegmentFileOptions second = options();
  second.spare = spare;
  test::expect_refused(make_segment(*manifest_, {.number = 2}, second), ErrorKind::kFailed,
                       "is in the way of the log's next segment");
  EXPECT_TRUE(must(holds_records(path(2))));
}

TEST_F(ReusedSegments, OneThatIsGivenUpIsNeitherListedNorLeft) {
  SegmentFileOptions second = options();
  second.spare = make_spare();
  size_t asked = 0;
  second.next_stretch = [&asked] { return ++asked < 3 ? kBlockBytes : 0; };
  test::expect_refused(make_segment(*manifest_, {.number = 2}, second), ErrorKind::kFailed,
                       "was not finished");
  EXPECT_FALSE(fs::exists(path(1)));
  EXPECT_FALSE(fs::exists(path(2)));
  EXPECT_TRUE(manifest_->current().segments.empty());
}

// Those of former lives may lie in a cache alone, and a ring holds marks.
TEST_F(ReusedSegments, AreOfTheLifeAtWork) {
  Manifest manifest = test::new_manifest();
  manifest.incarnations = {{1, kFirstLsn}, {2, Lsn{100}}};
  EXPECT_TRUE(may_be_reused(manifest, {.file = "x", .number = 2, .incarnation = 2}));
  EXPECT_FALSE(may_be_reused(manifest, {.file = "x", .number = 1, .incarnation = 1}));
  EXPECT_FALSE(may_be_reused(manifest, {.file = "x", .number = 2, .incarnation = 2, .is_ring = true}));
}

// A crash after the new header page, or after the renaming, is no proof of an older manifest.
TEST_F(ReusedSegments, ACrashBeforeOneIsListedLeavesASoundDirectory) {
  const SpareSegment spare = make_spare();
  ASSERT_TRUE(make_second(spare));
  must(manifest_->update([](Manifest& manifest) {
    manifest.segments.clear();
    manifest.last_segment = 1;
  }));
  Manifest unlisted = manifest_->current();
  unlisted.last_segment = 1;
  must(check_is_newest(directory_.path(), unlisted));
  fs::rename(path(2), path(1));
  must(check_is_newest(directory_.path(), unlisted));
  // One that holds a block is.
  must(must(File::open(path(1), O_RDWR)).write_at(test::payload_of(7, 100), block_offset(0)));
  test::expect_refused(check_is_newest(directory_.path(), unlisted), ErrorKind::kDamaged,
                       "MANIFEST is older than the log");
}

class Spares : public testing::Test {
 protected:
  SpareSegment make(uint32_t number, const std::string& directory = "") const {
    const std::string path = directory_.path() + fmt::format("/{}log-{}", directory, number);
    must(File::make(path));
    return {directory, path, number};
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_.path()), {}));
  }
  const test::TemporaryDirectory directory_;
  SpareSegments spares_;
};

TEST_F(Spares, AreNoMoreThanSegmentsWereBegun) {
  spares_.serve("");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(spares_.take(""));
  spares_.keep({make(1), make(2), make(3), make(4), make(5)});
  EXPECT_EQ(files(), 3u);
  EXPECT_EQ(spares_.take("")->number, 3u) << "the one that was kept longest";
  // One was begun since.
  spares_.keep({make(6)});
  EXPECT_EQ(spares_.take("")->number, 6u);
  EXPECT_FALSE(spares_.take(""));
  for (size_t i = 0; i < 2 * SpareSegments::kMost; ++i) EXPECT_FALSE(spares_.take(""));
  std::vector<SpareSegment> many;
  for (uint32_t i = 0; i < 2 * SpareSegments::kMost; ++i) many.push_back(make(100 + i));
  const size_t others = files() - many.size();
  spares_.keep(many);
  EXPECT_EQ(files() - others, SpareSegments::kMost);
  spares_.leave("");
  EXPECT_EQ(files(), others) << "none is left behind";
}

TEST_F(Spares, StayInTheirDirectoryAndGoWithItsLastDevice) {
  spares_.serve("a");
  spares_.serve("a");
  EXPECT_FALSE(spares_.take("a"));
  EXPECT_FALSE(spares_.take("a"));
  spares_.keep({make(1, "a"), make(2, "b"), make(3, "a")});
  EXPECT_EQ(files(), 2u) << "nobody writes to b";
  EXPECT_FALSE(spares_.take("b"));
  spares_.leave("a");
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(spares_.take("a")->number, 1u);
  spares_.leave("a");
  EXPECT_EQ(files(), 1u) << "the one that was taken";
}

// The supply's own thread takes what it is given, and says how often.
TEST_F(ReusedSegments, TheSupplyTakesASpareBeforeItMakesAFile) {
  SegmentNumbers numbers(manifest_->current());
  SegmentSupply supply(
      *manifest_,
      {.file = {.segment_bytes = kFileBytes, .direct_io = false}, .at_need = true, .reuses = true}, numbers,
      [] {});
  must(supply.wait_until_ready());
  auto first = supply.try_take();
  ASSERT_NE(first, nullptr);
  must(first->file.write_at(test::payload_of(1, kBlockBytes), block_offset(0)));
  first.reset();
  must(manifest_->update([](Manifest& manifest) { manifest.segments.clear(); }));
  manifest_->spares().keep({{"", path(1), 1}});
  const auto second = supply.try_take();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->path, path(2));
  EXPECT_EQ(second->blocks, kFileBytes / kBlockBytes - 1);
  EXPECT_EQ(supply.reused(), 1u);
  EXPECT_FALSE(must(holds_records(path(2))));
}

}  // namespace
}  // namespace mneme
