#include "recovery/rows/key_groups.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace mneme {

namespace {

constexpr uint64_t kGroupSeed = 0x2545f4914f6cdd1d;

}  // namespace

void KeyGroups::gather(std::span<const ChangeBucket* const> buckets, size_t key_words) {
  size_t count = 0;
  for (const ChangeBucket* bucket : buckets) count += bucket->count();
  const size_t places = std::bit_ceil(2 * count + 1);
  table_.assign(places, 0);
  mask_ = places - 1;
  firsts_.clear();
  ends_.clear();
  changes_.clear();
  groups_.clear();
  for (const ChangeBucket* bucket : buckets) {
    bucket->for_each(key_words, [&](const ShuffledChange* change) {
      const uint32_t group = group_of(change, key_words);
      changes_.push_back(change);
      groups_.push_back(group);
      ++ends_[group];
    });
  }
  // From sizes to begins; each change that is put into its place then moves its group's begin on, to its end
  // at last.
  uint32_t begin = 0;
  for (uint32_t& end : ends_) begin += std::exchange(end, begin);
  ordered_.resize(count);
  for (size_t i = 0; i < count; ++i) ordered_[ends_[groups_[i]]++] = changes_[i];
}

uint32_t KeyGroups::group_of(const ShuffledChange* change, size_t key_words) {
  const uint64_t* key = change->key();
  for (uint64_t at = hash_of_words(key, key_words, kGroupSeed) >> 20;; ++at) {
    uint32_t& place = table_[at & mask_];
    if (place == 0) {
      firsts_.push_back(change);
      ends_.push_back(0);
      place = static_cast<uint32_t>(firsts_.size());
      return place - 1;
    }
    if (std::equal(key, key + key_words, firsts_[place - 1]->key())) return place - 1;
  }
}

}  // namespace mneme
