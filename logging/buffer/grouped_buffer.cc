#include "logging/buffer/grouped_buffer.h"

#include "base/check.h"

namespace mneme {

GroupedBuffer::GroupedBuffer(const LogBufferOptions& options, uint32_t arrays)
    : LockedTailBuffer(options), members_(std::make_unique<CachePadded<Member>[]>(options.workers)) {
  for (uint32_t i = 0; i < arrays; ++i) {
    arrays_.push_back(std::make_unique<ConsolidationArray>(options.tuning.slots, options.workers));
  }
  for (uint32_t worker = 0; worker < workers_; ++worker) {
    members_[worker]->random = (worker + 1) * uint64_t{0x9e3779b97f4a7c15};
  }
}

uint64_t GroupedBuffer::random(WorkerId worker) {
  uint64_t& x = members_[worker.value]->random;  // xorshift64
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x >> 32;
}

StreamPosition GroupedBuffer::reserve(WorkerId worker, size_t bytes) {
  DCHECK(worker.value < workers_);
  Member& member = *members_[worker.value];
  if (lock_->try_lock()) {
    member.array = nullptr;
    member.alone = {draw(bytes), bytes};
    const StreamPosition position = member.alone.begin;
    drawn(member.alone);
    return position;
  }
  ConsolidationArray& array = *arrays_[array_of(worker)];
  const ConsolidationArray::Place place = array.join(random(worker), bytes);
  member.array = &array;
  member.slot = place.slot;
  if (!place.leads()) return array.await(*place.slot).begin + place.offset;
  lock_->lock();
  Region region;
  region.bytes = array.close(*place.slot);
  region.begin = draw(region.bytes);
  drawn(region);
  array.notify(*place.slot, region);
  return region.begin;
}

void GroupedBuffer::publish(WorkerId worker, StreamPosition position, size_t bytes) {
  const Member& member = *members_[worker.value];
  if (member.array == nullptr) {
    DCHECK(member.alone.begin == position);
    DCHECK(member.alone.bytes == bytes);
    release_region(worker, member.alone);
    return;
  }
  if (!member.array->leave(*member.slot, bytes)) return;
  const Region region = member.array->region(*member.slot);
  DCHECK(region.begin <= position);
  DCHECK(position + bytes <= region.begin + region.bytes);
  member.array->free(*member.slot);
  release_region(worker, region);
}

}  // namespace mneme
