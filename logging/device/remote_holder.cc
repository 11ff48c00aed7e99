#include "logging/device/remote_holder.h"

#include <unistd.h>

#include <filesystem>

#include "base/memory/aligned_bytes.h"
#include "logging/record/block_format.h"

namespace mneme {

std::string path_of(const std::string& folder, const SegmentEntry& entry) {
  return folder + "/" + std::filesystem::path(entry.file).filename().string();
}

Result<void> keep_brought(const DirectoryChanges& changes, const std::string& folder,
                          const std::vector<SegmentEntry>& segments) {
  auto synced = changes.sync();
  if (synced.ok()) return synced;
  for (const SegmentEntry& each : segments) ::unlink(path_of(folder, each).c_str());
  return synced;
}

Result<void> write_empty_segment(const File& file, const Manifest& manifest, const SegmentEntry& entry) {
  const AlignedBytes page(kSegmentHeaderBytes);
  SegmentHeader{manifest.database_id, manifest.catalog_hash, entry.number, entry.incarnation}.encode(
      page.data());
  return file.write_at(page.span(), 0);
}

Error older_than_log() {
  return damaged(
      "the data directory is older than its log: an engine has gone on with the log from another copy of "
      "this "
      "directory, so records would be missing here. Work with that copy; this one was left as it is");
}

}  // namespace mneme
