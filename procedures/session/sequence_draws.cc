#include "procedures/session/sequence_draws.h"

#include <algorithm>
#include <array>
#include <limits>

#include "procedures/ir/sql_error.h"

namespace mneme {

namespace {

constexpr const char* kConflictState = "40001";
constexpr const char* kNotDrawnYet = "55000";
constexpr ColumnId kLastValue{0};

}  // namespace

bool SequenceDraws::apply(ir::Function function, TableId sequence, std::span<const Value> args,
                          EvaluationContext& context, Value& result) {
  const std::string& name = database_.catalog().table(sequence).name;
  if (function == ir::Function::kNextValue) return next(sequence, context, result);
  if (function == ir::Function::kSetValue) return set(sequence, args, context, result);
  const auto drawn = drawn_.find(name);
  if (drawn == drawn_.end()) {
    return fail(context.error, context.arena, kNotDrawnYet,
                "currval of sequence \"{}\" is not yet defined in this session", name);
  }
  result = Value::of_int(drawn->second);
  return true;
}

bool SequenceDraws::next(TableId sequence, EvaluationContext& context, Value& result) {
  const std::string& name = database_.catalog().table(sequence).name;
  const std::shared_ptr<NumberSource> counter = database_.sequences().source(name);
  if (const AccessStatus status = learn(sequence, *counter); status != AccessStatus::kOk)
    return refuse(status, context);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t number = 0;
  bool is_logged = false;
  {
    const std::lock_guard lock(counter->mutex);
    if (counter->next == kMost) {
      return fail(context.error, context.arena, sqlstate::kSequenceLimit,
                  "nextval: reached maximum value of sequence \"{}\"", name);
    }
    number = counter->next++;
    is_logged = number <= counter->logged;
  }
  const auto is_ours = [&](const Written& each) { return each.counter == counter && each.last >= number; };
  if (!is_logged && std::ranges::none_of(written_, is_ours)) {
    const int64_t last = number > kMost - kAhead ? number : number + kAhead;
    if (const AccessStatus status = write(sequence, last); status != AccessStatus::kOk)
      return refuse(status, context);
    written_.push_back({counter, last});
  }
  drawn_[name] = number;
  result = Value::of_int(number);
  return true;
}

// The row says the number at once, and other sessions draw from there on, as in PostgreSQL, where setval() is
// not taken back either.
bool SequenceDraws::set(TableId sequence, std::span<const Value> args, EvaluationContext& context,
                        Value& result) {
  const std::string& name = database_.catalog().table(sequence).name;
  const std::shared_ptr<NumberSource> counter = database_.sequences().source(name);
  const int64_t last = args[0].as_int();
  if (last < 1) {
    return fail(context.error, context.arena, sqlstate::kOutOfRange,
                "setval: value {} is out of bounds for sequence \"{}\" (1..9223372036854775807)", last, name);
  }
  if (const AccessStatus status = write(sequence, last); status != AccessStatus::kOk)
    return refuse(status, context);
  const bool is_called = args.size() < 2 || args[1].as_bool();
  {
    const std::lock_guard lock(counter->mutex);
    counter->is_known = true;
    counter->next = is_called && last < std::numeric_limits<int64_t>::max() ? last + 1 : last;
    counter->logged = 0;  // until the row is committed
  }
  written_.push_back({counter, last});
  drawn_[name] = last;
  result = Value::of_int(last);
  return true;
}

AccessStatus SequenceDraws::find(TableId sequence, RowRef& row) {
  const IndexId key = *database_.catalog().table(sequence).primary_key;
  const Value zero = Value::of_int(0);
  return transaction_.find(key, *database_.schema().codec(key).of_whole({&zero, 1}), row, Purpose::kChange);
}

AccessStatus SequenceDraws::learn(TableId sequence, NumberSource& counter) {
  {
    const std::lock_guard lock(counter.mutex);
    if (counter.is_known) return AccessStatus::kOk;
  }
  // A row's lock is not waited for under the mutex. Nobody draws before it is known.
  RowRef row;
  const AccessStatus status = find(sequence, row);
  if (status != AccessStatus::kOk && status != AccessStatus::kAbsent) return status;
  const std::lock_guard lock(counter.mutex);
  if (counter.is_known) return AccessStatus::kOk;
  if (status == AccessStatus::kOk) {
    counter.logged = database_.schema().layout(sequence).get(row.image, kLastValue).as_int();
    counter.next = counter.logged + 1;
  }
  counter.is_known = true;
  return AccessStatus::kOk;
}

AccessStatus SequenceDraws::write(TableId sequence, int64_t last) {
  RowRef row;
  const AccessStatus status = find(sequence, row);
  if (status == AccessStatus::kAbsent) {
    const std::array<Value, 3> values = {Value::of_int(last), Value::of_int(0), Value::of_bool(true)};
    return transaction_.insert(sequence, values);
  }
  if (status != AccessStatus::kOk) return status;
  const ColumnValue change{kLastValue, Value::of_int(last)};
  return transaction_.update(sequence, row, {&change, 1});
}

bool SequenceDraws::refuse(AccessStatus status, EvaluationContext& context) {
  if (status == AccessStatus::kOutOfMemory) {
    return fail(context.error, context.arena, "53200",
                "the database is full: there is no room for another row");
  }
  // Another transaction writes the row; the statement is run again, or the block's client does it.
  return fail(context.error, context.arena, kConflictState,
              "could not serialize access due to concurrent update");
}

void SequenceDraws::committed() {
  for (const Written& each : written_) {
    const std::lock_guard lock(each.counter->mutex);
    each.counter->logged = std::max(each.counter->logged, each.last);
  }
  written_.clear();
}

}  // namespace mneme
