#include "procedures/query/query_runner.h"

#include <algorithm>
#include <limits>

#include "procedures/query/from_runner.h"
#include "procedures/query/grouping.h"
#include "procedures/query/window_runner.h"
#include "procedures/values/array_form.h"
#include "procedures/values/array_text.h"
#include "procedures/values/comparison.h"
#include "procedures/values/value_text.h"

namespace mneme::query {

namespace {

constexpr const char* kQueryMemory = "53200";

bool comes_before(std::span<const SortKey> keys, std::span<const Value> a, std::span<const Value> b) {
  for (const SortKey& key : keys) {
    const Value& left = a[key.column];
    const Value& right = b[key.column];
    if (left.is_null() || right.is_null()) {
      if (left.is_null() == right.is_null()) continue;
      return left.is_null() == key.nulls_first;
    }
    const std::strong_ordering order = compare_of_type(key.type, left, right);
    if (order != 0) return key.descending ? order > 0 : order < 0;
  }
  return false;
}

}  // namespace

std::string key_of_row(std::span<const Column> columns, std::span<const Value> row) {
  std::string key;
  for (size_t i = 0; i < columns.size(); ++i) append_key(columns[i].type.kind, row[i], key);
  return key;
}

Outcome QueryRunner::run(const BoundQueries& queries, std::span<const Value> variables,
                         std::span<const ArrayValue> arrays, RowAccess& rows, const ProvidedTables* provider,
                         Sequences* sequences, StopRequest* stop, Visitor visit,
                         std::span<const RowStore* const> given) {
  state_.arena.reset();
  if (counts_ != nullptr) counts_->clear();
  kept_.reset();
  known_.reset();
  kept_bytes_ = 0;
  notices_.clear();
  state_.outcome = {};
  state_.stop = stop;
  if (!state_.may_begin({})) return state_.outcome;
  state_.rows = &rows;
  queries_ = &queries;
  provider_ = provider;
  variables_.assign(variables.begin(), variables.end());
  state_.context.variables = variables_;
  state_.context.arrays = arrays;
  state_.context.rows = {};
  state_.context.aggregates = {};
  state_.context.queries = this;
  state_.context.sequences = sequences;
  known_queries_.clear();
  known_queries_.resize(queries.subqueries.size());
  working_rows_.assign(queries.recursions, nullptr);
  std::ranges::copy(given.first(std::min<size_t>(given.size(), queries.recursions)), working_rows_.begin());
  for (const ir::Expr& raising : queries.raising) {
    Value ignored;
    if (!value_of(raising, ignored)) return state_.outcome;
  }
  (void)run_query(*queries.plan, visit);
  return state_.outcome;
}

bool QueryRunner::holds(const std::optional<ir::Expr>& condition, bool& result) {
  result = true;
  return !condition || evaluate_condition(*condition, state_.context, result) ||
         state_.raise(condition->where);
}

bool QueryRunner::keep(size_t bytes) {
  kept_bytes_ += bytes;
  if (kept_bytes_ <= kMostBytes) return state_.goes_on({});
  return state_.raise(
      {}, kQueryMemory,
      "this query keeps more than {} MiB of rows to join, group or sort them; ask for fewer rows",
      kMostBytes >> 20);
}

bool QueryRunner::keep_row(RowStore& store, std::span<const Value> row, bool copy_text) {
  size_t bytes = store.row_bytes();
  for (const Value& value : row) {
    if (copy_text && value.kind() == Value::Kind::kText) bytes += value.as_text().size();
  }
  if (!keep(bytes)) return false;
  store.add(row, copy_text ? &kept_ : nullptr);
  return true;
}

bool QueryRunner::count_of(const std::optional<ir::Expr>& expr, const char* sqlstate, const char* name,
                           std::optional<uint64_t>& count) {
  if (!expr) return true;
  Value value;
  if (!value_of(*expr, value)) return false;
  if (value.is_null()) return true;
  if (value.as_int() < 0) return state_.raise(expr->where, sqlstate, "{} must not be negative", name);
  count = static_cast<uint64_t>(value.as_int());
  return true;
}

bool QueryRunner::run_query(const QueryPlan& plan, Visitor visit) {
  std::optional<uint64_t> offset;
  std::optional<uint64_t> limit;
  if (!count_of(plan.offset, sqlstate::kInvalidOffset, "OFFSET", offset) ||
      !count_of(plan.limit, sqlstate::kInvalidLimit, "LIMIT", limit))
    return false;
  uint64_t skip = offset.value_or(0);
  uint64_t take = limit.value_or(std::numeric_limits<uint64_t>::max());
  if (!plan.sort.empty()) return run_sorted(plan, skip, take, visit);
  if (take == 0) return true;
  return run_body(plan, [&](std::span<const Value> row) {
    bool is_ours = true;
    if (!lock_rows(plan, row, is_ours)) return false;
    if (!is_ours) return true;
    if (skip > 0) {
      --skip;
      return true;
    }
    count(&plan, &NodeRows::given);
    return visit(row.first(plan.columns.size())) && --take > 0;
  });
}

bool QueryRunner::lock_rows(const QueryPlan& plan, std::span<const Value> row, bool& is_ours) {
  for (const RowLocking& lock : plan.locks) {
    const Value& handle = row[lock.output];
    if (handle.is_null()) continue;
    const RowRef found{nullptr, reinterpret_cast<void*>(static_cast<uintptr_t>(handle.as_int()))};
    const AccessStatus status = state_.rows->lock_row(found, lock.strength, lock.wait);
    if (status == AccessStatus::kLocked)
      return state_.raise({}, kLockNotAvailable, "could not obtain lock on row in relation \"{}\"",
                          lock.table);
    is_ours &= status == AccessStatus::kOk;
  }
  return true;
}

bool QueryRunner::run_sorted(const QueryPlan& plan, uint64_t skip, uint64_t take, Visitor visit) {
  const size_t width = plan.select ? plan.select->outputs.size() : plan.columns.size();
  RowStore rows(width);
  if (!run_body(plan, [&](std::span<const Value> row) { return keep_row(rows, row); })) return false;
  std::vector<uint32_t> order(rows.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // A run that has ended takes no row for less than another. That orders them, too, in no time.
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return state_.outcome.completed() && state_.goes_on({}) &&
           comes_before(plan.sort, rows.row(a), rows.row(b));
  });
  if (!state_.outcome.completed()) return false;
  const std::vector<SortKey>* first_of =
      plan.select && !plan.select->distinct_on.empty() ? &plan.select->distinct_on : nullptr;
  std::optional<std::span<const Value>> before;
  std::optional<std::span<const Value>> last;  // that was visited
  for (const uint32_t number : order) {
    const std::span<const Value> row = rows.row(number);
    if (first_of != nullptr && before && !comes_before(*first_of, *before, row) &&
        !comes_before(*first_of, row, *before))
      continue;
    before = row;
    bool is_ours = true;
    if (!plan.locks.empty() && take > 0 && !lock_rows(plan, row, is_ours)) return false;
    if (!is_ours) continue;
    if (skip > 0) {
      --skip;
      count(&plan, &NodeRows::sorted);
      continue;
    }
    if (take == 0) {
      const std::span<const SortKey> keys(plan.sort.data(), plan.tie_keys);
      if (keys.empty() || !last || comes_before(keys, *last, row)) break;
    } else {
      --take;
    }
    last = row;
    count(&plan, &NodeRows::sorted);
    count(&plan, &NodeRows::given);
    if (!visit(row.first(plan.columns.size()))) break;
  }
  kept_bytes_ -= rows.size() * rows.row_bytes();
  return state_.outcome.completed();
}

