// Goal: a log in servers' memories loses nothing that was acknowledged while enough copies live, and says so
// when they don't: SepLog's crash scenarios (6.1.1, 6.1.2), and those of several servers and of terms.
// Method: servers in processes of their own; engines in this one, or in a child that is killed; then the log
// is read as recovery reads it. A record's payload tells its number, so a missing or foreign one shows.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <thread>

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
using test::end_of;
using test::end_on;
using test::has_file;
using test::must;
using test::open_remote;
using test::remote_log;
using test::run_killed_engine;
using test::Servers;
using test::start_servers;
using test::TemporaryDirectory;

TEST(RemoteLog, LiesInTheServersMemoryAndComesHomeWithTheNextOpening) {
  const Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  {
    auto opened = must(open_remote(directory.path(), remote_log(servers)));
    ASSERT_TRUE(append_durably(*opened.log, 0, 2000));
    EXPECT_GT(opened.manifest->current().segments.size(), 2u);
  }
  EXPECT_FALSE(has_file(directory.path(), 1));
  EXPECT_EQ(end_on(directory.path()), 2000u);
  EXPECT_FALSE(has_file(directory.path(), 1)) << "who only reads changes nothing";
  {
    auto opened = must(open_remote(directory.path(), remote_log(servers)));
    EXPECT_TRUE(has_file(directory.path(), 1));
    ASSERT_TRUE(append_durably(*opened.log, 2000, 2500));
  }
  EXPECT_EQ(end_on(directory.path()), 2500u);
}

TEST(RemoteLog, OneServerUnderTwoNamesIsRefused) {
  const Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  DurableLogOptions options = remote_log(servers);
  options.device_options.remote.servers += fmt::format(",localhost:{}", servers[0]->address().port);
  const auto opened = open_remote(directory.path(), options);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("are one, which counts once"), std::string::npos)
      << opened.error().message;
}

TEST(RemoteLog, MoreServersThanThreeAreRefused) {
  const TemporaryDirectory directory;
  DurableLogOptions options = test::small_log();
  options.device = LogDeviceKind::kRemote;
  options.device_options.remote.servers = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4";
  const auto manifest = must(ManifestFile::create(directory.path(), test::new_manifest()));
  must(begin_incarnation(*manifest, LogContents{}));
  constexpr std::string_view kWords = "4 log servers: there are 3 at most";
  test::expect_refused(open_directory_log(*manifest, options), ErrorKind::kInvalidArgument, kWords);
  // Before any server is asked, or hears of a new term.
  test::expect_refused(check_log_servers(options), ErrorKind::kInvalidArgument, kWords);
  test::expect_refused(claim_remote_log(directory.path(), options), ErrorKind::kInvalidArgument, kWords);
}

// The manifest's checksum is right, and it names no server that could be asked.
TEST(RemoteLog, AManifestThatNamesNoHolderIsRefused) {
  const TemporaryDirectory directory;
  const auto manifest = must(ManifestFile::create(directory.path(), test::new_manifest()));
  must(begin_incarnation(*manifest, LogContents{}));
  must(manifest->update([](Manifest& changed) {
    changed.segments.push_back({remote_segment_file(1), 1, 1});
  }));
  test::expect_refused(test::read_directory(directory.path()), ErrorKind::kDamaged,
                       "lists log segments in memories, and names no log servers");
  for (const char* kind : {"pigeons", "file"}) {
    must(manifest->update([&](Manifest& changed) {
      changed.attributes[kLogServersAttribute] = "127.0.0.1:1";
      changed.attributes[kLogKindAttribute] = kind;
    }));
    const std::string words =
        fmt::format("the manifest says that the log lies on {}, which this program doesn't know", kind);
    test::expect_refused(test::read_directory(directory.path()), ErrorKind::kDamaged, words);
    test::expect_refused(claim_remote_log(directory.path(), test::small_log()), ErrorKind::kDamaged, words);
  }
}

