// The log's devices by name, and what sets them apart.
#pragma once

#include <string_view>

#include "base/result.h"

namespace mneme {

enum class LogDeviceKind {
  kFile,           // segment files in the data directory, direct I/O
  kStriped,        // the same, over several directories
  kNull,           // drops everything
  kRemote,         // the memory of other machines (remote_device.h)
  kNats,           // a replicated log on NATS JetStream (nats_log.h)
  kKafka,          // one on Kafka (kafka_log.h)
  kLossy,          // segment files behind a volatile write cache: a crash loses what no sync covered
  kLossyUnsynced,  // the same, and the syncs left out: a crash test must fail on it
  // Persistent memory, emulated, to which each worker writes by itself (nvm_log.h):
  kNvm,               // segment files, mapped
  kNvmLossy,          // behind caches that a crash empties
  kNvmLossyUnfenced,  // the same, and the fences left out: a crash test must fail on it
};

inline bool is_nvm(LogDeviceKind kind) {
  return kind >= LogDeviceKind::kNvm;
}

// Whether the log lies at servers, and goes round in a bounded number of segments (remote_segments.h).
inline bool is_remote(LogDeviceKind kind) {
  return kind == LogDeviceKind::kRemote || kind == LogDeviceKind::kNats || kind == LogDeviceKind::kKafka;
}
// Whether what the log has made durable lies in files of the directory's, and no crash is emulated.
inline bool is_in_files(LogDeviceKind kind) {
  return kind == LogDeviceKind::kFile || kind == LogDeviceKind::kStriped || kind == LogDeviceKind::kNvm;
}
// Whether the device's servers keep a replicated log.
inline bool is_replicated(LogDeviceKind kind) {
  return kind == LogDeviceKind::kNats || kind == LogDeviceKind::kKafka;
}
// Where a stream whose buffer lies in persistent memory (nvm_ring.h) is destaged to: a file, behind a
// volatile write cache of its own where the memory's crashes are emulated. Any other device as it is.
inline LogDeviceKind destaging_device(LogDeviceKind kind) {
  if (!is_nvm(kind)) return kind;
  return kind == LogDeviceKind::kNvm ? LogDeviceKind::kFile : LogDeviceKind::kLossy;
}

// "file", "striped", "null", "remote", "nats", "kafka", "lossy", "lossy-unsynced", "nvm", "nvm-lossy",
// "nvm-lossy-unfenced".
Result<LogDeviceKind> log_device_kind(std::string_view name);
std::string_view name_of(LogDeviceKind kind);

}  // namespace mneme
