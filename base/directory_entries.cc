#include "base/directory_entries.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace mneme {

Result<std::vector<std::string>> paths_in(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) paths.push_back(entry->path());
  if (error) return failed("cannot look through {}: {}", directory, error.message());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace mneme
