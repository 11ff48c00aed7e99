// Goal: what brokers of Kafka's refuse, or have not, is reported in words that say what to do, and as the
// kind of error that it is. Method: the Kafka library's own mock of brokers, with topics that no engine made,
// and with errors that the test sets.
#include <gtest/gtest.h>

#include "base/testing/test_refusal.h"
#include "logging/reading/remote_recovery.h"
#include "logging/replicated/replicated_log.h"
#include "logging/testing/test_kafka_brokers.h"
#include "logging/testing/test_remote_log.h"

namespace mneme {
namespace {

using std::chrono::milliseconds;
using test::expect_error;
using test::expect_refused;
using test::KafkaBrokers;
using test::must;

// The patience of tests that wait it out, and long enough for a busy machine to connect.
constexpr milliseconds kPatience(4000);

// Requests by their numbers.
constexpr int16_t kFetch = 1;
constexpr int16_t kListOffsets = 2;
constexpr int16_t kInitProducerId = 22;
constexpr int16_t kAddPartitionsRequest = 24;

class KafkaRefusal : public ::testing::Test {
 protected:
  ReplicatedLogOptions log(const std::string& stream = "log") const {
    return {.kind = ReplicatedLogKind::kKafka,
            .servers = brokers_.addresses(),
            .stream = stream,
            .database_id = 7,
            .patience = kPatience};
  }
  Result<std::unique_ptr<ReplicatedAppender>> append_to(const ReplicatedLogOptions& log,
                                                        uint32_t replicas = 3) const {
    return open_replicated_appender(
        {.log = log, .term = {1, 42}, .replicas = replicas, .silence = milliseconds(4000)});
  }
  void make_topic(const char* name, int partitions, int copies) {
    ASSERT_EQ(rd_kafka_mock_topic_create(brokers_.get(), name, partitions, copies),
              RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  // The mock would make a topic that it is asked for.
  void take_away(const char* name) {
    rd_kafka_mock_topic_set_error(brokers_.get(), name, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  }
  // The next so many requests of that kind end so.
  void refuse(int16_t request, rd_kafka_resp_err_t error, size_t count) {
    const std::vector<rd_kafka_resp_err_t> errors(count, error);
    rd_kafka_mock_push_request_errors_array(brokers_.get(), request, count, errors.data());
  }
  void stop_refusing(int16_t request) { rd_kafka_mock_clear_request_errors(brokers_.get(), request); }

  KafkaBrokers brokers_{"log"};
};

TEST_F(KafkaRefusal, TopicsThatNoEngineMade) {
  make_topic("wide", /*partitions=*/2, /*copies=*/3);
  expect_refused(append_to(log("wide")), ErrorKind::kInvalidArgument, "the topic wide has 2 partitions");
  expect_refused(append_to(log(), 1), ErrorKind::kInvalidArgument,
                 "the topic log has 3 copies, and --log-replicas asks for 1: say --log-replicas 3");
  take_away("gone");
  expect_refused(open_replicated_reader(log("gone")), ErrorKind::kDamaged, "have no topic gone");
  make_topic("closed", 0, 3);
  expect_refused(append_to(log("closed")), ErrorKind::kFailed, "have no leader for the topic closed");
}

TEST_F(KafkaRefusal, TopicsThatCannotBeMade) {
  take_away("new");
  expect_refused(append_to(log("new"), 5), ErrorKind::kInvalidArgument, "3 Kafka brokers are there at ");
  expect_refused(append_to(log("new"), 5), ErrorKind::kInvalidArgument,
                 "and 5 copies are asked for: start more, or ask for fewer with --log-replicas");
  // The mock does not know the request.
  expect_refused(append_to(log("new")), ErrorKind::kFailed, "don't make the topic new: no answer");
}

TEST_F(KafkaRefusal, ATopicThatTellsNothing) {
  must(append_to(log()));
  const auto reader = must(open_replicated_reader(log()));
  // Both ends are asked for, and the later answer counts.
  refuse(kListOffsets, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 10);
  expect_refused(reader->first(), ErrorKind::kFailed, "don't tell where the topic log ends: ");
  stop_refusing(kListOffsets);
  expect_refused(reader->read(1000, milliseconds(2000)), ErrorKind::kDamaged,
                 "message 1000 of the topic log is not there");
  const auto claimant = must(open_replicated_claimant(log()));
  refuse(kFetch, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 10'000);
  expect_refused(claimant->newest(), ErrorKind::kFailed, "don't give the last messages of the topic log");
}

TEST_F(KafkaRefusal, ATopicThatTakesNothing) {
  refuse(kInitProducerId, RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 1);
  expect_refused(append_to(log()), ErrorKind::kFailed, "give nobody the topic log to write to: ");
  refuse(kAddPartitionsRequest, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
  expect_refused(append_to(log()), ErrorKind::kFailed, "take nothing for the topic log: ");

  const auto appender = must(append_to(log()));
  refuse(kAddPartitionsRequest, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1);
  const std::vector<std::byte> bytes = test::payload_of(1, 100);
  appender->append(1, 0, bytes);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!appender->failure() && std::chrono::steady_clock::now() < deadline)
    appender->wait(milliseconds(100));
  ASSERT_TRUE(appender->failure().has_value());
  expect_error(*appender->failure(), ErrorKind::kFailed,
               "refuse this engine's transactions, and no other engine writes to the topic log");
  EXPECT_FALSE(appender->is_deposed());
}

// The directory's manifest says that the log begins nowhere.
TEST_F(KafkaRefusal, ABeginThatIsNoNumber) {
  const test::TemporaryDirectory directory;
  DurableLogOptions options = test::small_log();
  options.device = LogDeviceKind::kKafka;
  options.device_options.remote = {.servers = brokers_.addresses(), .files = 200, .stream = "log"};
  auto opened = must(test::open_remote(directory.path(), options));
  ASSERT_TRUE(test::append_durably(*opened.log, 0, 10));
  opened.log.reset();
  for (const char* begin : {"", "soon"}) {
    must(opened.manifest->update(
        [&](Manifest& manifest) { manifest.attributes[kLogBeginAttribute] = begin; }));
    expect_refused(test::read_directory(directory.path()), ErrorKind::kDamaged,
                   fmt::format("the manifest says that the log begins at \"{}\" in the stream log", begin));
  }
}

}  // namespace
}  // namespace mneme
