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

namespace mneme {

enum class LogDeviceKind {
  kFile,           // segment files in the data directory, direct I/O
  kStriped,        // the same, over several directories
  kNull,           // drops everything
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

// "file", "striped", "null", "lossy", "lossy-unsynced", "nvm", "nvm-lossy", "nvm-lossy-unfenced".
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
};

// What a file of the log is written through.
struct OpenedQueue {
  std::unique_ptr<IoQueue> queue;
  IoChain::Durability durability = IoChain::Durability::kSync;
  bool direct_io = true;             // whether the files' file systems have it
  std::vector<std::string> notices;  // a sentence each
};

// For files in these directories, as SegmentFileOptions names them; those that lie in the data directory are made.
Result<OpenedQueue> open_log_queue(LogDeviceKind kind, const std::string& data_directory,
                                   const std::vector<std::string>& directories, const DeviceOptions& options);

// Not for persistent memory. Of `file`, what `options` decide is overwritten, the directories of a striped device
// among it; `file.direct_io` is a wish.
Result<OpenedDevice> open_log_device(LogDeviceKind kind, ManifestFile& manifest, FileDeviceOptions file,
                                     const DeviceOptions& options);

}  // namespace mneme
