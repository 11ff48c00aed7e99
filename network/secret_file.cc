#include "network/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file/file.h"

namespace mneme {

Result<std::string> read_secret_file(const std::string& path, size_t most_bytes) {
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
  std::string text(most_bytes + 1, '\0');
  const auto count = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!count.ok()) return count.error();
  if (*count > most_bytes)
    return invalid_argument("the key file {} holds more than {} bytes, which no key has", path, most_bytes);
  text.resize(*count);
  return text;
}

}  // namespace mneme
