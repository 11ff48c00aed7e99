// SelectBinder's functions that give rows in the select list, in GROUP BY and in ORDER BY: whole items or
// parts of expressions.
//
// Which    those that GROUP BY or a window names run behind FROM, before rows are grouped. All others run
//          last, for each row that groups and windows leave.
// Levels   functions of one level stand side by side and give rows until the longest ends. A function whose
//          argument has another one is of the level above, and runs for each row of those below.
// Source   PostgreSQL 15, section 38.5.9 (SQL functions returning sets).
#include <algorithm>
#include <utility>

#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;

Expr SelectBinder::bind_item(const syntax::Expr& expr) {
  refuse_chosen_sets(expr);
  const bool allowed = std::exchange(allows_sets_, true);
  Expr value = bind(expr);
  allows_sets_ = allowed;
  return value;
}

Expr SelectBinder::bind_set_call(const syntax::Expr& call) {
  const auto refuse_set = [&](std::string_view what) {
    refuse_as(sqlstate::kNotSupported, call.where, "{}", what);
  };
  if (in_aggregate_) refuse_set("aggregate function calls cannot contain set-returning function calls");
  if (in_window_) refuse_set("window function calls cannot contain set-returning function calls");
  if (clause_ == "FROM") refuse_set("set-returning functions must appear at top level of FROM");
  if (!allows_sets_) refuse_sets(call, clause_);
  FromStep::SetFunction function = bind_set_function(call.text, call.args, call.where);
  const Type type = function.result;
  const std::optional<uint32_t> known = known_set(function);
  Expr result = output_column(known.value_or(static_cast<uint32_t>(set_items_.size())), type, call.where);
  result.source = kSetResults;
  if (known) return result;
  SetItem item{std::move(function)};
  for (const Expr& arg : item.function.args) {
    ir::walk(arg, [&](const Expr& part) {
      if (is_set_result(part)) item.level = std::max(item.level, set_items_[part.column.value].level + 1);
    });
  }
  set_items_.push_back(std::move(item));
  return result;
}

// Returns the number of a function that gives the same rows side by side with this one.
std::optional<uint32_t> SelectBinder::known_set(const FromStep::SetFunction& function) const {
  const auto found = std::ranges::find_if(set_items_, [&](const SetItem& item) {
    return item.function.kind == function.kind && item.function.result == function.result &&
           std::ranges::equal(item.function.args, function.args, same_expression);
  });
  if (found == set_items_.end()) return std::nullopt;
  return static_cast<uint32_t>(found - set_items_.begin());
}

// Marks the functions that GROUP BY and windows name, and those in their arguments.
void SelectBinder::mark_sets_of_from() {
  const auto mark = [&](const Expr& expr) {
    ir::walk(expr, [&](const Expr& part) {
      if (is_set_result(part)) set_items_[part.column.value].in_from = true;
    });
  };
  std::ranges::for_each(select_->keys, mark);
  for (const WindowPlan& window : select_->windows) {
    std::ranges::for_each(window.partition, mark);
    for (const WindowOrder& order : window.order) mark(order.expr);
  }
  // An argument's function has a lower number.
  for (size_t i = set_items_.size(); i-- > 0;) {
    if (set_items_[i].in_from) std::ranges::for_each(set_items_[i].function.args, mark);
  }
}

void SelectBinder::put_sets_of_from(Expr& expr) const {
  if (!is_set_result(expr)) {
    for (Expr& arg : expr.args) put_sets_of_from(arg);
    return;
  }
  const SetItem& item = set_items_[expr.column.value];
  if (item.in_from) expr = output_column(item.slot, expr.type, expr.where);
}

