// LogRing: the memory of a log buffer, addressed by position. Plain bytes; which thread may touch which is
// the buffer's business.
//
// Layout   the byte at position x lies at x mod capacity; capacity is a power of two. A run of bytes may wrap
//          around once.
// Threads  write: the worker that reserved the bytes. read: the flusher, once they are published.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/check.h"
#include "base/memory/aligned_bytes.h"
#include "logging/record/stream_position.h"

namespace mneme {

class LogRing {
 public:
  // Touches all of it: pages are faulted in now, not during a commit.
  explicit LogRing(size_t capacity_bytes)
      : capacity_(capacity_bytes), own_(capacity_bytes), memory_(own_->data()) {
    CHECK(std::has_single_bit(capacity_bytes));
  }
  // Over memory that outlives it.
  LogRing(size_t capacity_bytes, std::byte* memory) : capacity_(capacity_bytes), memory_(memory) {
    CHECK(std::has_single_bit(capacity_bytes));
  }

  size_t capacity() const { return capacity_; }
  // For a buffer that lays its bytes out in another way.
  std::byte* memory() const { return memory_; }

  void write(StreamPosition at, ByteSpan bytes) {
    if (bytes.empty()) return;  // memcpy must not be given the null pointer of an empty span
    const size_t offset = at.value & (capacity_ - 1);
    const size_t before_wrap = bytes.size() < capacity_ - offset ? bytes.size() : capacity_ - offset;
    std::memcpy(memory() + offset, bytes.data(), before_wrap);
    if (before_wrap < bytes.size())
      std::memcpy(memory(), bytes.data() + before_wrap, bytes.size() - before_wrap);
  }
  void read(StreamPosition at, std::span<std::byte> into) const {
    const size_t offset = at.value & (capacity_ - 1);
    const size_t before_wrap = into.size() < capacity_ - offset ? into.size() : capacity_ - offset;
    std::memcpy(into.data(), memory() + offset, before_wrap);
    if (before_wrap < into.size())
      std::memcpy(into.data() + before_wrap, memory(), into.size() - before_wrap);
  }

 private:
  const size_t capacity_;
  const std::optional<AlignedBytes> own_;
  std::byte* const memory_;
};

}  // namespace mneme
