// AlignedBytes: zeroed memory on a page boundary, as direct I/O requires.
//
// Memory of 2 MiB or more is aligned to huge pages, and the kernel is advised to use these. A write from a
// huge page is one piece of physical memory, not a piece for each 4 KiB. A device's queue may hold a limited
// number of pieces, so their number decides how many large writes are under way at once (docs/performance.md,
// "Bandwidth, and a commit"). If the kernel uses small pages instead, all works as well, but more slowly.
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
