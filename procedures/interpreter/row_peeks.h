// RowPeeks: the rows that earlier rounds of a procedure's look-ups found, as far as later rounds ask what is
// in them.
//
// A key that a statement reads from a row (an order's customer, say) is known as soon as that row is in the
// cache: so look-ups are named in rounds, each with what the rounds before have found. See emitter_lookups.h.
//
// Flow        begin -> for each round: begin_round -> the round's NativeLookupFunction names look-ups, marks
//             some of them by watch(), and gets at those of earlier rounds by peek(), in the order in which
//             they were marked
// Invariants  a hint only: a row may have been changed since, or its look-up left out for want of room.
// Threads     one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/transaction/prefetcher.h"

namespace mneme {

class RowPeeks {
 public:
  explicit RowPeeks(const Prefetcher& prefetcher) : prefetcher_(prefetcher) {}

  void begin() { round_count_ = 0; }
  // At most Prefetcher::kMaxRounds times.
  void begin_round() {
    Round& round = rounds_[round_count_++];
    round.first = prefetcher_.size();
    round.count = 0;
    for (size_t i = 0; i < round_count_; ++i) rounds_[i].next = 0;
  }

  // The look-up that this round names as its number `at`.
  void watch(size_t at) {
    Round& round = rounds_[round_count_ - 1];
    if (round.count < round.watched.size())
      round.watched[round.count++] = static_cast<uint8_t>(round.first + at);
  }
  // Copies the next watched row of the earlier round; returns false if there is none.
  bool peek(size_t earlier, ImageParts parts, std::byte* image) {
    Round& round = rounds_[earlier];
    if (round.next >= round.count) return false;
    const size_t at = round.watched[round.next++];
    return at < prefetcher_.size() && prefetcher_.peek(at, parts, image);
  }

 private:
  struct Round {
    size_t first = 0;  // the number of its first look-up in the prefetcher
    size_t count = 0;
    size_t next = 0;
    std::array<uint8_t, Prefetcher::kMaxLookups> watched;
  };

  const Prefetcher& prefetcher_;
  size_t round_count_ = 0;
  std::array<Round, Prefetcher::kMaxRounds> rounds_;
};

}  // namespace mneme
