// Arena: memory that is given back all at once. One transaction's (or one log batch's) small, short-lived
// pieces.
//
// Invariants  a pointer stays valid until reset(); reset() keeps the chunks, so the steady state allocates
//             nothing.
// Threads     one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"

namespace mneme {

class Arena {
 public:
  explicit Arena(size_t chunk_bytes = 64 * 1024) : chunk_bytes_(chunk_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // 16-byte aligned, so any of our types may be made there.
  void* allocate(size_t bytes) {
    bytes = (bytes + 15) & ~size_t{15};
    if (bytes > limit_ - used_) [[unlikely]]
      next_chunk(bytes);
    std::byte* at = base_ + used_;
    used_ += bytes;
    return at;
  }
  template <typename T>
  std::span<T> make_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    static_assert(alignof(T) <= 16);
    T* first = static_cast<T*>(allocate(count * sizeof(T)));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
  }
  std::string_view copy(std::string_view text) {
    char* at = static_cast<char*>(allocate(text.size()));
    // memcpy must not be given the null pointer of an empty view.
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
  }

  // A place to go back to: what was allocated since is given back, and what was there before stays.
  struct Mark {
    size_t chunk;
    size_t used;
  };
  Mark mark() const { return {current_, used_}; }
  void rewind(const Mark& mark) {
    if (chunks_.empty()) return;
    current_ = mark.chunk;
    base_ = chunks_[current_].memory.get();
    limit_ = chunks_[current_].bytes;
    used_ = mark.used;
  }

  void reset() {
    current_ = 0;
    if (chunks_.empty()) return;
    base_ = chunks_[0].memory.get();
    limit_ = chunks_[0].bytes;
    used_ = 0;
  }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;
    size_t bytes;
  };

  // No part of allocate(), whose callers would have to save registers for it.
  [[gnu::noinline, gnu::cold]] void next_chunk(size_t bytes) {
    if (base_ != nullptr) ++current_;
    while (current_ < chunks_.size() && chunks_[current_].bytes < bytes) ++current_;
    if (current_ == chunks_.size()) {
      const size_t size = bytes > chunk_bytes_ ? bytes : chunk_bytes_;
      chunks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[size]), size});
    }
    base_ = chunks_[current_].memory.get();
    limit_ = chunks_[current_].bytes;
    used_ = 0;
  }

  const size_t chunk_bytes_;
  std::vector<Chunk> chunks_;
  size_t current_ = 0;
  std::byte* base_ = nullptr;
  size_t used_ = 0;
  size_t limit_ = 0;
};

}  // namespace mneme
