#include "logging/directory/newest_manifest.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "logging/directory/database_files.h"
#include "logging/record/block_format.h"

namespace mneme {

namespace {

namespace fs = std::filesystem;

// The header page of a file that is whole that far and a segment's.
std::optional<SegmentHeader> header_of(const File& file) {
  std::vector<std::byte> page(kSegmentHeaderBytes);
  const auto count = file.read_at(page, 0);
  if (!count.ok()) return std::nullopt;
  const auto header = SegmentHeader::decode(ByteSpan(page).first(*count), file.path());
  return header.ok() ? std::optional(*header) : std::nullopt;
}

// `is_own`: the database's own directory, where no other's segments belong.
Result<void> check_unlisted(const std::string& path, const std::string& directory, const Manifest& manifest,
                            bool is_own) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return {};
  const auto file = File::open(path, O_RDONLY | O_NONBLOCK);
  if (!file.ok()) return file.error();
  const std::optional<SegmentHeader> header = header_of(*file);
  if (!header || header->number < manifest.next_segment_number()) return {};
  if (header->database_id != manifest.database_id) {
    if (!is_own) return {};
    return damaged(
        "{} belongs to another database than {}/MANIFEST: its id is {:016x}, that one's {:016x}, whose log "
        "will come to that name; "
        "nothing was changed: put the right MANIFEST back, or move the file away",
        path, directory, header->database_id, manifest.database_id);
  }
  const auto has_records = holds_records(path);
  if (!has_records.ok()) return has_records.error();
  if (!*has_records) return {};  // a crash came before it was listed
  return damaged(
      "{}/MANIFEST is older than the log: {} is segment {} of this database and holds records, and the last "
      "one that the manifest "
      "knows is {}; nothing was changed: put the newest MANIFEST of this directory back",
      directory, path, header->number, manifest.next_segment_number() - 1);
}

}  // namespace

Result<void> check_is_newest(const std::string& directory, const Manifest& manifest) {
  const std::string others = fmt::format("{:016x}-log-", manifest.database_id);
  std::set<std::string> listed;
  std::set<std::string> places{fs::path(directory).lexically_normal()};
  const auto own = paths_in(directory);
  if (!own.ok()) return own.error();
  std::set<std::string> ours = places;  // where no other database's segments belong
  for (const std::string& path : folders_in(*own)) places.insert(fs::path(path).lexically_normal());
  for (const SegmentEntry& entry : manifest.segments) {
    const fs::path path = fs::path(path_in(directory, entry.file)).lexically_normal();
    listed.insert(path);
    places.insert(path.parent_path());
    if (!entry.file.starts_with('/')) ours.insert(path.parent_path());
  }
  for (const std::string& place : places) {
    const auto paths = paths_in(place);
    if (!paths.ok()) continue;  // that a listed segment is missing with it is the log's reader's to say
    for (const fs::path path : *paths) {
      const std::string name = path.filename();
      const bool is_segment = names_segment(name, "log-") || names_segment(name, others);
      if (!is_segment || listed.contains(path.lexically_normal())) continue;
      RETURN_IF_ERROR(check_unlisted(path, directory, manifest, ours.contains(place)));
    }
  }
  return {};
}

}  // namespace mneme
