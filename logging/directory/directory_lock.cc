#include "logging/directory/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace mneme {

namespace {

constexpr const char* kLockFile = "lock";

std::string lock_path(const std::string& directory) {
  return directory + "/" + kLockFile;
}

Result<void> take(File& file, int operation, const std::string& directory) {
  file.close_in_child();
  if (::flock(file.descriptor(), operation | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return file_error("lock", file.path(), errno);
  return failed("{} is in use by another process: wait for it to end, or stop it, and try again", directory);
}

// Only the owner works in a directory: another user's links in it would lead root's writes elsewhere, and
// files of root's would keep the owner out of it afterwards.
Result<void> keep_owners(const std::string& directory) {
  const auto opened = File::open(directory, O_RDONLY | O_DIRECTORY);
  if (!opened.ok()) return opened.error();
  struct stat facts {};
  if (::fstat(opened->descriptor(), &facts) != 0) return file_error("examine", directory, errno);
  if (facts.st_uid != ::geteuid()) {
    return failed(
        "{} belongs to user {}, and this process runs as {}: nothing was changed; run it as that user (sudo "
        "-u), or give the "
        "directory with all its files to this one (chown -R)",
        directory, user_text(facts.st_uid), user_text(::geteuid()));
  }
  constexpr mode_t kOthersWrites = S_IWGRP | S_IWOTH;
  if ((facts.st_mode & kOthersWrites) == 0) return {};
  // Such as /tmp, which has other uses.
  if ((facts.st_mode & S_ISVTX) != 0) {
    return failed(
        "{} is a directory that other users share (mode {:o}): nothing was changed; choose a directory "
        "inside of it",
        directory, facts.st_mode & 07777);
  }
  if (::fchmod(opened->descriptor(), facts.st_mode & 07777 & ~kOthersWrites) == 0) return {};
  return file_error("close to other users", directory, errno);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::for_work(const std::string& directory) {
  RETURN_IF_ERROR(keep_owners(directory));
  auto file = File::open_own(lock_path(directory), O_RDWR | O_CREAT);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(take(*file, LOCK_EX, directory));
  return DirectoryLock(std::move(*file));
}

Result<DirectoryLock> DirectoryLock::for_reading(const std::string& directory) {
  if (!std::filesystem::exists(lock_path(directory))) return DirectoryLock(File());
  auto file = File::open_in(directory, kLockFile);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(take(*file, LOCK_SH, directory));
  return DirectoryLock(std::move(*file));
}

}  // namespace mneme
