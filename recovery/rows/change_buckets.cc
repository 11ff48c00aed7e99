#include "recovery/rows/change_buckets.h"

#include <algorithm>
#include <bit>
#include <new>

namespace mneme {

std::byte* BucketMemory::take(size_t bytes) {
  if (left_ < bytes) {
    at_ = source_.allocate(kHugePageBytes);
    left_ = at_ == nullptr ? 0 : kHugePageBytes;
    if (at_ == nullptr) return nullptr;
  }
  std::byte* taken = at_;
  at_ += bytes;
  left_ -= bytes;
  return taken;
}

bool ChangeBucket::next_chunk(BucketMemory& memory, size_t room) {
  const size_t wanted = std::max(2 * size_t{chunk_bytes_}, sizeof(Chunk) + room);
  const size_t bytes = std::clamp(std::bit_ceil(wanted), kFirstChunkBytes, kMaxChunkBytes);
  std::byte* taken = memory.take(bytes);
  if (taken == nullptr) return false;
  auto* chunk = new (taken) Chunk;
  if (last_ == nullptr) {
    first_ = chunk;
  } else {
    last_->next = chunk;
    last_->filled_to = at_;
  }
  last_ = chunk;
  at_ = taken + sizeof(Chunk);
  end_ = taken + bytes;
  chunk_bytes_ = static_cast<uint32_t>(bytes);
  return true;
}

}  // namespace mneme
