// Goal: a log on NATS JetStream or Kafka loses nothing that was acknowledged while a majority of its copies
// lives, has nothing twice, obeys the newest term alone, and says so when it is lost. Method: real NATS
// servers, which are killed, hung and started again beside an engine, and the Kafka library's own mock of
// brokers; then the log is read as recovery and a standby read it. A record's payload holds its number, so a
// missing or foreign one shows.
#include "logging/replicated/replicated_log.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <thread>

#include "logging/replicated/replicated_message.h"
#include "logging/testing/test_kafka_brokers.h"
#include "logging/testing/test_nats_servers.h"
#include "logging/testing/test_remote_log.h"
#include "logging/testing/test_replicated_log.h"

namespace mneme {
namespace {

using std::chrono::milliseconds;
using test::append_durably;
using test::copy_directory;
using test::end_of;
using test::end_on;
using test::has_file;
using test::KafkaBrokers;
using test::must;
using test::NatsServers;
using test::open_remote;
using test::TemporaryDirectory;

TEST(ReplicatedMessage, IsReadAsWrittenAndNoOtherwise) {
  const auto content = test::payload_of(7, 5000);
  const ReplicatedHeader header{0x1234, {3, 99}, 17, 8192, 5000};
  const std::vector<std::byte> message = header.encode(content);
  const ReplicatedHeader read = must(ReplicatedHeader::decode(message, 0x1234, "it"));
  EXPECT_EQ(read.database_id, 0x1234u);
  EXPECT_EQ(read.term, (LogTerm{3, 99}));
  EXPECT_EQ(read.segment, 17u);
  EXPECT_EQ(read.offset, 8192u);
  EXPECT_EQ(read.length, 5000u);
  EXPECT_EQ(ReplicatedHeader::decode(message, 0x4321, "it").error().kind, ErrorKind::kInvalidArgument);
  for (size_t bit = 0; bit < 8 * kReplicatedHeaderBytes; ++bit) {
    auto changed = message;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(ReplicatedHeader::decode(changed, 0, "it").ok()) << "bit " << bit;
  }
  for (const size_t size : {size_t{0}, size_t{47}, size_t{48}, message.size() - 1}) {
    EXPECT_FALSE(ReplicatedHeader::decode(ByteSpan(message).first(size), 0, "it").ok()) << size << " bytes";
  }
}

DurableLogOptions nats_log(const NatsServers& servers, uint32_t replicas) {
  DurableLogOptions options = test::small_log();
  options.device = LogDeviceKind::kNats;
  options.device_options.remote.servers = servers.addresses();
  options.device_options.remote.replicas = replicas;
  options.device_options.remote.files = 200;  // no checkpoints are taken
  return options;
}

ReplicatedLogOptions reading(const DurableLogOptions& options) {
  return replicated_log_options(options.device, options.device_options.remote,
                                test::new_manifest().database_id);
}

// Each piece in its place, none twice, until the message at `end`; returns how many bytes each segment of the
// term has.
std::map<uint32_t, uint64_t> read_all(ReplicatedReader& reader, uint64_t end, uint64_t term) {
  std::map<uint32_t, uint64_t> segments;
  for (uint64_t at = must(reader.first()); at < end;) {
    const auto pieces = must(reader.read(at, milliseconds(5000)));
    EXPECT_FALSE(pieces.empty());
    if (pieces.empty()) break;
    for (const ReplicatedPiece& piece : pieces) {
      EXPECT_GE(piece.position, at);
      at = piece.position + 1;
      if (piece.term != term || piece.bytes.empty()) continue;
      EXPECT_EQ(piece.offset, segments[piece.segment]) << "segment " << piece.segment;
      segments[piece.segment] += piece.bytes.size();
    }
  }
  return segments;
}

TEST(NatsLog, IsReadByAStandbyAndComesHomeWithTheNextOpening) {
  const NatsServers servers(1);
  const TemporaryDirectory directory;
  const DurableLogOptions options = nats_log(servers, 1);
  {
    auto opened = must(open_remote(directory.path(), options));
    ASSERT_TRUE(append_durably(*opened.log, 0, 2000));
    EXPECT_GT(opened.manifest->current().segments.size(), 2u);
  }
  EXPECT_FALSE(has_file(directory.path(), 1));
  EXPECT_EQ(end_on(directory.path()), 2000u);
  EXPECT_FALSE(has_file(directory.path(), 1)) << "who only reads changes nothing";

  auto reader = must(open_replicated_reader(reading(options)));
  const uint64_t end = must(reader->end());
  EXPECT_GT(read_all(*reader, end, 1).size(), 2u);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(must(reader->read(end, milliseconds(100))).empty()) << "nothing has come yet";
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(100));
  {
    auto opened = must(open_remote(directory.path(), options));
    EXPECT_TRUE(has_file(directory.path(), 1));
    const auto begun = must(reader->read(end, milliseconds(5000)));
    ASSERT_FALSE(begun.empty());
    EXPECT_TRUE(begun.front().bytes.empty());
    EXPECT_EQ(begun.front().term, 2u);
    ASSERT_TRUE(append_durably(*opened.log, 2000, 2500));
  }
  EXPECT_EQ(end_on(directory.path()), 2500u);

