#include "procedures/interpreter/operation_runner.h"

#include <algorithm>
#include <limits>

#include "engine/transaction/shared_cell.h"
#include "procedures/interpreter/any_query.h"
#include "procedures/interpreter/row_finder.h"
#include "procedures/values/cast.h"
#include "procedures/values/comparison.h"

namespace mneme {

using ir::Operation;
using ir::OperationKind;

bool OperationRunner::perform(const Operation& operation, Wanted wanted, ResultRows& rows) {
  rows = {stack_.size(), 0, static_cast<uint32_t>(operation.outputs.size())};
  switch (operation.kind) {
    case OperationKind::kSelect:
      return select(operation, wanted, rows);
    case OperationKind::kInsert:
      return insert(operation, rows);
    case OperationKind::kUpdate:
      return update(operation, rows);
    case OperationKind::kDelete:
      return erase(operation, rows);
  }
  CHECK(false && "a kind of operation");
  return false;
}

bool OperationRunner::visit_rows(const Operation& operation, FunctionRef<bool()> visit) {
  if (operation.access.empty()) {  // a SELECT without FROM: one row
    visit();
    return state_.outcome.completed();
  }
  RowFinder outer(state_, operation, 0);
  if (operation.access.size() == 1) {
    return outer.visit_all(operation.path_backward, [&](const RowRef&) { return visit(); });
  }
  // The outer rows first: a scan is not interrupted by another.
  if (!collect_rows(operation)) return false;
  bool go_on = true;
  for (size_t i = 0; i < found_rows_.size() && go_on; ++i) {
    state_.context.rows[0].image = found_rows_[i].image;
    RowFinder inner(state_, operation, 1);
    const bool ok = inner.visit_all(operation.path_backward, [&](const RowRef&) { return go_on = visit(); });
    if (!ok) return false;
  }
  return state_.outcome.completed();
}

bool OperationRunner::collect_rows(const Operation& operation) {
  found_rows_.clear();
  RowFinder finder(state_, operation, 0);
  return finder.visit_all(operation.path_backward, [&](const RowRef& row) {
    found_rows_.push_back(row);
    return true;
  });
}

bool OperationRunner::prepare_count(const std::optional<ir::Expr>& expr, ir::SourceLocation where,
                                    const char* sqlstate, const char* name, std::optional<uint64_t>& count) {
  if (!expr) return true;
  Value value;
  if (!state_.value_of(*expr, where, value)) return false;
  if (value.is_null()) return true;
  if (value.as_int() < 0) return state_.raise(where, sqlstate, "{} must not be negative", name);
  count = static_cast<uint64_t>(value.as_int());
  return true;
}

bool OperationRunner::prepare_cut(const Operation& operation, Wanted wanted, Cut& cut) {
  std::optional<uint64_t> offset;
  std::optional<uint64_t> limit;
  if (!prepare_count(operation.offset, operation.where, sqlstate::kInvalidOffset, "OFFSET", offset))
    return false;
  if (!prepare_count(operation.limit, operation.where, sqlstate::kInvalidLimit, "LIMIT", limit)) return false;
  cut.skip = offset.value_or(0);
  cut.take = limit.value_or(std::numeric_limits<uint32_t>::max());
  if (wanted == Wanted::kInto) cut.take = std::min<uint64_t>(cut.take, operation.strict ? 2 : 1);
  return true;
}

// Without outputs, as of PERFORM, all rows are looked at.
bool OperationRunner::select_any(const Operation& operation, Wanted wanted, ResultRows& rows) {
  const bool takes_all = wanted == Wanted::kAll || operation.outputs.empty();
  const uint32_t most = takes_all ? std::numeric_limits<uint32_t>::max() : operation.strict ? 2 : 1;
  const AnyQuery::Run run{state_.schema, state_.frame.scalars(),   state_.frame.arrays(),
                          *state_.rows,  state_.context.sequences, state_.stop,
                          state_.arena};
  state_.outcome = operation.any_query->run(run, [&](std::span<const Value> row) {
    for (size_t i = 0; i < operation.outputs.size(); ++i)
      stack_.push_back(state_.kept(operation.outputs[i].expr.type, row[i]));
    return ++rows.count < most;
  });
  return state_.outcome.completed();
}

bool OperationRunner::select(const Operation& operation, Wanted wanted, ResultRows& rows) {
  if (operation.any_query) return select_any(operation, wanted, rows);
  Cut cut;
  if (!prepare_cut(operation, wanted, cut)) return false;
  if (!operation.groups.empty()) return select_groups(operation, cut, rows);
  if (!operation.aggregates.empty()) return select_aggregates(operation, cut, rows);
  if (cut.take == 0) return true;
  if (!operation.order.empty() && !operation.order_is_path_order) return select_ordered(operation, cut, rows);
  return visit_rows(operation, [&] {
    if (cut.skip > 0) {
      --cut.skip;
      return true;
    }
    return push_outputs(operation) && ++rows.count < cut.take;
  });
}

bool OperationRunner::push_outputs(const Operation& operation) {
  for (const ir::Output& output : operation.outputs) {
    Value value;
    const ir::Expr& selected = output.selected();
    if (!state_.value_of(selected, operation.where, value)) return false;
    stack_.push_back(state_.kept(selected.type, value));
  }
  return true;
}

bool OperationRunner::cast_output(const ir::Output& output, Value& value) {
  if (!output.cast_when_taken || value.is_null()) return true;
  return cast_value(output.selected().type, output.expr.type, too_long_of(output.expr), Value(value),
                    state_.arena, value, state_.context.error);
}

bool OperationRunner::cast_row(const ir::Operation& operation, const ResultRows& rows, uint32_t i) {
  Value* const values = stack_.data() + rows.base + size_t{i} * rows.width;
  for (size_t k = 0; k < rows.width; ++k) {
    if (!cast_output(operation.outputs[k], values[k])) return state_.raise(operation.where);
  }
  return true;
}

void OperationRunner::cast_all_rows(const ir::Operation& operation, const ResultRows& rows) {
  Value* value = stack_.data() + rows.base;
  for (uint32_t i = 0; i < rows.count; ++i) {
    for (const ir::Output& output : operation.outputs) {
      if (!cast_output(output, *value)) *value = Value::null();
      ++value;
    }
  }
}

// Rows lie on the stack as their order keys and then their outputs, until they are in order.
bool OperationRunner::select_ordered(const Operation& operation, const Cut& cut, ResultRows& rows) {
  const bool found = visit_rows(operation, [&] {
    for (const ir::OrderKey& key : operation.order) {
      Value value;
      if (!state_.value_of(key.expr, operation.where, value)) return false;
      stack_.push_back(value);
    }
    ++rows.count;
    return push_outputs(operation);
  });
  if (!found) return false;
  sort_rows(operation, cut, rows);
  return true;
}

void OperationRunner::sort_rows(const Operation& operation, const Cut& cut, ResultRows& rows) {
  const size_t keys = operation.order.size();
  const size_t stride = keys + rows.width;
  const auto row = [&](uint32_t i) { return stack_.data() + rows.base + i * stride; };
  row_order_.resize(rows.count);
  for (uint32_t i = 0; i < rows.count; ++i) row_order_[i] = i;
  std::sort(row_order_.begin(), row_order_.end(), [&](uint32_t a, uint32_t b) {
    for (size_t k = 0; k < keys; ++k) {
      const ir::OrderKey& key = operation.order[k];
      const std::strong_ordering order =
          compare_for_order(key.expr.type.kind, key.descending, row(a)[k], row(b)[k]);
      if (order != 0) return order < 0;
    }
    return a < b;
  });

  const size_t end = stack_.size();
  const uint64_t last = std::min<uint64_t>(rows.count, cut.skip + cut.take);
  rows.count = 0;
  for (uint64_t i = cut.skip; i < last; ++i, ++rows.count) {
    for (size_t k = keys; k < stride; ++k) stack_.push_back(Value(row(row_order_[i])[k]));
  }
  std::copy(stack_.begin() + static_cast<ptrdiff_t>(end), stack_.end(),
            stack_.begin() + static_cast<ptrdiff_t>(rows.base));
  stack_.resize(rows.base + size_t{rows.count} * rows.width);
}

bool OperationRunner::check_column(const Operation& operation, ColumnId column, const Value& value) {
  const TableId table = operation.access[0].table;
  const Catalog& catalog = state_.schema.catalog();
  const Column& definition = catalog.table(table).column(column);
  if (lacks_room(catalog, catalog.table(table), column, value)) {
    (void)fail_no_room(state_.schema, table, column, value.as_text(), state_.arena, state_.context.error);
    return state_.raise(operation.where);
  }
  if (!value.is_null() || definition.nullable) return true;
  (void)fail_not_null(state_.schema, table, column, state_.arena, state_.context.error);
  return state_.raise(operation.where);
}

void OperationRunner::tell_failing_row(TableId table, std::span<const Value> values) {
  if (state_.context.error.sqlstate != sqlstate::kNotNull) return;
  mneme::tell_failing_row(state_.schema, table, values, state_.arena, state_.context.error);
  state_.outcome.detail = state_.context.error.detail;
}

bool OperationRunner::insert(const Operation& operation, ResultRows& rows) {
  new_values_.resize(operation.values.size());
  for (size_t i = 0; i < new_values_.size(); ++i) {
    if (!state_.value_of(operation.values[i], operation.where, new_values_[i])) return false;
  }
  for (size_t i = 0; i < new_values_.size(); ++i) {
    if (check_column(operation, ColumnId{static_cast<uint32_t>(i)}, new_values_[i])) continue;
    tell_failing_row(operation.access[0].table, new_values_);
    return false;
  }
  const TableId table = operation.access[0].table;
  state_.context.rows[0] = {&state_.schema.layout(table), nullptr, {}, new_values_};
  rows.count = 1;
  if (!push_outputs(operation)) return false;
  const AccessStatus status = state_.rows->insert(table, new_values_);
  return status == AccessStatus::kOk || state_.refuse(status, operation);
}

bool OperationRunner::update(const Operation& operation, ResultRows& rows) {
  if (!collect_rows(operation)) return false;
  const TableId table = operation.access[0].table;
  for (RowRef& row : found_rows_) {
    RowView& view = state_.context.rows[0];
    view = {&state_.schema.layout(table), row.image, {}, {}};
    if (!evaluate_assignments(operation)) return false;
    // RETURNING sees the new row. Its values may still point into the old image, so it comes before the
    // write.
    view.changes = changes_;
    if (!push_outputs(operation)) return false;
    ++rows.count;
    AccessStatus status = AccessStatus::kOk;
    if (!changes_.empty()) status = state_.rows->update(table, row, changes_);
    if (status == AccessStatus::kOk && changes_.size() < operation.assignments.size()) {
      std::byte* image = nullptr;
      status = state_.rows->change_parts(table, row, state_.schema.layout(table).all_parts(), image);
      if (status == AccessStatus::kOk) add_to_row(operation, image);
    }
    if (status != AccessStatus::kOk) return state_.refuse(status, operation);
  }
  return true;
}

// Over the row at hand: all of them before any is written.
bool OperationRunner::evaluate_assignments(const Operation& operation) {
  changes_.clear();
  additions_.resize(operation.assignments.size());
  for (size_t i = 0; i < operation.assignments.size(); ++i) {
    const ir::Assignment& assignment = operation.assignments[i];
    Value value;
    if (!state_.value_of(assignment.value, operation.where, value)) return false;
    if (!check_column(operation, assignment.column, value)) {
      if (i + 1 < operation.assignments.size()) return false;
      // The row with all of its new values.
      const TableId table = operation.access[0].table;
      RowView view = state_.context.rows[0];
      changes_.push_back({assignment.column, value});
      view.changes = changes_;
      new_values_.resize(state_.schema.catalog().table(table).columns.size());
      for (size_t n = 0; n < new_values_.size(); ++n)
        new_values_[n] = view.get(ColumnId{static_cast<uint32_t>(n)});
      tell_failing_row(table, new_values_);
      return false;
    }
    if (assignment.how == ir::Assignment::How::kSet) {
      changes_.push_back({assignment.column, value});
    } else {
      additions_[i] = value;
    }
  }
  return true;
}

void OperationRunner::add_to_row(const Operation& operation, std::byte* image) {
  const RowLayout& layout = state_.schema.layout(operation.access[0].table);
  for (size_t i = 0; i < operation.assignments.size(); ++i) {
    const ir::Assignment& assignment = operation.assignments[i];
    if (assignment.how == ir::Assignment::How::kSet) continue;
    const RowLayout::Place& place = layout.place(assignment.column);
    const int64_t amount = place.kind == TypeKind::kNumeric ? static_cast<int64_t>(additions_[i].as_numeric())
                                                            : additions_[i].as_int();
    with_cell_type(place.bytes, [&]<typename Stored>() {
      if (assignment.how == ir::Assignment::How::kAdd) {
        add_to_cell<Stored>(image + place.offset, amount);
      } else {
        subtract_from_cell<Stored>(image + place.offset, amount);
      }
    });
  }
}

bool OperationRunner::erase(const Operation& operation, ResultRows& rows) {
  if (!collect_rows(operation)) return false;
  const TableId table = operation.access[0].table;
  for (RowRef& row : found_rows_) {
    state_.context.rows[0] = {&state_.schema.layout(table), row.image, {}, {}};
    if (!push_outputs(operation)) return false;
    ++rows.count;
    const AccessStatus status = state_.rows->erase(table, row);
    if (status != AccessStatus::kOk) return state_.refuse(status, operation);
  }
  return true;
}

}  // namespace mneme
