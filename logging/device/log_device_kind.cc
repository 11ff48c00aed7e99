#include "logging/device/log_device_kind.h"

namespace mneme {
namespace {

struct DeviceName {
  LogDeviceKind kind;
  std::string_view name;
};
constexpr DeviceName kNames[] = {{LogDeviceKind::kFile, "file"},
                                 {LogDeviceKind::kStriped, "striped"},
                                 {LogDeviceKind::kNull, "null"},
                                 {LogDeviceKind::kRemote, "remote"},
                                 {LogDeviceKind::kNats, "nats"},
                                 {LogDeviceKind::kKafka, "kafka"},
                                 {LogDeviceKind::kLossy, "lossy"},
                                 {LogDeviceKind::kLossyUnsynced, "lossy-unsynced"},
                                 {LogDeviceKind::kNvm, "nvm"},
                                 {LogDeviceKind::kNvmLossy, "nvm-lossy"},
                                 {LogDeviceKind::kNvmLossyUnfenced, "nvm-lossy-unfenced"}};

}  // namespace

Result<LogDeviceKind> log_device_kind(std::string_view name) {
  for (const DeviceName& each : kNames) {
    if (each.name == name) return each.kind;
  }
  return invalid_argument(
      "there is no log device \"{}\": choose file, striped, null, remote, nats, kafka, lossy, "
      "lossy-unsynced, nvm, "
      "nvm-lossy or "
      "nvm-lossy-unfenced",
      name);
}

std::string_view name_of(LogDeviceKind kind) {
  return kNames[static_cast<size_t>(kind)].name;
}

}  // namespace mneme