bool QueryRunner::run_body(const QueryPlan& plan, Visitor visit) {
  const Around around(state_.context);
  if (plan.select) {
    if (!plan.select->distinct) return run_select(*plan.select, visit);
    std::unordered_set<std::string> seen;
    return run_select(*plan.select, [&](std::span<const Value> row) {
      const auto [key, is_new] = seen.insert(key_of_row(plan.columns, row));
      if (!is_new) return true;
      count(&plan, &NodeRows::source);
      return keep(key->size() + 64) && visit(row);
    });
  }
  if (plan.set) return run_set(*plan.set, plan.columns, visit);
  if (plan.recursion) return run_recursion(*plan.recursion, plan.columns, visit);
  std::vector<Value> row(plan.columns.size());
  for (const std::vector<ir::Expr>& exprs : plan.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (!value_of(exprs[i], row[i])) return false;
    }
    if (!visit(row)) return state_.outcome.completed();
  }
  return true;
}

bool QueryRunner::run_select(const SelectPlan& plan, Visitor visit) {
  std::vector<Value> frame(plan.width);
  std::vector<Value> row(plan.outputs.size());
  state_.context.rows[0] = {nullptr, nullptr, {}, frame};
  const auto put_out_row = [&] {
    for (size_t i = 0; i < row.size(); ++i) {
      if (!value_of(plan.outputs[i], row[i])) return false;
    }
    return visit(row);
  };
  std::vector<Value> set_frame(plan.sets.slots.count);
  const auto put_out = [&] {
    count(&plan, &NodeRows::given);
    return plan.sets.steps.empty() ? put_out_row() : run_sets(plan, set_frame, put_out_row);
  };
  // What is made for a row is given back after it.
  const auto given_back = [&](auto&& work) {
    const Arena::Mark mark = state_.arena.mark();
    const bool goes_on = work();
    if (state_.outcome.completed()) state_.arena.rewind(mark);
    return goes_on;
  };
  std::optional<WindowRunner> windows;
  if (!plan.window_functions.empty()) windows.emplace(*this, plan);
  const auto use = [&] {
    bool shown = true;
    if (!state_.goes_on({}) || !holds(plan.having, shown)) return false;
    if (shown) count(&plan, &NodeRows::source);
    return !shown || (windows ? windows->add() : put_out());
  };
  const auto each = [&] { return given_back(use); };
  if (!plan.grouped) {
    FromRunner from(*this, plan.from, frame, each);
    if (!from.run()) return false;
  } else {
    Groups groups(*this, plan);
    const auto add = [&] { return given_back([&] { return groups.add(); }); };
    FromRunner from(*this, plan.from, frame, add);
    if (!from.run() || !groups.visit(each)) return false;
  }
  const auto put_out_unless_stopped = [&] { return state_.goes_on({}) && put_out(); };
  return !windows || windows->visit([&] { return given_back(put_out_unless_stopped); });
}

