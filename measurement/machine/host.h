// Host: the machine that a result was measured on, as far as the system describes it.
//
// Invariants  a field that the system doesn't describe is empty, and null in JSON: no value is guessed.
// Errors      none are reported: a file of /proc or /sys that can't be read leaves its field empty.
// Units       in the fields' names; load is the average number of runnable threads in the last minute.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mneme {

struct Host {
  std::optional<std::string> processor;  // the model's name
  uint32_t cores = 0;                    // that this process may use
  uint64_t memory_bytes = 0;
  uint32_t numa_nodes = 1;
  std::string kernel;                         // "Linux 6.1.0-18-amd64"
  std::optional<std::string> system;          // the distribution, "Debian GNU/Linux 12 (bookworm)"
  std::optional<std::string> huge_pages;      // of anonymous memory: always, madvise or never
  std::optional<std::string> virtualisation;  // the virtual machine's maker and product; "none" on bare metal
  std::optional<std::string> governor;        // of the processors' frequency; all kinds, with commas between
};

struct Disk {
  std::string device;       // as it was mounted, "/dev/vda1"
  std::string file_system;  // "ext4"
};

// `root` is the folder that holds proc, sys and etc: "/" except in tests.
Host examine_host(const std::filesystem::path& root = "/");
// The disk of a file or folder, which need not exist yet: that of the nearest folder above it that does.
std::optional<Disk> disk_of(const std::filesystem::path& path, const std::filesystem::path& root = "/");
std::optional<double> load_average();

nlohmann::ordered_json json_of(const Host& host);
nlohmann::ordered_json json_of(const std::optional<Disk>& disk);

// Now, in nanoseconds since 1970: to date a result by, and for nothing else, as clocks are set.
int64_t date_ns();
inline std::time_t date() {
  return date_ns() / 1'000'000'000;
}
// 2026-01-31T12:00:00Z
std::string utc_text(std::time_t time);

}  // namespace mneme
