#include "engine/table/kept_versions.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/bytes.h"
#include "base/check.h"

namespace mneme {

KeptChunk* KeptChunkPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    try {
      free_.reserve(chunks_.size() + 1);  // so that giving back never fails
      chunks_.push_back(std::make_unique<KeptChunk>(chunk_bytes_));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    free_.push_back(chunks_.back().get());
  }
  KeptChunk* chunk = free_.back();
  free_.pop_back();
  peak_in_use_ = std::max(peak_in_use_, chunks_.size() - free_.size());
  return chunk;
}

void KeptChunkPool::give_back(KeptChunk* chunk) {
  const std::lock_guard lock(mutex_);
  free_.push_back(chunk);
}

size_t KeptChunkPool::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return (chunks_.size() - free_.size()) * chunk_bytes_;
}

size_t KeptChunkPool::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_in_use_ * chunk_bytes_;
}

void KeptChunkPool::forget_peak() {
  const std::lock_guard lock(mutex_);
  peak_in_use_ = chunks_.size() - free_.size();
}

bool KeptVersions::append(const KeptVersion& kept, size_t image_bytes) {
  const size_t bytes = sizeof(Entry) + image_bytes;
  size_t filled = filling_ == nullptr ? 0 : filling_->filled_.load(std::memory_order_relaxed);
  if (filling_ == nullptr || filled + bytes > filling_->capacity_) {
    KeptChunk* chunk = pool_.take();
    if (chunk == nullptr) return false;
    DCHECK(bytes <= chunk->capacity_);
    // No other thread has the chunk, so these stores may be relaxed. The release below publishes them.
    chunk->filled_.store(0, std::memory_order_relaxed);
    chunk->next_.store(nullptr, std::memory_order_relaxed);
    (filling_ == nullptr ? first_ : filling_->next_).store(chunk, std::memory_order_release);
    filling_ = chunk;
    filled = 0;
  }
  const Entry entry{kept.table.value, static_cast<uint32_t>(image_bytes), kept.slot, kept.version,
                    kept.successor};
  std::byte* to = filling_->bytes_.get() + filled;
  store(to, entry);
  std::memcpy(to + sizeof entry, kept.image, image_bytes);
  filling_->filled_.store(filled + bytes, std::memory_order_release);
  return true;
}

void KeptVersions::drain(FunctionRef<void(const KeptVersion&)> visit) {
  if (draining_ == nullptr) draining_ = first_.load(std::memory_order_acquire);
  while (draining_ != nullptr) {
    // next_ is read before filled_: once there is a next chunk, filled_ doesn't change any more.
    KeptChunk* next = draining_->next_.load(std::memory_order_acquire);
    const size_t filled = draining_->filled_.load(std::memory_order_acquire);
    while (drained_bytes_ < filled) {
      const std::byte* from = draining_->bytes_.get() + drained_bytes_;
      const auto entry = load<Entry>(from);
      visit({TableId{entry.table}, entry.slot, entry.version, entry.successor, from + sizeof entry});
      drained_bytes_ += sizeof entry + entry.image_bytes;
    }
    if (next == nullptr) return;
    pool_.give_back(draining_);
    draining_ = next;
    drained_bytes_ = 0;
  }
}

void KeptVersions::reset() {
  drain([](const KeptVersion&) {});
  if (draining_ != nullptr) pool_.give_back(draining_);
  first_.store(nullptr, std::memory_order_relaxed);
  filling_ = draining_ = nullptr;
  drained_bytes_ = 0;
}

}  // namespace mneme
