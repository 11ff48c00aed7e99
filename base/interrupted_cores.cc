#include "base/interrupted_cores.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <fstream>
#include <locale>
#include <set>
#include <sstream>
#include <string>

namespace mneme {
namespace {

namespace fs = std::filesystem;

// The text by which a device's lines in /proc/interrupts begin or end.
struct Lines {
  std::set<std::string> numbers;  // "36": of message-signalled interrupts
  std::set<std::string> labels;   // "virtio1": of a device that has no message-signalled ones

  bool have(const std::string& number, const std::string& label) const {
    return numbers.contains(number) || labels.contains(label);
  }
};

// A device that is made of others, such as a logical volume, interrupts through them.
void collect_lines(const fs::path& device, Lines& lines, int depth = 0) {
  std::error_code error;
  if (depth < 4) {
    for (const fs::directory_entry& part : fs::directory_iterator(device / "slaves", error)) {
      const fs::path disk = fs::canonical(part.path(), error);
      if (!error) collect_lines(disk, lines, depth + 1);
    }
  }
  for (fs::path at = device; at.has_relative_path(); at = at.parent_path()) {
    for (const fs::directory_entry& interrupt : fs::directory_iterator(at / "msi_irqs", error)) {
      lines.numbers.insert(interrupt.path().filename().string());
    }
    const std::string name = at.filename().string();
    if (name.starts_with("virtio")) lines.labels.insert(name);
  }
}

// The counts that a line goes on with: one a core, or fewer: then it is no line of a device.
std::vector<uint64_t> counts_in(std::istringstream& line, size_t cores) {
  std::vector<uint64_t> counts;
  uint64_t count = 0;
  while (counts.size() < cores && line >> count) counts.push_back(count);
  return counts;
}

}  // namespace

std::vector<uint32_t> interrupted_cores(unsigned major, unsigned minor, const fs::path& root) {
  std::error_code error;
  const fs::path device =
      fs::canonical(root / "sys/dev/block" / (std::to_string(major) + ":" + std::to_string(minor)), error);
  if (error) return {};
  Lines lines;
  collect_lines(device, lines);

  std::ifstream file(root / "proc/interrupts");
  std::string text;
  std::getline(file, text);
  std::istringstream head(text);
  head.imbue(std::locale::classic());
  std::vector<uint32_t> cores;  // "CPU0 CPU2": those that are switched on
  for (std::string name; head >> name && name.starts_with("CPU");)
    cores.push_back(std::stoul(name.substr(3)));

  std::vector<uint64_t> sums(cores.size());
  while (std::getline(file, text)) {
    std::istringstream line(text);
    line.imbue(std::locale::classic());
    std::string number;
    line >> number;
    if (number.ends_with(':')) number.pop_back();
    const std::vector<uint64_t> counts = counts_in(line, cores.size());
    const std::string label = text.substr(text.find_last_of(" \t") + 1);
    if (counts.size() < cores.size() || !lines.have(number, label)) continue;
    for (size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
  }
  uint64_t all = 0;
  for (const uint64_t sum : sums) all += sum;
  std::vector<uint32_t> found;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] > all / 8) found.push_back(cores[i]);
  }
  return found;
}

std::vector<uint32_t> interrupted_cores(const fs::path& path) {
  struct stat status {};
  for (fs::path at = fs::absolute(path).lexically_normal();; at = at.parent_path()) {
    if (::stat(at.c_str(), &status) == 0)
      return interrupted_cores(major(status.st_dev), minor(status.st_dev), "/");
    if (!at.has_relative_path()) return {};
  }
}

bool keep_off(const std::vector<uint32_t>& cores, uint32_t threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (cores.empty() || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  for (const uint32_t core : cores) {
    if (core < CPU_SETSIZE) CPU_CLR(core, &allowed);
  }
  if (static_cast<uint32_t>(CPU_COUNT(&allowed)) < threads) return false;
  return sched_setaffinity(0, sizeof allowed, &allowed) == 0;
}

}  // namespace mneme
