// InsertHints: where one owner's last inserts into an index went, one hint for each of some neighbourhoods of
// keys.
//
// Purpose         rows often come in at the end of each of several runs of keys in turn: orders at the end of
//                 their district's. One hint for all would be of the run before; here the words of a key but
//                 the last choose.
// Invariants      a hint says where its key went, whichever other key comes to share its place: wrong ones
//             cost a
//                 comparison.
// Threads         one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/index/index.h"

namespace mneme {

class InsertHints {
 public:
  InsertHint& of(const uint64_t* key, size_t words) {
    if (hints_ == nullptr) hints_ = std::make_unique<InsertHint[]>(kHints);
    return hints_[place(key, words)];
  }
  // Whether the last inserts tell where an entry with this key belongs: then an insert will go there at once.
  bool know(const uint64_t* key, size_t words) const {
    return hints_ != nullptr && hints_[place(key, words)].covers(key, words);
  }

 private:
  static constexpr int kHintBits = 8;
  static constexpr size_t kHints = size_t{1} << kHintBits;

  // Runs that follow one another in one column get places that lie far apart.
  static size_t place(const uint64_t* key, size_t words) {
    constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;
    uint64_t hash = 0;
    for (size_t i = 0; i + 1 < words; ++i) hash = (hash + key[i]) * kGoldenRatio;
    return hash >> (64 - kHintBits);
  }

  std::unique_ptr<InsertHint[]> hints_;
};

}  // namespace mneme
