#include "measurement/machine/host.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

namespace mneme {
namespace {

namespace fs = std::filesystem;
using HostJson = nlohmann::ordered_json;

std::optional<std::string> without_margins(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n\"");
  if (begin == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n\"") - begin + 1));
}

// The value behind the first line of the file that begins with `name`.
std::optional<std::string> line_of(const fs::path& path, std::string_view name, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find(separator);
    if (line.starts_with(name) && at != std::string::npos) return without_margins(line.substr(at + 1));
  }
  return std::nullopt;
}

std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? without_margins(line) : std::nullopt;
}

bool is_numbered(const std::string& name, std::string_view word) {
  return name.starts_with(word) && name.size() > word.size() &&
         name.find_first_not_of("0123456789", word.size()) == std::string::npos;
}

uint32_t numa_nodes_in(const fs::path& root) {
  uint32_t nodes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/node", error))
    nodes += is_numbered(entry.path().filename(), "node");
  return std::max(nodes, 1u);
}

// "always [madvise] never": the one in brackets.
std::optional<std::string> huge_pages_in(const fs::path& root) {
  const auto line = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  if (!line) return std::nullopt;
  const size_t begin = line->find('[');
  const size_t end = line->find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  return line->substr(begin + 1, end - begin - 1);
}

// An x86 processor has the flag "hypervisor" in a virtual machine. The firmware's tables name its maker.
// Other processors have no such flag: there, nothing is said.
std::optional<std::string> virtualisation_in(const fs::path& root) {
  const auto flags = line_of(root / "proc/cpuinfo", "flags", ':');
  if (!flags) return std::nullopt;
  if ((" " + *flags + " ").find(" hypervisor ") == std::string::npos) return "none";
  const auto vendor = first_line(root / "sys/class/dmi/id/sys_vendor");
  const auto product = first_line(root / "sys/class/dmi/id/product_name");
  if (vendor && product) return *vendor + " " + *product;
  if (vendor || product) return vendor ? vendor : product;
  return "a virtual machine";
}

std::optional<std::string> governor_in(const fs::path& root) {
  std::set<std::string> governors;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/cpu", error)) {
    if (!is_numbered(entry.path().filename(), "cpu")) continue;
    if (const auto governor = first_line(entry.path() / "cpufreq/scaling_governor"))
      governors.insert(*governor);
  }
  if (governors.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(governors, ","));
}

// mountinfo writes a space in a path as \040.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size() && std::isdigit(text[i + 1]) != 0;
    if (!is_escape) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
    i += 3;
  }
  return plain;
}

bool lies_in(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

HostJson known_or_null(const std::optional<std::string>& text) {
  return text ? HostJson(*text) : HostJson();
}

}  // namespace

Host examine_host(const fs::path& root) {
  utsname system{};
  uname(&system);
  struct sysinfo memory {};
  sysinfo(&memory);
  return {.processor = line_of(root / "proc/cpuinfo", "model name", ':'),
          .cores = std::max(1u, std::thread::hardware_concurrency()),
          .memory_bytes = static_cast<uint64_t>(memory.totalram) * memory.mem_unit,
          .numa_nodes = numa_nodes_in(root),
          .kernel = fmt::format("{} {}", system.sysname, system.release),
          .system = line_of(root / "etc/os-release", "PRETTY_NAME", '='),
          .huge_pages = huge_pages_in(root),
          .virtualisation = virtualisation_in(root),
          .governor = governor_in(root)};
}

// A line of mountinfo: 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue, with
// the mount point fifth, and behind the dash the file system and the device. Of the mount points above the
// path the longest counts, and of several that are alike the last, which hides the others.
std::optional<Disk> disk_of(const fs::path& path, const fs::path& root) {
  std::error_code error;
  const std::string whole = fs::weakly_canonical(fs::absolute(path), error).lexically_normal();
  if (error || whole.empty()) return std::nullopt;
  std::ifstream file(root / "proc/self/mountinfo");
  std::optional<Disk> found;
  size_t longest = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::string point;
    for (int i = 0; i < 5 && words >> word; ++i) point = unescaped(word);
    while (words >> word && word != "-") {
    }
    Disk disk;
    if (!(words >> disk.file_system >> disk.device) || point.size() < longest || !lies_in(whole, point))
      continue;
    disk.device = unescaped(disk.device);
    longest = point.size();
    found = disk;
  }
  return found;
}

std::optional<double> load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? std::optional(load) : std::nullopt;
}

HostJson json_of(const Host& host) {
  return {{"processor", known_or_null(host.processor)},
          {"cores", host.cores},
          {"memory_bytes", host.memory_bytes},
          {"numa_nodes", host.numa_nodes},
          {"kernel", host.kernel},
          {"system", known_or_null(host.system)},
          {"huge_pages", known_or_null(host.huge_pages)},
          {"virtualisation", known_or_null(host.virtualisation)},
          {"governor", known_or_null(host.governor)}};
}

HostJson json_of(const std::optional<Disk>& disk) {
  if (!disk) return {};
  return {{"device", disk->device}, {"file_system", disk->file_system}};
}

int64_t date_ns() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::string utc_text(std::time_t time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

}  // namespace mneme