// Visits each row that the select list's functions give of the row at hand.
bool QueryRunner::run_sets(const SelectPlan& plan, std::span<Value> frame, FunctionRef<bool()> visit) {
  for (size_t i = 0; i < plan.set_inputs.size(); ++i) {
    if (!value_of(plan.set_inputs[i], frame[i])) return false;
  }
  const Around around(state_.context);
  state_.context.rows[0] = {nullptr, nullptr, {}, frame};
  bool is_open = true;  // the caller wants more
  const auto use = [&] {
    count(&plan.sets, &NodeRows::given);
    return is_open = visit();
  };
  FromRunner sets(*this, plan.sets, frame, use);
  return sets.run() && is_open;
}

bool QueryRunner::run_set(const SetPlan& plan, std::span<const Column> columns, Visitor visit) {
  std::vector<Value> row(columns.size());
  bool is_open = true;  // the caller wants more
  const auto run_side = [&](const QueryPlan& side, const std::vector<ir::Expr>& casts, Visitor use) {
    return run_query(side, [&](std::span<const Value> values) {
      const Around around(state_.context);
      state_.context.rows[0] = {nullptr, nullptr, {}, values};
      for (size_t i = 0; i < row.size(); ++i) {
        if (!value_of(casts[i], row[i])) return false;
      }
      return use(row);
    });
  };
  const auto pass_on = [&](std::span<const Value> values) { return is_open = visit(values); };
  std::unordered_map<std::string, uint64_t> counts;
  if (plan.kind == SetPlan::Kind::kUnion) {
    const auto use = [&](std::span<const Value> values) {
      if (!plan.all) {
        const auto [place, is_new] = counts.try_emplace(key_of_row(columns, values), 1);
        if (!is_new) return true;
        if (!keep(place->first.size() + 64)) return false;
      }
      return pass_on(values);
    };
    return run_side(*plan.left, plan.left_casts, use) &&
           (!is_open || run_side(*plan.right, plan.right_casts, use));
  }
  const bool counted = run_side(*plan.right, plan.right_casts, [&](std::span<const Value> values) {
    const auto [place, is_new] = counts.try_emplace(key_of_row(columns, values), 0);
    ++place->second;
    return !is_new || keep(place->first.size() + 64);
  });
  if (!counted) return false;
  const bool except = plan.kind == SetPlan::Kind::kExcept;
  return run_side(*plan.left, plan.left_casts, [&](std::span<const Value> values) {
    std::string key = key_of_row(columns, values);
    const auto found = counts.find(key);
    const bool is_there = found != counts.end() && found->second > 0;
    if (plan.all) {
      if (is_there) --found->second;
      return is_there == except || pass_on(values);
    }
    if (except) {
      if (found != counts.end()) return true;  // on the right, or told already
      if (!keep(key.size() + 64)) return false;
      counts.emplace(std::move(key), 0);
      return pass_on(values);
    }
    if (!is_there) return true;
    found->second = 0;
    return pass_on(values);
  });
}

