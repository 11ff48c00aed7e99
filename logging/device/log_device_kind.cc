#include "logging/device/log_device_kind.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace mneme {
namespace {

struct DeviceLine {
  std::string_view name;
  LogDeviceTraits traits;
};
// By kind.
constexpr DeviceLine kDeviceLines[] = {
#define LOG_DEVICE(kind, name, open, ...) {name, {__VA_ARGS__}},
#include "logging/device/log_device_list.h"
#undef LOG_DEVICE
};

}  // namespace

const LogDeviceTraits& traits_of(LogDeviceKind kind) {
  return kDeviceLines[static_cast<size_t>(kind)].traits;
}

std::string_view name_of(LogDeviceKind kind) {
  return kDeviceLines[static_cast<size_t>(kind)].name;
}

Result<LogDeviceKind> log_device_kind(std::string_view name) {
  std::string names;
  for (size_t i = 0; i < std::size(kDeviceLines); ++i) {
    if (kDeviceLines[i].name == name) return static_cast<LogDeviceKind>(i);
    const char* const before = i == 0 ? "" : i + 1 < std::size(kDeviceLines) ? ", " : " or ";
    names += fmt::format("{}{}", before, kDeviceLines[i].name);
  }
  return invalid_argument("there is no log device \"{}\": choose {}", name, names);
}

std::string log_device_help() {
  std::string help;
  for (const DeviceLine& each : kDeviceLines) {
    help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", each.name, each.traits.help);
  }
  return help;
}

}  // namespace mneme
