// AlignedBytes: zeroed memory on a page boundary, as direct I/O wants it.
//
// From 2 MiB on it is aligned to, and offered to the kernel for, huge pages: a write from there is one piece
// of physical memory, not one each 4 KiB. Where a device's queue has room for so many pieces only, that
// decides how many large writes are under way at once (docs/performance.md, "Bandwidth, and a commit").
// Refused, it works as well, more slowly.
//
// Threads  as plain memory.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace mneme {

class AlignedBytes {
 public:
  static constexpr size_t kAlignment = 4096;

  // `bytes` is a multiple of kAlignment. Every page is touched.
  explicit AlignedBytes(size_t bytes);
  AlignedBytes(AlignedBytes&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedBytes& operator=(AlignedBytes&&) = delete;
  ~AlignedBytes();

  std::byte* data() const { return memory_; }
  size_t size() const { return bytes_; }
  std::span<std::byte> span() const { return {memory_, bytes_}; }

 private:
  std::byte* memory_;
  size_t bytes_;
};

}  // namespace mneme
