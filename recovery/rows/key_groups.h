// KeyGroups: groups the changes of some buckets of one table by key.
//
// Flow        gather() -> changes(0), changes(1), ...
// Invariants  a group's changes are in the order in which the buckets, and the changes in them, were given.
//             Groups are in the order of their first changes.
// Memory      kept from one gather() to the next. A thread that gathers as much as fits its cache at a time
//             waits for memory only where the changes themselves lie.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recovery/rows/change_buckets.h"

namespace mneme {

// Hashes a key's words. Another seed gives another function.
inline uint64_t hash_of_words(const uint64_t* words, size_t count, uint64_t seed) {
  uint64_t hash = seed;
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

class KeyGroups {
 public:
  // `buckets`: with keys of `key_words` words; valid as long as the groups are used.
  void gather(std::span<const ChangeBucket* const> buckets, size_t key_words);

  size_t size() const { return ends_.size(); }
  std::span<const ShuffledChange* const> changes(size_t group) const {
    const uint32_t begin = group == 0 ? 0 : ends_[group - 1];
    return {ordered_.data() + begin, ends_[group] - begin};
  }

 private:
  uint32_t group_of(const ShuffledChange* change, size_t key_words);

  std::vector<uint32_t> table_;                // open addressing: a group's number + 1, or 0
  uint64_t mask_ = 0;                          // of the part that is in use
  std::vector<const ShuffledChange*> firsts_;  // by group
  std::vector<uint32_t> ends_;                 // by group, of its changes in ordered_
  std::vector<const ShuffledChange*> changes_;
  std::vector<uint32_t> groups_;  // by change
  std::vector<const ShuffledChange*> ordered_;
};

}  // namespace mneme
