#include "procedures/interpreter/row_finder.h"

#include <algorithm>

#include "procedures/values/key_values.h"

namespace mneme {

RowFinder::RowFinder(RunState& state, const ir::Operation& operation, uint32_t source)
    : state_(state),
      operation_(operation),
      source_(source),
      access_(operation.access[source]),
      codec_(state.schema.codec(access_.path.index)) {}

Purpose RowFinder::purpose() const {
  if (!operation_.for_update) return Purpose::kRead;
  switch (operation_.lock_wait) {
    case ir::LockWait::kWaits:
      return Purpose::kChange;
    case ir::LockWait::kNoWait:
      return Purpose::kChangeNow;
    case ir::LockWait::kSkipsLocked:
      return Purpose::kPeek;
  }
  CHECK(false && "what becomes of a locked row");
  return Purpose::kChange;
}

bool RowFinder::visit_all(bool backward, Visitor visit) {
  backward_ = backward;
  visit_ = &visit;
  if (!prepare_values() || !prepare_bounds()) return false;
  if (empty_) return true;
  state_.context.rows[source_] = {&state_.schema.layout(access_.table), nullptr, {}, {}};
  return visit_from(0) != Next::kFailed;
}

bool RowFinder::prepare_values() {
  const std::vector<ir::AccessPath::Equality>& equalities = access_.path.equalities;
  prefix_ = state_.arena.make_array<Value>(equalities.size());
  values_ = state_.arena.make_array<std::span<const Value>>(equalities.size());
  for (size_t i = 0; i < equalities.size(); ++i) {
    const ir::AccessPath::Equality& equality = equalities[i];
    if (equality.array.valid() || equality.values.size() > 1) {
      if (!collect_values(equality, values_[i])) return false;
    } else {
      if (!state_.value_of(equality.values[0], operation_.where, prefix_[i])) return false;
      values_[i] = {&prefix_[i], prefix_[i].is_null() ? size_t{0} : size_t{1}};
    }
    empty_ |= values_[i].empty();
  }
  return true;
}

bool RowFinder::collect_values(const ir::AccessPath::Equality& equality, std::span<const Value>& collected) {
  std::span<Value> values;
  TypeKind kind;
  if (equality.array.valid()) {
    const std::span<const Value> elements = state_.context.arrays[equality.array.value].elements;
    values = state_.arena.make_array<Value>(elements.size());
    std::ranges::copy(elements, values.begin());
    const size_t column = static_cast<size_t>(&equality - access_.path.equalities.data());
    const IndexDefinition& index = state_.schema.catalog().index(access_.path.index);
    kind = state_.schema.catalog().table(access_.table).column(index.columns[column]).type.kind;
  } else {
    values = state_.arena.make_array<Value>(equality.values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (!state_.value_of(equality.values[i], operation_.where, values[i])) return false;
    }
    kind = equality.values[0].type.kind;
  }
  collected = sort_key_values(values, kind, backward_);
  return true;
}

bool RowFinder::prepare_bounds() {
  return prepare_bound(access_.path.lower, lower_) && prepare_bound(access_.path.upper, upper_);
}

bool RowFinder::prepare_bound(const std::optional<ir::AccessPath::Bound>& bound,
                              std::optional<KeyCodec::Bound>& prepared) {
  if (!bound) return true;
  Value value;
  if (!state_.value_of(bound->value, operation_.where, value)) return false;
  empty_ |= value.is_null();
  prepared = {value, bound->inclusive};
  return true;
}

RowFinder::Next RowFinder::visit_from(size_t column) {
  if (column == values_.size()) return visit_keys();
  for (const Value& value : values_[column]) {
    prefix_[column] = value;
    const Next next = visit_from(column + 1);
    if (next != Next::kGoOn) return next;
  }
  return Next::kGoOn;
}

RowFinder::Next RowFinder::visit_keys() {
  if (access_.path.kind == ir::AccessPath::Kind::kPoint) {
    const std::optional<IndexKey> key = codec_.of_whole(prefix_);
    if (!key) return Next::kGoOn;
    RowRef row;
    const AccessStatus status = state_.rows->find(access_.path.index, *key, row, purpose());
    if (status == AccessStatus::kAbsent) return Next::kGoOn;
    return status == AccessStatus::kOk ? visit_row(row) : ended_with(status);
  }
  const std::optional<KeyRange> range =
      lower_ || upper_ ? codec_.of_range(prefix_, lower_, upper_) : codec_.of_prefix(prefix_);
  if (!range) return Next::kGoOn;
  Next next = Next::kGoOn;
  const AccessStatus status = state_.rows->scan(
      access_.path.index, *range,
      backward_ ? RowAccess::Direction::kBackward : RowAccess::Direction::kForward,
      [&](const RowRef& row) {
        next = visit_row(row);
        return next == Next::kGoOn;
      },
      purpose());
  return status == AccessStatus::kOk ? next : ended_with(status);
}

RowFinder::Next RowFinder::visit_row(const RowRef& row) {
  if (!state_.goes_on(operation_.where)) return Next::kFailed;
  state_.context.rows[source_].image = row.image;
  if (access_.filter) {
    bool holds = false;
    if (!evaluate_condition(*access_.filter, state_.context, holds)) {
      (void)state_.raise(operation_.where);
      return Next::kFailed;
    }
    if (!holds) return Next::kGoOn;
  }
  if (operation_.keeps_rows)
    (void)state_.rows->lock_row(row, RowLockStrength::kExclusive, RowLockWait::kWaits);
  if ((*visit_)(row)) return Next::kGoOn;
  return state_.outcome.completed() ? Next::kEnough : Next::kFailed;
}

RowFinder::Next RowFinder::ended_with(AccessStatus status) {
  (void)state_.refuse(status, operation_);
  return Next::kFailed;
}

}  // namespace mneme
