// A topic of Kafka's, by its library: the clients that ask for it, what it is, and how it is made. Of
// kafka_log.h alone.
//
// Errors      kInvalidArgument: options that make no sense of these brokers. kFailed: they don't answer, or
//             refuse.
// Threads     any; a client is one thread's at a time.
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "logging/replicated/kafka_log.h"

namespace mneme::kafka {

using Clock = std::chrono::steady_clock;

inline constexpr std::chrono::milliseconds kRetryInterval{50};

template <typename T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* what) const { destroy(what); }
};
using ErrorPointer = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_t, rd_kafka_error_destroy>>;
using MessagePointer =
    std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_t, rd_kafka_message_destroy>>;
using TopicPointer = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_t, rd_kafka_topic_destroy>>;
using Partitions =
    std::unique_ptr<rd_kafka_topic_partition_list_t,
                    Destroy<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>>;

// Milliseconds; 0: it has passed.
int left_until(Clock::time_point deadline);

using Settings = std::vector<std::pair<const char*, std::string>>;

Result<KafkaClient> make_client(rd_kafka_type_t type, const ReplicatedLogOptions& options, Settings settings);
Result<KafkaClient> make_consumer(const ReplicatedLogOptions& options,
                                  const char* isolation = "read_committed");

struct TopicState {
  uint32_t brokers = 0;
  uint32_t replicas = 0;  // 0: there is no such topic
};

// Asks the brokers until options.patience is over, as a topic may have no leader for a while.
Result<TopicState> find_topic(const KafkaClient& client, const ReplicatedLogOptions& options);
// Whether the topic, or one that is yet to be made, can have so many copies.
Result<void> check_topic(const TopicState& state, const ReplicatedLogOptions& options, uint32_t replicas);
// Makes the topic unless it is there, and waits until the brokers find it.
Result<void> make_topic(const ReplicatedLogOptions& options, uint32_t replicas);

}  // namespace mneme::kafka
