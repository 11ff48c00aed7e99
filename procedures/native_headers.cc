#include "procedures/native_headers.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"

namespace mneme {

Result<std::string> digest_of_headers(const std::string& source_directory) {
  std::vector<std::string> names;
  for (const char* folder : {"base", "logging", "engine", "procedures"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(source_directory + "/" + folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".h") && !name.starts_with("test_")) names.push_back(std::string(folder) + "/" + name);
    }
    if (error) return failed("cannot list {}/{}: {}", source_directory, folder, error.message());
  }
  std::ranges::sort(names);
  std::string all;
  for (const std::string& name : names) {
    const Result<std::string> content = read_text_file(source_directory + "/" + name);
    if (!content) return content.error();
    all += fmt::format("{} {}\n", name, content->size());
    all += *content;
  }
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace mneme
