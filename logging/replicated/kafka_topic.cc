#include "logging/replicated/kafka_topic.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "logging/replicated/server_access.h"

namespace mneme {
namespace {

// What a client's brokers said when they refused who it is: the client's opaque. Written by the library's
// threads.
class Login {
 public:
  // Takes it out of a line of the library's log, if the line tells of it, as "...: SASL authentication error:
  // ... (after 3ms in state AUTH_REQ)".
  void read(std::string_view line) {
    const size_t at = std::min(line.find("SASL "), line.find("SSL handshake failed"));
    if (at == line.npos) return;
    const std::string_view told = line.substr(at, line.find(" (after ", at) - at);
    if (told.find("error") == told.npos && told.find("failed") == told.npos) return;
    std::string said(told.substr(0, kMostSaid));
    std::ranges::replace_if(
        said, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    const std::lock_guard guard(mutex_);
    refused_ = std::move(said);
  }
  // Empty: no broker has refused it.
  std::string refused() const {
    const std::lock_guard guard(mutex_);
    return refused_;
  }

 private:
  static constexpr size_t kMostSaid = 200;

  mutable std::mutex mutex_;  // guards refused_
  std::string refused_;
};

Login& login_of(const rd_kafka_t* client) {
  return *static_cast<Login*>(rd_kafka_opaque(client));
}

}  // namespace

void DestroyKafkaClient::operator()(rd_kafka_t* client) const {
  const std::unique_ptr<Login> login(&login_of(client));
  if (rd_kafka_type(client) == RD_KAFKA_CONSUMER) rd_kafka_consumer_close(client);
  rd_kafka_destroy(client);
}

namespace kafka {

using std::chrono::milliseconds;

namespace {

Result<void> create_topic(const KafkaClient& client, const ReplicatedLogOptions& options, uint32_t replicas) {
  std::array<char, 512> why{};
  rd_kafka_NewTopic_t* topic =
      rd_kafka_NewTopic_new(options.stream.c_str(), 1, static_cast<int>(replicas), why.data(), why.size());
  if (topic == nullptr) return invalid_argument("the topic {} can't be made: {}", options.stream, why.data());
  const std::string majority = std::to_string(replicas / 2 + 1);
  rd_kafka_NewTopic_set_config(topic, "min.insync.replicas", majority.c_str());
  rd_kafka_NewTopic_set_config(topic, "retention.ms", "-1");
  rd_kafka_NewTopic_set_config(topic, "retention.bytes", "-1");
  rd_kafka_NewTopic_set_config(topic, "cleanup.policy", "delete");
  rd_kafka_NewTopic_set_config(topic, "unclean.leader.election.enable", "false");
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client.get());
  rd_kafka_CreateTopics(client.get(), &topic, 1, nullptr, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, static_cast<int>(2 * options.patience.count()));
  Result<void> result;
  if (event == nullptr) {
    result =
        failed("the Kafka brokers {} don't make the topic {}: no answer", options.servers, options.stream);
  } else if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    result = failed("the Kafka brokers {} don't make the topic {}: {}", options.servers, options.stream,
                    rd_kafka_event_error_string(event));
  } else if (const rd_kafka_CreateTopics_result_t* made = rd_kafka_event_CreateTopics_result(event)) {
    size_t count = 0;
    const rd_kafka_topic_result_t** topics = rd_kafka_CreateTopics_result_topics(made, &count);
    for (size_t i = 0; i < count; ++i) {
      const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(topics[i]);
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) continue;
      const char* text = rd_kafka_topic_result_error_string(topics[i]);
      result = failed("the Kafka brokers {} don't make the topic {}: {}", options.servers, options.stream,
                      text == nullptr ? rd_kafka_err2str(error) : text);
    }
  }
  if (event != nullptr) rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_NewTopic_destroy(topic);
  return result;
}

constexpr std::string_view kKafkaAccess[] = {"security.", "sasl.", "ssl.", "enable.ssl.", "enable.sasl."};

}  // namespace

int left_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<int64_t>(0, left));
}

Result<KafkaClient> make_client(rd_kafka_type_t type, const ReplicatedLogOptions& options,
                                Settings settings) {
  if (options.servers.find_first_not_of(", ") == std::string::npos)
    return invalid_argument("--log-server names no Kafka broker: say HOST:PORT");
  settings.insert(settings.begin(), {{"bootstrap.servers", options.servers},
                                     {"client.id", "mneme"},
                                     {"reconnect.backoff.ms", "20"},
                                     {"reconnect.backoff.max.ms", "500"},
                                     {"retry.backoff.ms", "20"}});
  const Result<ServerAccess> access = ServerAccess::read(options.key_file, kKafkaAccess);
  if (!access) return access.error();
  std::array<char, 512> why{};
  rd_kafka_conf_t* configuration = rd_kafka_conf_new();
  // Failures show by calls that do not end; the library would print them. Its log alone says why.
  rd_kafka_conf_set_log_cb(configuration, [](const rd_kafka_t* client, int, const char*, const char* line) {
    if (client != nullptr) login_of(client).read(line);
  });
  auto login = std::make_unique<Login>();
  rd_kafka_conf_set_opaque(configuration, login.get());
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(configuration, name, value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK)
      continue;
    rd_kafka_conf_destroy(configuration);
    return invalid_argument("the Kafka library refuses {} {}: {}", name, value, why.data());
  }
  for (const auto& [name, value] : access->values()) {
    if (rd_kafka_conf_set(configuration, name.c_str(), value.c_str(), why.data(), why.size()) ==
        RD_KAFKA_CONF_OK)
      continue;
    rd_kafka_conf_destroy(configuration);
    return invalid_argument(
        "--log-key {}: the Kafka library does not take this value of {}, or knows no such property",
        options.key_file, name);
  }
  rd_kafka_t* client = rd_kafka_new(type, configuration, why.data(), why.size());
  if (client == nullptr) {
    rd_kafka_conf_destroy(configuration);
    if (!options.key_file.empty()) {
      return invalid_argument("--log-key {}: the Kafka library cannot connect so: {}", options.key_file,
                              why.data());
    }
    return failed("the Kafka library can't be used: {}", why.data());
  }
  login.release();  // the client's, which destroys it
  return KafkaClient(client);
}

