#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/directory.h"

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

}  // namespace

std::string reason_text(int error_number) {
  const char* const reason = std::strerror(error_number);
  const char* const advice = advice_for(error_number);
  return advice == nullptr ? std::string(reason) : fmt::format("{} ({})", reason, advice);
}

Error file_error(std::string_view what, const std::string& path, int error_number) {
  return failed("cannot {} {}: {}", what, path, reason_text(error_number));
}

File::File(File&& other) noexcept : descriptor_(other.descriptor_), path_(std::move(other.path_)) {
  other.descriptor_ = -1;
}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.descriptor_;
    path_ = std::move(other.path_);
    other.descriptor_ = -1;
  }
  return *this;
}

File::~File() {
  close();
}

void File::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Result<File> File::open(const std::string& path, int flags, mode_t mode) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (descriptor < 0) return file_error("open", path, errno);
  return File(descriptor, path);
}

File File::duplicate(int descriptor) {
  return File(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0), "");
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

bool File::is_removed() const {
  struct stat facts;
  return is_open() && ::fstat(descriptor_, &facts) == 0 && facts.st_nlink == 0;
}

Result<std::string> read_text_file(const std::string& path) {
  auto file = File::open(path, O_RDONLY);
  if (!file.ok()) return file.error();
  auto bytes = file->size();
  if (!bytes.ok()) return bytes.error();
  std::string text(*bytes, '\0');
  auto count = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!count.ok()) return count.error();
  text.resize(*count);
  return text;
}

Result<void> replace_text_file(const std::string& path, std::string_view text) {
  const DirectoryChanges changes(std::filesystem::path(path).parent_path().string());
  const std::string temporary = path + ".tmp";
  {
    auto file = File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.ok()) return file.error();
    RETURN_IF_ERROR(file->write_at(as_bytes(text), 0));
    if (::fsync(file->descriptor()) != 0) return file_error("sync", temporary, errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return file_error("rename to", path, errno);
  return changes.sync();
}

}  // namespace mneme
