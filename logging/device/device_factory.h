// Opens the log's devices, those that a flusher writes to, with the best I/O that this machine offers.
//
// If this machine lacks something (io_uring, direct I/O), a sentence in `notices` says so for the user.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "logging/device/device_options.h"
#include "logging/device/file_device.h"
#include "logging/device/log_device.h"
#include "logging/device/log_device_kind.h"
#include "logging/device/remote_options.h"
#include "logging/directory/manifest.h"

namespace mneme {

// Returns what an acknowledgement of the device promises, such as "local disk" or "2 of 3 memories".
std::string promise_of(LogDeviceKind kind, const RemoteLogOptions& remote);

struct OpenedDevice {
  std::unique_ptr<LogDevice> device;
  std::vector<std::string> notices;  // a sentence each
};

// The queue that a file of the log is written through.
struct OpenedQueue {
  std::unique_ptr<IoQueue> queue;
  IoChain::Durability durability = IoChain::Durability::kSync;
  bool direct_io = true;             // whether the files' file systems have it
  std::vector<std::string> notices;  // a sentence each
};

// Makes those of the directories that lie in the data directory; the others must be there.
Result<void> prepare_directories(const std::string& data_directory,
                                 const std::vector<std::string>& directories);

// For files in these directories, as SegmentFileOptions names them; those that lie in the data directory are
// made.
Result<OpenedQueue> open_log_queue(LogDeviceKind kind, const std::string& data_directory,
                                   const std::vector<std::string>& directories, const DeviceOptions& options);

struct LogDeviceRequest {
  LogDeviceKind kind;
  ManifestFile& manifest;
  FileDeviceOptions file;
  const DeviceOptions& options;
};
// The type of the functions that the lines of the device table name.
using LogDeviceOpener = Result<OpenedDevice>(LogDeviceRequest request);

// Opens the device that a flusher writes to; for a kind in persistent memory, the one that a stream is
// destaged to. `options` take precedence over `file`, in which the directories of a striped device are
// replaced; `file.direct_io` is a wish.
Result<OpenedDevice> open_log_device(LogDeviceKind kind, ManifestFile& manifest, FileDeviceOptions file,
                                     const DeviceOptions& options);

}  // namespace mneme
