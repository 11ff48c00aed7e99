#include "logging/remote/remote_device.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/random_number.h"
#include "logging/device/server_devices.h"
#include "logging/record/block_format.h"
#include "logging/remote/log_servers.h"
#include "logging/remote/remote_queue.h"
#include "logging/remote/server_holder.h"

namespace mneme {

namespace {

Result<void> make_folder(const std::string& directory) {
  const DirectoryChanges changes(directory);
  const std::string folder = path_in(directory, kRemoteFolder);
  const int reason = make_private_directory(folder);
  const bool is_new = reason == 0;
  if (!is_new && reason != EEXIST) return file_error("make the directory", folder, reason);
  auto synced = changes.sync();
  // A later sync might succeed without having made the new folder's entry durable (DirectoryChanges).
  if (!synced.ok() && is_new) ::rmdir(folder.c_str());
  return synced;
}

Result<ServerKeeperOptions> server_options(const Manifest& manifest, const RemoteLogOptions& remote) {
  auto servers = log_server_addresses(remote.servers);
  if (!servers.ok()) return servers.error();
  ServerKeeperOptions options;
  options.servers = std::move(*servers);
  options.patience = remote.patience;
  options.hello.database_id = manifest.database_id;
  options.hello.role = LogRole::kWriter;
  options.hello.term = term_of(manifest, remote);
  if (remote.key_file.empty()) return options;
  auto key = read_key_file(remote.key_file);
  if (!key.ok()) return key.error();
  options.key = std::move(*key);
  return options;
}

Result<OpenedServers> open_servers(const Manifest& manifest, const RemoteLogOptions& remote,
                                   size_t segment_bytes, RemoteSegments& segments) {
  auto servers = server_options(manifest, remote);
  if (!servers.ok()) return servers.error();
  auto queue = RemoteQueue::open(
      {.servers = std::move(*servers), .segment_bytes = segment_bytes, .tell = remote.tell}, segments);
  if (!queue.ok()) return queue.error();
  OpenedServers opened;
  opened.notices = (*queue)->notices();
  if (!remote.key_file.empty()) opened.attributes[kLogKeyAttribute] = remote.key_file;
  opened.queue = std::move(*queue);
  return opened;
}

Result<OpenedDevice> open_remote_device(LogDeviceRequest request) {
  const Manifest manifest = request.manifest.current();
  const RemoteLogOptions& remote = request.options.remote;
  return RemoteDevice::open(std::move(request), [&](size_t segment_bytes, RemoteSegments& segments) {
    return open_servers(manifest, remote, segment_bytes, segments);
  });
}

constexpr ServerLibrary kLogServers{open_remote_device, make_server_holder};

}  // namespace

LogTerm term_of(const Manifest& manifest, const RemoteLogOptions& remote) {
  const uint64_t owner = remote.owner != 0 ? remote.owner : unforeseen_number() | 1;
  return {manifest.incarnations.back().number, owner};
}

void register_remote_device() {
  register_server_library(LogDeviceKind::kRemote, kLogServers);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): all openers have this signature
Result<OpenedDevice> RemoteDevice::open(LogDeviceRequest request, const ServerOpener& open_servers) {
  auto& [kind, manifest, file, options] = request;
  const RemoteLogOptions& remote = options.remote;
  RETURN_IF_ERROR(make_folder(manifest.directory()));
  file.unit_bytes = options.io.unit_bytes;
  file.chains = options.io.depth;
  file.segment_bytes = file.segment_bytes / kBlockBytes * kBlockBytes;
  auto segments = std::make_unique<RemoteSegments>(manifest, file.segment_bytes, remote.files);
  auto servers = open_servers(file.segment_bytes, *segments);
  if (!servers.ok()) return servers.error();

  RETURN_IF_ERROR(manifest.update([&](Manifest& m) {
    for (const char* each : {kLogKeyAttribute, kLogKindAttribute, kLogStreamAttribute, kLogBeginAttribute}) {
      m.attributes.erase(each);
    }
    m.attributes[kLogServersAttribute] = remote.servers;
    for (const auto& [name, value] : servers->attributes) m.attributes[name] = value;
  }));
  file.directories = {""};
  file.make_segment = [&made = *segments](uint32_t number, FunctionRef<bool()> closing) {
    return made.make(number, closing);
  };
  auto device = FileDevice::open(manifest, std::move(servers->queue), file);
  if (!device.ok()) return device.error();
  OpenedDevice opened;
  opened.notices = std::move(servers->notices);
  opened.device.reset(new RemoteDevice(std::move(segments), std::move(*device)));
  return opened;
}

}  // namespace mneme
