#include "base/memory/available_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace mneme {
namespace {

namespace fs = std::filesystem;

// The number that follows `name` in a file of lines "name number ..."; with no name, the one that the file
// begins with.
std::optional<size_t> number_in(const fs::path& path, const std::string& name = "") {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(name)) continue;
    const size_t digits = line.find_first_not_of(" \t", name.size());
    if (digits == std::string::npos || line[digits] < '0' || line[digits] > '9') return std::nullopt;
    return std::stoull(line.substr(digits));
  }
  return std::nullopt;
}

// Returns what a control group has left: its limit, less what it holds without file pages, which the kernel
// drops when it must.
std::optional<size_t> left_in(const fs::path& group, const char* limit_file, const char* held_file) {
  const std::optional<size_t> limit = number_in(group / limit_file);
  const std::optional<size_t> held = number_in(group / held_file);
  if (!limit || !held) return std::nullopt;
  const size_t droppable = number_in(group / "memory.stat", "inactive_file ").value_or(0);
  const size_t fixed = *held - std::min(*held, droppable);
  return *limit - std::min(*limit, fixed);
}

// The process's path in the hierarchy that /proc/self/cgroup lists with these controllers ("" in version 2).
std::optional<fs::path> group_path(const fs::path& root, const std::string& controllers) {
  std::ifstream file(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos || line.substr(first + 1, second - first - 1) != controllers) continue;
    return fs::path(line.substr(second + 1)).relative_path();
  }
  return std::nullopt;
}

// The least that any group on the way up leaves.
void lower_to_groups(size_t& bytes, const fs::path& mount, fs::path group, const char* limit_file,
                     const char* held_file) {
  for (;; group = group.parent_path()) {
    bytes = std::min(bytes, left_in(mount / group, limit_file, held_file).value_or(bytes));
    if (group.empty()) return;
  }
}

}  // namespace

std::optional<size_t> available_memory_bytes(const fs::path& root) {
  const std::optional<size_t> kibibytes = number_in(root / "proc/meminfo", "MemAvailable:");
  if (!kibibytes) return std::nullopt;
  size_t bytes = *kibibytes * 1024;
  if (const auto group = group_path(root, ""))
    lower_to_groups(bytes, root / "sys/fs/cgroup", *group, "memory.max", "memory.current");
  if (const auto group = group_path(root, "memory")) {
    lower_to_groups(bytes, root / "sys/fs/cgroup/memory", *group, "memory.limit_in_bytes",
                    "memory.usage_in_bytes");
  }
  return bytes;
}

}  // namespace mneme
