// Goal: the manifest forgets the lives that nothing can be read of any more, and no other; leftovers that
// can't be found or removed are named. Method: a table of lives, of what is left of their segments, and of
// what must stay; folders where files should be.
#include "logging/reading/log_truncation.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file/file.h"
#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"
#include "logging/directory/segment_file.h"
#include "logging/record/block_format.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

struct TruncationCase {
  std::string_view name;
  std::vector<uint32_t> lives_with_segments;
  std::vector<uint32_t> stay;
  std::vector<LogHole> holes;
};

class FormerLives : public testing::TestWithParam<TruncationCase> {};

TEST_P(FormerLives, AreForgottenUpToTheFirstThatIsLeft) {
  Manifest manifest;
  for (const uint32_t number : {1, 2, 4, 7}) manifest.incarnations.push_back({number, Lsn{100 * number}});
  manifest.holes = {{StreamPosition{120}, StreamPosition{130}},
                    {StreamPosition{250}, StreamPosition{400}},
                    {StreamPosition{450}, StreamPosition{460}}};
  uint32_t segment = 0;
  for (const uint32_t life : GetParam().lives_with_segments)
    manifest.segments.push_back({"file", ++segment, life});
  forget_former_lives(manifest);
  std::vector<uint32_t> stay;
  for (const Incarnation& life : manifest.incarnations) stay.push_back(life.number);
  EXPECT_EQ(stay, GetParam().stay);
  EXPECT_EQ(manifest.holes, GetParam().holes);
  EXPECT_EQ(manifest.segments.size(), GetParam().lives_with_segments.size());
}

INSTANTIATE_TEST_SUITE_P(
    Lives, FormerLives,
    testing::Values(TruncationCase{"all",
                                   {1, 2, 4, 7},
                                   {1, 2, 4, 7},
                                   {{StreamPosition{120}, StreamPosition{130}},
                                    {StreamPosition{250}, StreamPosition{400}},
                                    {StreamPosition{450}, StreamPosition{460}}}},
                    // Where a life ends says the next one.
                    TruncationCase{"one_between",
                                   {2, 7},
                                   {2, 4, 7},
                                   {{StreamPosition{250}, StreamPosition{400}},
                                    {StreamPosition{450}, StreamPosition{460}}}},
                    TruncationCase{"a_former_one", {4}, {4, 7}, {{StreamPosition{450}, StreamPosition{460}}}},
                    TruncationCase{"the_last", {7, 7}, {7}, {}}, TruncationCase{"none", {}, {7}, {}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LogTruncation, WhatCannotBeLookedThroughOrRemovedIsNamed) {
  const test::TemporaryDirectory directory;
  const auto manifest = test::must(ManifestFile::create(directory.path(), {}));
  // In the place of a leftover segment, a folder that holds something.
  std::filesystem::create_directories(directory.path() + "/log-000007.segment/inside");
  test::expect_refused(remove_unlisted_files(*manifest), ErrorKind::kFailed,
                       "cannot remove " + directory.path() + "/log-000007.segment: ");
  const std::string nowhere = directory.path() + "/nowhere";
  test::expect_refused(unlisted_files(nowhere, manifest->current()), ErrorKind::kFailed,
                       "cannot look through " + nowhere);
}

TEST(LogTruncation, AFileThatHoldsSomethingIsNotWrittenOver) {
  const test::TemporaryDirectory directory;
  Manifest born;
  born.incarnations = {{1, kFirstLsn}};
  const auto manifest = test::must(ManifestFile::create(directory.path(), born));
  const std::string path = directory.path() + "/log-000001.segment";
  const std::string content(3 * kBlockBytes, 'x');
  test::must(replace_text_file(path, content));
  test::expect_refused(
      make_segment(*manifest, {.number = 1}, {.segment_bytes = 4 * kBlockBytes, .direct_io = false}),
      ErrorKind::kFailed, path + " is in the way of the log's next segment");
  EXPECT_EQ(test::must(read_text_file(path)), content);
  // A file that a crash left before it was listed is overwritten.
  test::must(replace_text_file(path, std::string(3 * kBlockBytes, '\0')));
  EXPECT_TRUE(
      make_segment(*manifest, {.number = 1}, {.segment_bytes = 4 * kBlockBytes, .direct_io = false}).ok());
}

TEST(LogTruncation, ADatabaseThatNobodyOpenedHasNoLives) {
  Manifest manifest;
  forget_former_lives(manifest);
  EXPECT_TRUE(manifest.incarnations.empty());
}

}  // namespace
}  // namespace mneme
