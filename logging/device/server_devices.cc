#include "logging/device/server_devices.h"

#include <array>
#include <atomic>

#include "base/check.h"

namespace mneme {

namespace {

// By kind; null: not registered. Stored by registrations (release), loaded by all (acquire).
constinit std::array<std::atomic<const ServerLibrary*>, kLogDeviceKinds> registered{};

Result<const ServerLibrary*> library_of(LogDeviceKind kind) {
  const ServerLibrary* const library = registered[static_cast<size_t>(kind)].load(std::memory_order_acquire);
  if (library != nullptr) return library;
  return invalid_argument(
      "this program was built without the library for the log device {}: choose another, or link the library "
      "and "
      "register it",
      name_of(kind));
}

}  // namespace

void register_server_library(LogDeviceKind kind, const ServerLibrary& library) {
  CHECK(traits_of(kind).has_servers);
  registered[static_cast<size_t>(kind)].store(&library, std::memory_order_release);
}

Result<OpenedDevice> open_registered_device(LogDeviceRequest request) {
  const auto library = library_of(request.kind);
  if (!library.ok()) return library.error();
  return (*library)->open(std::move(request));
}

Result<std::unique_ptr<RemoteHolder>> make_remote_holder(LogDeviceKind kind, const RemoteLogOptions& remote) {
  const auto library = library_of(kind);
  if (!library.ok()) return library.error();
  return (*library)->hold(kind, remote);
}

}  // namespace mneme
