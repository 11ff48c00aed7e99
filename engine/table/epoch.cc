#include "engine/table/epoch.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace mneme {

EpochManager::EpochManager(uint32_t worker_count) : slots_(worker_count + kReaders) {}

EpochManager::Reader::Reader(EpochManager& epochs, size_t preferred)
    : epochs_(epochs), place_(preferred % kReaders), lock_(epochs.readers_[place_]) {
  epochs_.enter(epochs_.reader(place_));
}

EpochManager::Reader::~Reader() {
  epochs_.leave(epochs_.reader(place_));
}

void EpochManager::enter(WorkerId worker) {
  std::atomic<uint64_t>& slot = *slots_[worker.value];
  DCHECK(slot.load(std::memory_order_relaxed) == 0);
  slot.exchange(epoch_.load(std::memory_order_acquire), std::memory_order_acq_rel);
}

void EpochManager::leave(WorkerId worker) {
  slots_[worker.value]->store(0, std::memory_order_release);
}

uint64_t EpochManager::seal() {
  return epoch_.fetch_add(1, std::memory_order_acq_rel);
}

uint64_t EpochManager::oldest_running() {
  uint64_t oldest = std::numeric_limits<uint64_t>::max();
  for (CachePadded<std::atomic<uint64_t>>& slot : slots_) {
    const uint64_t epoch = slot->fetch_or(0, std::memory_order_acq_rel);
    if (epoch != 0) oldest = std::min(oldest, epoch);
  }
  return oldest;
}

void Limbo::retire(void* object, Free free, void* context) {
  open_.push_back({object, free, context});
  ++size_;
}

void Limbo::free_all() {
  const auto free_each = [](const std::vector<Retired>& objects) {
    for (const Retired& retired : objects) retired.free(retired.context, retired.object);
  };
  for (; !sealed_.empty(); sealed_.pop()) free_each(sealed_.front().objects);
  free_each(open_);
  open_.clear();
  size_ = 0;
}

void Limbo::collect() {
  if (!open_.empty()) {
    sealed_.push({epochs_.seal(), std::move(open_)});
    open_.clear();
    if (!spare_.empty()) {
      open_ = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (sealed_.empty()) return;

  const uint64_t oldest = epochs_.oldest_running();
  while (!sealed_.empty() && sealed_.front().epoch < oldest) {
    std::vector<Retired> objects = std::move(sealed_.front().objects);
    sealed_.pop();
    size_ -= objects.size();
    for (const Retired& retired : objects) retired.free(retired.context, retired.object);
    objects.clear();
    spare_.push_back(std::move(objects));
  }
}

}  // namespace mneme
