#include "logging/device/remote_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/ascii.h"

namespace mneme {

std::string replicated_stream(uint64_t database_id, const RemoteLogOptions& remote) {
  return remote.stream.empty() ? fmt::format("mneme-{:016x}", database_id) : remote.stream;
}

Result<void> check_stream_name(const std::string& name) {
  const bool is_good = !name.empty() && name.size() <= 200 && std::ranges::all_of(name, [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '_';
  });
  if (is_good) return {};
  return invalid_argument("--log-stream {}: letters, digits, - and _, 200 at most", name);
}

std::string attribute_of(const Manifest& manifest, const char* name) {
  const auto at = manifest.attributes.find(name);
  return at == manifest.attributes.end() ? "" : at->second;
}

std::string remote_segment_file(uint32_t number) {
  return fmt::format("{}/log-{:06}.segment", kRemoteFolder, number);
}

bool is_in_memories(const std::string& directory, const SegmentEntry& entry) {
  if (entry.file != remote_segment_file(entry.number)) return false;
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path_in(directory, entry.file), error);
  return error == std::errc::no_such_file_or_directory || (!error && bytes == 0);
}

std::vector<SegmentEntry> segments_in_memories(const std::string& directory, const Manifest& manifest) {
  std::vector<SegmentEntry> found;
  for (const SegmentEntry& each : manifest.segments) {
    if (is_in_memories(directory, each)) found.push_back(each);
  }
  return found;
}

}  // namespace mneme