  // On with files, and back.
  DurableLogOptions file = options;
  file.device = LogDeviceKind::kFile;
  {
    auto opened = must(open_remote(directory.path(), file));
    ASSERT_TRUE(append_durably(*opened.log, 2500, 2600));
  }
  EXPECT_EQ(end_on(directory.path()), 2600u);
  {
    auto opened = must(open_remote(directory.path(), options));
    ASSERT_TRUE(append_durably(*opened.log, 2600, 2700));
  }
  EXPECT_EQ(end_on(directory.path()), 2700u);
}

TEST(NatsLog, ObeysTheNewestTermAlone) {
  const NatsServers servers(1);
  const TemporaryDirectory directory;
  const DurableLogOptions options = nats_log(servers, 1);
  auto deposed = must(open_remote(directory.path(), options));
  ASSERT_TRUE(append_durably(*deposed.log, 0, 300));
  const TemporaryDirectory other;
  copy_directory(directory.path(), other.path());
  auto promoted = must(open_remote(other.path(), options));
  EXPECT_FALSE(append_durably(*deposed.log, 300, 301));
  EXPECT_NE(deposed.log->failure()->message.find("refuses this engine"), std::string::npos)
      << deposed.log->failure()->message;
  EXPECT_FALSE(has_file(directory.path(), 1))
      << "what it holds is not the log any more, and not saved as such";
  EXPECT_TRUE(append_durably(*promoted.log, 300, 400));

  // A standby that is promoted.
  auto standby = must(open_replicated_reader(reading(options)));
  EXPECT_EQ(standby->fence(2).error().kind, ErrorKind::kFailed) << "that term has begun";
  const uint64_t end = must(standby->fence(7));
  EXPECT_EQ(must(standby->end()), end + 1);
  EXPECT_FALSE(append_durably(*promoted.log, 400, 401));
  promoted.log.reset();
  EXPECT_EQ(must(standby->end()), end + 1) << "nothing came behind the fence";
  EXPECT_EQ(end_on(other.path()), 400u);

  const auto former = test::read_directory(directory.path());
  ASSERT_FALSE(former.ok()) << "the servers have another engine's log now";
  EXPECT_NE(former.error().message.find("older than its log"), std::string::npos) << former.error().message;
}

// A copy of the directory doesn't know the segments that were begun, or let go of, after it was made.
TEST(NatsLog, LetsGoOfWhatACheckpointHasPassedAndRefusesOlderCopies) {
  const NatsServers servers(1);
  const TemporaryDirectory directory;
  DurableLogOptions options = nats_log(servers, 1);
  options.device_options.remote.files = 4;
  auto opened = must(open_remote(directory.path(), options));
  const TemporaryDirectory unaware;
  copy_directory(directory.path(), unaware.path());
  uint64_t number = 0;
  for (; !opened.log->wants_checkpoint(); number += 10)
    ASSERT_TRUE(append_durably(*opened.log, number, number + 10));
  const TemporaryDirectory older;
  copy_directory(directory.path(), older.path());
  auto reader = must(open_replicated_reader(reading(options)));
  const uint64_t first = must(reader->first());
  for (int rounds = 0; rounds < 3; ++rounds) {
    const Lsn lsn = opened.log->durable();
    must(opened.manifest->update([&](Manifest& manifest) { manifest.checkpoint_lsn = lsn; }));
    EXPECT_FALSE(opened.log->wants_checkpoint()) << "segments have become free";
    for (; !opened.log->wants_checkpoint(); number += 10)
      ASSERT_TRUE(append_durably(*opened.log, number, number + 10));
  }
  for (int i = 0; i < 2000 && must(reader->first()) == first; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_GT(must(reader->first()), first);
  const auto dropped = reader->read(first, milliseconds(5000));
  ASSERT_FALSE(dropped.ok());
  EXPECT_EQ(dropped.error().kind, ErrorKind::kDamaged) << dropped.error().message;

  for (const TemporaryDirectory* each : {&unaware, &older}) {
    const auto read = test::read_directory(each->path());
    ASSERT_FALSE(read.ok()) << "records that were acknowledged would be missing";
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
    const auto claim = claim_remote_log(each->path(), options);
    ASSERT_FALSE(claim.ok());
    EXPECT_NE(claim.error().message.find("older than its log"), std::string::npos) << claim.error().message;
  }
  EXPECT_TRUE(append_durably(*opened.log, number, number + 10)) << "nobody was deposed";
  opened.log.reset();
  const auto log = must(test::read_directory(directory.path()));
  EXPECT_EQ(end_of(log, number + 10 - log.records.size()), number + 10);
  EXPECT_LT(log.records.size(), number / 2);
}

TEST(NatsLog, RefusesWhatTheServersCannotKeep) {
  const NatsServers servers(1);
  const TemporaryDirectory directory;
  const auto three = check_log_servers(nats_log(servers, 3));
  ASSERT_FALSE(three.ok());
  EXPECT_NE(three.error().message.find("--log-replicas"), std::string::npos) << three.error().message;
  DurableLogOptions options = nats_log(servers, 1);
  must(check_log_servers(options));
  options.device_options.remote.stream = "shared";
  {
    auto opened = must(open_remote(directory.path(), options));
    ASSERT_TRUE(append_durably(*opened.log, 0, 10));
  }
  EXPECT_FALSE(check_log_servers(options).ok()) << "a new database has another stream";
  ReplicatedLogOptions other = reading(options);
  other.database_id = 1;
  const auto newest = must(open_replicated_claimant(other))->newest();
  ASSERT_FALSE(newest.ok());
  EXPECT_NE(newest.error().message.find("another database"), std::string::npos) << newest.error().message;
}

// It stands still with messages under way, then goes on: nothing is missing, and nothing there twice.
TEST(NatsLog, SurvivesAHungServerAndIsSavedWhenTheOnlyCopyIsLost) {
  NatsServers servers(1);
  const TemporaryDirectory directory;
  DurableLogOptions options = nats_log(servers, 1);
  options.device_options.remote.silence = milliseconds(10'000);
  auto opened = must(open_remote(directory.path(), options));
  ASSERT_TRUE(append_durably(*opened.log, 0, 500));
  servers.freeze(0);
  std::thread engine([&] { EXPECT_TRUE(append_durably(*opened.log, 500, 2500)); });
  std::this_thread::sleep_for(milliseconds(1500));
  servers.thaw(0);
  engine.join();
  auto reader = must(open_replicated_reader(reading(options)));
  EXPECT_GT(read_all(*reader, must(reader->end()), 1).size(), 2u);
  EXPECT_EQ(end_on(directory.path()), 2500u);

  const TemporaryDirectory left;
  copy_directory(directory.path(), left.path());
  servers.kill_now(0);
  servers.start(0);
  EXPECT_FALSE(append_durably(*opened.log, 2500, 2510));
  EXPECT_NE(opened.log->failure()->message.find("the log is lost"), std::string::npos);
  EXPECT_NE(opened.log->failure()->message.find("was saved in the data directory"), std::string::npos)
      << opened.log->failure()->message;
  opened.log.reset();
  EXPECT_GE(end_on(directory.path()), 2500u) << "the engine lived, and had its own copy";
  const auto lost = test::read_directory(left.path());
  ASSERT_FALSE(lost.ok()) << "an engine that died with the only copy";
  EXPECT_EQ(lost.error().kind, ErrorKind::kDamaged) << lost.error().message;
  EXPECT_NE(lost.error().message.find("from a backup"), std::string::npos) << lost.error().message;
}

TEST(NatsLog, GoesOnWithAMajorityAndEndsInOrderWithoutOne) {
  NatsServers servers(3);
  const TemporaryDirectory directory;
  DurableLogOptions options = nats_log(servers, 3);
  options.device_options.remote.stream = "three";
  std::optional opened = must(open_remote(directory.path(), options));
  ASSERT_TRUE(append_durably(*opened->log, 0, 500));
  const uint32_t leader = servers.leader("three");
  const uint32_t others[] = {(leader + 1) % 3, (leader + 2) % 3};
  servers.kill_now(others[0]);
  ASSERT_TRUE(append_durably(*opened->log, 500, 1000)) << opened->log->failure()->message;
  EXPECT_EQ(end_on(directory.path()), 1000u);

  opened.reset();
  options.device_options.remote.silence = milliseconds(5000);
  opened.emplace(must(open_remote(directory.path(), options)));
  ASSERT_TRUE(append_durably(*opened->log, 1000, 1100));
  ReplicatedLogOptions impatient = reading(options);
  impatient.patience = milliseconds(5000);
  auto reader = must(open_replicated_reader(impatient));
  const uint64_t end = must(reader->end());
  servers.kill_now(others[1]);
  EXPECT_FALSE(append_durably(*opened->log, 1100, 1110));
  EXPECT_NE(opened->log->failure()->message.find("acknowledged nothing for"), std::string::npos)
      << opened->log->failure()->message;
  opened.reset();
  EXPECT_GE(end_on(directory.path()), 1100u) << "it was saved in the directory";
  std::this_thread::sleep_for(milliseconds(2000));
  const auto unknown = reader->end();
  ASSERT_FALSE(unknown.ok()) << "the one that is left may be behind: " << *unknown << " after " << end;
  EXPECT_EQ(unknown.error().kind, ErrorKind::kFailed) << unknown.error().message;
}

constexpr int16_t kProduce = 0;
constexpr int16_t kAddPartitions = 24;
constexpr int16_t kEndTransaction = 26;

DurableLogOptions kafka_log(const KafkaBrokers& brokers) {
  DurableLogOptions options = test::small_log();
  options.device = LogDeviceKind::kKafka;
  options.device_options.remote.servers = brokers.addresses();
  options.device_options.remote.stream = "log";
  options.device_options.remote.files = 200;
  return options;
}

TEST(KafkaLog, IsReadByAStandbyAndComesHomeWithTheNextOpening) {
  KafkaBrokers brokers("log");
  const TemporaryDirectory directory;
  const DurableLogOptions options = kafka_log(brokers);
  {
    auto opened = must(open_remote(directory.path(), options));
    ASSERT_TRUE(append_durably(*opened.log, 0, 2000));
  }
  EXPECT_FALSE(has_file(directory.path(), 1));
  EXPECT_EQ(end_on(directory.path()), 2000u);
  auto reader = must(open_replicated_reader(reading(options)));
  const uint64_t end = must(reader->end());
  EXPECT_GT(read_all(*reader, end, 1).size(), 2u);
  EXPECT_TRUE(must(reader->read(end, milliseconds(100))).empty()) << "nothing has come yet";
  {
    auto opened = must(open_remote(directory.path(), options));
    EXPECT_TRUE(has_file(directory.path(), 1));
    const auto begun = must(reader->read(end, milliseconds(5000)));
    ASSERT_FALSE(begun.empty());
    EXPECT_TRUE(begun.front().bytes.empty());
    EXPECT_EQ(begun.front().term, 2u);
    ASSERT_TRUE(append_durably(*opened.log, 2000, 2500));
  }
  EXPECT_EQ(end_on(directory.path()), 2500u);
}

TEST(KafkaLog, ObeysTheNewestTermAlone) {
  KafkaBrokers brokers("log");
  const TemporaryDirectory directory;
  const DurableLogOptions options = kafka_log(brokers);
  auto deposed = must(open_remote(directory.path(), options));
  ASSERT_TRUE(append_durably(*deposed.log, 0, 300));
  auto standby = must(open_replicated_reader(reading(options)));
  EXPECT_EQ(standby->fence(1).error().kind, ErrorKind::kFailed) << "that term has begun";
  const uint64_t end = must(standby->fence(7));
  EXPECT_EQ(must(standby->end()), end + 1);
  // The mock lets a former producer write on, where brokers refuse it.
  rd_kafka_mock_push_request_errors(brokers.get(), kAddPartitions, 1, RD_KAFKA_RESP_ERR_PRODUCER_FENCED);
  EXPECT_FALSE(append_durably(*deposed.log, 300, 301));
  EXPECT_NE(deposed.log->failure()->message.find("refuses this engine"), std::string::npos)
      << deposed.log->failure()->message;
  deposed.log.reset();
  EXPECT_EQ(must(standby->end()), end + 1) << "nothing came behind the fence";
  EXPECT_FALSE(has_file(directory.path(), 1));
  EXPECT_EQ(end_on(directory.path()), 300u);
}

TEST(KafkaLog, TriesAgainWhatBrokersRefuseForNowAndIsSavedWhenTheyAreGone) {
  KafkaBrokers brokers("log");
  const TemporaryDirectory directory;
  DurableLogOptions options = kafka_log(brokers);
  options.device_options.remote.silence = milliseconds(6000);
  auto opened = must(open_remote(directory.path(), options));
  ASSERT_TRUE(append_durably(*opened.log, 0, 100));
  for (const int16_t request : {kProduce, kEndTransaction}) {
    rd_kafka_mock_push_request_errors(
        brokers.get(), request, 2,
        request == kProduce ? RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS
                            : RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
        request == kProduce ? RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION : RD_KAFKA_RESP_ERR_NOT_COORDINATOR);
    ASSERT_TRUE(append_durably(*opened.log, request == kProduce ? 100 : 200, request == kProduce ? 200 : 300))
        << opened.log->failure()->message;
  }
  auto reader = must(open_replicated_reader(reading(options)));
  read_all(*reader, must(reader->end()), 1);
  EXPECT_EQ(end_on(directory.path()), 300u);
  for (int broker = 1; broker <= 3; ++broker) brokers.stop(broker);
  EXPECT_FALSE(append_durably(*opened.log, 300, 301));
  EXPECT_NE(opened.log->failure()->message.find("was saved in the data directory"), std::string::npos)
      << opened.log->failure()->message;
  opened.log.reset();
  EXPECT_GE(end_on(directory.path()), 300u);
}

TEST(KafkaLog, KeepsTheOrder) {
  const KafkaBrokers brokers("log");
  // The mock keeps 5 MB of a topic.
  test::append_and_read_back(
      {.kind = ReplicatedLogKind::kKafka, .servers = brokers.addresses(), .stream = "log", .database_id = 7},
      3, 200);
}

}  // namespace
}  // namespace mneme