// One interpreter runs all calls: their arguments are evaluated before, so no call begins within another.
bool QueryRunner::run_routine(const ir::Procedure& routine, std::span<const Value> args, Value& result) {
  std::vector<Argument> arguments;
  for (const Value& arg : args) arguments.push_back(Argument::of(arg));
  if (!interpreter_) interpreter_ = std::make_unique<Interpreter>(state_.schema);
  RunRequest request = RunRequest::of(routine, arguments, *state_.rows);
  request.sequences = state_.context.sequences;
  request.stop = state_.stop;
  request.notices = &notices_;
  const Outcome outcome = interpreter_->run(request);
  if (!outcome.completed()) {
    state_.outcome = outcome;
    for (std::string_view* text : {&state_.outcome.message, &state_.outcome.detail, &state_.outcome.hint})
      *text = kept_.copy(*text);
    return false;
  }
  result = interpreter_->results().back().scalar;
  if (result.kind() == Value::Kind::kText) result = Value::of_text(state_.arena.copy(result.as_text()));
  return true;
}

bool QueryRunner::evaluate(const ir::Expr& expr, EvaluationContext&, Value& result) {
  const Subquery& query = queries_->subqueries[expr.query];
  std::vector<Value> args;
  for (const ir::Expr& arg : expr.args) {
    if (!value_of(arg, args.emplace_back())) return false;
  }
  if (query.routine != nullptr) return run_routine(*query.routine, args, result);
  if (query.kind == Subquery::Kind::kCall) {
    return provider_->call(query.function, args, state_.arena, result, state_.context.error) ||
           state_.raise(expr.where);
  }
  const std::span<const Value> tested(args.data(), query.tested.size());
  for (size_t i = 0; i < tested.size(); ++i) variables_[query.tested[i].value] = tested[i];
  for (size_t i = 0; i < query.inputs.size(); ++i)
    variables_[query.inputs[i].value] = args[tested.size() + i];
  const Around around(state_.context);
  if (!query.is_constant()) {
    const size_t bytes = kept_bytes_;
    const Arena::Mark kept = kept_.mark();
    if (!run_subquery(query, tested, result)) return false;
    kept_bytes_ = bytes;
    kept_.rewind(kept);
    return true;
  }
  Known& known = known_queries_[expr.query];
  if (!known.made && !know(query, known)) return false;
  switch (query.kind) {
    case Subquery::Kind::kScalar:
    case Subquery::Kind::kArray:
      result = known.value;
      return true;
    case Subquery::Kind::kExists:
      result = Value::of_bool(known.exists);
      return true;
    case Subquery::Kind::kCall:
    case Subquery::Kind::kRow:
      result = Value::null();
      return known.rows.size() == 0 || compare(query, known.rows.row(0), result);
    case Subquery::Kind::kAny:
    case Subquery::Kind::kAll:
      break;
  }
  if (query.is_equality && query.kind == Subquery::Kind::kAny) {
    const ir::Expr& wanted = query.comparisons[0].args[0];
    Value value;
    if (!value_of(wanted, value)) return false;
    if (known.rows.size() == 0) {
      result = Value::of_bool(false);
      return true;
    }
    std::string key;
    append_key(wanted.type.kind, value, key);
    const bool found = !value.is_null() && known.keys.contains(key);
    result = found                               ? Value::of_bool(true)
             : value.is_null() || known.has_null ? Value::null()
                                                 : Value::of_bool(false);
    return true;
  }
  const bool all = query.kind == Subquery::Kind::kAll;
  result = Value::of_bool(all);
  for (size_t i = 0; i < known.rows.size(); ++i) {
    Value each;
    if (!compare(query, known.rows.row(i), each)) return false;
    if (each.is_null()) {
      result = Value::null();
    } else if (each.as_bool() != all) {
      result = each;
      return true;
    }
  }
  return true;
}

// Whether the row matches: all comparisons hold.
bool QueryRunner::compare(const Subquery& query, std::span<const Value> row, Value& result) {
  const Around around(state_.context);
  state_.context.rows[0] = {nullptr, nullptr, {}, row};
  result = Value::of_bool(true);
  for (const ir::Expr& comparison : query.comparisons) {
    Value each;
    if (!value_of(comparison, each)) return false;
    if (each.is_null()) {
      result = Value::null();
    } else if (!each.as_bool()) {
      result = each;
      return true;
    }
  }
  return true;
}

