// AlignedBytes: zeroed memory on a page boundary, as direct I/O wants it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.h"

namespace mneme {

class AlignedBytes {
 public:
  static constexpr size_t kAlignment = 4096;

  // `bytes` is a multiple of kAlignment.
  explicit AlignedBytes(size_t bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes))), bytes_(bytes) {
    CHECK(memory_ != nullptr);
    std::memset(memory_, 0, bytes);
  }
  AlignedBytes(AlignedBytes&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedBytes& operator=(AlignedBytes&&) = delete;
  ~AlignedBytes() { std::free(memory_); }

  std::byte* data() const { return memory_; }
  size_t size() const { return bytes_; }
  std::span<std::byte> span() const { return {memory_, bytes_}; }

 private:
  std::byte* memory_;
  size_t bytes_;
};

}  // namespace mneme
