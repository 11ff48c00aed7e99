#include "engine/table/table.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/check.h"
#include "engine/schema/long_text.h"
#include "engine/schema/row_layout.h"

namespace mneme {

namespace {

size_t chunk_bytes_for(size_t stride, uint64_t run_slots, size_t header_bytes) {
  return std::max(kHugePageBytes, std::bit_ceil(static_cast<size_t>(stride * run_slots + header_bytes)));
}

}  // namespace

Table::Table(size_t image_bytes, HugePageSource& memory, std::vector<uint32_t> text_cells)
    : image_bytes_(image_bytes),
      text_cells_(std::move(text_cells)),
      stride_(row_stride(image_bytes)),
      chunk_bytes_(chunk_bytes_for(stride_, kRunSlots, kChunkHeaderBytes)),
      slots_in_chunk_((chunk_bytes_ - kChunkHeaderBytes) / stride_ / kRunSlots * kRunSlots),
      memory_(memory),
      next_run_(std::make_unique<CachePadded<std::atomic<uint64_t>>[]>(memory.numa().nodes)) {
  CHECK(image_bytes % 8 == 0);
}

Table::~Table() {
  if (!text_cells_.empty()) {
    const uint64_t end = std::max(slot_end(), restored_end());
    for (uint64_t slot = 0; slot < end; ++slot) {
      if (Row* row = at(slot)) release_texts(row);
    }
  }
  for (std::atomic<Group*>& group : groups_) {
    const std::unique_ptr<Group> owned(group.load(std::memory_order_relaxed));
    if (owned == nullptr) continue;
    for (std::atomic<std::byte*>& chunk : owned->chunks) {
      if (std::byte* memory = chunk.load(std::memory_order_relaxed)) memory_.release(memory);
    }
  }
}

void Table::release_texts(Row* row) const {
  for (const uint32_t cell : text_cells_) TextCell::release(row->image() + cell);
}

Row* Table::allocate_again(SlotCache& cache) {
  if (cache.freed.empty() && !take_shared(cache)) return take_run(cache) ? take_next(cache) : nullptr;
  Row* row = cache.freed.back();
  cache.freed.pop_back();
  // A worker that unlinks entries that the row left behind may have claimed it for a moment (Worker::tidy).
  for (uint32_t tries = 0; !row->try_change(RowWord(), RowWord::incoming()); ++tries) spin_pause(tries);
  return row;
}

// Takes slots that other threads have passed on.
bool Table::take_shared(SlotCache& cache) {
  if (shared_count_.load(std::memory_order_relaxed) == 0) return false;
  std::lock_guard lock(mutex_);
  const size_t taken = std::min<size_t>(shared_.size(), kRunSlots);
  cache.freed.assign(shared_.end() - static_cast<ptrdiff_t>(taken), shared_.end());
  shared_.resize(shared_.size() - taken);
  shared_count_.store(shared_.size(), std::memory_order_relaxed);
  return taken > 0;
}

bool Table::take_run(SlotCache& cache) {
  const uint32_t node = memory_.numa().node();
  std::atomic<uint64_t>& next_run = *next_run_[node];
  uint64_t next = next_run.load(std::memory_order_acquire);
  for (;;) {
    if (next % slots_in_chunk_ == 0) {
      std::lock_guard lock(mutex_);
      const uint64_t meanwhile = next_run.load(std::memory_order_relaxed);
      if (meanwhile == next) {
        if (!add_chunk(node)) return false;
        next = (chunk_count_.load(std::memory_order_relaxed) - 1) * slots_in_chunk_;
        next_run.store(next + kRunSlots, std::memory_order_release);
        break;
      }
      next = meanwhile;
    } else if (next_run.compare_exchange_weak(next, next + kRunSlots, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
      break;
    }
  }
  use_up_to(next + kRunSlots);
  cache.next = next;
  cache.end = next + kRunSlots;
  cache.next_row = reinterpret_cast<std::byte*>(at(next));
  return true;
}

Row* Table::restore(uint64_t slot) {
  const uint64_t index = slot / slots_in_chunk_;
  if (chunk(index) == nullptr) {
    std::lock_guard lock(mutex_);
    if (chunk(index) == nullptr && !make_chunk(index, memory_.numa().node())) return nullptr;
  }
  if (slot >= restored_end()) raise_restored_end(slot);
  return at(slot);
}

void Table::raise_restored_end(uint64_t slot) {
  const uint64_t chunk_end = (slot / slots_in_chunk_ + 1) * slots_in_chunk_;
  const uint64_t end = std::min((slot / kRestoredSlots + 1) * kRestoredSlots, chunk_end);
  use_up_to(slot);
  for (uint64_t known = restored_end(); known < end;) {
    if (restored_end_.compare_exchange_weak(known, end, std::memory_order_relaxed)) return;
  }
}

void Table::use_up_to(uint64_t slot) {
  if (slot * stride_ <= kSmallUseBytes || small_chunk_.load(std::memory_order_relaxed) == nullptr) return;
  if (std::byte* chunk = small_chunk_.exchange(nullptr, std::memory_order_relaxed)) memory_.outgrown(chunk);
}

void Table::end_restoring(std::span<Row* const> free) {
  for (Row* row : free) release_texts(row);
  std::lock_guard lock(mutex_);
  shared_.insert(shared_.end(), free.begin(), free.end());
  shared_count_.store(shared_.size(), std::memory_order_relaxed);
  // Behind them the last chunk's other runs are taken first.
  next_run_[0]->store(restored_end(), std::memory_order_release);
}

size_t Table::memory_bytes() const {
  size_t chunks = 0;
  const uint64_t end = chunk_count_.load(std::memory_order_relaxed);
  for (uint64_t index = 0; index < end; ++index) chunks += chunk(index) != nullptr ? 1 : 0;
  return chunks * chunk_bytes_;
}

uint64_t Table::slot_end() const {
  uint64_t end = 0;
  for (uint32_t node = 0; node < memory_.numa().nodes; ++node)
    end = std::max(end, next_run_[node]->load(std::memory_order_acquire));
  return end;
}

void Table::give_back(SlotCache& cache) {
  for (; cache.next < cache.end; ++cache.next) cache.freed.push_back(at(cache.next));
  std::lock_guard lock(mutex_);
  shared_.insert(shared_.end(), cache.freed.begin(), cache.freed.end());
  shared_count_.store(shared_.size(), std::memory_order_relaxed);
  cache.freed.clear();
}

std::byte* Table::chunk(uint64_t index) const {
  if (index >= kGroups * kChunksInGroup) return nullptr;
  const Group* group = groups_[index / kChunksInGroup].load(std::memory_order_acquire);
  return group == nullptr ? nullptr : group->chunks[index % kChunksInGroup].load(std::memory_order_acquire);
}

// Under mutex_. The new chunk is number chunk_count_ - 1.
bool Table::add_chunk(uint32_t node) {
  return make_chunk(chunk_count_.load(std::memory_order_relaxed), node);
}

// Under mutex_.
bool Table::make_chunk(uint64_t index, uint32_t node) {
  if (index >= kGroups * kChunksInGroup) return false;
  std::atomic<Group*>& group = groups_[index / kChunksInGroup];
  if (group.load(std::memory_order_relaxed) == nullptr) {
    Group* made = new (std::nothrow) Group;
    if (made == nullptr) return false;
    group.store(made, std::memory_order_release);
  }
  const bool is_small = index == 0 && chunk_bytes_ == kHugePageBytes;
  std::byte* memory =
      is_small ? memory_.allocate_first(node) : memory_.allocate_on(node, chunk_bytes_, chunk_bytes_);
  if (memory == nullptr) return false;
  if (is_small) small_chunk_.store(memory, std::memory_order_relaxed);
  new (memory) ChunkHeader{index * slots_in_chunk_};
  group.load(std::memory_order_relaxed)
      ->chunks[index % kChunksInGroup]
      .store(memory, std::memory_order_release);
  const uint64_t count = std::max(chunk_count_.load(std::memory_order_relaxed), index + 1);
  chunk_count_.store(count, std::memory_order_relaxed);
  return true;
}

Row* Table::at(uint64_t slot) const {
  std::byte* memory = chunk(slot / slots_in_chunk_);
  if (memory == nullptr) return nullptr;
  return reinterpret_cast<Row*>(memory + kChunkHeaderBytes + slot % slots_in_chunk_ * stride_);
}

uint64_t Table::slot_of(const Row* row) const {
  const auto address = reinterpret_cast<uintptr_t>(row);
  const uintptr_t memory = address & ~(uintptr_t{chunk_bytes_} - 1);
  const uint64_t index = (address - memory - kChunkHeaderBytes) / stride_;
  return reinterpret_cast<const ChunkHeader*>(memory)->first_slot + index;
}

}  // namespace mneme
