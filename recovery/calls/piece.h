// Piece: what a lane holds: a part of one of a batch's transactions, which runs as a unit.
//
// Cases       a part is of a call: its slice in the block, whole, or one iteration of the slice's loop, or
//             one of Slice::parts; or it is one changed row of an ad-hoc transaction, by its number among the
//             changes. visit() tells them apart, and no code outside this file sees how they are kept. Where
//             a block has one lane, one piece can stand for its whole share of a batch without ad-hoc
//             transactions: the slices of all the batch's calls, one after the other.
// Memory      8 bytes, because lanes' lists hold millions of pieces; a std::variant would take 16.
// Threads     a value.
#pragma once

#include <cstdint>
#include <optional>

#include "base/check.h"

namespace mneme {

// At most one of these; none stands for the whole slice.
struct CallPart {
  std::optional<uint32_t> iteration;
  std::optional<uint32_t> slice_part;  // which of Slice::parts
};

class PiecePart {
 public:
  static PiecePart slice() { return PiecePart(kWholeSlice); }
  static PiecePart iteration(uint32_t number) {
    DCHECK(number < kShare);
    return PiecePart(number);
  }
  static PiecePart slice_part(uint32_t number) {
    DCHECK(number < kSlicePart);
    return PiecePart(kSlicePart | number);
  }
  static PiecePart change(uint32_t number) {
    DCHECK(number < kChange);
    return PiecePart(kChange | number);
  }

  static PiecePart share() { return PiecePart(kShare); }
  bool is_share() const { return bits_ == kShare; }

  // The part is no share. Returns what `of_call(CallPart part)` or `of_change(uint32_t number)`
  // returns.
  template <typename OfCall, typename OfChange>
  auto visit(OfCall&& of_call, OfChange&& of_change) const {
    DCHECK(!is_share());
    if ((bits_ & kChange) != 0) return of_change(bits_ & ~kChange);
    CallPart part;
    if ((bits_ & kSlicePart) != 0) {
      part.slice_part = bits_ & ~kSlicePart;
    } else if (bits_ != kWholeSlice) {
      part.iteration = bits_;
    }
    return of_call(part);
  }

  bool operator==(const PiecePart&) const = default;

 private:
  static constexpr uint32_t kChange = uint32_t{1} << 31;
  static constexpr uint32_t kSlicePart = uint32_t{1} << 30;
  static constexpr uint32_t kWholeSlice = kSlicePart - 1;
  static constexpr uint32_t kShare = kWholeSlice - 1;

  explicit PiecePart(uint32_t bits) : bits_(bits) {}

  uint32_t bits_;
};

struct Piece {
  uint32_t transaction = 0;  // its place in the batch
  PiecePart part = PiecePart::slice();

  bool operator==(const Piece&) const = default;
};
static_assert(sizeof(Piece) == 8);

}  // namespace mneme
