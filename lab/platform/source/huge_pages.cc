// In place of base/memory/huge_pages.cc: pieces come from the heap, and no thread keeps any ready.
#include "base/memory/huge_pages.h"

#include <cstdlib>
#include <cstring>

namespace mneme {

HugePageSource::~HugePageSource() {
  for (const auto& piece : pieces_) std::free(piece.first);
}

std::byte* HugePageSource::map(size_t bytes, size_t alignment, PageSize) {
  auto* const at = static_cast<std::byte*>(std::aligned_alloc(alignment, bytes));
  if (at == nullptr) return nullptr;
  std::memset(at, 0, bytes);
  pieces_.emplace(at, bytes);
  return at;
}

std::byte* HugePageSource::allocate(size_t bytes, size_t alignment) {
  return map(bytes, alignment, pages_);
}
std::byte* HugePageSource::allocate_on(uint32_t, size_t bytes, size_t alignment) {
  return map(bytes, alignment, pages_);
}
std::byte* HugePageSource::allocate_first(uint32_t) {
  return map(kHugePageBytes, kHugePageBytes, pages_);
}
void HugePageSource::outgrown(std::byte*) {}
void HugePageSource::release(std::byte* piece) {
  if (pieces_.erase(piece) > 0) std::free(piece);
}
size_t HugePageSource::touch_ahead(size_t bytes, size_t, FunctionRef<void(size_t)>) {
  return bytes;
}
size_t HugePageSource::bytes_allocated() const {
  size_t bytes = 0;
  for (const auto& piece : pieces_) bytes += piece.second;
  return bytes;
}
size_t HugePageSource::bytes_ready() const {
  return 0;
}
std::optional<std::string> HugePageSource::notice() const {
  return std::nullopt;
}

}  // namespace mneme