// A segment's file that a crash has left: its number comes up again, for a segment in the servers' memories.
TEST(RemoteLog, ALeftoverFilePassesForNoSegment) {
  const Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() + "/" + kRemoteFolder);
  { std::ofstream(directory.path() + "/" + remote_segment_file(1)) << "of another life"; }
  {
    auto opened = must(open_remote(directory.path(), remote_log(servers)));
    ASSERT_TRUE(append_durably(*opened.log, 0, 100));
  }
  EXPECT_EQ(end_on(directory.path()), 100u);
}

// 6.1.1: the engine dies. Both with the server up all the time, and ended and started again before recovery.
TEST(RemoteLog, SurvivesItsEngine) {
  Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  uint64_t acknowledged = 0;
  for (uint64_t round = 0; round < 4; ++round) {
    const uint64_t begin = round == 0 ? 0 : end_on(directory.path());
    acknowledged = run_killed_engine(directory.path(), remote_log(servers), begin, round);
    EXPECT_GT(acknowledged, begin);
    if (round % 2 == 1) {
      EXPECT_TRUE(servers[0]->terminate());
      servers[0]->start();
    }
    EXPECT_GE(end_on(directory.path()), acknowledged);
  }
}

// The engine's own copy goes to its disk when the last server is gone.
TEST(RemoteLog, SurvivesItsServer) {
  Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  {
    auto opened = must(open_remote(directory.path(), remote_log(servers)));
    ASSERT_TRUE(append_durably(*opened.log, 0, 1500));
    servers[0]->kill_now();
    EXPECT_FALSE(append_durably(*opened.log, 1500, 1510));
    ASSERT_TRUE(opened.log->failure().has_value());
    EXPECT_NE(opened.log->failure()->message.find("was saved in the data directory"), std::string::npos)
        << opened.log->failure()->message;
  }
  EXPECT_GE(end_on(directory.path()), 1500u);
  servers[0]->start();
  const uint64_t end = end_on(directory.path());
  {
    auto opened = must(open_remote(directory.path(), remote_log(servers)));
    EXPECT_TRUE(append_durably(*opened.log, end, end + 100));
  }
  EXPECT_EQ(end_on(directory.path()), end + 100);
}

// 6.1.2: the only copy is lost.
TEST(RemoteLog, TellsThatItsCopyCannotBeSavedEither) {
  Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  auto opened = must(open_remote(directory.path(), remote_log(servers)));
  ASSERT_TRUE(append_durably(*opened.log, 0, 100));
  // In one step, as the next segment's file may come and go meanwhile.
  std::filesystem::rename(directory.path() + "/" + kRemoteFolder, directory.path() + "/elsewhere");
  servers[0]->kill_now();
  EXPECT_FALSE(append_durably(*opened.log, 100, 110));
  ASSERT_TRUE(opened.log->failure().has_value());
  test::expect_error(*opened.log->failure(), ErrorKind::kFailed,
                     "0 of 1 log servers are there, and 1 are needed");
  test::expect_error(*opened.log->failure(), ErrorKind::kFailed,
                     ", and the log can't be saved here either: ");
}

TEST(RemoteLog, RefusesToRecoverWithoutItsOnlyCopy) {
  Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  auto opened = must(open_remote(directory.path(), remote_log(servers)));
  ASSERT_TRUE(append_durably(*opened.log, 0, 100));
  // An engine that dies without having saved its copy: what the directory is then.
  const TemporaryDirectory left;
  copy_directory(directory.path(), left.path());
  servers[0]->kill_now();

  const auto unreachable = test::read_directory(left.path());
  ASSERT_FALSE(unreachable.ok());
  EXPECT_EQ(unreachable.error().kind, ErrorKind::kFailed)
      << "it may yet come back: " << unreachable.error().message;

  servers[0]->start();
  const auto lost = test::read_directory(left.path());
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().kind, ErrorKind::kDamaged);
  EXPECT_NE(lost.error().message.find("Restore the data directory from a backup"), std::string::npos)
      << lost.error().message;
  const auto claim = claim_remote_log(left.path(), remote_log(servers));
  EXPECT_FALSE(claim.ok());
}

