// Goal: what NATS servers refuse, or have not, is reported in words that say what to do, and as the kind of
// error that it is. Method: a real server, started with other settings than ours, or whose streams a stranger
// makes, empties and answers for.
#include <gtest/gtest.h>
#include <nats/nats.h>

#include <nlohmann/json.hpp>

#include "base/testing/test_refusal.h"
#include "logging/replicated/replicated_log.h"
#include "logging/testing/test_log.h"
#include "logging/testing/test_nats_servers.h"

namespace mneme {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using test::expect_error;
using test::expect_refused;
using test::must;
using test::NatsServers;

// Another client of the servers.
class Stranger {
 public:
  explicit Stranger(const NatsServers& servers) {
    // One that has just been started may be a moment late.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    natsStatus connected = NATS_ERR;
    while (connected != NATS_OK && std::chrono::steady_clock::now() < deadline) {
      connected = natsConnection_ConnectTo(&connection_, servers.addresses().c_str());
    }
    EXPECT_EQ(connected, NATS_OK);
  }
  ~Stranger() {
    natsSubscription_Destroy(subscription_);
    natsConnection_Destroy(connection_);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  // A request to JetStream, which grants it.
  void ask(const std::string& what, const json& text) {
    natsMsg* reply = nullptr;
    ASSERT_EQ(natsConnection_RequestString(&reply, connection_, ("$JS.API.STREAM." + what).c_str(),
                                           text.dump().c_str(), 5000),
              NATS_OK);
    const json answer =
        json::parse(natsMsg_GetData(reply), natsMsg_GetData(reply) + natsMsg_GetDataLength(reply));
    EXPECT_FALSE(answer.contains("error")) << answer.dump();
    natsMsg_Destroy(reply);
  }
  // As an engine makes it, but for these settings.
  void make_stream(const std::string& name, const json& others) {
    json settings{{"name", name},     {"subjects", {name}}, {"storage", "memory"},
                  {"discard", "new"}, {"num_replicas", 1},  {"allow_direct", true}};
    settings.update(others);
    ask("CREATE." + name, settings);
  }
  // All that is said to the subject is answered so from now on.
  void answer(const std::string& subject, const std::string& text) {
    answer_ = text;
    const auto say = [](natsConnection* connection, natsSubscription*, natsMsg* message, void* answer) {
      if (natsMsg_GetReply(message) != nullptr) {
        natsConnection_PublishString(connection, natsMsg_GetReply(message),
                                     static_cast<std::string*>(answer)->c_str());
      }
      natsMsg_Destroy(message);
    };
    ASSERT_EQ(natsConnection_Subscribe(&subscription_, connection_, subject.c_str(), say, &answer_), NATS_OK);
    ASSERT_EQ(natsConnection_Flush(connection_), NATS_OK);
  }

 private:
  natsConnection* connection_ = nullptr;
  natsSubscription* subscription_ = nullptr;
  std::string answer_;
};

class NatsRefusal : public ::testing::Test {
 protected:
  ReplicatedLogOptions log() const {
    return {
        .servers = servers_.addresses(), .stream = "log", .database_id = 7, .patience = milliseconds(5000)};
  }
  Result<std::unique_ptr<ReplicatedAppender>> append_to(const ReplicatedLogOptions& log,
                                                        uint32_t replicas = 1) const {
    return open_replicated_appender({.log = log, .term = {1, 42}, .replicas = replicas});
  }
  // One message behind that by which the term begins.
  static void append_one(ReplicatedAppender& appender) {
    const std::vector<std::byte> bytes = test::payload_of(1, 100);
    appender.append(1, 0, bytes);
    EXPECT_EQ(appender.wait(std::chrono::seconds(20)), 1u);
  }

