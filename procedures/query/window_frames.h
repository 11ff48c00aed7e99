// Window frames: a window's rows in their order, and which of them a window function sees from each. Private
// to the runner.
//
// Positions   count in the window's order. A range has its first position and the one behind its last.
// Groups      rows that ORDER BY does not tell apart, which are peers of each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "procedures/query/query_runner.h"

namespace mneme::query {

struct PositionRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t size() const { return end - begin; }
};

// The rows of one window: their order, partitions and groups.
struct WindowOrdering {
  std::vector<uint32_t> rows;         // by position
  std::vector<uint32_t> group_of;     // by position: the number of its group
  std::vector<uint32_t> group_begin;  // by group; behind them, the number of rows
  std::vector<PositionRange> partitions;
  RowStore keys;  // by row: PARTITION BY's values, then ORDER BY's

  PositionRange peers(uint32_t position) const {
    const uint32_t group = group_of[position];
    return {group_begin[group], group_begin[group + 1]};
  }
};

class WindowFrames {
 public:
  WindowFrames(QueryRunner& runner, const WindowPlan& window, const WindowFunction& function,
               const WindowOrdering& ordering)
      : runner_(runner), window_(window), function_(function), ordering_(ordering) {}

  // Evaluates the offsets. Comes first. Each method returns false where the run has failed.
  [[nodiscard]] bool open();
  void set_partition(PositionRange partition);
  // Finds the frame of the row at `position`, EXCLUDE left out of account.
  [[nodiscard]] bool find(uint32_t position, PositionRange& frame);
  // Whether EXCLUDE takes `other` out of the frame of the row at `position`.
  bool is_excluded(uint32_t position, uint32_t other) const;

 private:
  bool open_bound(const WindowFunction::Bound& bound, std::string_view name, Value& offset);
  bool bound_of(const WindowFunction::Bound& bound, const Value& offset, uint32_t position, bool is_end,
                uint32_t& result);
  bool bound_by_value(bool precedes, const Value& offset, const ir::SourceLocation& where, uint32_t position,
                      bool is_end, uint32_t& result);
  const Value& order_value(uint32_t position) const {
    return ordering_.keys.row(ordering_.rows[position])[window_.partition.size()];
  }

  QueryRunner& runner_;
  const WindowPlan& window_;
  const WindowFunction& function_;
  const WindowOrdering& ordering_;
  PositionRange partition_;
  PositionRange not_null_;  // kRange with an offset: the partition's rows that have a value to count from
  Value start_offset_;
  Value end_offset_;
};

}  // namespace mneme::query
