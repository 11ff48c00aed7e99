#include "recovery/database/private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "logging/device/remote_options.h"
#include "logging/directory/manifest.h"
#include "logging/layout/pepoch_file.h"
#include "recovery/database/recover.h"

namespace mneme {

namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

// A missing file is no error here: its reader reports it.
Result<bool> close_file(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || (facts.st_mode & kOthers) == 0)
    return false;
  auto file = File::open_own(path, O_RDONLY);
  if (!file) return file.error();
  return true;
}

// Also files in it: a user may have opened it for others. Those of other users stay as they are, and aren't
// used.
Result<bool> close_folder(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return false;
  const auto paths = paths_in(path);
  if (!paths) return paths.error();
  bool is_any = false;
  for (const std::string& each : *paths) {
    struct stat file {};
    if (::lstat(each.c_str(), &file) != 0 || file.st_uid != ::geteuid()) continue;
    const Result<bool> closed = close_file(each);
    if (!closed) return closed.error();
    is_any |= *closed;
  }
  if ((facts.st_mode & kOthers) == 0) return is_any;
  const Result<File> folder = File::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!folder) return folder.error();
  if (::fchmod(folder->descriptor(), facts.st_mode & S_IRWXU) != 0)
    return file_error("close to other users", path, errno);
  return true;
}

}  // namespace

Result<bool> close_to_others(const std::string& directory) {
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  std::vector<std::string> files{"MANIFEST", kCatalogFile, kPepochFile, manifest->checkpoint_file,
                                 manifest->checkpoint_catalog_file};
  for (const SegmentEntry& each : manifest->segments) files.push_back(each.file);
  bool is_any = false;
  for (const std::string& each : files) {
    const Result<bool> closed = close_file(path_in(directory, each));
    if (!closed) return closed.error();
    is_any |= *closed;
  }
  for (const std::string& each :
       {native_folder(directory), path_in(directory, "workload"), path_in(directory, kRemoteFolder)}) {
    const Result<bool> closed = close_folder(each);
    if (!closed) return closed.error();
    is_any |= *closed;
  }
  return is_any;
}

}  // namespace mneme
