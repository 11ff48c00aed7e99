#include "logging/device/device_factory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/memory/aligned_bytes.h"
#include "logging/device/delayed_device.h"
#include "logging/device/inline_queue.h"
#include "logging/device/lossy_queue.h"
#include "logging/device/null_device.h"
#include "logging/device/thread_queue.h"
#include "logging/device/uring_queue.h"
#include "logging/record/block_format.h"

namespace mneme {

#define LOG_DEVICE(kind, name, open, ...) LogDeviceOpener open;
#include "logging/device/log_device_list.h"
#undef LOG_DEVICE

namespace {

// By kind.
constexpr LogDeviceOpener* kOpeners[] = {
#define LOG_DEVICE(kind, name, open, ...) open,
#include "logging/device/log_device_list.h"
#undef LOG_DEVICE
};

// Some file systems refuse direct I/O when a file is opened, some only when it is written.
Result<void> try_direct_io(const std::string& directory) {
  const std::string path = directory + "/direct-io.probe";
  auto file = File::make(path, O_RDWR | O_DIRECT);
  const AlignedBytes page(AlignedBytes::kAlignment);
  Result<void> result = file.ok() ? file->write_at(page.span(), 0) : Result<void>(file.error());
  ::unlink(path.c_str());
  return result;
}

std::unique_ptr<IoQueue> open_queue(const IoOptions& io, std::vector<std::string>& notices) {
  if (io.method == IoMethod::kThreads) return std::make_unique<ThreadQueue>(io.depth);
  if (io.method == IoMethod::kInline) return std::make_unique<InlineQueue>();
  auto uring = UringQueue::open({.depth = io.depth,
                                 .polled = io.method == IoMethod::kPolledUring,
                                 .registers_memory = io.registered,
                                 .registers_files = io.registered});
  if (!uring.ok()) {
    notices.push_back(
        fmt::format("{}: the log is written by threads instead, which is slower", uring.error().message));
    return std::make_unique<ThreadQueue>(io.depth);
  }
  if (io.registered && !(*uring)->registers_files()) {
    notices.push_back(
        "this system's io_uring can't register files: each write looks its file up, which is slower");
  }
  return std::move(*uring);
}

IoChain::Durability durability_of(LogDeviceKind kind, IoSync sync) {
  if (!traits_of(kind).hardens) return IoChain::Durability::kNone;
  return sync == IoSync::kWriteThrough ? IoChain::Durability::kWriteThrough : IoChain::Durability::kSync;
}

}  // namespace

std::string promise_of(LogDeviceKind kind, const RemoteLogOptions& remote) {
  const LogDeviceTraits& traits = traits_of(kind);
  const uint32_t copies = traits.is_replicated
                              ? remote.replicas
                              : 1 + static_cast<uint32_t>(std::ranges::count(remote.servers, ','));
  if (copies == 1 && !traits.promise_of_one.empty()) return std::string(traits.promise_of_one);
  return fmt::format(fmt::runtime(traits.promise), copies_to_acknowledge(copies), copies);
}

Result<void> prepare_directories(const std::string& data_directory,
                                 const std::vector<std::string>& directories) {
  const DirectoryChanges changes(data_directory);
  std::vector<std::string> made;
  for (const std::string& directory : directories) {
    if (directory.empty()) continue;
    const std::string path = path_in(data_directory, directory);
    if (!directory.starts_with('/')) {
      const int reason = make_private_directory(path);
      if (reason == 0)
        made.push_back(path);
      else if (reason != EEXIST)
        return file_error("make the directory", path, reason);
    }
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) return file_error("use the log's directory", path, errno);
    if (!S_ISDIR(status.st_mode)) return file_error("use the log's directory", path, ENOTDIR);
  }
  auto synced = changes.sync();
  if (!synced.ok()) {
    // No later sync is known to cover their names.
    for (const std::string& path : made) ::rmdir(path.c_str());
  }
  return synced;
}

Result<OpenedQueue> open_log_queue(LogDeviceKind kind, const std::string& data_directory,
                                   const std::vector<std::string>& directories,
                                   const DeviceOptions& options) {
  RETURN_IF_ERROR(prepare_directories(data_directory, directories));
  OpenedQueue opened;
  opened.durability = durability_of(kind, options.io.sync);
  if (traits_of(kind).loses_cache) {
    opened.queue = std::make_unique<LossyQueue>(options.lossy_seed);
    opened.direct_io = false;  // it writes single sectors
    return opened;
  }
  if (options.make_queue) {
    opened.queue = options.make_queue();
    opened.direct_io = false;
    return opened;
  }
  for (const std::string& directory : directories) {
    auto direct = try_direct_io(path_in(data_directory, directory));
    if (!opened.direct_io || direct.ok()) continue;
    opened.notices.push_back(
        fmt::format("direct I/O is not available ({}): the log goes through the page cache, which is slower",
                    direct.error().message));
    opened.direct_io = false;
  }
  opened.queue = open_queue(options.io, opened.notices);
  return opened;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): others move the file's options out of theirs
Result<OpenedDevice> open_file_device(LogDeviceRequest request) {
  auto& [kind, manifest, file, options] = request;
  if (traits_of(kind).is_striped) file.directories = options.directories;
  auto opened_queue = open_log_queue(kind, manifest.directory(), file.directories, options);
  if (!opened_queue.ok()) return opened_queue.error();
  OpenedDevice opened;
  opened.notices = std::move(opened_queue->notices);
  file.unit_bytes = options.io.unit_bytes;
  file.chains = options.io.depth;
  file.durability = opened_queue->durability;
  if (file.direct_io && !opened_queue->direct_io) {
    file.direct_io = false;
    // The kernel reports a write-back error to one sync of a file only: with two in flight, the other one's
    // write would pass for durable.
    if (!traits_of(kind).loses_cache) file.chains = 1;
  }
  auto device = FileDevice::open(manifest, std::move(opened_queue->queue), file);
  if (!device.ok()) return device.error();
  const std::vector<std::string>& notices = (*device)->notices();
  opened.notices.insert(opened.notices.end(), notices.begin(), notices.end());
  opened.device = std::move(*device);
  return opened;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): others move the file's options out of theirs
Result<OpenedDevice> open_null_device(LogDeviceRequest request) {
  return OpenedDevice{.device = std::make_unique<NullDevice>(request.file.begin), .notices = {}};
}

Result<OpenedDevice> open_destaging_device(LogDeviceRequest request) {
  return open_file_device(
      {*traits_of(request.kind).destaged_to, request.manifest, std::move(request.file), request.options});
}

Result<OpenedDevice> open_log_device(LogDeviceKind kind, ManifestFile& manifest, FileDeviceOptions file,
                                     const DeviceOptions& options) {
  CHECK(options.io.depth > 0);
  CHECK(options.io.depth <= kMostInFlight);
  CHECK(options.io.unit_bytes % kBlockBytes == 0);
  CHECK(options.io.unit_bytes > 0);
  const StreamPosition begin = file.begin;
  auto opened = kOpeners[static_cast<size_t>(kind)]({kind, manifest, std::move(file), options});
  const std::chrono::nanoseconds latency = options.latency.value_or(std::chrono::nanoseconds(0));
  if (!opened.ok() || latency.count() == 0) return opened;
  opened->device = std::make_unique<DelayedDevice>(
      std::move(opened->device),
      DelayedDeviceOptions{.begin = begin, .latency = latency, .depth = options.io.depth});
  return opened;
}

}  // namespace mneme