  NatsServers servers_{1};
};

TEST_F(NatsRefusal, StreamsThatNoEngineMade) {
  Stranger stranger(servers_);
  stranger.make_stream("other", {{"subjects", {"log"}}});
  expect_refused(append_to(log()), ErrorKind::kFailed,
                 "refuse the stream log: subjects overlap with an existing stream (error 10065)");
  stranger.ask("DELETE.other", json::object());
  for (const json& setting :
       {json{{"storage", "file"}}, json{{"max_msgs", 5}}, json{{"subjects", {"log", "more"}}},
        json{{"discard", "old"}}, json{{"allow_direct", false}}}) {
    SCOPED_TRACE(setting.dump());
    stranger.make_stream("log", setting);
    expect_refused(append_to(log()), ErrorKind::kInvalidArgument,
                   "is not one that this program made: it must be in memory");
    stranger.ask("DELETE.log", json::object());
  }
  stranger.make_stream("log", json::object());
  expect_refused(append_to(log(), 3), ErrorKind::kInvalidArgument,
                 "the stream log has 1 copies, and --log-replicas asks for 3: say --log-replicas 1");
  stranger.ask("DELETE.log", json::object());
  // The first message is too long for the stream. The second time nothing is said of it.
  stranger.make_stream("log", {{"max_msg_size", 10}});
  expect_refused(append_to(log()), ErrorKind::kFailed,
                 "refuse to append to the stream log: message size exceeds maximum allowed");
  stranger.ask("DELETE.log", json::object());
  stranger.make_stream("log", {{"max_msg_size", 10}, {"no_ack", true}});
  expect_refused(append_to(log()), ErrorKind::kFailed, "acknowledge nothing in the stream log: Timeout");
}

TEST_F(NatsRefusal, MessagesThatSomebodyRemoved) {
  append_one(*must(append_to(log())));
  Stranger stranger(servers_);
  stranger.ask("MSG.DELETE.log", {{"seq", 1}});
  expect_refused(must(open_replicated_reader(log()))->read(1, milliseconds(1000)), ErrorKind::kDamaged,
                 "message 1 of the stream log was dropped already: the oldest one there is 2");
  stranger.ask("PURGE.log", json::object());
  expect_refused(
      open_replicated_appender({.log = log(), .term = {2, 42}, .replicas = 1}), ErrorKind::kDamaged,
      "all messages of the stream log have been removed: nobody can tell which engine may write to it");
}

// A server that has come back lacks messages for a while, so that this takes a while.
TEST_F(NatsRefusal, AMessageThatSomebodyDeleted) {
  const auto appender = must(append_to(log()));
  append_one(*appender);
  const std::vector<std::byte> bytes = test::payload_of(2, 100);
  appender->append(1, 4096, bytes);
  EXPECT_EQ(appender->wait(std::chrono::seconds(20)), 2u);
  Stranger(servers_).ask("MSG.DELETE.log", {{"seq", 2}});
  const auto reader = must(open_replicated_reader(log()));
  EXPECT_EQ(must(reader->read(3, milliseconds(1000))).size(), 1u);
  expect_refused(reader->read(2, std::chrono::seconds(60)), ErrorKind::kDamaged,
                 "message 2 of the stream log is missing: it was deleted by hand");
}

TEST_F(NatsRefusal, AnAcknowledgementOfAnotherMessage) {
  const auto appender = must(append_to(log()));
  Stranger stranger(servers_);
  stranger.answer("log", R"({"stream": "log", "seq": 99})");
  const std::vector<std::byte> bytes = test::payload_of(1, 100);
  appender->append(1, 0, bytes);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!appender->failure() && std::chrono::steady_clock::now() < deadline)
    appender->wait(milliseconds(100));
  ASSERT_TRUE(appender->failure().has_value());
  expect_error(*appender->failure(), ErrorKind::kDamaged, "of the stream log where another belongs (99)");
}

TEST_F(NatsRefusal, ServersWithOtherSettings) {
  servers_.restart_with(0, "max_payload: 8192");
  expect_refused(append_to(log()), ErrorKind::kInvalidArgument,
                 "take no messages above 7680 bytes: raise max_payload");
  servers_.restart_with(0, R"(
    accounts { with { jetstream: enabled, users: [{user: w, password: w}] }, without { users: [{user: wo, password: wo}] } }
    no_auth_user: wo)");
  expect_refused(append_to(log()), ErrorKind::kInvalidArgument,
                 "have no JetStream: start them with `jetstream` in their configuration");
}

TEST_F(NatsRefusal, AnswersThatAreNoJson) {
  servers_.restart_with(0, "jetstream: false");
  Stranger stranger(servers_);
  stranger.answer("$JS.API.STREAM.INFO.log", "what?");
  expect_refused(append_to(log()), ErrorKind::kFailed, "answer what is no JSON for the stream log");
}

TEST(NatsAddresses, ThatNameNoServer) {
  for (const char* servers : {"nats://127.0.0.1:port", "nats://127.0.0.1:1,nats://127.0.0.1:99999999999"}) {
    SCOPED_TRACE(servers);
    expect_refused(open_replicated_reader({.servers = servers, .stream = "log"}), ErrorKind::kInvalidArgument,
                   "say nats://HOST:PORT, with commas between several");
  }
}

}  // namespace
}  // namespace mneme
