#include "logging/device_factory.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/aligned_bytes.h"
#include "base/file.h"
#include "logging/delayed_device.h"
#include "logging/lossy_queue.h"
#include "logging/null_device.h"
#include "logging/thread_queue.h"
#include "logging/uring_queue.h"

namespace mneme {

namespace {

struct DeviceName {
  LogDeviceKind kind;
  std::string_view name;
};
constexpr DeviceName kNames[] = {{LogDeviceKind::kFile, "file"},
                                 {LogDeviceKind::kNull, "null"},
                                 {LogDeviceKind::kLossy, "lossy"},
                                 {LogDeviceKind::kLossyUnsynced, "lossy-unsynced"}};

// Some file systems refuse direct I/O when a file is opened, some only when it is written.
Result<void> try_direct_io(const std::string& directory) {
  const std::string path = directory + "/direct-io.probe";
  auto file = File::open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT);
  const AlignedBytes page(AlignedBytes::kAlignment);
  Result<void> result = file.ok() ? file->write_at(page.span(), 0) : Result<void>(file.error());
  ::unlink(path.c_str());
  return result;
}

std::unique_ptr<IoQueue> best_queue(uint32_t chains, std::vector<std::string>& notices) {
  auto uring = UringQueue::open(chains);
  if (uring.ok()) return std::move(*uring);
  notices.push_back(
      fmt::format("{}: the log is written by threads instead, which is slower", uring.error().message));
  return std::make_unique<ThreadQueue>(chains);
}

Result<std::unique_ptr<FileDevice>> open_file_device(LogDeviceKind kind, ManifestFile& manifest,
                                                     FileDeviceOptions file, const DeviceOptions& options,
                                                     std::vector<std::string>& notices) {
  std::unique_ptr<IoQueue> queue;
  if (kind == LogDeviceKind::kFile) {
    if (auto direct = try_direct_io(manifest.directory()); file.direct_io && !direct.ok()) {
      notices.push_back(fmt::format(
          "direct I/O is not available ({}): the log goes through the page cache, which is slower",
          direct.error().message));
      file.direct_io = false;
      // The kernel tells a write-back error to one sync of a file only: with two in flight, the other one's write would
      // pass for durable.
      file.chains = 1;
    }
    queue = best_queue(file.chains, notices);
  } else {
    queue = std::make_unique<LossyQueue>(options.lossy_seed);
    file.direct_io = false;  // it writes single sectors
    file.omit_sync = kind == LogDeviceKind::kLossyUnsynced;
  }
  return FileDevice::open(manifest, std::move(queue), file);
}

}  // namespace

Result<LogDeviceKind> log_device_kind(std::string_view name) {
  for (const DeviceName& each : kNames) {
    if (each.name == name) return each.kind;
  }
  return invalid_argument("there is no log device \"{}\": choose file, null, lossy or lossy-unsynced", name);
}

std::string_view name_of(LogDeviceKind kind) {
  return kNames[static_cast<size_t>(kind)].name;
}

Result<OpenedDevice> open_log_device(LogDeviceKind kind, ManifestFile& manifest,
                                     const FileDeviceOptions& file, const DeviceOptions& options) {
  OpenedDevice opened;
  if (kind == LogDeviceKind::kNull) {
    opened.device = std::make_unique<NullDevice>(file.begin);
  } else {
    auto device = open_file_device(kind, manifest, file, options, opened.notices);
    if (!device.ok()) return device.error();
    opened.device = std::move(*device);
  }
  if (options.latency.count() > 0) {
    opened.device = std::make_unique<DelayedDevice>(
        std::move(opened.device),
        DelayedDeviceOptions{.begin = file.begin, .latency = options.latency, .depth = file.chains});
  }
  return opened;
}

}  // namespace mneme
