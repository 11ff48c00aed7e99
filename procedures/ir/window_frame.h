// Window frame: the words by which SQL says which rows around a row a window function looks at.
#pragma once

#include <cstdint>

namespace mneme::ir {

// The unit in which a frame's bounds count.
enum class FrameMode : uint8_t {
  kRows,
  kRange,   // values of the only ORDER BY column
  kGroups,  // sets of peers, which are rows that ORDER BY does not tell apart
};

// The bounds, sorted by the row that they name: a frame's end may not come before its start.
enum class FrameBoundKind : uint8_t {
  kUnboundedPreceding,
  kPreceding,
  kCurrentRow,  // kRange, kGroups: the row's first peer as a start, its last one as an end
  kFollowing,
  kUnboundedFollowing,
};

enum class FrameExclusion : uint8_t {
  kNone,
  kCurrentRow,
  kGroup,  // the row and its peers
  kTies,   // its peers, but not the row
};

}  // namespace mneme::ir
