// Goal: a directory that is older than its log, or knows a term that no other follows, is refused, and
// nothing is claimed or written for it. Method: copies of a directory, made while or before its log went on
// at servers in processes of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/testing/test_refusal.h"
#include "logging/reading/remote_recovery.h"
#include "logging/testing/test_log_servers.h"
#include "network/log_connection.h"
#include "network/log_server.h"
#include "network/saved_log.h"

namespace mneme {
namespace {

using test::append_durably;
using test::copy_directory;
using test::end_on;
using test::must;
using test::open_remote;
using test::remote_log;
using test::ServerProcess;
using test::Servers;
using test::start_servers;
using test::TemporaryDirectory;

uint32_t last_segment(const Manifest& manifest) {
  return manifest.segments.back().number;
}

FilesMessage files_on(const ServerProcess& server) {
  HelloMessage hello;
  hello.database_id = test::new_manifest().database_id;
  return must(must(LogConnection::open(server.address(), nullptr, hello, std::chrono::seconds(5))).list());
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

// Neither to read nor to work with, and nothing is claimed or written for it.
void expect_too_old(const std::string& directory, const Servers& servers) {
  const std::vector<std::string> before = names_in(directory + "/" + kRemoteFolder);
  const auto read = test::read_directory(directory);
  ASSERT_FALSE(read.ok()) << "records that were acknowledged would be missing";
  EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
  EXPECT_NE(read.error().message.find("older than its log"), std::string::npos) << read.error().message;
  const auto claim = claim_remote_log(directory, remote_log(servers));
  ASSERT_FALSE(claim.ok());
  EXPECT_NE(claim.error().message.find("older than its log"), std::string::npos) << claim.error().message;
  EXPECT_EQ(names_in(directory + "/" + kRemoteFolder), before);
}

// A copy of the directory doesn't know the segments that were begun after it was made: it must not pass for
// the database. There is none above it: 0 would be one that no engine claimed.
TEST(RemoteLog, TheLastTermOfAllIsFollowedByNone) {
  const auto servers = start_servers(1);
  const TemporaryDirectory directory;
  const DurableLogOptions options = remote_log(servers);
  uint64_t database_id = 0;
  {
    auto opened = must(open_remote(directory.path(), options));
    ASSERT_TRUE(append_durably(*opened.log, 0, 10));
    database_id = opened.manifest->current().database_id;
  }
  ASSERT_TRUE(servers[0]->terminate());
  ASSERT_TRUE(
      keep_term(servers[0]->directory(), database_id, {std::numeric_limits<uint32_t>::max(), 66}).ok());
  servers[0]->start();
  test::expect_refused(claim_remote_log(directory.path(), options), ErrorKind::kFailed,
                       "and there is none above it");
  ASSERT_TRUE(servers[0]->terminate());
  std::filesystem::remove(fmt::format("{}/{:016x}.term", servers[0]->directory(), database_id));
  servers[0]->start();
  auto opened = must(open_remote(directory.path(), options));
  ASSERT_TRUE(append_durably(*opened.log, 10, 20));
}

TEST(RemoteLog, LiesBehindAUnixSocketToo) {
  const TemporaryDirectory directory;
  LogServerOptions served;
  served.directory = directory.path() + "/logd";
  served.listen.path = directory.path() + "/socket";
  auto server = must(LogServer::start(served));
  std::thread thread([&] { EXPECT_TRUE(server->run().ok()); });
  {
    DurableLogOptions options = remote_log({});
    options.device_options.remote.servers = server->address().text();
    const std::string database = directory.path() + "/database";
    std::filesystem::create_directory(database);
    auto opened = must(open_remote(database, options));
    ASSERT_TRUE(append_durably(*opened.log, 0, 100));
    opened.log.reset();
    EXPECT_EQ(end_on(database), 100u);
  }
  server->stop();
  thread.join();
}

TEST(RemoteLog, RefusesACopyThatTheLogHasGoneOnWithout) {
  const Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  auto opened = must(open_remote(directory.path(), remote_log(servers)));
  ASSERT_TRUE(append_durably(*opened.log, 0, 300));
  const TemporaryDirectory older;
  copy_directory(directory.path(), older.path());
  const uint32_t last_known = last_segment(must(read_manifest(older.path())));
  uint64_t number = 300;
  for (; last_segment(opened.manifest->current()) < last_known + 3; number += 50) {
    ASSERT_TRUE(append_durably(*opened.log, number, number + 50));
  }
  expect_too_old(older.path(), servers);
  EXPECT_TRUE(append_durably(*opened.log, number, number + 10)) << "nobody was deposed";
  opened.log.reset();
  EXPECT_EQ(end_on(directory.path()), number + 10) << "the newer copy is the database";
}

// Nor does it know that a checkpoint has passed some of its segments, even where no other was begun.
TEST(RemoteLog, RefusesACopyWhoseSegmentsTheLogHasLetGoOf) {
  const Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  DurableLogOptions options = remote_log(servers);
  options.device_options.remote.files = 6;
  auto opened = must(open_remote(directory.path(), options));
  uint64_t number = 0;
  for (; !opened.log->wants_checkpoint(); number += 10) {
    ASSERT_TRUE(append_durably(*opened.log, number, number + 10));
  }
  const TemporaryDirectory older;
  copy_directory(directory.path(), older.path());
  const Lsn lsn = opened.log->durable();
  must(opened.manifest->update([&](Manifest& manifest) { manifest.checkpoint_lsn = lsn; }));
  EXPECT_FALSE(opened.log->wants_checkpoint()) << "segments have become free";
  ASSERT_TRUE(append_durably(*opened.log, number, number + 1));
  ASSERT_TRUE(append_durably(*opened.log, number + 1, number + 2));  // by the end of this they are let go of
  const FilesMessage left = files_on(*servers[0]);
  ASSERT_LT(left.files.size(), 3u);
  EXPECT_LE(left.files.back().number, last_segment(must(read_manifest(older.path()))));
  expect_too_old(older.path(), servers);
  EXPECT_TRUE(append_durably(*opened.log, number + 2, number + 3)) << "nobody was deposed";
}

// An engine at work makes a segment's name and removes it, to be sure that it is gone: a copy of its
// directory may have caught that.
TEST(RemoteLog, AnEmptyFileDoesNotPassForASegment) {
  const Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  auto opened = must(open_remote(directory.path(), remote_log(servers)));
  ASSERT_TRUE(append_durably(*opened.log, 0, 300));
  const TemporaryDirectory copied;
  copy_directory(directory.path(), copied.path());
  opened.log.reset();
  for (const SegmentEntry& each : must(read_manifest(copied.path())).segments) {
    ASSERT_TRUE(std::ofstream(copied.path() + "/" + each.file).good());
  }
  EXPECT_EQ(end_on(copied.path()), 300u);
  EXPECT_EQ(must(open_remote(copied.path(), remote_log(servers))).manifest->current().incarnations.size(),
            2u);
}

}  // namespace
}  // namespace mneme
