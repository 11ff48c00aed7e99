#include "procedures/query/window_frames.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "procedures/times/interval.h"
#include "procedures/times/time_functions.h"
#include "procedures/times/timestamp.h"
#include "procedures/values/comparison.h"
#include "procedures/values/decimal.h"

namespace mneme::query {

using ir::FrameBoundKind;
using ir::FrameExclusion;
using ir::FrameMode;

namespace {

// `ordered`: the type of ORDER BY. A time of day is moved by an interval's hours alone.
bool is_negative(const Value& offset, const Type& ordered) {
  if (offset.kind() == Value::Kind::kInterval) {
    const Interval interval = interval_of(offset);
    return ordered.kind == TypeKind::kTime ? interval.microseconds < 0 : estimate_of(interval) < 0;
  }
  if (offset.kind() == Value::Kind::kDouble) return offset.as_double() < 0;
  return offset.kind() == Value::Kind::kNumeric ? offset.as_numeric() < 0 : offset.as_int() < 0;
}

// Returns the first position of the range for which `is_behind` holds, or the range's end if it holds for
// none. It holds for all positions behind the first for which it does.
template <typename IsBehind>
uint32_t first_position(PositionRange range, IsBehind&& is_behind) {
  while (range.begin < range.end) {
    const uint32_t middle = range.begin + range.size() / 2;
    if (is_behind(middle)) {
      range.end = middle;
    } else {
      range.begin = middle + 1;
    }
  }
  return range.begin;
}

// A timestamp, a date or an interval less, or plus, an interval. A date becomes a timestamp.
bool move_by(const Type& type, const Value& from, const Value& offset, bool subtracts, RunState& run,
             Value& result) {
  if (type.kind == TypeKind::kInterval) {
    return apply_interval(subtracts ? ir::Op::kSubtract : ir::Op::kAdd, from, offset, run.arena, result,
                          run.context.error);
  }
  int64_t moment = from.as_int();
  if (type.kind == TypeKind::kDate && !timestamp_of_date(from.as_int(), moment)) {
    return fail(run.context.error, run.arena, sqlstate::kDatetimeOverflow, "date out of range for timestamp");
  }
  Value span = offset;
  if (subtracts && !negate_interval(offset, run.arena, span, run.context.error)) return false;
  const Value arguments[] = {Value::of_int(moment), span};
  return apply_time_function(ir::Function::kMoveTime, Type{.kind = TypeKind::kTimestamp}, arguments,
                             run.arena, result, run.context.error);
}

}  // namespace

bool WindowFrames::open() {
  return open_bound(function_.start, "starting", start_offset_) &&
         open_bound(function_.end, "ending", end_offset_);
}

bool WindowFrames::open_bound(const WindowFunction::Bound& bound, std::string_view name, Value& offset) {
  if (!bound.offset) return true;
  if (!runner_.value_of(*bound.offset, offset)) return false;
  RunState& run = runner_.state_;
  if (offset.is_null()) {
    return run.raise(bound.offset->where, sqlstate::kNullNotAllowed, "frame {} offset must not be null",
                     name);
  }
  const bool is_number = offset.kind() != Value::Kind::kDouble || !std::isnan(offset.as_double());
  if (is_number && !is_negative(offset, window_.order.empty() ? Type() : window_.order[0].expr.type))
    return true;
  if (function_.mode == FrameMode::kRange) {
    return run.raise(bound.offset->where, sqlstate::kInvalidFrameOffset,
                     "invalid preceding or following size in window function");
  }
  return run.raise(bound.offset->where, sqlstate::kInvalidFrameOffset, "frame {} offset must not be negative",
                   name);
}

void WindowFrames::set_partition(PositionRange partition) {
  partition_ = partition;
  not_null_ = partition;
  const bool counts_values =
      function_.mode == FrameMode::kRange && (function_.start.offset || function_.end.offset);
  if (!counts_values) return;
  if (window_.order[0].nulls_first) {
    not_null_.begin = first_position(partition, [&](uint32_t at) { return !order_value(at).is_null(); });
  } else {
    not_null_.end = first_position(partition, [&](uint32_t at) { return order_value(at).is_null(); });
  }
}

bool WindowFrames::find(uint32_t position, PositionRange& frame) {
  if (!bound_of(function_.start, start_offset_, position, false, frame.begin)) return false;
  if (!bound_of(function_.end, end_offset_, position, true, frame.end)) return false;
  frame.end = std::max(frame.begin, frame.end);
  return true;
}

bool WindowFrames::is_excluded(uint32_t position, uint32_t other) const {
  if (function_.exclusion == FrameExclusion::kNone) return false;
  if (other == position) return function_.exclusion != FrameExclusion::kTies;
  return function_.exclusion != FrameExclusion::kCurrentRow &&
         ordering_.group_of[other] == ordering_.group_of[position];
}

bool WindowFrames::bound_of(const WindowFunction::Bound& bound, const Value& offset, uint32_t position,
                            bool is_end, uint32_t& result) {
  switch (bound.kind) {
    case FrameBoundKind::kUnboundedPreceding:
      result = partition_.begin;
      return true;
    case FrameBoundKind::kUnboundedFollowing:
      result = partition_.end;
      return true;
    case FrameBoundKind::kCurrentRow: {
      const PositionRange row = function_.mode == FrameMode::kRows ? PositionRange{position, position + 1}
                                                                   : ordering_.peers(position);
      result = is_end ? row.end : row.begin;
      return true;
    }
    case FrameBoundKind::kPreceding:
    case FrameBoundKind::kFollowing:
      break;
  }
  const bool precedes = bound.kind == FrameBoundKind::kPreceding;
  if (function_.mode == FrameMode::kRange)
    return bound_by_value(precedes, offset, bound.offset->where, position, is_end, result);
  const bool counts_rows = function_.mode == FrameMode::kRows;
  // The place that is counted from, and the last place there is.
  const int128 from = counts_rows ? position : ordering_.group_of[position];
  const int128 place = precedes ? from - offset.as_int() : from + offset.as_int();
  if (counts_rows) {
    const int128 bounded = std::clamp<int128>(place + (is_end ? 1 : 0), partition_.begin, partition_.end);
    result = static_cast<uint32_t>(bounded);
    return true;
  }
  const uint32_t first_group = ordering_.group_of[partition_.begin];
  const uint32_t groups_end = ordering_.group_of[partition_.end - 1] + 1;
  const int128 bounded = std::clamp<int128>(place + (is_end ? 1 : 0), first_group, groups_end);
  result = ordering_.group_begin[static_cast<uint32_t>(bounded)];
  return true;
}

// The bound at the row's value less, or plus, the offset.
bool WindowFrames::bound_by_value(bool precedes, const Value& offset, const ir::SourceLocation& where,
                                  uint32_t position, bool is_end, uint32_t& result) {
  const Value& value = order_value(position);
  if (value.is_null()) {
    const PositionRange peers = ordering_.peers(position);
    result = is_end ? peers.end : peers.begin;
    return true;
  }
  const WindowOrder& order = window_.order[0];
  const Type& type = order.expr.type;
  const bool subtracts = precedes != order.descending;
  // How a row's value compares with the limit, in the window's order: below, at or above 0.
  const auto search = [&](auto&& compare) {
    result = first_position(not_null_, [&](uint32_t at) {
      const std::strong_ordering each = compare(order_value(at));
      const std::strong_ordering in_order = order.descending ? 0 <=> each : each;
      return is_end ? in_order > 0 : in_order >= 0;
    });
    return true;
  };
  RunState& run = runner_.state_;
  Value limit;
  if (type.kind == TypeKind::kTime) {
    const int128 from = value.as_int();
    const int128 span = interval_of(offset).microseconds;
    const int128 end = subtracts ? from - span : from + span;
    return search([&](const Value& each) { return static_cast<int128>(each.as_int()) <=> end; });
  }
  if (type.is_time() || type.kind == TypeKind::kInterval) {
    if (!move_by(type, value, offset, subtracts, run, limit)) return run.raise(where);
    return search([&](const Value& each) {
      if (type.kind == TypeKind::kInterval) return estimate_of_interval(each) <=> estimate_of_interval(limit);
      int64_t at = each.as_int();
      // A date that no timestamp can be is behind all of them.
      if (type.kind == TypeKind::kDate && !timestamp_of_date(each.as_int(), at))
        return std::strong_ordering::greater;
      return at <=> limit.as_int();
    });
  }
  if (type.is_integer()) {
    const int128 limit = subtracts ? static_cast<int128>(value.as_int()) - offset.as_int()
                                   : static_cast<int128>(value.as_int()) + offset.as_int();
    return search([&](const Value& each) { return static_cast<int128>(each.as_int()) <=> limit; });
  }
  if (type.is_floating()) {
    const double from = value.as_double();
    double limit = subtracts ? from - offset.as_double() : from + offset.as_double();
    // An infinite offset from the infinity that it leads away from reaches all numbers.
    if (std::isnan(limit) && !std::isnan(from))
      limit = (subtracts ? -1 : 1) * std::numeric_limits<double>::infinity();
    return search([&](const Value& each) { return compare_doubles(each.as_double(), limit); });
  }
  const auto decimal = [&](const Value& each) {
    return type.kind == TypeKind::kNumeric ? Value::of_decimal(each.as_numeric(), type.scale) : each;
  };
  if (!apply_decimal(subtracts ? ir::Op::kSubtract : ir::Op::kAdd, decimal(value), offset, run.arena, limit,
                     run.context.error))
    return run.raise(where);
  return search([&](const Value& each) { return compare_decimals(decimal(each), limit); });
}

}  // namespace mneme::query
