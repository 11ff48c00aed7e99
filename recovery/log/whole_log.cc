#include "recovery/log/whole_log.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "engine/checkpoint/checkpoint_format.h"
#include "logging/directory/log_archive.h"
#include "logging/record/block_format.h"
#include "recovery/log/catalog_file.h"

namespace mneme {

namespace {

namespace fs = std::filesystem;

Result<std::vector<std::byte>> first_page(const std::string& folder, const std::string& name) {
  auto file = File::open_in(folder, name);
  if (!file) return file.error();
  std::vector<std::byte> page(std::max(kSegmentHeaderBytes, kCheckpointHeaderBytes));
  const Result<size_t> read = file->read_at(page, 0);
  if (!read) return read.error();
  page.resize(*read);
  return page;
}

Result<void> add_segment(Manifest& manifest, const std::string& path, ByteSpan page) {
  auto header = SegmentHeader::decode(page, path);
  if (!header) return header.error();
  const auto place = std::ranges::lower_bound(manifest.segments, header->number, {}, &SegmentEntry::number);
  if (place != manifest.segments.end() && place->number == header->number) return {};
  if (std::ranges::count(manifest.incarnations, header->incarnation, &Incarnation::number) == 0) {
    return invalid_argument(
        "{} is of a life that the database has forgotten, since a checkpoint removed what followed without "
        "--log-archive: the whole history is lost; recover without the archive",
        path);
  }
  manifest.segments.insert(place,
                           {path, header->number, header->incarnation, header->logger, header->is_ring});
  return {};
}

Result<void> add_checkpoint(Manifest& manifest, const std::string& path, ByteSpan page) {
  auto header = CheckpointHeader::decode(page, path);
  if (!header) return header.error();
  if (manifest.checkpoint_lsn <= header->lsn) return {};
  manifest.checkpoint_lsn = header->lsn;
  manifest.checkpoint_file = path;
  manifest.checkpoint_catalog_file = catalog_file(manifest, header->catalog_hash);
  manifest.checkpoint_catalog_hash = header->catalog_hash;
  return {};
}

}  // namespace

Result<Manifest> with_archive(Manifest manifest, const std::string& archive) {
  const std::string folder = archive_folder(archive, manifest.database_id);
  if (!fs::is_directory(folder)) {
    return invalid_argument(
        "{} holds nothing of this database, as it has no folder {:016x}: give the archive of its runs",
        archive, manifest.database_id);
  }
  const auto paths = paths_in(folder);
  if (!paths) return paths.error();
  for (const std::string& path : *paths) {
    const std::string name = fs::path(path).filename();
    if (path.ends_with(".tmp")) continue;
    const auto page = first_page(folder, name);
    if (!page) return page.error();
    if (name.starts_with("checkpoint-")) {
      RETURN_IF_ERROR(add_checkpoint(manifest, path, *page));
    } else if (path.ends_with(".segment")) {
      RETURN_IF_ERROR(add_segment(manifest, path, *page));
    }
  }
  return manifest;
}

}  // namespace mneme
