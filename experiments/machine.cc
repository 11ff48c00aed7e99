#include "experiments/machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace mneme {
namespace {

// The value behind the first line of the file that begins with `name`.
std::string line_of(const char* path, std::string_view name, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::string value = line.substr(std::min(line.find(separator), line.size() - 1) + 1);
    std::erase(value, '"');
    return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
  }
  return "not known";
}

uint32_t numa_nodes() {
  uint32_t nodes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename();
    nodes += name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos;
  }
  return std::max(nodes, 1u);
}

std::string digest_of_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  uint32_t digest = 0;
  std::string buffer(1 << 20, '\0');
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
    digest = crc32c(std::as_bytes(std::span(buffer.data(), static_cast<size_t>(file.gcount()))), digest);
  }
  return fmt::format("{:08x}", digest);
}

}  // namespace

nlohmann::ordered_json environment_json(uint32_t cores) {
  utsname system{};
  uname(&system);
  struct sysinfo memory {};
  sysinfo(&memory);
  return {{"processor", line_of("/proc/cpuinfo", "model name", ':')},
          {"cores", cores},
          {"memory_bytes", static_cast<uint64_t>(memory.totalram) * memory.mem_unit},
          {"numa_nodes", numa_nodes()},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"system", line_of("/etc/os-release", "PRETTY_NAME", '=')},
          {"compiler", fmt::format("GCC {}", __VERSION__)},
          {"program", digest_of_program()}};
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::string time_now() {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
}

}  // namespace mneme
