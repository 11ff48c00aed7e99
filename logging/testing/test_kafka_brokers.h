// For tests: brokers of Kafka's in this process.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <string>

namespace mneme::test {

// librdkafka's own brokers, in this process: transactions and errors as of real ones, but no control messages
// and no fencing.
class KafkaBrokers {
 public:
  explicit KafkaBrokers(const std::string& topic) {
    std::array<char, 512> why{};
    rd_kafka_conf_t* quiet = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(quiet, [](const rd_kafka_t*, int, const char*, const char*) {});
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, quiet, why.data(), why.size());
    brokers_ = rd_kafka_mock_cluster_new(client_, 3);
    EXPECT_EQ(rd_kafka_mock_topic_create(brokers_, topic.c_str(), 1, 3), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  ~KafkaBrokers() {
    rd_kafka_mock_cluster_destroy(brokers_);
    rd_kafka_destroy(client_);
  }
  KafkaBrokers(const KafkaBrokers&) = delete;
  KafkaBrokers& operator=(const KafkaBrokers&) = delete;

  std::string addresses() const { return rd_kafka_mock_cluster_bootstraps(brokers_); }
  rd_kafka_mock_cluster_t* get() { return brokers_; }
  void stop(int number) { rd_kafka_mock_broker_set_down(brokers_, number); }
  void start(int number) { rd_kafka_mock_broker_set_up(brokers_, number); }

 private:
  rd_kafka_t* client_;
  rd_kafka_mock_cluster_t* brokers_;
};

}  // namespace mneme::test
