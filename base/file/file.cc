#include "base/file/file.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/file/directory.h"

namespace mneme {

namespace {

const char* advice_for(int error_number) {
  switch (error_number) {
    case EFBIG:
      return "the limit on the size of files is too low: `ulimit -f` shows it, raise it";
    case ENOSPC:
      return "make room on the disk, or choose another one";
    case EDQUOT:
      return "the user's disk quota is used up: make room, or have it raised";
    case EACCES:
    case EPERM:
      return "the user has no leave to do so: change the permissions, or choose another place";
    case EROFS:
      return "the file system is mounted read-only: choose another place";
    case EMFILE:
    case ENFILE:
      return "too many files are open: `ulimit -n` shows the limit, raise it";
    case EIO:
      return "the device fails: the kernel's log says how";
    default:
      return nullptr;
  }
}

constexpr mode_t kOwnersMode = 0600;
constexpr mode_t kModeBits = 07777;
constexpr size_t kCopyBytes = size_t{1} << 20;

Error link_error(const std::string& path) {
  return damaged(
      "{} is a symbolic link, which another user may have put there: nothing was changed; put the file "
      "itself in its place, or "
      "remove the link",
      path);
}

Error type_error(const std::string& path) {
  return damaged(
      "{} is not a regular file: nothing was changed; put the file back from a copy of the directory, or "
      "remove what has its name",
      path);
}

// O_NONBLOCK, with which a pipe's or device's opening doesn't wait, would make io_uring's writes fail instead
// of waiting.
Result<struct stat> examine_regular(int descriptor, const std::string& path) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return file_error("examine", path, errno);
  if (!S_ISREG(facts.st_mode)) return type_error(path);
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0)
    return file_error("examine", path, errno);
  return facts;
}

Error owner_error(const std::string& path, uid_t owner, uid_t expected) {
  return failed(
      "{} belongs to user {}, and should to {}: nothing was changed; give it to that user (chown) if its "
      "content can be "
      "trusted, or put the file back from a copy of the directory",
      path, user_text(owner), user_text(expected));
}

// Never one of the standard streams' numbers; -1 with errno where it fails. A host's signals interrupt an
// open that has to wait.
int open_descriptor(const std::string& path, int flags, mode_t mode = 0) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), flags, mode);
  } while (descriptor < 0 && errno == EINTR);
  return keep_off_standard_streams(descriptor);
}

// Also widened: an umask may take the owner's own access.
Result<void> close_to_others(int descriptor, const std::string& path, mode_t mode) {
  if ((mode & kModeBits) == kOwnersMode || ::fchmod(descriptor, kOwnersMode) == 0) return {};
  return file_error("close to other users", path, errno);
}

}  // namespace

std::string reason_text(int error_number) {
  const char* const reason = std::strerror(error_number);
  const char* const advice = advice_for(error_number);
  return advice == nullptr ? std::string(reason) : fmt::format("{} ({})", reason, advice);
}

Error file_error(std::string_view what, const std::string& path, int error_number) {
  return failed("cannot {} {}: {}", what, path, reason_text(error_number));
}

File::File(File&& other) noexcept
    : descriptor_(other.descriptor_), path_(std::move(other.path_)), in_child_(std::move(other.in_child_)) {
  other.descriptor_ = -1;
}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.descriptor_;
    path_ = std::move(other.path_);
    in_child_ = std::move(other.in_child_);
    other.descriptor_ = -1;
  }
  return *this;
}

File::~File() {
  close();
}

void File::close() {
  const bool is_closed = in_child_ != nullptr && in_child_->is_closed();
  // A child that fork() has just made may not have come to closing it, and has the same lock.
  if (in_child_ != nullptr && !is_closed) ::flock(descriptor_, LOCK_UN);
  in_child_.reset();  // before the number can be another file's
  if (descriptor_ >= 0 && !is_closed) ::close(descriptor_);
  descriptor_ = -1;
}

int keep_off_standard_streams(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int other = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error_number = errno;
  ::close(descriptor);
  errno = error_number;
  return other;
}

Result<File> File::open(const std::string& path, int flags, mode_t mode) {
  const int descriptor = open_descriptor(path, flags | O_CLOEXEC, mode);
  if (descriptor < 0) return file_error("open", path, errno);
  return File(descriptor, path);
}

Result<File> File::make(const std::string& path, int flags) {
  const int wanted = flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = open_descriptor(path, wanted, kOwnersMode);
  if (descriptor < 0 && errno == EEXIST) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      return errno == EISDIR ? type_error(path) : file_error("remove", path, errno);
    descriptor = open_descriptor(path, wanted, kOwnersMode);
  }
  if (descriptor < 0) return file_error("open", path, errno);
  File file(descriptor, path);
  const Result<struct stat> facts = examine_regular(descriptor, path);
  if (!facts.ok()) return facts.error();
  RETURN_IF_ERROR(close_to_others(descriptor, path, facts->st_mode));
  return file;
}

Result<File> File::open_own(const std::string& path, int flags) {
  const int descriptor = open_descriptor(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kOwnersMode);
  if (descriptor < 0 && errno == ELOOP) return link_error(path);
  // ENXIO: a pipe without a reader, or a socket
  if (descriptor < 0 && (errno == EISDIR || errno == ENXIO)) return type_error(path);
  if (descriptor < 0) return file_error("open", path, errno);
  File file(descriptor, path);
  const Result<struct stat> facts = examine_regular(descriptor, path);
  if (!facts.ok()) return facts.error();
  if (facts->st_uid != ::geteuid()) return owner_error(path, facts->st_uid, ::geteuid());
  RETURN_IF_ERROR(close_to_others(descriptor, path, facts->st_mode));
  return file;
}