Result<KafkaClient> make_consumer(const ReplicatedLogOptions& options, const char* isolation) {
  auto client = make_client(RD_KAFKA_CONSUMER, options,
                            {{"group.id", "mneme"},
                             {"enable.auto.commit", "false"},
                             {"enable.partition.eof", "true"},
                             {"auto.offset.reset", "error"},
                             {"isolation.level", isolation},
                             {"check.crcs", "true"},
                             // So long an empty answer takes, by which the end is known.
                             {"fetch.wait.max.ms", "10"},
                             {"fetch.error.backoff.ms", "20"}});
  if (client.ok()) rd_kafka_poll_set_consumer(client->get());
  return client;
}

Result<TopicState> find_topic(const KafkaClient& client, const ReplicatedLogOptions& options) {
  TopicPointer topic;
  if (!options.stream.empty()) topic.reset(rd_kafka_topic_new(client.get(), options.stream.c_str(), nullptr));
  const auto deadline = Clock::now() + options.patience;
  std::optional<rd_kafka_resp_err_t> last_answer;  // of brokers that may give the topic a leader yet
  // How long one question waits: at first shortly, as brokers that refuse the login never answer.
  std::chrono::milliseconds wait(250);
  for (;;) {
    // An earlier answer counts more than that the last question, for which little time is left, was
    // not.
    if (last_answer && left_until(deadline) == 0) {
      return failed("the Kafka brokers {} have no leader for the topic {}: {}", options.servers,
                    options.stream, rd_kafka_err2str(*last_answer));
    }
    const rd_kafka_metadata_t* metadata = nullptr;
    const int longest = std::clamp(left_until(deadline), 1, static_cast<int>(wait.count()));
    const rd_kafka_resp_err_t error = rd_kafka_metadata(client.get(), 0, topic.get(), &metadata, longest);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (const std::string refused = login_of(client.get()).refused(); !refused.empty()) {
        return failed("the Kafka brokers {} refuse the engine: {}: see the file that --log-key names",
                      options.servers, refused);
      }
      if (left_until(deadline) > 0) {
        wait *= 2;
        continue;
      }
      if (last_answer) continue;
      return failed("no Kafka broker answers at {}: {}", options.servers, rd_kafka_err2str(error));
    }
    TopicState state;
    state.brokers = static_cast<uint32_t>(metadata->broker_cnt);
    const bool has_topic = topic != nullptr && metadata->topic_cnt > 0;
    const rd_kafka_metadata_topic_t* found = has_topic ? &metadata->topics[0] : nullptr;
    const rd_kafka_resp_err_t trouble = found == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : found->err;
    const int partitions = found == nullptr ? 0 : found->partition_cnt;
    if (partitions > 0) state.replicas = static_cast<uint32_t>(found->partitions[0].replica_cnt);
    rd_kafka_metadata_destroy(metadata);
    if (topic == nullptr || trouble == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || partitions == 1)
      return state;
    if (partitions > 1) {
      return invalid_argument(
          "the topic {} has {} partitions, and a log is in order in one alone: choose another "
          "--log-stream",
          options.stream, partitions);
    }
    last_answer = trouble;
    std::this_thread::sleep_for(kRetryInterval);
  }
}

Result<void> check_topic(const TopicState& state, const ReplicatedLogOptions& options, uint32_t replicas) {
  if (state.replicas != 0 && state.replicas != replicas) {
    return invalid_argument(
        "the topic {} has {} copies, and --log-replicas asks for {}: say --log-replicas {}", options.stream,
        state.replicas, replicas, state.replicas);
  }
  if (state.replicas == 0 && state.brokers < replicas) {
    return invalid_argument(
        "{} Kafka brokers are there at {}, and {} copies are asked for: start more, or ask for fewer "
        "with --log-replicas",
        state.brokers, options.servers, replicas);
  }
  return {};
}

Result<void> make_topic(const ReplicatedLogOptions& options, uint32_t replicas) {
  auto client = make_client(RD_KAFKA_PRODUCER, options, {});
  if (!client.ok()) return client.error();
  // Metadata that a producer asks for would have the brokers make the topic as they like.
  auto consumer = make_consumer(options);
  if (!consumer.ok()) return consumer.error();
  auto state = find_topic(*consumer, options);
  if (!state.ok()) return state.error();
  RETURN_IF_ERROR(check_topic(*state, options, replicas));
  if (state->replicas != 0) return {};
  RETURN_IF_ERROR(create_topic(*client, options, replicas));
  for (const auto deadline = Clock::now() + options.patience; state->replicas == 0;) {
    if (left_until(deadline) == 0) {
      return failed("the Kafka brokers {} have made the topic {}, and don't find it", options.servers,
                    options.stream);
    }
    state = find_topic(*consumer, options);
    if (!state.ok()) return state.error();
  }
  return {};
}

}  // namespace kafka
}  // namespace mneme
