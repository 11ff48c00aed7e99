#include "procedures/query/from_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "procedures/interpreter/row_finder.h"
#include "procedures/times/time_functions.h"
#include "procedures/values/array_text.h"
#include "procedures/values/decimal.h"
#include "procedures/values/regular_expression.h"
#include "procedures/values/value_text.h"

namespace mneme::query {

using Source = FromStep::Source;
using Kind = FromStep::Kind;

bool FromRunner::run() {
  bool open = true;
  if (!runner_.holds(plan_.gate, open)) return false;
  if (!open) return true;
  Next next = step(0);
  for (size_t i = 0; i < plan_.steps.size() && next == Next::kGoOn; ++i) {
    if (plan_.steps[i].kind == Kind::kFull) next = unmatched(i);
  }
  return next != Next::kFailed;
}

FromRunner::Next FromRunner::ended() const {
  return runner_.state_.outcome.completed() ? Next::kEnough : Next::kFailed;
}

FromRunner::Next FromRunner::step(size_t number) {
  if (number > 0) runner_.count(&plan_.steps[number - 1], &NodeRows::given);
  if (number == plan_.steps.size()) return visit_() ? Next::kGoOn : ended();
  const FromStep& step = plan_.steps[number];
  bool any = false;
  const bool reads = step.source == Source::kTable && (number == 0 || step.is_lookup);
  const bool reads_query = plan_.streams && step.source == Source::kQuery && step.query && !step.is_lateral;
  const Next next = reads         ? read_table(number, any)
                    : reads_query ? read_query(any)
                                  : use_kept_rows(number, any);
  if (next != Next::kGoOn || any || step.kind == Kind::kInner) return next;
  return without_row(number);
}

// The step's slots are filled.
FromRunner::Next FromRunner::take(size_t number, bool& any) {
  const FromStep& step = plan_.steps[number];
  bool holds = true;
  if (!runner_.state_.goes_on({}) || !runner_.holds(step.match, holds)) return Next::kFailed;
  if (!holds) return Next::kGoOn;
  any = true;
  if (!runner_.holds(step.filter, holds)) return Next::kFailed;
  return holds ? this->step(number + 1) : Next::kGoOn;
}

FromRunner::Next FromRunner::without_row(size_t number) {
  const FromStep& step = plan_.steps[number];
  std::fill_n(frame_.begin() + step.slots.begin, step.slots.count, Value::null());
  bool holds = true;
  if (!runner_.holds(step.filter, holds)) return Next::kFailed;
  return holds ? this->step(number + 1) : Next::kGoOn;
}

// The rows of a full join's right side that no row of the left side met.
FromRunner::Next FromRunner::unmatched(size_t number) {
  const FromStep& step = plan_.steps[number];
  StepState& state = states_[number];
  if (!state.made && !make_rows(number)) return Next::kFailed;
  for (size_t i = 0; i < state.rows.size(); ++i) {
    if (!runner_.state_.goes_on({})) return Next::kFailed;
    if (state.matched[i]) continue;
    for (size_t before = 0; before < number; ++before) {
      const Slots& slots = plan_.steps[before].slots;
      std::fill_n(frame_.begin() + slots.begin, slots.count, Value::null());
    }
    fill(step, state.rows.row(i));
    bool holds = true;
    if (!runner_.holds(step.filter, holds)) return Next::kFailed;
    if (!holds) continue;
    const Next next = this->step(number + 1);
    if (next != Next::kGoOn) return next;
  }
  return Next::kGoOn;
}

namespace {

// The handle of a row that the step has found; it lives as long as the transaction.
Value handle_of(const RowRef& row) {
  return Value::of_int(static_cast<int64_t>(reinterpret_cast<uintptr_t>(row.handle)));
}

}  // namespace

void FromRunner::fill(const FromStep& step, const RowRef& row) {
  const RowLayout& layout = runner_.state_.schema.layout(step.lookup.access[1].table);
  for (const ColumnId column : step.columns)
    frame_[step.slots.begin + column.value] = layout.get(row.image, column);
  if (step.gives_handle) frame_[step.slots.end() - 1] = handle_of(row);
}

void FromRunner::fill(const FromStep& step, std::span<const Value> row) {
  std::ranges::copy(row, frame_.begin() + step.slots.begin);
}

FromRunner::Next FromRunner::read_table(size_t number, bool& any) {
  const FromStep& step = plan_.steps[number];
  StepState& state = states_[number];
  RowFinder finder(runner_.state_, step.lookup, 1);
  Next next = Next::kGoOn;
  if (plan_.streams) {
    const bool ok = finder.visit_all(false, [&](const RowRef& row) {
      runner_.count(&step, &NodeRows::source);
      fill(step, row);
      next = take(number, any);
      return next == Next::kGoOn;
    });
    return ok ? next : Next::kFailed;
  }
  state.found.clear();
  const bool ok = finder.visit_all(false, [&](const RowRef& row) {
    runner_.count(&step, &NodeRows::source);
    state.found.push_back(row);
    return true;
  });
  if (!ok || !runner_.keep(state.found.size() * sizeof(RowRef))) return Next::kFailed;
  const size_t kept = state.found.size() * sizeof(RowRef);
  for (size_t i = 0; i < state.found.size() && next == Next::kGoOn; ++i) {
    fill(step, state.found[i]);
    next = take(number, any);
  }
  runner_.kept_bytes_ -= kept;
  return next;
}

// The only step's rows are used as its query gives them, so that the query ends where no more are wanted.
FromRunner::Next FromRunner::read_query(bool& any) {
  const QueryRunner::Around around(runner_.state_.context);
  Next next = Next::kGoOn;
  const bool ok = runner_.run_query(*plan_.steps[0].query, [&](std::span<const Value> row) {
    const QueryRunner::Around query(runner_.state_.context);
    runner_.state_.context.rows[0] = {nullptr, nullptr, {}, frame_};
    fill(plan_.steps[0], row);
    runner_.count(plan_.steps.data(), &NodeRows::source);
    next = take(0, any);
    return next == Next::kGoOn;
  });
  return ok ? next : Next::kFailed;
}

FromRunner::Next FromRunner::use_kept_rows(size_t number, bool& any) {
  const FromStep& step = plan_.steps[number];
  StepState& state = states_[number];
  if ((!state.made || step.is_lateral) && !make_rows(number)) return Next::kFailed;
  const auto use = [&](uint32_t row) {
    fill(step, state.rows.row(row));
    bool matched = false;
    const Next next = take(number, matched);
    any |= matched;
    if (matched && step.kind == Kind::kFull) state.matched[row] = true;
    return next;
  };
  if (step.inner_keys.empty()) {
    for (uint32_t i = 0; i < state.rows.size(); ++i) {
      const Next next = use(i);
      if (next != Next::kGoOn) return next;
    }
    return Next::kGoOn;
  }
  std::string key;
  bool has_null = false;
  if (!key_of(step.outer_keys, key, has_null)) return Next::kFailed;
  if (has_null) return Next::kGoOn;
  const auto found = state.by_key.find(key);
  if (found == state.by_key.end()) return Next::kGoOn;
  for (const uint32_t row : found->second) {
    const Next next = use(row);
    if (next != Next::kGoOn) return next;
  }
  return Next::kGoOn;
}

bool FromRunner::make_rows(size_t number) {
  const FromStep& step = plan_.steps[number];
  StepState& state = states_[number];
  runner_.kept_bytes_ -= state.rows.size() * state.rows.row_bytes();
  state.rows = RowStore(step.slots.count);
  state.made = true;
  bool ok = false;
  switch (step.source) {
    case Source::kTable:
      ok = make_table_rows(step, state);
      break;
    case Source::kQuery:
      ok = make_query_rows(step, state);
      break;
    case Source::kSets:
      ok = make_sets(step, state);
      break;
    case Source::kWorking: {
      const RowStore& found = *runner_.working_rows_[step.recursion];
      ok = true;
      for (size_t i = 0; ok && i < found.size(); ++i)
        ok = runner_.keep_row(state.rows, found.row(i), /*copy_text=*/false);
      break;
    }
    case Source::kProvided:
      ok = true;
      runner_.provider_->visit(step.provided, [&](std::span<const Value> row) {
        if (ok) ok = runner_.keep_row(state.rows, row);
      });
      break;
  }
  if (!ok) return false;
  for (size_t i = 0; i < state.rows.size(); ++i) runner_.count(&step, &NodeRows::source);
  if (step.kind == Kind::kFull) state.matched.assign(state.rows.size(), false);
  return index_rows(step, state);
}

bool FromRunner::make_table_rows(const FromStep& step, StepState& state) {
  const RowLayout& layout = runner_.state_.schema.layout(step.lookup.access[1].table);
  state.row.assign(step.slots.count, Value::null());
  RowFinder finder(runner_.state_, step.lookup, 1);
  return finder.visit_all(false, [&](const RowRef& row) {
    for (const ColumnId column : step.columns) state.row[column.value] = layout.get(row.image, column);
    if (step.gives_handle) state.row.back() = handle_of(row);
    return runner_.keep_row(state.rows, state.row, /*copy_text=*/false);
  });
}

bool FromRunner::make_query_rows(const FromStep& step, StepState& state) {
  const QueryRunner::Around around(runner_.state_.context);
  const auto keep = [&](std::span<const Value> row) { return runner_.keep_row(state.rows, row); };
  if (step.query) {
    std::vector<Value> inputs;
    for (const auto& [variable, expr] : step.inputs) {
      Value value;
      if (!runner_.value_of(expr, value)) return false;
      inputs.push_back(value);
    }
    for (size_t i = 0; i < inputs.size(); ++i) runner_.variables_[step.inputs[i].first.value] = inputs[i];
    return runner_.run_query(*step.query, keep);
  }
  std::vector<Value> frame(frame_.begin(), frame_.end());
  runner_.state_.context.rows[0] = {nullptr, nullptr, {}, frame};
  const auto keep_slots = [&] {
    return keep(std::span<const Value>(frame).subspan(step.slots.begin, step.slots.count));
  };
  FromRunner group(runner_, *step.group, frame, keep_slots);
  return group.run();
}

// Each time is made of the one before, as PostgreSQL does: a month behind January 31 is February's end.
bool FromRunner::make_times(ir::SourceLocation where, std::span<const Value> args,
                            std::vector<Value>& values) {
  constexpr Type kTime{.kind = TypeKind::kTimestamp};
  RunState& run = runner_.state_;
  const int128 length = estimate_of_interval(args[2]);
  if (length == 0) return run.raise(where, sqlstate::kInvalidParameter, "step size cannot equal zero");
  Value time = args[0];
  while (length > 0 ? time.as_int() <= args[1].as_int() : time.as_int() >= args[1].as_int()) {
    values.push_back(time);
    if (!runner_.keep(sizeof(Value))) return false;
    const Value moved[] = {time, args[2]};
    if (!apply_time_function(ir::Function::kMoveTime, kTime, moved, run.arena, time, run.context.error))
      return run.raise(where);
  }
  return true;
}

bool FromRunner::make_numbers(ir::SourceLocation where, std::span<const Value> args,
                              std::vector<Value>& values) {
  RunState& run = runner_.state_;
  const Value step = args.size() > 2 ? args[2] : Value::of_decimal(1, 0);
  if (step.as_numeric() == 0)
    return run.raise(where, sqlstate::kInvalidParameter, "step size cannot equal zero");
  const bool rises = step.as_numeric() > 0;
  Value number = args[0];
  for (;;) {
    const auto order = compare_decimals(number, args[1]);
    if (rises ? order > 0 : order < 0) return true;
    values.push_back(number);
    if (!runner_.keep(sizeof(Value))) return false;
    if (!apply_decimal(ir::Op::kAdd, number, step, run.arena, number, run.context.error))
      return run.raise(where);
  }
}

bool FromRunner::make_matches(ir::SourceLocation where, std::span<const Value> args,
                              std::vector<Value>& values) {
  RunState& run = runner_.state_;
  MatchOptions options;
  for (const char letter : args.size() > 2 ? args[2].as_text() : std::string_view()) {
    if (letter == 'g') {
      options.all = true;
    } else if (letter == 'i' || letter == 'c') {
      options.any_case = letter == 'i';
    } else {
      return run.raise(where, sqlstate::kNotSupported,
                       "the regular expression option \"{}\" is not supported; there are i and g", letter);
    }
  }
  std::vector<FoundMatch> found;
  if (!find_matches(args[0].as_text(), args[1].as_text(), options, run.arena, found, run.context.error))
    return run.raise(where);
  for (const FoundMatch& match : found) {
    fmt::memory_buffer text;
    text.push_back('{');
    const size_t first = match.size() > 1 ? 1 : 0;
    for (size_t group = first; group < match.size(); ++group) {
      if (group > first) text.push_back(',');
      if (match[group].is_there()) {
        append_array_element(
            args[0].as_text().substr(match[group].begin, match[group].end - match[group].begin), text);
      } else {
        text.append(std::string_view("NULL"));
      }
    }
    text.push_back('}');
    values.push_back(Value::of_text(run.arena.copy({text.data(), text.size()})));
    if (!runner_.keep(sizeof(Value) + text.size())) return false;
  }
  return true;
}

bool FromRunner::make_set(const FromStep::SetFunction& function, std::vector<Value>& values) {
  using Kind = FromStep::SetFunction::Kind;
  RunState& run = runner_.state_;
  std::vector<Value> args;
  for (const ir::Expr& arg : function.args) {
    if (!runner_.value_of(arg, args.emplace_back())) return false;
    if (args.back().is_null()) return true;
  }
  const ir::SourceLocation where = function.args.back().where;
  if (function.kind == Kind::kSeries) {
    const int64_t by = args.size() > 2 ? args[2].as_int() : 1;
    if (by == 0) return run.raise(where, sqlstate::kInvalidParameter, "step size cannot equal zero");
    for (int64_t number = args[0].as_int();
         by > 0 ? number <= args[1].as_int() : number >= args[1].as_int();) {
      values.push_back(Value::of_int(number));
      if (!runner_.keep(sizeof(Value))) return false;
      if (__builtin_add_overflow(number, by, &number)) break;
    }
    return true;
  }
  if (function.kind == Kind::kTimes) return make_times(where, args, values);
  if (function.kind == Kind::kNumbers) return make_numbers(where, args, values);
  if (function.kind == Kind::kMatches) return make_matches(where, args, values);
  const std::optional<ArrayElements> elements = array_or_vector_elements(args[0].as_text());
  if (!elements) {
    return run.raise(where, sqlstate::kInvalidText, "malformed array literal: \"{}\"", args[0].as_text());
  }
  if (function.kind == Kind::kSubscripts && args[1].as_int() != 1) return true;
  for (size_t i = 0; i < elements->size(); ++i) {
    Value& value = values.emplace_back();
    if (!runner_.keep(sizeof(Value))) return false;
    const auto number = static_cast<int64_t>(i + 1);
    if (function.kind == Kind::kSubscripts) {
      value = Value::of_int(is_vector(args[0].as_text()) ? number - 1 : number);
    } else if (function.kind == Kind::kExpanded) {
      value = Value::of_text(run.arena.copy(fmt::format("({},{})", (*elements)[i].value_or(""), number)));
    } else if (const std::optional<std::string>& element = (*elements)[i]) {
      Type type = function.result;
      type.length = 0;
      if (!parse_value(type, *element, run.arena, value, run.context.error)) return run.raise(where);
    }
  }
  return true;
}

// The rows of functions side by side; where one has ended, NULL.
bool FromRunner::make_sets(const FromStep& step, StepState& state) {
  std::vector<std::vector<Value>> columns(step.sets.size());
  size_t rows = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!make_set(step.sets[i], columns[i])) return false;
    rows = std::max(rows, columns[i].size());
  }
  std::vector<Value> row(columns.size() + (step.with_ordinality ? 1 : 0));
  for (size_t number = 0; number < rows; ++number) {
    for (size_t i = 0; i < columns.size(); ++i)
      row[i] = number < columns[i].size() ? columns[i][number] : Value::null();
    if (step.with_ordinality) row.back() = Value::of_int(static_cast<int64_t>(number + 1));
    if (!runner_.keep_row(state.rows, row)) return false;
  }
  return true;
}

bool FromRunner::key_of(const std::vector<ir::Expr>& exprs, std::string& key, bool& has_null) {
  key.clear();
  has_null = false;
  for (const ir::Expr& expr : exprs) {
    Value value;
    if (!runner_.value_of(expr, value)) return false;
    has_null |= value.is_null();
    append_key(expr.type.kind, value, key);
  }
  return true;
}

bool FromRunner::index_rows(const FromStep& step, StepState& state) {
  state.by_key.clear();
  if (step.inner_keys.empty()) return true;
  std::vector<Value> before(frame_.begin() + step.slots.begin, frame_.begin() + step.slots.end());
  std::string key;
  for (uint32_t i = 0; i < state.rows.size(); ++i) {
    fill(step, state.rows.row(i));
    bool has_null = false;
    if (!key_of(step.inner_keys, key, has_null)) return false;
    if (has_null) continue;
    state.by_key[key].push_back(i);
    if (!runner_.keep(key.size() + 64)) return false;
  }
  std::ranges::copy(before, frame_.begin() + step.slots.begin);
  return true;
}

}  // namespace mneme::query
