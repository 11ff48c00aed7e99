#include "recovery/demand/batch_pieces.h"

#include <algorithm>
#include <numeric>

namespace mneme {

namespace {

// Places that wide pieces may take in lanes, for each transaction of the batch.
constexpr uint64_t kMostWidePlaces = 32;

}  // namespace

BatchPieces::BatchPieces(uint32_t transactions, uint32_t lanes, bool is_recalled)
    : lanes_(lanes),
      most_wide_places_(kMostWidePlaces * std::max(transactions, 1U)),
      unfinished_(is_recalled ? transactions : 0, 0) {
  CHECK(lanes > 0 && lanes <= kSeveral);
}

void BatchPieces::place(uint32_t, uint32_t lanes) {
  CHECK(lanes == lanes_);
}

void BatchPieces::add(Piece piece, uint32_t lane) {
  entries_.push_back({piece, lane});
  if (!unfinished_.empty()) ++unfinished_[piece.transaction];
}

// The piece stands in what was added to lanes_of_several_ from `first` on.
void BatchPieces::add_several(Piece piece, uint32_t first) {
  const auto count = static_cast<uint32_t>(lanes_of_several_.size()) - first;
  add(piece, kSeveral + static_cast<uint32_t>(several_.size()));
  several_.push_back({first, count, count});
}

void BatchPieces::append(Piece piece, std::span<const uint32_t> lanes) {
  if (lanes.size() == 1) return add(piece, lanes.front());
  const auto first = static_cast<uint32_t>(lanes_of_several_.size());
  lanes_of_several_.insert(lanes_of_several_.end(), lanes.begin(), lanes.end());
  const auto begin = lanes_of_several_.begin() + first;
  std::sort(begin, lanes_of_several_.end());
  lanes_of_several_.erase(std::unique(begin, lanes_of_several_.end()), lanes_of_several_.end());
  if (lanes_of_several_.size() > first + 1) return add_several(piece, first);
  const uint32_t lane = lanes_of_several_.back();
  lanes_of_several_.pop_back();
  add(piece, lane);
}

void BatchPieces::append_free(Piece piece) {
  add(piece, kFreeWaits);
}

void BatchPieces::append_to_all(Piece piece) {
  if (lanes_ == 1) return add(piece, 0);
  wide_places_ += lanes_;
  is_too_wide_ |= wide_places_ > most_wide_places_;
  if (is_too_wide_) return;
  const auto first = static_cast<uint32_t>(lanes_of_several_.size());
  lanes_of_several_.resize(first + lanes_);
  std::iota(lanes_of_several_.begin() + first, lanes_of_several_.end(), 0U);
  add_several(piece, first);
}

std::pair<uint32_t, uint32_t> BatchPieces::entries_of(uint32_t transaction) const {
  const auto found = std::ranges::equal_range(entries_, transaction, {},
                                              [](const Entry& entry) { return entry.piece.transaction; });
  const auto first = static_cast<uint32_t>(found.begin() - entries_.begin());
  return {first, first + static_cast<uint32_t>(found.size())};
}

}  // namespace mneme
