#include "procedures/native/native_headers.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file/file.h"

namespace mneme {

Result<std::vector<std::string>> header_files(const std::string& source_directory) {
  std::vector<std::string> names;
  for (const char* folder : {"base", "logging", "engine", "procedures"}) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entry(source_directory + "/" + folder, error);
    for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().lexically_relative(source_directory).string();
      if (name.ends_with(".h") && name.find("/testing/") == std::string::npos) names.push_back(name);
    }
    if (error) return failed("cannot list {}/{}: {}", source_directory, folder, error.message());
  }
  std::ranges::sort(names);
  return names;
}

Result<std::string> digest_of_headers(const std::string& source_directory) {
  const Result<std::vector<std::string>> names = header_files(source_directory);
  if (!names) return names.error();
  std::string all;
  for (const std::string& name : *names) {
    const Result<std::string> content = read_text_file(source_directory + "/" + name);
    if (!content) return content.error();
    all += fmt::format("{} {}\n", name, content->size());
    all += *content;
  }
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace mneme
