#include "logging/reading/place_merge.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"

namespace mneme {

void PlaceMerge::add(std::vector<RecordView> records) {
  Part part;
  for (size_t i = 0; i < records.size(); ++i) {
    const LogEpoch epoch = epoch_of(records[i].lsn);
    if (part.stretches.empty() || part.stretches.back().epoch != epoch)
      part.stretches.push_back({epoch, i, 0});
    ++part.stretches.back().count;
  }
  size_ += records.size();
  part.records = std::move(records);
  parts_.push_back(std::move(part));
}

// All parts' records by epoch, and where each epoch begins among all records.
std::vector<PlaceMerge::Stretch> PlaceMerge::whole_epochs() const {
  std::vector<Stretch> all;
  for (const Part& part : parts_) all.insert(all.end(), part.stretches.begin(), part.stretches.end());
  std::ranges::sort(all, {}, &Stretch::epoch);
  std::vector<Stretch> epochs;
  for (const Stretch& each : all) {
    if (epochs.empty() || epochs.back().epoch != each.epoch) {
      const size_t begin = epochs.empty() ? 0 : epochs.back().begin + epochs.back().count;
      epochs.push_back({each.epoch, begin, 0});
    }
    epochs.back().count += each.count;
  }
  return epochs;
}

Lsn PlaceMerge::lowest() const {
  std::optional<Lsn> lowest;
  for (const Part& part : parts_) {
    for (const RecordView& record : part.records) {
      if (part.stretches.front().epoch != epoch_of(record.lsn)) break;
      lowest = std::min(lowest.value_or(record.lsn), record.lsn);
    }
  }
  return lowest.value_or(kFirstLsn);
}

// False: a record lies outside of the epoch's places, or one of them stays empty.
bool PlaceMerge::place_epoch(const Stretch& epoch, Lsn first, std::vector<RecordView>& into) const {
  const uint64_t first_place = (place_in_epoch(first) + epoch.begin) % kPlacesPerEpoch;
  for (const Part& part : parts_) {
    const auto stretch = std::ranges::lower_bound(part.stretches, epoch.epoch, {}, &Stretch::epoch);
    if (stretch == part.stretches.end() || stretch->epoch != epoch.epoch) continue;
    for (size_t i = stretch->begin; i < stretch->begin + stretch->count; ++i) {
      const uint64_t place = place_in_epoch(part.records[i].lsn);
      const uint64_t index = (place + kPlacesPerEpoch - first_place) % kPlacesPerEpoch;
      if (index >= epoch.count) return false;
      into[epoch.begin + index] = part.records[i];
    }
  }
  const auto begin = into.begin() + static_cast<ptrdiff_t>(epoch.begin);
  return std::all_of(begin, begin + static_cast<ptrdiff_t>(epoch.count),
                     [](const RecordView& record) { return record.lsn != kCheckpointLsn; });
}

std::optional<std::vector<RecordView>> PlaceMerge::merge(std::optional<Lsn> first, uint32_t threads) {
  const Lsn from = first.value_or(lowest());
  const std::vector<Stretch> epochs = whole_epochs();
  std::vector<RecordView> merged(size_);
  std::atomic<bool> is_whole{true};  // relaxed: joining the threads orders it
  for_each_in_parallel(threads, epochs.size(), [&](size_t i) {
    if (!place_epoch(epochs[i], from, merged)) is_whole.store(false, std::memory_order_relaxed);
  });
  if (!is_whole.load(std::memory_order_relaxed)) return std::nullopt;
  return merged;
}

}  // namespace mneme
