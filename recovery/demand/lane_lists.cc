#include "recovery/demand/lane_lists.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace mneme {

namespace {

// Places that wide pieces may take in lists, for each transaction of the batch.
constexpr uint64_t kMostWidePlaces = 32;

}  // namespace

LaneLists::LaneLists(uint32_t transactions, uint32_t lanes, bool recalled)
    : lanes_(lanes),
      begins_(lanes + 2, 0),
      unfinished_(recalled ? transactions : 0, 0),
      last_entry_(lanes, 0) {
  entries_.reserve(transactions);
}

void LaneLists::place(uint32_t, uint32_t lanes) {
  CHECK(lanes == lanes_);
}

void LaneLists::add(Piece piece, uint32_t lanes) {
  entries_.push_back({piece, static_cast<uint32_t>(entry_lanes_.size()), lanes, std::max(lanes, 1U)});
  if (!unfinished_.empty()) ++unfinished_[piece.transaction];
}

void LaneLists::add_lane(uint32_t lane) {
  DCHECK(lane < lanes_);
  entry_lanes_.push_back(lane);
  ++begins_[lane];
}

void LaneLists::append(Piece piece, std::span<const uint32_t> lanes) {
  add(piece, 0);
  Entry& entry = entries_.back();
  const auto stamp = static_cast<uint32_t>(entries_.size());
  for (const uint32_t lane : lanes) {
    if (last_entry_[lane] == stamp) continue;
    last_entry_[lane] = stamp;
    add_lane(lane);
  }
  entry.lane_count = entry.lanes_to_come = static_cast<uint32_t>(entry_lanes_.size()) - entry.first_lane;
  DCHECK(entry.lane_count > 0);
}

void LaneLists::append_free(Piece piece) {
  add(piece, 0);
  ++begins_[lanes_];
}

void LaneLists::append_to_all(Piece piece) {
  wide_ += lanes_;
  is_too_wide_ |= lanes_ > 1 && wide_ > kMostWidePlaces * std::max<uint64_t>(entries_.capacity(), 1);
  if (is_too_wide_) return;
  add(piece, lanes_);
  for (uint32_t lane = 0; lane < lanes_; ++lane) add_lane(lane);
}

// A counting sort: each list's number of entries becomes its begin.
void LaneLists::finish() {
  uint32_t begin = 0;
  for (uint32_t& list : begins_) begin += std::exchange(list, begin);
  list_.resize(begin);
  std::vector<uint32_t> next(begins_);
  for (uint32_t number = 0; number < entries_.size(); ++number) {
    const Entry& entry = entries_[number];
    if (entry.lane_count == 0) list_[next[lanes_]++] = number;
    for (const uint32_t lane : lanes_of(entry)) list_[next[lane]++] = number;
  }
  last_entry_ = {};
}

uint32_t LaneLists::place_of(uint32_t list, uint32_t entry) const {
  const auto begin = list_.begin() + begins_[list];
  const auto found = std::lower_bound(begin, list_.begin() + begins_[list + 1], entry);
  DCHECK(found != list_.begin() + begins_[list + 1] && *found == entry);
  return static_cast<uint32_t>(found - begin);
}

std::pair<uint32_t, uint32_t> LaneLists::entries_of(uint32_t transaction) const {
  const auto found = std::ranges::equal_range(entries_, transaction, {},
                                              [](const Entry& entry) { return entry.piece.transaction; });
  const auto first = static_cast<uint32_t>(found.begin() - entries_.begin());
  return {first, first + static_cast<uint32_t>(found.size())};
}

}  // namespace mneme
