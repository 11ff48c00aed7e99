#include "logging/replicated/replicated_device.h"

#include <string>

#include "logging/device/server_devices.h"
#include "logging/remote/remote_device.h"
#include "logging/replicated/replicated_log.h"
#include "logging/replicated/replicated_queue.h"

namespace mneme {

namespace {

Result<OpenedServers> open_servers_of(const ReplicatedLogOptions& log, const Manifest& manifest,
                                      const RemoteLogOptions& remote, RemoteSegments& segments) {
  auto appender = open_replicated_appender({.log = log,
                                            .term = term_of(manifest, remote),
                                            .replicas = remote.replicas,
                                            .silence = remote.silence});
  if (!appender.ok()) return appender.error();
  OpenedServers opened;
  opened.attributes[kLogKindAttribute] = name_of(log.kind);
  opened.attributes[kLogStreamAttribute] = log.stream;
  if (!log.key_file.empty()) opened.attributes[kLogKeyAttribute] = log.key_file;
  opened.attributes[kLogBeginAttribute] = std::to_string((*appender)->begin());
  opened.queue = std::make_unique<ReplicatedQueue>(std::move(*appender), segments);
  return opened;
}

Result<OpenedDevice> open_replicated_device(LogDeviceRequest request) {
  const Manifest manifest = request.manifest.current();
  const RemoteLogOptions& remote = request.options.remote;
  const ReplicatedLogOptions log = replicated_log_options(request.kind, remote, manifest.database_id);
  return RemoteDevice::open(std::move(request), [&](size_t, RemoteSegments& segments) {
    return open_servers_of(log, manifest, remote, segments);
  });
}

constexpr ServerLibrary kReplicatedLogs{open_replicated_device, make_replicated_holder};

}  // namespace

void register_replicated_devices() {
  register_server_library(LogDeviceKind::kNats, kReplicatedLogs);
  register_server_library(LogDeviceKind::kKafka, kReplicatedLogs);
}

}  // namespace mneme