bool QueryRunner::raise_second_row() {
  return state_.raise(ir::SourceLocation(), sqlstate::kCardinality,
                      "more than one row returned by a subquery used as an expression");
}

bool QueryRunner::run_subquery(const Subquery& query, std::span<const Value> tested, Value& result) {
  switch (query.kind) {
    case Subquery::Kind::kScalar: {
      uint64_t rows = 0;
      std::string text;
      const bool ok = run_query(*query.plan, [&](std::span<const Value> row) {
        if (++rows > 1) return raise_second_row();
        result = row[0];
        if (result.kind() == Value::Kind::kText) text = result.as_text();
        return true;
      });
      if (!ok) return false;
      if (rows == 0) result = Value::null();
      if (result.kind() == Value::Kind::kText) result = Value::of_text(state_.arena.copy(text));
      return true;
    }
    case Subquery::Kind::kArray: {
      fmt::memory_buffer text;
      text.push_back('{');
      const bool ok = run_query(*query.plan, [&](std::span<const Value> row) {
        const size_t before = text.size();
        if (before > 1) text.push_back(',');
        if (row[0].is_null()) {
          text.append(std::string_view("NULL"));
        } else {
          fmt::memory_buffer element;
          print_value(query.plan->columns[0].type, row[0], element);
          append_array_element({element.data(), element.size()}, text);
        }
        return keep(text.size() - before);
      });
      text.push_back('}');
      result = Value::of_text(state_.arena.copy({text.data(), text.size()}));
      return ok;
    }
    case Subquery::Kind::kExists: {
      bool exists = false;
      const bool ok = run_query(*query.plan, [&](std::span<const Value>) {
        exists = true;
        return false;
      });
      result = Value::of_bool(exists);
      return ok;
    }
    case Subquery::Kind::kRow: {
      uint64_t rows = 0;
      result = Value::null();
      return run_query(*query.plan, [&](std::span<const Value> row) {
        if (++rows > 1) return raise_second_row();
        for (size_t i = 0; i < tested.size(); ++i) variables_[query.tested[i].value] = tested[i];
        return compare(query, row, result);
      });
    }
    case Subquery::Kind::kAny:
    case Subquery::Kind::kAll:
    case Subquery::Kind::kCall:
      break;
  }
  const bool all = query.kind == Subquery::Kind::kAll;
  Value answer = Value::of_bool(all);
  const bool ok = run_query(*query.plan, [&](std::span<const Value> row) {
    for (size_t i = 0; i < tested.size(); ++i) variables_[query.tested[i].value] = tested[i];
    Value each;
    if (!compare(query, row, each)) return false;
    if (each.is_null()) {
      answer = Value::null();
    } else if (each.as_bool() != all) {
      answer = each;
      return false;
    }
    return true;
  });
  result = answer;
  return ok;
}

bool QueryRunner::know(const Subquery& query, Known& known) {
  known.made = true;
  if (query.kind == Subquery::Kind::kScalar || query.kind == Subquery::Kind::kArray) {
    if (!run_subquery(query, {}, known.value)) return false;
    if (known.value.kind() == Value::Kind::kText)
      known.value = Value::of_text(known_.copy(known.value.as_text()));
    return true;
  }
  if (query.kind == Subquery::Kind::kExists) {
    Value exists;
    if (!run_subquery(query, {}, exists)) return false;
    known.exists = exists.as_bool();
    return true;
  }
  known.rows = RowStore(query.plan->columns.size());
  return run_query(*query.plan, [&](std::span<const Value> row) {
    if (query.kind == Subquery::Kind::kRow && known.rows.size() > 0) return raise_second_row();
    if (!keep(known.rows.row_bytes())) return false;
    known.rows.add(row, &known_);
    if (!query.is_equality) return true;
    const Around around(state_.context);
    state_.context.rows[0] = {nullptr, nullptr, {}, row};
    const ir::Expr& given = query.comparisons[0].args[1];
    Value value;
    if (!value_of(given, value)) return false;
    if (value.is_null()) {
      known.has_null = true;
      return true;
    }
    std::string key;
    append_key(given.type.kind, value, key);
    known.keys.insert(std::move(key));
    return true;
  });
}

}  // namespace mneme::query
