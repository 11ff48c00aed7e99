// Your part of chapter 12: in which lane of a block a row lies, by its key. Read recovery/calls/lane_ring.h
// first.
//
// This starter puts all rows into lane 0. That is right, and slow.
#include "base/check.h"
#include "procedures/times/interval.h"
#include "recovery/calls/lane_ring.h"

namespace mneme {

// `step_`: how far round the ring it is from one value of a column to the next, where another column follows.
LaneRing::LaneRing(uint32_t lane_count) : lane_count_(lane_count), step_(1) {
  CHECK(lane_count > 0);
}

uint32_t LaneRing::lane_of(const TableDefinition& table, std::span<const ColumnId> columns,
                           std::span<const Value> key) const {
  (void)table;
  (void)columns;
  (void)key;
  (void)step_;
  return 0;
}

}  // namespace mneme