TEST(RemoteLog, GoesOnWithAMajorityAndTakesServersBack) {
  Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  std::vector<std::string> told;
  DurableLogOptions options = remote_log(servers);
  options.device_options.remote.tell = [&](const std::string& sentence) { told.push_back(sentence); };
  auto opened = must(open_remote(directory.path(), options));
  ASSERT_TRUE(append_durably(*opened.log, 0, 500));
  uint64_t number = 500;
  // Each in turn, so that the log goes on only if those that came back count.
  for (size_t turn = 0; turn < 3; ++turn) {
    servers[turn]->kill_now();
    ASSERT_TRUE(append_durably(*opened.log, number, number + 200)) << opened.log->failure()->message;
    servers[turn]->start();
    // The server itself reports that its copy is whole again.
    const auto is_whole = [&] {
      HelloMessage hello;
      hello.database_id = test::new_manifest().database_id;
      auto reader = LogConnection::open(servers[turn]->address(), nullptr, hello, std::chrono::seconds(5));
      return reader.ok() && must(reader->list()).whole_term == 1;
    };
    for (int i = 0; i < 500 && !is_whole(); ++i) {
      ASSERT_TRUE(append_durably(*opened.log, number + 200, number + 201));
      ++number;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(is_whole());
    number += 200;
  }
  ASSERT_TRUE(append_durably(*opened.log, number, number + 10));
  opened.log.reset();
  const auto count = [&](std::string_view part) {
    return std::ranges::count_if(
        told, [&](const std::string& each) { return each.find(part) != std::string::npos; });
  };
  EXPECT_EQ(count(" is lost ("), 3);
  EXPECT_EQ(count(" is back, and has been sent all of the log"), 3);
  servers[0]->kill_now();
  EXPECT_EQ(end_on(directory.path()), number + 10) << "two of three are enough to read";
  servers[1]->kill_now();
  const auto one_left = test::read_directory(directory.path());
  EXPECT_FALSE(one_left.ok()) << "one may lack what the two others acknowledged";
}

// One that lay in no majority since, as it has the former life's log yet, stands in for a copy that is lost.
TEST(RemoteLog, AServerThatNeverHadTheLogIsNoneThatMayHaveLostIt) {
  Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  {
    auto opened = must(open_remote(directory.path(), remote_log(servers)));
    ASSERT_TRUE(append_durably(*opened.log, 0, 500));
  }
  EXPECT_TRUE(servers[1]->terminate());
  // An engine that dies without having saved its copy: what the directory is then.
  const TemporaryDirectory left;
  {
    auto opened = must(open_remote(directory.path(), remote_log(servers)));
    ASSERT_TRUE(append_durably(*opened.log, 500, 1000));
    copy_directory(directory.path(), left.path());
    servers[0]->kill_now();
  }
  servers[0]->start();
  const auto may_have_it = test::read_directory(left.path());
  ASSERT_FALSE(may_have_it.ok());
  EXPECT_EQ(may_have_it.error().kind, ErrorKind::kFailed) << may_have_it.error().message;
  servers[1]->start();
  EXPECT_EQ(end_on(left.path()), 1000u);
}

// A server that was away when a checkpoint passed segments still holds these: more bytes than the others, not
// newer ones.
TEST(RemoteLog, TheCopyThatGoesFurthestIsTakenAndNotTheBiggest) {
  Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  auto opened = must(open_remote(directory.path(), remote_log(servers)));
  uint64_t number = 3000;
  ASSERT_TRUE(append_durably(*opened.log, 0, number));
  EXPECT_TRUE(servers[2]->terminate());
  const Lsn lsn = opened.log->durable();
  must(opened.manifest->update([&](Manifest& manifest) { manifest.checkpoint_lsn = lsn; }));
  for (; opened.manifest->current().segments.front().number == 1; number += 10) {
    ASSERT_LT(number, 6000u) << "no segment is let go of";
    ASSERT_TRUE(append_durably(*opened.log, number, number + 10));
  }
  ASSERT_TRUE(append_durably(*opened.log, number, number + 10));  // by the end of this they are let go of
  number += 10;
  opened.log.reset();
  servers[2]->start();
  servers[1]->kill_now();
  const auto log = must(test::read_directory(directory.path()));
  EXPECT_EQ(end_of(log, number - log.records.size()), number);
  EXPECT_LT(log.records.size(), number / 2) << "the server that was away has more of the log than this one";
}

// An engine that finds too few servers to go on leaves those that answer as they are: a term claimed there
// would depose an engine at work.
TEST(RemoteLog, ClaimsNothingWhereItCannotGoOn) {
  Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  auto opened = must(open_remote(directory.path(), remote_log(servers)));
  ASSERT_TRUE(append_durably(*opened.log, 0, 100));
  const TemporaryDirectory other;
  copy_directory(directory.path(), other.path());
  DurableLogOptions two_unknown = remote_log(servers);
  two_unknown.device_options.remote.servers = servers[0]->address().text() + ",127.0.0.1:1,127.0.0.1:2";
  EXPECT_FALSE(claim_remote_log(other.path(), two_unknown).ok());
  EXPECT_TRUE(append_durably(*opened.log, 100, 200)) << opened.log->failure()->message;
}

TEST(RemoteLog, AHungServerHoldsNobodyUp) {
  Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  auto opened = must(open_remote(directory.path(), remote_log(servers)));
  servers[1]->freeze();
  EXPECT_TRUE(append_durably(*opened.log, 0, 2000));
  servers[1]->thaw();
  EXPECT_TRUE(append_durably(*opened.log, 2000, 2100));
}

// A deposed engine acknowledges nothing after the promotion of another.
TEST(RemoteLog, ObeysTheNewestTermAlone) {
  const Servers servers = start_servers(3);
  const TemporaryDirectory directory;
  auto deposed = must(open_remote(directory.path(), remote_log(servers)));
  ASSERT_TRUE(append_durably(*deposed.log, 0, 300));
  const TemporaryDirectory other;
  copy_directory(directory.path(), other.path());
  auto promoted = must(open_remote(other.path(), remote_log(servers)));
  EXPECT_FALSE(append_durably(*deposed.log, 300, 301));
  EXPECT_NE(deposed.log->failure()->message.find("refuses this engine"), std::string::npos)
      << deposed.log->failure()->message;
  EXPECT_TRUE(append_durably(*promoted.log, 300, 400));
  promoted.log.reset();
  EXPECT_EQ(end_on(other.path()), 400u);
  const auto former = test::read_directory(directory.path());
  EXPECT_FALSE(former.ok()) << "the servers have another engine's log now";
}

// The log goes round: without a checkpoint it stops before it writes over anything; each checkpoint lets it
// go on.
TEST(RemoteLog, GoesRoundBehindCheckpoints) {
  const Servers servers = start_servers(1);
  const TemporaryDirectory directory;
  DurableLogOptions options = remote_log(servers);
  options.device_options.remote.files = 3;
  auto opened = must(open_remote(directory.path(), options));
  std::atomic<uint64_t> durable{0};
  constexpr uint64_t kEnd = 12'000;
  std::thread engine([&] {
    for (uint64_t number = 0; number < kEnd; number += 10) {
      ASSERT_TRUE(append_durably(*opened.log, number, number + 10));
      durable.store(number + 10, std::memory_order_release);
    }
  });
  // Until then it may have stood still for want of a processor.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!opened.log->wants_checkpoint() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  uint64_t stood_at = 0;
  for (uint64_t before = ~uint64_t{0}; before != stood_at;) {
    before = std::exchange(stood_at, durable.load(std::memory_order_acquire));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (stood_at == 0) before = ~uint64_t{0};
  }
  EXPECT_LT(stood_at, kEnd / 2) << "three segments can't hold more";
  EXPECT_TRUE(opened.log->wants_checkpoint());
  uint64_t from = 0;
  while (durable.load(std::memory_order_acquire) < kEnd) {
    if (!opened.log->wants_checkpoint()) continue;
    // As a checkpoint would: all below is held by it, and durable. Some of the ten that are being written may
    // be.
    const Lsn lsn = opened.log->durable();
    from = std::min(durable.load(std::memory_order_acquire) + 10, kEnd);
    must(opened.manifest->update([&](Manifest& manifest) { manifest.checkpoint_lsn = lsn; }));
    EXPECT_LE(opened.manifest->current().segments.size(), 3u);
  }
  engine.join();
  opened.log.reset();
  const auto log = must(test::read_directory(directory.path()));
  EXPECT_EQ(end_of(log, kEnd - log.records.size()), kEnd);
  EXPECT_GE(log.records.size(), kEnd - from) << "all behind the last checkpoint is there";
  EXPECT_LT(log.records.size(), kEnd / 2);
}

TEST(RemoteLog, TravelsInTls) {
  const TemporaryDirectory directory;
  const std::string key_file = directory.path() + "/key";
  { std::ofstream(key_file) << std::string(64, 'k') << '\n'; }
  ASSERT_EQ(::chmod(key_file.c_str(), 0600), 0);
  const Servers servers = start_servers(2, must(read_key_file(key_file)));
  DurableLogOptions options = remote_log(servers);
  EXPECT_FALSE(open_remote(directory.path(), options).ok()) << "no key";
  options.device_options.remote.key_file = key_file;
  {
    auto opened = must(open_remote(directory.path(), options));
    ASSERT_TRUE(append_durably(*opened.log, 0, 1000));
  }
  EXPECT_EQ(end_on(directory.path()), 1000u);
}

// Engines and servers are killed, hung, ended in order and started again, as chance has it, but a majority of
// the copies lives: nothing that was acknowledged is ever lost.
TEST(RemoteLog, RandomKillsLoseNothing) {
  const char* wanted = std::getenv("MNEME_REMOTE_ROUNDS");
  const uint64_t rounds = wanted == nullptr ? 8 : std::strtoull(wanted, nullptr, 10);
  std::mt19937_64 random(20261122);
  Servers servers = start_servers(3);
  std::optional<TemporaryDirectory> directory;
  uint64_t begin = 0;
  uint64_t went_on = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    if (round % 8 == 0) {
      directory.emplace();
      begin = 0;
    }
    const size_t victim = random() % 3;
    const uint64_t kind = random() % 4;
    const auto delay = std::chrono::microseconds(random() % 30'000);
    std::thread trouble;
    const auto make_trouble = [&] {
      std::this_thread::sleep_for(delay);
      if (kind == 0) servers[victim]->kill_now();
      if (kind == 1) servers[victim]->terminate();
      if (kind == 2) servers[victim]->freeze();
    };
    DurableLogOptions options = remote_log(servers);
    // An opening waits for a hung server several times over, and the child may not be silent for long.
    options.device_options.remote.patience = std::chrono::milliseconds(500);
    const uint64_t acknowledged =
        run_killed_engine(directory->path(), options, begin, random(), 1 + random() % 40,
                          [&] { trouble = std::thread(make_trouble); });
    trouble.join();
    went_on += acknowledged > begin ? 1 : 0;
    if (kind == 2) servers[victim]->thaw();
    bool is_down = kind <= 1;
    const auto come_back = [&] {
      if (is_down) servers[victim]->start();
      is_down = false;
    };
    if (random() % 2 == 0) come_back();
    // Where the trouble came before the engine had opened, the log is still the one of the round before, of
    // which another server may have lost its copy. Then this one's is needed, and the refusal says that it
    // may yet come.
    if (const auto log = test::read_directory(directory->path()); !log.ok()) {
      ASSERT_TRUE(is_down) << "round " << round << ": " << log.error().message;
      ASSERT_EQ(log.error().kind, ErrorKind::kFailed) << "round " << round << ": " << log.error().message;
      come_back();
    }
    const uint64_t end = end_on(directory->path());
    ASSERT_GE(end, acknowledged) << "round " << round << ": kind " << kind << " of server " << victim;
    come_back();
    begin = end;
  }
  EXPECT_GT(went_on, 0u) << "no engine has acknowledged anything";
}

}  // namespace
}  // namespace mneme
