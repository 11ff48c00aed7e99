#include "logging/replicated/replicated_log.h"

#include <random>

#include "base/check.h"
#include "logging/replicated/kafka_log.h"
#include "logging/replicated/nats_log.h"

namespace mneme {

namespace {

template <typename Base, typename Opened>
Result<std::unique_ptr<Base>> as(Result<std::unique_ptr<Opened>> opened) {
  if (!opened.ok()) return opened.error();
  return std::unique_ptr<Base>(std::move(*opened));
}

}  // namespace

const char* name_of(ReplicatedLogKind kind) {
  return kind == ReplicatedLogKind::kNats ? "nats" : "kafka";
}

ReplicatedLogOptions replicated_log_options(LogDeviceKind kind, const RemoteLogOptions& remote,
                                            uint64_t database_id) {
  CHECK(traits_of(kind).is_replicated);
  return {.kind = kind == LogDeviceKind::kNats ? ReplicatedLogKind::kNats : ReplicatedLogKind::kKafka,
          .servers = remote.servers,
          .stream = replicated_stream(database_id, remote),
          .key_file = remote.key_file,
          .database_id = database_id};
}

Result<uint64_t> ReplicatedClaimant::fence(uint64_t term) {
  std::random_device random;
  return begin_term({static_cast<uint32_t>(term), uint64_t{random()} << 32 | random() | 1});
}

Result<std::unique_ptr<ReplicatedClaimant>> open_replicated_claimant(const ReplicatedLogOptions& options) {
  if (options.kind == ReplicatedLogKind::kKafka) return as<ReplicatedClaimant>(KafkaReader::open(options));
  return as<ReplicatedClaimant>(NatsReader::open(options));
}

Result<std::unique_ptr<ReplicatedReader>> open_replicated_reader(const ReplicatedLogOptions& options) {
  return as<ReplicatedReader>(open_replicated_claimant(options));
}

Result<std::unique_ptr<ReplicatedAppender>> open_replicated_appender(
    const ReplicatedAppenderOptions& options) {
  if (options.log.kind == ReplicatedLogKind::kKafka)
    return as<ReplicatedAppender>(KafkaAppender::open(options));
  return as<ReplicatedAppender>(NatsAppender::open(options));
}

Result<std::optional<NewestMessage>> check_replicated_log(const ReplicatedLogOptions& options,
                                                          uint32_t replicas) {
  if (options.kind == ReplicatedLogKind::kKafka) return check_kafka_log(options, replicas);
  return check_nats_log(options, replicas);
}

}  // namespace mneme
