#include "network/pre_shared_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file/file.h"

namespace mneme {

namespace {

constexpr size_t kLeastBytes = 32;
constexpr size_t kMostBytes = 256;

}  // namespace

Result<std::shared_ptr<const PreSharedKey>> read_key_file(const std::string& path) {
  // The file that is examined is the one that is read, and opening it never waits.
  auto file = File::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file.ok()) return file_error("read the key file", path, errno);
  struct stat status;
  if (::fstat(file->descriptor(), &status) != 0) return file_error("read the key file", path, errno);
  if (!S_ISREG(status.st_mode)) return invalid_argument("the key file {} is no regular file", path);
  if (const uid_t own = ::geteuid(); own != 0 && status.st_uid != own && status.st_uid != 0) {
    return invalid_argument(
        "the key file {} belongs to the user {}, who knows what it says: copy it into a file of your own",
        path, status.st_uid);
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return invalid_argument("the key file {} may be read by others than its owner: chmod 600 it", path);
  }
  constexpr size_t kLineEndBytes = 2;
  std::string text(kMostBytes + kLineEndBytes + 1, '\0');
  const auto count = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!count.ok()) return count.error();
  text.resize(*count);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.size() < kLeastBytes || text.size() > kMostBytes) {
    return invalid_argument(
        "the key file {} holds {} bytes, and a key has {} to {}: `openssl rand -hex 32` makes one", path,
        status.st_size, kLeastBytes, kMostBytes);
  }
  return std::make_shared<const PreSharedKey>(PreSharedKey{std::move(text)});
}

}  // namespace mneme
