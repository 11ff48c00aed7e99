#include "procedures/query/window_runner.h"

#include <algorithm>
#include <numeric>

#include "procedures/values/comparison.h"

namespace mneme::query {

using WindowKind = WindowFunction::Kind;

bool WindowRunner::add() {
  for (size_t i = 0; i < plan_.kept.size(); ++i) {
    if (!runner_.value_of(plan_.kept[i], row_[functions_ + i])) return false;
  }
  return runner_.keep_row(rows_, row_);
}

bool WindowRunner::visit(FunctionRef<bool()> visit) {
  if (!runner_.keep(rows_.size() * 3 * sizeof(uint32_t))) return false;
  ordering_.rows.resize(rows_.size());
  std::iota(ordering_.rows.begin(), ordering_.rows.end(), 0);
  runner_.state_.context.aggregates = {};
  for (const WindowPlan& window : plan_.windows) {
    if (!run_window(window)) return false;
  }
  for (uint32_t position = 0; position < rows_.size(); ++position) {
    look_at(position);
    if (!visit()) return runner_.state_.outcome.completed();
  }
  return true;
}

void WindowRunner::look_at(uint32_t position) {
  runner_.state_.context.rows[0] = {nullptr, nullptr, {}, rows_.row(ordering_.rows[position])};
}

bool WindowRunner::evaluate_at(uint32_t position, const ir::Expr& expr, Value& result) {
  look_at(position);
  return runner_.value_of(expr, result);
}

// A column's text lies with the row; other text is copied.
bool WindowRunner::keep_result(const ir::Expr& expr, Value& result) {
  if (result.kind() != Value::Kind::kText || expr.kind == ir::ExprKind::kColumn) return true;
  result = Value::of_text(runner_.kept_.copy(result.as_text()));
  return runner_.keep(result.as_text().size());
}

bool WindowRunner::run_window(const WindowPlan& window) {
  if (!make_keys(window)) return false;
  sort(window);
  divide(window);
  for (const uint32_t number : window.functions) {
    WindowFrames frames(runner_, window, plan_.window_functions[number], ordering_);
    if (!frames.open()) return false;
    for (const PositionRange& partition : ordering_.partitions) {
      frames.set_partition(partition);
      if (!run_function(number, frames, partition)) return false;
    }
  }
  runner_.kept_bytes_ -= ordering_.keys.size() * ordering_.keys.row_bytes();
  return true;
}

bool WindowRunner::make_keys(const WindowPlan& window) {
  ordering_.keys = RowStore(window.partition.size() + window.order.size());
  std::vector<Value> keys(window.partition.size() + window.order.size());
  for (size_t row = 0; row < rows_.size(); ++row) {
    runner_.state_.context.rows[0] = {nullptr, nullptr, {}, rows_.row(row)};
    const Arena::Mark mark = runner_.state_.arena.mark();
    size_t next = 0;
    for (const ir::Expr& expr : window.partition) {
      if (!runner_.value_of(expr, keys[next++])) return false;
    }
    for (const WindowOrder& order : window.order) {
      if (!runner_.value_of(order.expr, keys[next++])) return false;
    }
    if (!runner_.keep_row(ordering_.keys, keys)) return false;
    runner_.state_.arena.rewind(mark);
  }
  return true;
}

void WindowRunner::sort(const WindowPlan& window) {
  std::ranges::stable_sort(ordering_.rows, [&](uint32_t a, uint32_t b) {
    const std::span<const Value> left = ordering_.keys.row(a);
    const std::span<const Value> right = ordering_.keys.row(b);
    size_t next = 0;
    for (const ir::Expr& expr : window.partition) {
      const auto each = compare_for_order(expr.type.kind, false, left[next], right[next]);
      if (each != 0) return each < 0;
      ++next;
    }
    for (const WindowOrder& order : window.order) {
      const Value& one = left[next];
      const Value& other = right[next++];
      if (one.is_null() || other.is_null()) {
        if (one.is_null() != other.is_null()) return one.is_null() == order.nulls_first;
        continue;
      }
      const auto each = compare_values(order.expr.type.kind, one, other);
      if (each != 0) return order.descending ? each > 0 : each < 0;
    }
    return false;
  });
}

// Finds the partitions and the groups of peers.
void WindowRunner::divide(const WindowPlan& window) {
  ordering_.partitions.clear();
  ordering_.group_begin.clear();
  ordering_.group_of.resize(rows_.size());
  const size_t partition_keys = window.partition.size();
  const auto agree = [&](uint32_t position, size_t begin, size_t end) {
    const std::span<const Value> before = ordering_.keys.row(ordering_.rows[position - 1]);
    const std::span<const Value> at = ordering_.keys.row(ordering_.rows[position]);
    for (size_t i = begin; i < end; ++i) {
      const Type& type =
          i < partition_keys ? window.partition[i].type : window.order[i - partition_keys].expr.type;
      if (compare_for_order(type.kind, false, before[i], at[i]) != 0) return false;
    }
    return true;
  };
  for (uint32_t position = 0; position < rows_.size(); ++position) {
    const bool begins = position == 0 || !agree(position, 0, partition_keys);
    if (begins) {
      ordering_.partitions.push_back({position, position});
    }
    ordering_.partitions.back().end = position + 1;
    if (begins || !agree(position, partition_keys, partition_keys + window.order.size()))
      ordering_.group_begin.push_back(position);
    ordering_.group_of[position] = static_cast<uint32_t>(ordering_.group_begin.size() - 1);
  }
  ordering_.group_begin.push_back(static_cast<uint32_t>(rows_.size()));
}

bool WindowRunner::run_function(uint32_t number, WindowFrames& frames, PositionRange partition) {
  const WindowFunction& function = plan_.window_functions[number];
  if (function.kind == WindowKind::kAggregate) return run_aggregate(number, frames, partition);
  if (function.kind == WindowKind::kNtile) return ntile(number, partition);
  for (uint32_t position = partition.begin; position < partition.end; ++position) {
    const Arena::Mark mark = runner_.state_.arena.mark();
    Value result;
    bool ok = false;
    switch (function.kind) {
      case WindowKind::kLag:
      case WindowKind::kLead:
        ok = value_beside(function, partition, position, result);
        break;
      case WindowKind::kFirstValue:
      case WindowKind::kLastValue:
      case WindowKind::kNthValue:
        ok = value_in_frame(function, frames, position, result);
        break;
      default:
        ok = rank(function, partition, position, result);
    }
    if (!ok) return false;
    runner_.state_.arena.rewind(mark);
    set(position, number, result);
  }
  return true;
}

bool WindowRunner::rank(const WindowFunction& function, PositionRange partition, uint32_t position,
                        Value& result) {
  const PositionRange peers = ordering_.peers(position);
  const uint32_t rank = peers.begin - partition.begin;
  switch (function.kind) {
    case WindowKind::kRowNumber:
      result = Value::of_int(position - partition.begin + 1);
      return true;
    case WindowKind::kRank:
      result = Value::of_int(rank + 1);
      return true;
    case WindowKind::kDenseRank:
      result = Value::of_int(ordering_.group_of[position] - ordering_.group_of[partition.begin] + 1);
      return true;
    case WindowKind::kPercentRank:
      result =
          Value::of_double(partition.size() == 1 ? 0 : static_cast<double>(rank) / (partition.size() - 1));
      return true;
    default:
      CHECK(function.kind == WindowKind::kCumeDist);
      result = Value::of_double(static_cast<double>(peers.end - partition.begin) / partition.size());
      return true;
  }
}

// Deals the rows from the first on for which the argument is not NULL into so many buckets, the first ones of
// which have a row more where they can't be alike.
bool WindowRunner::ntile(uint32_t number, PositionRange partition) {
  const ir::Expr& arg = plan_.window_functions[number].args[0];
  uint32_t position = partition.begin;
  Value buckets;
  for (; position < partition.end; ++position) {
    if (!evaluate_at(position, arg, buckets)) return false;
    if (!buckets.is_null()) break;
    set(position, number, Value::null());
  }
  if (position == partition.end) return true;
  if (buckets.as_int() <= 0) {
    return runner_.state_.raise(arg.where, sqlstate::kInvalidNtile,
                                "argument of ntile must be greater than zero");
  }
  const int64_t in_each = partition.size() / buckets.as_int();
  const int64_t longer = partition.size() % buckets.as_int();
  const int64_t in_longer = longer * (in_each + 1);
  for (int64_t i = 0; position < partition.end; ++i, ++position) {
    const int64_t bucket = i < in_longer ? i / (in_each + 1) : longer + (i - in_longer) / in_each;
    set(position, number, Value::of_int(bucket + 1));
  }
  return true;
}

// lag() and lead()
bool WindowRunner::value_beside(const WindowFunction& function, PositionRange partition, uint32_t position,
                                Value& result) {
  int64_t offset = 1;
  if (function.args.size() > 1) {
    Value value;
    if (!evaluate_at(position, function.args[1], value)) return false;
    if (value.is_null()) return true;
    offset = value.as_int();
  }
  const int64_t wanted =
      static_cast<int64_t>(position) + (function.kind == WindowKind::kLag ? -offset : offset);
  const bool is_there = wanted >= partition.begin && wanted < partition.end;
  if (!is_there && function.args.size() < 3) return true;
  const ir::Expr& expr = function.args[is_there ? 0 : 2];
  return evaluate_at(is_there ? static_cast<uint32_t>(wanted) : position, expr, result) &&
         keep_result(expr, result);
}

// first_value(), last_value() and nth_value()
bool WindowRunner::value_in_frame(const WindowFunction& function, WindowFrames& frames, uint32_t position,
                                  Value& result) {
  uint64_t wanted = 1;
  if (function.kind == WindowKind::kNthValue) {
    Value value;
    if (!evaluate_at(position, function.args[1], value)) return false;
    if (value.is_null()) return true;
    if (value.as_int() <= 0) {
      return runner_.state_.raise(function.args[1].where, sqlstate::kInvalidNthValue,
                                  "argument of nth_value must be greater than zero");
    }
    wanted = static_cast<uint64_t>(value.as_int());
  }
  PositionRange frame;
  if (!frames.find(position, frame)) return false;
  if (function.exclusion == ir::FrameExclusion::kNone) {
    if (wanted > frame.size()) return true;
    const auto from_begin = static_cast<uint32_t>(wanted - 1);
    const uint32_t at = function.kind == WindowKind::kLastValue ? frame.end - 1 : frame.begin + from_begin;
    return evaluate_at(at, function.args[0], result) && keep_result(function.args[0], result);
  }
  for (uint32_t i = 0; i < frame.size(); ++i) {
    const uint32_t at = function.kind == WindowKind::kLastValue ? frame.end - 1 - i : frame.begin + i;
    if (frames.is_excluded(position, at) || --wanted > 0) continue;
    return evaluate_at(at, function.args[0], result) && keep_result(function.args[0], result);
  }
  return true;
}

bool WindowRunner::run_aggregate(uint32_t number, WindowFrames& frames, PositionRange partition) {
  const WindowFunction& function = plan_.window_functions[number];
  AggregateState state;
  PositionRange added{partition.begin, partition.begin};
  Value result;
  bool is_known = false;
  for (uint32_t position = partition.begin; position < partition.end; ++position) {
    const Arena::Mark mark = runner_.state_.arena.mark();
    PositionRange frame;
    bool changed = false;
    if (!frames.find(position, frame)) return false;
    if (!move_to(function, frames, position, frame, added, state, changed)) return false;
    if (changed || !is_known) {
      if (!aggregates_.finish(function.aggregate, state, result)) return false;
      const bool is_copied = function.aggregate.kind == Aggregate::Kind::kConcatenation ||
                             function.aggregate.kind == Aggregate::Kind::kArray;
      if (is_copied && !result.is_null() && !runner_.keep(result.as_text().size())) return false;
      is_known = true;
    }
    runner_.state_.arena.rewind(mark);
    set(position, number, result);
  }
  aggregates_.clear(state);
  return true;
}

// Brings the state, which has the rows of `added`, to the frame.
bool WindowRunner::move_to(const WindowFunction& function, const WindowFrames& frames, uint32_t position,
                           PositionRange frame, PositionRange& added, AggregateState& state, bool& changed) {
  const Aggregate& aggregate = function.aggregate;
  const bool excludes = function.exclusion != ir::FrameExclusion::kNone;
  const bool meets = frame.begin >= added.begin && frame.begin <= added.end && frame.end >= added.end;
  if (excludes || !meets || (frame.begin > added.begin && !AggregateRunner::can_remove(aggregate))) {
    aggregates_.clear(state);
    added = {frame.begin, frame.begin};
    changed = true;
  }
  for (; added.begin < frame.begin; ++added.begin) {
    look_at(added.begin);
    if (!aggregates_.remove_row(aggregate, state)) return false;
    changed = true;
  }
  for (; added.end < frame.end; ++added.end) {
    if (excludes && frames.is_excluded(position, added.end)) continue;
    look_at(added.end);
    if (!aggregates_.add_row(aggregate, state)) return false;
    changed = true;
  }
  return true;
}

}  // namespace mneme::query
