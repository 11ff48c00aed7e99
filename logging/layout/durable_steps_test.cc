// Goal: what a log's files are relied on for survives a power failure: their bytes, and their names. Method:
// the order of the steps that make it durable, and syncs that fail. The simulator's power failures come upon
// what these hold, too, but by chance: most of it takes a power failure between two steps.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_durable_steps.h"
#include "base/testing/test_refusal.h"
#include "logging/device/remote_options.h"
#include "logging/directory/log_archive.h"
#include "logging/directory/segment_file.h"
#include "logging/reading/log_truncation.h"
#include "logging/remote/remote_segments.h"
#include "logging/testing/test_remote_log.h"
#include "network/testing/test_log_server.h"

namespace mneme {
namespace {

using test::append_durably;
using test::DurableSteps;
using test::must;
using test::TemporaryDirectory;
using ::testing::ElementsAre;

class LogSteps : public ::testing::Test {
 protected:
  std::unique_ptr<ManifestFile> make_manifest() const {
    Manifest manifest = test::new_manifest();
    manifest.incarnations.push_back({.number = 1, .begin = kFirstLsn});
    return must(ManifestFile::create(directory_.path(), manifest));
  }
  std::string path(const std::string& file) const { return directory_.path() + "/" + file; }

  const TemporaryDirectory directory_;
};

TEST_F(LogSteps, ASegmentAndItsNameAreDurableBeforeItIsListed) {
  const auto manifest = make_manifest();
  const DurableSteps steps;
  must(make_segment(*manifest, {.number = 1}, {.segment_bytes = block_offset(4)}));
  EXPECT_THAT(steps.get(), ElementsAre("sync log-000001.segment", "sync " + directory_.name(),
                                       "sync MANIFEST.tmp", "rename MANIFEST", "sync " + directory_.name()));
}

// The table is durable before the header page that speaks of it.
TEST_F(LogSteps, AReusedSegmentIsDurableBeforeItIsListed) {
  const auto manifest = make_manifest();
  must(make_segment(*manifest, {.number = 1}, {.segment_bytes = block_offset(4)}));
  must(manifest->update([](Manifest& changed) { changed.segments.clear(); }));
  SegmentFileOptions options{.segment_bytes = block_offset(4)};
  options.spare = SpareSegment{"", path("log-000001.segment"), 1};
  const DurableSteps steps;
  must(make_segment(*manifest, {.number = 2}, options));
  EXPECT_THAT(steps.get(), ElementsAre("sync log-000001.segment", "sync log-000001.segment",
                                       "rename log-000002.segment", "sync " + directory_.name(),
                                       "sync MANIFEST.tmp", "rename MANIFEST", "sync " + directory_.name()));
}

TEST_F(LogSteps, ALeftoverIsGoneForGoodBeforeServersHoldTheSegmentOfItsName) {
  const auto manifest = make_manifest();
  std::filesystem::create_directory(path(kRemoteFolder));
  { std::ofstream(path(remote_segment_file(1))) << "of another life"; }
  RemoteSegments segments(*manifest, block_offset(4), /*files=*/3);
  const DurableSteps steps;
  must(segments.make(1, [] { return false; }));
  EXPECT_FALSE(std::filesystem::exists(path(remote_segment_file(1))));
  EXPECT_THAT(steps.get(), ElementsAre(std::string("sync ") + kRemoteFolder, "sync MANIFEST.tmp",
                                       "rename MANIFEST", "sync " + directory_.name()));
}

TEST_F(LogSteps, AnArchivedFileHasADurableName) {
  { std::ofstream(path("log-000001.segment")) << "records"; }
  const std::string archive = path("archive");
  ASSERT_EQ(::mkdir(archive.c_str(), 0777), 0);
  const DurableSteps steps;
  must(keep_in_archive(archive, path("log-000001.segment")));
  EXPECT_THAT(steps.get(),
              ElementsAre("sync " + directory_.name(), "rename log-000001.segment", "sync archive"));
}

// A killed process may have left its last block in a cache alone. Where its sync had failed, another sync
// would not write it.
TEST_F(LogSteps, WhatAFormerLifeLeftIsWrittenAgainAndSyncedBeforeTheNextLifeBegins) {
  {
    auto opened = test::open_for_work(directory_.path(), test::small_log());
    ASSERT_TRUE(append_durably(*opened.log, 0, 5));
  }
  const auto manifest = must(ManifestFile::open(directory_.path()));
  const LogContents log = must(read_log(directory_.path(), manifest->current(), {}));
  ASSERT_GT(log.end, log.durable_seen) << "no later block says so of the last";
  const std::string segment = log.place_of(log.durable_seen).file;
  const timespec long_ago[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path(segment).c_str(), long_ago, 0), 0);
  const DurableSteps steps;
  must(begin_incarnation(*manifest, log));
  struct stat facts {};
  ASSERT_EQ(::stat(path(segment).c_str(), &facts), 0);
  EXPECT_GT(facts.st_mtim.tv_sec, 1) << "not written";
  EXPECT_THAT(steps.get(), ElementsAre("sync " + segment, "sync MANIFEST.tmp", "rename MANIFEST",
                                       "sync " + directory_.name()));
  EXPECT_EQ(test::end_on(directory_.path()), 5u);
}

// The manifest that it replaced may list the file, and a power failure may bring that manifest back.
TEST_F(LogSteps, WhatAManifestDoesNotListStaysUntilThatIsDurable) {
  const auto manifest = make_manifest();
  must(remove_unlisted_files(*manifest));
  {
    std::ofstream(path("log-000003.segment"))
        << "of a life whose end came before the manifest's last change was durable";
  }
  {
    const test::FailingSyncs failing(directory_.name());
    EXPECT_FALSE(remove_unlisted_files(*manifest).ok());
  }
  EXPECT_TRUE(std::filesystem::exists(path("log-000003.segment")));
  const DurableSteps steps;
  must(remove_unlisted_files(*manifest));
  EXPECT_FALSE(std::filesystem::exists(path("log-000003.segment")));
  EXPECT_THAT(steps.get(), ElementsAre("sync MANIFEST.tmp", "rename MANIFEST", "sync " + directory_.name()));
}

// An opening that brings a log home may fail to sync the files' names. The next opening does not take them
// for durable, and brings them home again.
TEST_F(LogSteps, NamesThatMayBeLostAreNotTakenForBroughtHome) {
  const test::ServerProcess server;
  DurableLogOptions remote = test::small_log();
  remote.device = LogDeviceKind::kRemote;
  remote.device_options.remote.servers = server.address().text();
  remote.device_options.remote.files = 200;  // no checkpoints are taken
  {
    auto opened = must(test::open_remote(directory_.path(), remote));
    ASSERT_TRUE(append_durably(*opened.log, 0, 2000));
  }
  {
    const test::FailingSyncs failing(kRemoteFolder);
    test::expect_refused(claim_remote_log(directory_.path(), remote), ErrorKind::kFailed,
                         "cannot sync the directory " + path(kRemoteFolder));
  }
  EXPECT_TRUE(std::filesystem::is_empty(path(kRemoteFolder)));
  must(claim_remote_log(directory_.path(), remote));
  EXPECT_EQ(test::end_on(directory_.path()), 2000u);
  // And an engine that finds them at home makes sure of their names, as the one that brought them may have
  // been killed before that.
  const DurableSteps steps;
  must(claim_remote_log(directory_.path(), remote));
  EXPECT_THAT(steps.get(), ElementsAre(std::string("sync ") + kRemoteFolder));
}

}  // namespace
}  // namespace mneme
