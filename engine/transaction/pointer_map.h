// PointerMap: a transaction's "is this row (or node) in my set, and where?" A small open-addressing hash
// table.
//
// clear() is a change of generation, so that a map grown by one large transaction costs later small ones
// nothing.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"

namespace mneme {

class PointerMap {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  PointerMap() : places_(64) {}

  void clear() {
    size_ = 0;
    if (++generation_ == 0) {
      places_.assign(places_.size(), Place{});
      generation_ = 1;
    }
  }

  uint32_t find(const void* pointer) const {
    if (size_ == 0) return kNone;
    for (size_t at = hash(pointer);; ++at) {
      const Place& place = places_[at & (places_.size() - 1)];
      if (place.generation != generation_) return kNone;
      if (place.pointer == pointer) return place.index;
    }
  }

  // The next insert() allocates nothing.
  void make_room() {
    if (2 * (size_ + 1) > places_.size()) grow();
  }

  // `pointer` is not in the map.
  void insert(const void* pointer, uint32_t index) {
    make_room();
    put(pointer, index);
    ++size_;
  }

 private:
  struct Place {
    const void* pointer = nullptr;
    uint32_t index = 0;
    uint32_t generation = 0;
  };

  static size_t hash(const void* pointer) {
    return static_cast<size_t>((reinterpret_cast<uint64_t>(pointer) >> 3) * 0x9e3779b97f4a7c15u >> 40);
  }
  void put(const void* pointer, uint32_t index) {
    size_t at = hash(pointer);
    while (places_[at & (places_.size() - 1)].generation == generation_) ++at;
    places_[at & (places_.size() - 1)] = {pointer, index, generation_};
  }
  void grow() {
    std::vector<Place> old(places_.size() * 2);
    old.swap(places_);
    for (const Place& place : old) {
      if (place.generation == generation_) put(place.pointer, place.index);
    }
  }

  std::vector<Place> places_;  // a power of two
  uint32_t size_ = 0;
  uint32_t generation_ = 1;
};

}  // namespace mneme
