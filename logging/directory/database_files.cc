#include "logging/directory/database_files.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/bytes.h"
#include "base/file/directory.h"
#include "base/file/file.h"
#include "logging/directory/reused_segment.h"
#include "logging/record/block_format.h"
#include "logging/record/nvm_format.h"

namespace mneme {

namespace {

namespace fs = std::filesystem;

constexpr size_t kCopyBytes = size_t{1} << 20;
// The most files that an error names: enough to recognise whose they are.
constexpr size_t kMostNamed = 3;

bool is_all(std::string_view text, int (*is_kind)(int)) {
  return !text.empty() && std::ranges::all_of(text, [&](unsigned char c) { return is_kind(c) != 0; });
}

// Takes prefix and suffix away; nothing where the name has others.
std::optional<std::string_view> between(std::string_view name, std::string_view prefix,
                                        std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size())
    return {};
  return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
}

bool names_catalog(std::string_view name) {
  const auto hash = between(name, "catalog-", ".sql");
  return name == "catalog.sql" || (hash && hash->size() == 16 && is_all(*hash, std::isxdigit));
}

}  // namespace

bool names_segment(std::string_view name, std::string_view prefix) {
  const auto number = between(name, prefix, ".segment");
  return number && number->size() >= 6 && is_all(*number, std::isdigit);
}

bool names_checkpoint(std::string_view name) {
  const auto lsn = between(name, "checkpoint-", "");
  return lsn && lsn->size() == 16 && is_all(*lsn, std::isxdigit);
}

Result<std::vector<std::string>> database_files(const std::string& directory) {
  std::vector<std::string> found;
  if (!fs::is_directory(directory)) return found;
  const auto paths = paths_in(directory);
  if (!paths.ok()) return paths.error();
  for (const fs::path path : *paths) {
    const std::string name = path.filename();
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) continue;
    if (names_segment(name, "log-") || names_checkpoint(name) || names_catalog(name) || name == kPepochFile)
      found.push_back(name);
  }
  for (const fs::path folder : folders_in(*paths)) {
    const auto inner = paths_in(folder);
    if (!inner.ok()) continue;  // it may be anybody's
    for (const fs::path path : *inner) {
      if (names_segment(path.filename().string(), "log-"))
        found.push_back(path.lexically_relative(directory));
    }
  }
  return found;
}

std::vector<std::string> folders_in(const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  for (const fs::path path : paths) {
    std::error_code unknown;
    if (fs::is_directory(fs::symlink_status(path, unknown)) && !fs::exists(path / kManifestFile, unknown))
      folders.push_back(path);
  }
  return folders;
}

Result<void> check_holds_no_files(const std::string& directory) {
  const fs::path path = directory;
  if (fs::exists(path / kManifestFile) || fs::exists(path / kUnfinishedFile)) return {};
  auto files = database_files(directory);
  if (!files.ok()) return files.error();
  if (files->empty()) return {};
  const size_t more = files->size() - std::min(files->size(), kMostNamed);
  files->resize(files->size() - more);
  return damaged(
      "{}/MANIFEST is missing, and the directory holds files of a database: {}{}; nothing was changed: put "
      "MANIFEST back from a "
      "copy of the directory, or give another directory",
      directory, fmt::join(*files, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

Result<void> begin_making(const std::string& directory) {
  return replace_text_file(directory + "/" + kUnfinishedFile,
                           "A database is being made here. Where that was interrupted, it can be made again: "
                           "nothing of it is needed.\n");
}

Result<void> end_making(const std::string& directory) {
  const DirectoryChanges changes(directory);
  const std::string path = directory + "/" + kUnfinishedFile;
  if (::unlink(path.c_str()) != 0)
    return errno == ENOENT ? Result<void>() : file_error("remove", path, errno);
  return changes.sync();
}

Result<bool> holds_records(const std::string& path) {
  const auto file = File::open(path, O_RDONLY | O_NONBLOCK);
  if (!file.ok()) return file.error();
  std::vector<std::byte> chunk(kCopyBytes);
  const auto page = file->read_at(std::span(chunk).first(kSegmentHeaderBytes), 0);
  if (!page.ok()) return page.error();
  const auto header = SegmentHeader::decode(ByteSpan(chunk).first(*page), path);
  if (header.ok() && header->former) return holds_other_than_former(*file, *header->former);
  // A ring has a mark from the start.
  const bool is_ring = header.ok() && header->is_ring;
  for (uint64_t offset = is_ring ? kRingBegin : kSegmentHeaderBytes;; offset += chunk.size()) {
    const auto count = file->read_at(chunk, offset);
    if (!count.ok()) return count.error();
    if (!is_zeros(ByteSpan(chunk).first(*count))) return true;
    if (*count < chunk.size()) return false;
  }
}

}  // namespace mneme