Result<File> File::open_alone(const std::string& path, int flags) {
  auto file = open_own(path, flags);
  if (!file.ok()) return file.error();
  struct stat facts {};
  if (::fstat(file->descriptor(), &facts) != 0) return file_error("examine", path, errno);
  if (facts.st_nlink <= 1) return file;
  return make(path, flags & ~O_CREAT);
}

Result<File> File::open_in(const std::string& directory, const std::string& file) {
  struct stat folder {};
  if (::stat(directory.c_str(), &folder) != 0) return file_error("examine", directory, errno);
  const uid_t user = ::geteuid();
  const std::string path = path_in(directory, file);
  const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (folder.st_uid == user ? 0 : O_NOFOLLOW);
  const int descriptor = open_descriptor(path, flags);
  if (descriptor < 0) return errno == ELOOP ? link_error(path) : file_error("open", path, errno);
  File opened(descriptor, path);
  const Result<struct stat> facts = examine_regular(descriptor, path);
  if (!facts.ok()) return facts.error();
  const bool is_owners = facts->st_uid == folder.st_uid || (folder.st_uid == user && facts->st_uid == 0);
  if (!is_owners && path != file) return owner_error(path, facts->st_uid, folder.st_uid);
  return opened;
}

File File::duplicate(int descriptor) {
  return File(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "");
}

Result<size_t> File::read_at(std::span<std::byte> into, uint64_t offset) const {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t count =
        ::pread(descriptor_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("read", path_, errno);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

Result<void> File::write_at(ByteSpan bytes, uint64_t offset) const {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("write", path_, errno);
    if (count == 0) return file_error("write", path_, ENOSPC);
    done += static_cast<size_t>(count);
  }
  return {};
}

Result<void> File::sync_data() const {
  if (::fdatasync(descriptor_) != 0) return file_error("sync", path_, errno);
  return {};
}

Result<uint64_t> File::size() const {
  struct stat facts;
  if (::fstat(descriptor_, &facts) != 0) return file_error("examine", path_, errno);
  return static_cast<uint64_t>(facts.st_size);
}

Result<void> File::open_by_umask() const {
  // umask() can only be asked by changing it, for all threads. Where /proc doesn't have it (before Linux 4.7)
  // the owner keeps the file.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Umask:")) continue;
    const auto mask = static_cast<mode_t>(std::strtoul(line.c_str() + sizeof "Umask:", nullptr, 8));
    if (::fchmod(descriptor_, 0666 & ~mask) != 0) return file_error("open to other users", path_, errno);
  }
  return {};
}

// Asks for the number of names alone. Linux with multigrain timestamps (6.13 on) marks the time of a file's
// last change as seen where that is asked for, too: the next write changes it, and the fdatasync after that
// write has an inode to write as well.
bool File::is_removed() const {
  struct statx facts;
  return is_open() && ::statx(descriptor_, "", AT_EMPTY_PATH, STATX_NLINK, &facts) == 0 &&
         facts.stx_nlink == 0;
}

std::string path_in(const std::string& directory, const std::string& file) {
  return file.starts_with('/') ? file : directory + "/" + file;
}

std::string user_text(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::to_string(user);
  return fmt::format("{} ({})", entry.pw_name, user);
}

namespace {

Result<std::string> text_of(const Result<File>& file) {
  if (!file.ok()) return file.error();
  auto bytes = file->size();
  if (!bytes.ok()) return bytes.error();
  std::string text(*bytes, '\0');
  auto count = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!count.ok()) return count.error();
  text.resize(*count);
  return text;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  return text_of(File::open(path, O_RDONLY));
}

Result<std::string> read_text_in(const std::string& directory, const std::string& file) {
  return text_of(File::open_in(directory, file));
}

Result<void> replace_text_file(const std::string& path, std::string_view text, Readers readers) {
  const DirectoryChanges changes(std::filesystem::path(path).parent_path().string());
  const std::string temporary = path + ".tmp";
  {
    auto file = File::make(temporary, O_WRONLY);
    if (!file.ok()) return file.error();
    RETURN_IF_ERROR(file->write_at(as_bytes(text), 0));
    if (readers == Readers::kByUmask) RETURN_IF_ERROR(file->open_by_umask());
    if (::fsync(file->descriptor()) != 0) return file_error("sync", temporary, errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return file_error("rename to", path, errno);
  return changes.sync();
}

Result<void> copy_file_in(const std::string& directory, const std::string& file, const std::string& to) {
  const auto from = File::open_in(directory, file);
  if (!from.ok()) return from.error();
  const auto into = File::make(to, O_WRONLY);
  if (!into.ok()) return into.error();
  std::vector<std::byte> piece(kCopyBytes);
  for (uint64_t at = 0;; at += piece.size()) {
    const auto count = from->read_at(piece, at);
    if (!count.ok()) return count.error();
    RETURN_IF_ERROR(into->write_at(ByteSpan(piece).first(*count), at));
    if (*count < piece.size()) return into->sync_data();
  }
}

}  // namespace mneme
