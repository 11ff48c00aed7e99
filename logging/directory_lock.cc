#include "logging/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

namespace mneme {

namespace {

std::string lock_path(const std::string& directory) {
  return directory + "/lock";
}

Result<void> take(const File& file, int operation, const std::string& directory) {
  if (::flock(file.descriptor(), operation | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return file_error("lock", file.path(), errno);
  return failed("{} is in use by another process: wait for it to end, or stop it, and try again", directory);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::for_work(const std::string& directory) {
  auto file = File::open(lock_path(directory), O_RDWR | O_CREAT);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(take(*file, LOCK_EX, directory));
  return DirectoryLock(std::move(*file));
}

Result<DirectoryLock> DirectoryLock::for_reading(const std::string& directory) {
  if (!std::filesystem::exists(lock_path(directory))) return DirectoryLock(File());
  auto file = File::open(lock_path(directory), O_RDONLY);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(take(*file, LOCK_SH, directory));
  return DirectoryLock(std::move(*file));
}

}  // namespace mneme
