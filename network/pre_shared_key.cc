#include "network/pre_shared_key.h"

#include <utility>

#include "network/secret_file.h"

namespace mneme {

namespace {

constexpr size_t kLeastBytes = 32;
constexpr size_t kMostBytes = 256;
// A longer file is read so far that the refusal can say how much it holds.
constexpr size_t kMostFileBytes = size_t{1} << 20;

}  // namespace

Result<std::shared_ptr<const PreSharedKey>> read_key_file(const std::string& path) {
  Result<std::string> text = read_secret_file(path, kMostFileBytes);
  if (!text) return text.error();
  const size_t file_bytes = text->size();
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->size() < kLeastBytes || text->size() > kMostBytes) {
    return invalid_argument(
        "the key file {} holds {} bytes, and a key has {} to {}: `openssl rand -hex 32` makes one", path,
        file_bytes, kLeastBytes, kMostBytes);
  }
  return std::make_shared<const PreSharedKey>(PreSharedKey{*std::move(text)});
}

}  // namespace mneme
