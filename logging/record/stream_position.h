// StreamPosition: where a byte lies in one stream of the log's record bytes, counted from 64 on.
//
// Not an Lsn, which is a record's place in the commit order: neither converts into the other. A log of
// several streams has a position in each of them and one order of LSNs. In a log of one stream the two are
// equal by construction, as the position that a record reserves is its place in the order; only the two
// functions below say so.
#pragma once

#include <compare>
#include <cstdint>

#include "logging/record/lsn.h"

namespace mneme {

struct StreamPosition {
  uint64_t value = 0;

  constexpr StreamPosition() = default;
  constexpr explicit StreamPosition(uint64_t v) : value(v) {}
  constexpr auto operator<=>(const StreamPosition&) const = default;
  constexpr StreamPosition operator+(uint64_t bytes) const { return StreamPosition{value + bytes}; }
};

// Where a stream begins.
inline constexpr StreamPosition kFirstPosition{64};

// In a log of one stream: the LSN of the record that begins at a position, and where the record of an LSN
// begins.
constexpr Lsn one_stream_lsn(StreamPosition at) {
  return Lsn{at.value};
}
constexpr StreamPosition one_stream_position(Lsn lsn) {
  return StreamPosition{lsn.value};
}

}  // namespace mneme
