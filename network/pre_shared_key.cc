#include "network/pre_shared_key.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"

namespace mneme {

namespace {

constexpr size_t kLeastBytes = 32;
constexpr size_t kMostBytes = 256;

}  // namespace

Result<std::shared_ptr<const PreSharedKey>> read_key_file(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return file_error("read the key file", path, errno);
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return invalid_argument("the key file {} may be read by others than its owner: chmod 600 it", path);
  }
  auto text = read_text_file(path);
  if (!text.ok()) return text.error();
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->size() < kLeastBytes || text->size() > kMostBytes) {
    return invalid_argument(
        "the key file {} holds {} bytes, and a key has {} to {}: `openssl rand -hex 32` makes one", path,
        text->size(), kLeastBytes, kMostBytes);
  }
  return std::make_shared<const PreSharedKey>(PreSharedKey{std::move(*text)});
}

}  // namespace mneme
