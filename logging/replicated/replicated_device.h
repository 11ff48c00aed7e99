// Registers the log devices of replicated logs, NATS JetStream and Kafka (server_devices.h).
#pragma once

namespace mneme {

// Any thread, any number of times, before such a log is opened.
void register_replicated_devices();

}  // namespace mneme
