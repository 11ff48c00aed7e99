#include "logging/directory/log_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/file/directory.h"
#include "base/file/file.h"

namespace mneme {

namespace {

namespace fs = std::filesystem;

// Where the file system can't give the file a second name.
Result<void> copy(const std::string& from, const std::string& to) {
  const fs::path path(from);
  return copy_file_in(path.parent_path().string(), path.filename().string(), to);
}

}  // namespace

std::string archive_folder(const std::string& archive, uint64_t database_id) {
  return fmt::format("{}/{:016x}", fs::absolute(archive).lexically_normal().string(), database_id);
}

Result<void> keep_in_archive(const std::string& folder, const std::string& path) {
  RETURN_IF_ERROR(make_directories(folder));
  const DirectoryChanges changes(folder);
  const std::string kept = folder + "/" + fs::path(path).filename().string();
  // One that is there already is from an attempt that a crash ended, and may be half a copy.
  const std::string incoming = kept + ".tmp";
  std::error_code error;
  fs::remove(incoming, error);
  if (::link(path.c_str(), incoming.c_str()) != 0) {
    if (errno != EXDEV && errno != EPERM && errno != EMLINK) return file_error("archive", path, errno);
    RETURN_IF_ERROR(copy(path, incoming));
  }
  // Where both names are of one file, rename() keeps both.
  fs::remove(kept, error);
  if (std::rename(incoming.c_str(), kept.c_str()) != 0) return file_error("archive", path, errno);
  return changes.sync();
}

}  // namespace mneme
