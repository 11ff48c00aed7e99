// LaneRing: maps a key to one of a block's lanes.
//
// Why         A hash would put a few keys, as the twenty districts of two warehouses are, into some lanes
//             twice or three times, and leave others empty: the fullest lane is what many cores wait for.
// Place       Integers that are neighbours fall to neighbouring lanes. The runs of neighbours that a key's
//             earlier columns begin, say of each warehouse's districts, begin at steps of the golden section
//             round the ring, each where the gap is widest: as long as there are about as many lanes as keys,
//             hardly any two share one. Runs of 64 neighbours are moved by a hash of their higher bits, so
//             that keys that are multiples of something spread, too. All else is hashed.
// Invariants  equal values have equal lanes, whatever expression they come from.
// Threads     constant after construction.
// Source      Knuth, The Art of Computer Programming 3, section 6.4, theorem S: of the golden section's
//             multiples.
#pragma once

#include <cstdint>
#include <span>

#include "engine/schema/catalog.h"
#include "engine/schema/value.h"

namespace mneme {

class LaneRing {
 public:
  explicit LaneRing(uint32_t lane_count);

  uint32_t lane_count() const { return lane_count_; }
  // Returns the lane of the rows whose `columns` hold `key`. A table without lane columns has one lane.
  uint32_t lane_of(const TableDefinition& table, std::span<const ColumnId> columns,
                   std::span<const Value> key) const;

 private:
  const uint32_t lane_count_;
  // from one value of a column to the next, where another column follows; it shares no factor with the lanes
  uint64_t step_;
};

}  // namespace mneme
