#include "base/file/trusted_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <filesystem>

namespace mneme {

namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // Linux follows as many
constexpr mode_t kOwnersAccess = 0700;
constexpr mode_t kGroupWrites = S_IWGRP;
constexpr mode_t kOtherWrites = S_IWOTH;

// Returns the owner of the program's file, or the effective user if the system doesn't report the owner.
uid_t program_owner() {
  struct stat facts {};
  return ::stat("/proc/self/exe", &facts) == 0 ? facts.st_uid : ::geteuid();
}

Result<void> check_owner(const std::string& path, const struct stat& facts, const FolderTrust& trust) {
  if (facts.st_uid == 0 || facts.st_uid == ::geteuid()) return {};
  if (trust.is_programs && facts.st_uid == program_owner()) return {};
  return failed(
      "{} belongs to user {}, who could have this process run anything: use a place of your own, or one of "
      "root's",
      path, user_text(facts.st_uid));
}

Result<void> check_mode(const std::string& path, const struct stat& facts, mode_t refused) {
  if ((facts.st_mode & refused) == 0) return {};
  return failed(
      "other users may write to {} (mode {:o}), and could have this process run anything: chmod go-w {}",
      path, facts.st_mode & 07777, path);
}

Result<File> open_entry(const File& folder, const std::string& name, const std::string& path, int flags) {
  const int descriptor =
      keep_off_standard_streams(::openat(folder.descriptor(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  if (descriptor < 0) return file_error("open", path, errno);
  return File::adopt(descriptor, path);
}

// The walk from the root to the folder, a component at a time.
class Walk {
 public:
  explicit Walk(const FolderTrust& trust) : trust_(trust) {}

  Result<File> go(const std::string& path) {
    RETURN_IF_ERROR(begin());
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    if (error) return file_error("use the folder", path, error.value());
    put_before(absolute.relative_path());
    while (!rest_.empty()) {
      const std::string name = rest_.front();
      rest_.pop_front();
      RETURN_IF_ERROR(step(name));
    }
    // An O_PATH descriptor can't be locked or listed, so the checked folder is opened again, through its
    // descriptor: a path could lead to another folder by now.
    auto opened = open_entry(at_, ".", path, O_RDONLY | O_DIRECTORY);
    if (!opened.ok()) return opened.error();
    struct stat facts {};
    if (::fstat(opened->descriptor(), &facts) != 0) return file_error("examine", path, errno);
    RETURN_IF_ERROR(check_owner(path, facts, trust_));
    RETURN_IF_ERROR(check_mode(path, facts, trust_.is_groups ? kOtherWrites : kGroupWrites | kOtherWrites));
    return opened;
  }

 private:
  Result<void> begin() {
    auto root = File::open("/", O_PATH | O_DIRECTORY);
    if (!root.ok()) return root.error();
    at_ = std::move(*root);
    return check_folder(at_);
  }

  void put_before(const fs::path& path) {
    std::deque<std::string> names;
    for (const fs::path& each : path) {
      if (!each.empty() && each != ".") names.push_back(each.string());
    }
    rest_.insert(rest_.begin(), names.begin(), names.end());
  }

  Result<void> check_folder(const File& folder) const {
    struct stat facts {};
    if (::fstat(folder.descriptor(), &facts) != 0) return file_error("examine", folder.path(), errno);
    RETURN_IF_ERROR(check_owner(folder.path(), facts, trust_));
    if ((facts.st_mode & S_ISVTX) != 0) return {};
    return check_mode(folder.path(), facts,
                      trust_.is_programs || trust_.is_groups ? kOtherWrites : kGroupWrites | kOtherWrites);
  }

  Result<void> step(const std::string& name) {
    const std::string path = at_.path() == "/" ? "/" + name : at_.path() + "/" + name;
    if (trust_.is_made && ::faccessat(at_.descriptor(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
        errno == ENOENT) {
      if (::mkdirat(at_.descriptor(), name.c_str(), kOwnersAccess) == 0) {
        // Sets the mode whatever the umask is. Only the entry's owner, or a user who is trusted with the
        // enclosing folder, can have replaced the entry. One that was there is not touched: it may be another
        // user's link.
        if (::fchmodat(at_.descriptor(), name.c_str(), kOwnersAccess, 0) != 0)
          return file_error("make the folder", path, errno);
      } else if (errno != EEXIST) {
        return file_error("make the folder", path, errno);
      }
    }
    auto next = open_entry(at_, name, path, O_PATH);
    if (!next.ok()) return next.error();
    struct stat facts {};
    if (::fstat(next->descriptor(), &facts) != 0) return file_error("examine", path, errno);
    if (S_ISLNK(facts.st_mode)) return follow(*next, facts);
    if (!S_ISDIR(facts.st_mode))
      return file_error(trust_.is_made ? "make the folder" : "use the folder", path, ENOTDIR);
    RETURN_IF_ERROR(check_folder(*next));
    at_ = std::move(*next);
    return {};
  }

  Result<void> follow(const File& link, const struct stat& facts) {
    RETURN_IF_ERROR(check_owner(link.path(), facts, trust_));
    if (++links_ > kMostLinks) return file_error("use the folder", link.path(), ELOOP);
    std::array<char, PATH_MAX> target{};
    const ssize_t bytes = ::readlinkat(link.descriptor(), "", target.data(), target.size());
    if (bytes < 0) return file_error("read the link", link.path(), errno);
    const fs::path to(std::string(target.data(), static_cast<size_t>(bytes)));
    put_before(to.relative_path());
    return to.is_absolute() ? begin() : Result<void>();
  }

  const FolderTrust trust_;
  File at_;
  std::deque<std::string> rest_;
  int links_ = 0;
};

}  // namespace

Result<File> open_trusted_folder(const std::string& path, const FolderTrust& trust) {
  return Walk(trust).go(path);
}

Result<File> open_trusted_file(const File& folder, const std::string& name, const FolderTrust& trust) {
  const std::string path = folder.path() + "/" + name;
  auto file = open_entry(folder, name, path, O_RDONLY | O_NONBLOCK);
  if (!file.ok()) return file.error();
  struct stat facts {};
  if (::fstat(file->descriptor(), &facts) != 0) return file_error("examine", path, errno);
  if (!S_ISREG(facts.st_mode)) return failed("{} is not a regular file: remove it", path);
  RETURN_IF_ERROR(check_owner(path, facts, trust));
  RETURN_IF_ERROR(check_mode(path, facts, kGroupWrites | kOtherWrites));
  return file;
}

std::string path_at(const File& folder, const std::string& name) {
  return fmt::format("/proc/self/fd/{}/{}", folder.descriptor(), name);
}

}  // namespace mneme
