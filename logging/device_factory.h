// Names the log's devices, and opens those that a flusher writes to, with the best I/O that this machine offers.
//
// What had to be done without (io_uring, direct I/O) is told in `notices`, for the user: nothing is silent.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "logging/file_device.h"
#include "logging/io_options.h"
#include "logging/log_device.h"
#include "logging/manifest.h"
#include "logging/remote_options.h"
#include "logging/replicated_log.h"

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
// As the options and the manifest name it: for what, of a database, is written to or read from there.
ReplicatedLogOptions replicated_log_options(LogDeviceKind kind, const RemoteLogOptions& remote, uint64_t database_id);
// Where a stream whose buffer lies in persistent memory (nvm_ring.h) is destaged to: a file, behind a volatile write cache of
// its own where the memory's crashes are emulated. Any other device as it is.
inline LogDeviceKind destaging_device(LogDeviceKind kind) {
  if (!is_nvm(kind)) return kind;
  return kind == LogDeviceKind::kNvm ? LogDeviceKind::kFile : LogDeviceKind::kLossy;
}

// What an acknowledgement stands for there, as "local disk", "2 of 3 memories".
std::string durability_text(LogDeviceKind kind, const RemoteLogOptions& remote);

// "file", "striped", "null", "remote", "nats", "kafka", "lossy", "lossy-unsynced", "nvm", "nvm-lossy", "nvm-lossy-unfenced".
Result<LogDeviceKind> log_device_kind(std::string_view name);
std::string_view name_of(LogDeviceKind kind);

struct OpenedDevice {
  std::unique_ptr<LogDevice> device;
  std::vector<std::string> notices;  // a sentence each
};

struct DeviceOptions {
  IoOptions io{};
  // Of the striped device: inside the data directory, where missing ones are made, or absolute. Several.
  std::vector<std::string> directories{};
  uint64_t lossy_seed = 1;              // chooses what the lossy devices tear and reorder
  std::chrono::nanoseconds latency{0};  // injected: no flush takes less
  RemoteLogOptions remote{};
};

// What a file of the log is written through.
struct OpenedQueue {
  std::unique_ptr<IoQueue> queue;
  IoChain::Durability durability = IoChain::Durability::kSync;
  bool direct_io = true;             // whether the files' file systems have it
  std::vector<std::string> notices;  // a sentence each
};

// Makes those of the directories that lie in the data directory; the others must be there.
Result<void> prepare_directories(const std::string& data_directory, const std::vector<std::string>& directories);

// For files in these directories, as SegmentFileOptions names them; those that lie in the data directory are made.
Result<OpenedQueue> open_log_queue(LogDeviceKind kind, const std::string& data_directory,
                                   const std::vector<std::string>& directories, const DeviceOptions& options);

// Not for persistent memory. Of `file`, what `options` decide is overwritten, the directories of a striped device
// among it; `file.direct_io` is a wish.
Result<OpenedDevice> open_log_device(LogDeviceKind kind, ManifestFile& manifest, FileDeviceOptions file,
                                     const DeviceOptions& options);

}  // namespace mneme
