#include "base/file/directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <ranges>
#include <system_error>
#include <utility>

namespace mneme {

class DirectorySyncs {
 public:
  // Without the lock, behind which a sync may take long: sync() compares under it, so what is read too early
  // only refuses more. Acquire: the changes that the caller makes come behind it.
  uint64_t failures() const { return failures_.load(std::memory_order_acquire); }

  Result<void> sync(const File& directory, uint64_t failures_before) {
    const std::lock_guard guard(mutex_);
    if (::fsync(directory.descriptor()) != 0) {
      const int reason = errno;
      failures_.fetch_add(1, std::memory_order_release);
      return file_error("sync the directory", directory.path(), reason);
    }
    if (failures() == failures_before) return {};
    return failed(
        "cannot sync the directory {}: another sync of it has failed meanwhile, and may have lost what was "
        "changed there",
        directory.path());
  }

 private:
  std::mutex mutex_;
  std::atomic<uint64_t> failures_ = 0;  // sync() counts, under the lock
};

namespace {

using Identity = std::pair<dev_t, ino_t>;

DirectorySyncs* syncs_of(const File& directory) {
  static std::mutex mutex;
  static auto& syncs = *new std::map<Identity, DirectorySyncs>();
  struct stat facts {};
  (void)::fstat(directory.descriptor(), &facts);
  const std::lock_guard guard(mutex);
  return &syncs[Identity(facts.st_dev, facts.st_ino)];
}

}  // namespace

Result<std::vector<std::string>> paths_in(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    paths.push_back(entry->path());
  if (error) return failed("cannot look through {}: {}", directory, error.message());
  std::ranges::sort(paths);
  return paths;
}

DirectoryChanges::DirectoryChanges(const std::string& path)
    : directory_(File::open(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY)) {
  if (!directory_) return;
  syncs_ = syncs_of(*directory_);
  failures_before_ = syncs_->failures();
}

Result<void> DirectoryChanges::sync() const {
  if (!directory_) return directory_.error();
  return syncs_->sync(*directory_, failures_before_);
}

int make_private_directory(const std::string& path) {
  constexpr mode_t kOwnersMode = 0700;
  if (::mkdir(path.c_str(), kOwnersMode) != 0) return errno;
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return errno;
  const bool is_usable = (facts.st_mode & kOwnersMode) == kOwnersMode;
  if (is_usable || ::chmod(path.c_str(), kOwnersMode) == 0) return 0;
  return errno;
}

Result<void> make_directories(const std::string& path) {
  // One thread at a time: a thread that finds a directory that another has just made must not take it for
  // durable before that one's sync.
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path there = fs::absolute(path, error).lexically_normal();
  if (!there.has_filename()) there = there.parent_path();
  std::vector<fs::path> missing;  // from below
  for (; !fs::is_directory(there, error) && there.has_relative_path(); there = there.parent_path())
    missing.push_back(there);
  // A process may have made this one, and been killed before its entry was durable. No user's process who
  // can't write there.
  const fs::path above = there.parent_path();
  if (::access(above.c_str(), R_OK | W_OK) == 0) RETURN_IF_ERROR(DirectoryChanges(above.string()).sync());
  for (const fs::path& each : std::views::reverse(missing)) {
    const DirectoryChanges changes(each.parent_path().string());
    if (const int reason = make_private_directory(each.string()); reason != 0) {
      // Somebody else may have been quicker; a file in its place is in the way.
      if (reason != EEXIST || !fs::is_directory(each, error))
        return file_error("make the directory", each.string(), reason);
    }
    auto synced = changes.sync();
    if (synced.ok()) continue;
    // A later sync need not cover what this one has not. The next attempt makes the directory anew.
    ::rmdir(each.c_str());
    return synced;
  }
  return {};
}

}  // namespace mneme