namespace {

// The step of FROM whose functions are of this level, behind the steps of those below.
FromStep& step_of_level(FromPlan& plan, size_t first_step, size_t level, uint32_t first_slot) {
  while (plan.steps.size() <= first_step + level) {
    FromStep& step = plan.steps.emplace_back();
    step.source = FromStep::Source::kSets;
    step.is_lateral = true;
  }
  FromStep& step = plan.steps[first_step + level];
  if (step.slots.count == 0) step.slots.begin = first_slot;
  ++step.slots.count;
  return step;
}

}  // namespace

void SelectBinder::add_sets_to_from() {
  mark_sets_of_from();
  const auto highest = std::ranges::max_element(set_items_, {}, &SetItem::level);
  if (highest == set_items_.end()) return;
  const size_t first_step = select_->from.steps.size();
  for (size_t level = 0; level <= highest->level; ++level) {
    for (SetItem& item : set_items_) {
      if (!item.in_from || item.level != level) continue;
      item.slot = select_->width++;
      for (Expr& arg : item.function.args) {
        put_sets_of_from(arg);
        use_slots(arg);
      }
      step_of_level(select_->from, first_step, level, item.slot).sets.push_back(std::move(item.function));
    }
  }
  if (wanted_.size() < select_->width) wanted_.resize(select_->width);
  const auto put = [&](Expr& expr) { put_sets_of_from(expr); };
  std::ranges::for_each(select_->keys, put);
  std::ranges::for_each(select_->outputs, put);
  for (WindowPlan& window : select_->windows) {
    std::ranges::for_each(window.partition, put);
    for (WindowOrder& order : window.order) put(order.expr);
  }
  for (SetItem& item : set_items_) {
    if (!item.in_from) std::ranges::for_each(item.function.args, put);
  }
}

void SelectBinder::group_sets() {
  for (SetItem& item : set_items_) {
    if (item.in_from) continue;
    for (Expr& arg : item.function.args) group(arg);
  }
}

// Puts the functions that run last into select_->sets, and the outputs over its frame.
void SelectBinder::finish_sets() {
  const auto is_last = [](const SetItem& item) { return !item.in_from; };
  if (std::ranges::none_of(set_items_, is_last)) return;
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < set_items_.size(); ++i) {
    if (is_last(set_items_[i])) numbers.push_back(i);
  }
  std::ranges::stable_sort(numbers, {}, [&](uint32_t number) { return set_items_[number].level; });
  // The inputs stand first in the frame, so the functions' slots are known once all inputs are.
  for (const uint32_t number : numbers) {
    for (Expr& arg : set_items_[number].function.args) keep_inputs_of_sets(arg);
  }
  for (Expr& output : select_->outputs) keep_inputs_of_sets(output);
  uint32_t slot = static_cast<uint32_t>(select_->set_inputs.size());
  const size_t lowest = set_items_[numbers[0]].level;
  for (const uint32_t number : numbers) {
    SetItem& item = set_items_[number];
    item.in_from = true;  // of select_->sets
    item.slot = slot++;
    for (Expr& arg : item.function.args) put_sets_of_from(arg);
    step_of_level(select_->sets, 0, item.level - lowest, item.slot).sets.push_back(std::move(item.function));
  }
  select_->sets.slots = {0, slot};
  for (Expr& output : select_->outputs) put_sets_of_from(output);
}

// A column or an aggregate becomes the column that holds it in the frame of select_->sets.
void SelectBinder::keep_inputs_of_sets(Expr& expr) {
  if (is_set_result(expr)) return;
  if (expr.kind != ExprKind::kColumn && expr.kind != ExprKind::kAggregate) {
    for (Expr& arg : expr.args) keep_inputs_of_sets(arg);
    return;
  }
  std::vector<Expr>& inputs = select_->set_inputs;
  const auto found =
      std::ranges::find_if(inputs, [&](const Expr& each) { return same_expression(each, expr); });
  const auto number = static_cast<uint32_t>(found - inputs.begin());
  if (found == inputs.end()) inputs.push_back(expr);
  expr = output_column(number, expr.type, expr.where);
}

}  // namespace mneme::query
