// Goal: a segment is made whole, at any pace, or not at all; and its supply has the next ones ready. Method:
// files looked at after they were made in stretches, and after making them was given up; a supply from which
// segments are taken.
#include "logging/directory/segment_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"
#include "logging/directory/segment_supply.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using test::must;

constexpr size_t kSegmentFileBytes = 10 * kBlockBytes;

class SegmentFiles : public testing::Test {
 protected:
  SegmentFiles() {
    Manifest born;
    born.incarnations = {{1, kFirstLsn}};
    manifest_ = must(ManifestFile::create(directory_.path(), born));
  }

  const test::TemporaryDirectory directory_;
  std::unique_ptr<ManifestFile> manifest_;
};

TEST_F(SegmentFiles, StretchesCoverTheFile) {
  SegmentFileOptions options{.segment_bytes = kSegmentFileBytes, .direct_io = false};
  size_t asked = 0;
  options.next_stretch = [&asked] { return ++asked * kBlockBytes; };
  const File file = must(make_segment(*manifest_, {.number = 1}, options));
  EXPECT_EQ(asked, 4u);  // 1 + 2 + 3 + 4 blocks
  EXPECT_EQ(must(file.size()), kSegmentFileBytes);
  const std::string bytes = must(read_text_file(file.path()));
  EXPECT_TRUE(std::all_of(bytes.begin() + kBlockBytes, bytes.end(), [](char c) { return c == 0; }));
  EXPECT_EQ(manifest_->current().segments.size(), 1u);
}

TEST_F(SegmentFiles, OneThatIsGivenUpIsNeitherListedNorLeft) {
  SegmentFileOptions options{.segment_bytes = kSegmentFileBytes, .direct_io = false};
  size_t asked = 0;
  options.next_stretch = [&asked] { return ++asked < 3 ? kBlockBytes : 0; };
  test::expect_refused(make_segment(*manifest_, {.number = 1}, options), ErrorKind::kFailed,
                       "was not finished");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/log-000001.segment"));
  EXPECT_TRUE(manifest_->current().segments.empty());
}

TEST_F(SegmentFiles, TheNextOnesAreReady) {
  SegmentNumbers numbers(manifest_->current());
  SegmentSupply supply(*manifest_, {.file = {.segment_bytes = kSegmentFileBytes, .direct_io = false}},
                       numbers, [] {});
  must(supply.wait_until_ready());
  // There come to be two before any is asked for.
  while (manifest_->current().segments.size() < 2) std::this_thread::yield();
  std::vector<uint32_t> taken;
  while (taken.size() < 5) {
    if (const auto segment = supply.try_take()) taken.push_back(segment->number);
    std::this_thread::yield();
  }
  EXPECT_EQ(taken, (std::vector<uint32_t>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(supply.failure());
}

}  // namespace
}  // namespace mneme
