// Goal: an appender of a replicated log shares its state with the library's thread without a race, and
// nothing is lost, doubled or out of order. Method: as test_replicated_log.h says, on NATS. Kafka's runs in
// replicated_log_test.cc: its library makes threads by C11's functions, with which GCC's ThreadSanitizer
// breaks down.
#include <gtest/gtest.h>

#include "logging/testing/test_nats_servers.h"
#include "logging/testing/test_replicated_log.h"

namespace mneme {
namespace {

TEST(ReplicatedLogStress, NatsKeepsTheOrder) {
  const test::NatsServers servers(1);
  test::append_and_read_back(
      {.kind = ReplicatedLogKind::kNats, .servers = servers.addresses(), .stream = "log", .database_id = 7},
      1, 2000);
}

}  // namespace
}  // namespace mneme
