#include "procedures/session/sequence_draws.h"

#include <algorithm>
#include <array>
#include <optional>

#include "procedures/ir/sql_error.h"
#include "procedures/values/text_forms.h"

namespace mneme {

namespace {

constexpr const char* kConflictState = "40001";
constexpr const char* kNotDrawnYet = "55000";
constexpr const char* kReadOnly = "25006";
constexpr ColumnId kLastValue{0};
constexpr ColumnId kIsCalled{2};

// Returns the number that follows, or nullopt behind the last one.
std::optional<int64_t> number_after(int64_t number, const SequenceOptions& options) {
  int64_t next = 0;
  const bool overflows = __builtin_add_overflow(number, options.increment, &next);
  if (options.increment > 0 ? overflows || next > options.most : overflows || next < options.least) {
    if (!options.cycles) return std::nullopt;
    return options.increment > 0 ? options.least : options.most;
  }
  return next;
}

}  // namespace

bool SequenceDraws::apply(ir::Function function, TableId sequence, std::span<const Value> args,
                          EvaluationContext& context, Value& result) {
  if (kept_ != nullptr && gives_again_) {
    CHECK(!kept_->empty());
    result = kept_->front();
    if (result.kind() == Value::Kind::kText) result = Value::of_text(context.arena.copy(result.as_text()));
    kept_->pop_front();
    return true;
  }
  if (!draw(function, sequence, args, context, result)) return false;
  if (kept_ == nullptr) return true;
  kept_->push_back(result);
  if (result.kind() == Value::Kind::kText)
    kept_->back() = Value::of_text(kept_texts_.emplace_back(result.as_text()));
  return true;
}

bool SequenceDraws::went_back() {
  return std::ranges::all_of(written_, [&](const Written& each) {
    return write(each.sequence, each.last, each.is_called) == AccessStatus::kOk;
  });
}

bool SequenceDraws::draw(ir::Function function, TableId sequence, std::span<const Value> args,
                         EvaluationContext& context, Value& result) {
  const bool is_draw = function == ir::Function::kNextValue;
  if (is_read_only_ && (is_draw || function == ir::Function::kSetValue)) {
    return fail(context.error, context.arena, kReadOnly, "cannot execute {}() in a read-only transaction",
                is_draw ? "nextval" : "setval");
  }
  if (function == ir::Function::kRandomUuid) {
    result = Value::of_text(context.arena.copy(random_uuid()));
    return true;
  }
  if (is_draw) return next(sequence, context, result);
  if (function == ir::Function::kSetValue) return set(sequence, args, context, result);
  const bool is_last = function == ir::Function::kLastValue;
  const TableDefinition* table =
      is_last ? database_.catalog().find_table(last_.sequence) : &database_.catalog().table(sequence);
  if (is_last && table == nullptr)
    return fail(context.error, context.arena, kNotDrawnYet, "lastval is not yet defined in this session");
  const auto drawn = last_.numbers.find(table->name);
  if (drawn == last_.numbers.end()) {
    return fail(context.error, context.arena, kNotDrawnYet,
                "currval of sequence \"{}\" is not yet defined in this session", table->name);
  }
  result = Value::of_int(drawn->second);
  return true;
}

bool SequenceDraws::next(TableId sequence, EvaluationContext& context, Value& result) {
  const std::string& name = database_.catalog().table(sequence).name;
  const std::shared_ptr<NumberSource> counter = database_.sequences().source(name);
  if (const AccessStatus status = learn(sequence, *counter); status != AccessStatus::kOk)
    return refuse(status, context);
  const SequenceOptions& options = database_.catalog().table(sequence).sequence;
  int64_t number = 0;
  int64_t draw = 0;
  bool is_logged = false;
  {
    const std::lock_guard lock(counter->mutex);
    const std::optional<int64_t> following =
        counter->is_called ? number_after(counter->last, options) : counter->last;
    if (!following) {
      const bool rises = options.increment > 0;
      return fail(context.error, context.arena, sqlstate::kSequenceLimit,
                  "nextval: reached {} value of sequence \"{}\" ({})", rises ? "maximum" : "minimum", name,
                  rises ? options.most : options.least);
    }
    number = counter->last = *following;
    counter->is_called = true;
    draw = ++counter->draws;
    is_logged = draw <= counter->logged;
  }
  const auto is_ours = [&](const Written& each) { return each.counter == counter && each.draws >= draw; };
  if (!is_logged && std::ranges::none_of(written_, is_ours)) {
    int64_t last = number;
    int64_t covered = draw;
    // The row's number does not wrap around, so that after a crash the next number follows all that may have
    // been given.
    for (int64_t i = 0; i < kAhead; ++i) {
      const std::optional<int64_t> following = number_after(last, options);
      if (!following || (options.increment > 0) != (*following > last)) break;
      last = *following;
      ++covered;
    }
    if (const AccessStatus status = write(sequence, last, true); status != AccessStatus::kOk)
      return refuse(status, context);
    written_.push_back({counter, covered, sequence, last, true});
  }
  last_.numbers[name] = number;
  last_.sequence = name;
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
  const SequenceOptions& options = database_.catalog().table(sequence).sequence;
  if (last < options.least || last > options.most) {
    return fail(context.error, context.arena, sqlstate::kOutOfRange,
                "setval: value {} is out of bounds for sequence \"{}\" ({}..{})", last, name, options.least,
                options.most);
  }
  const bool is_called = args.size() < 2 || args[1].as_bool();
  if (const AccessStatus status = write(sequence, last, is_called); status != AccessStatus::kOk)
    return refuse(status, context);
  int64_t draws = 0;
  {
    const std::lock_guard lock(counter->mutex);
    counter->is_known = true;
    counter->last = last;
    counter->is_called = is_called;
    // The next draw writes the row, whatever a transaction that has drawn before covers.
    counter->draws += kAhead + 1;
    draws = counter->logged = counter->draws;
  }
  written_.push_back({counter, draws, sequence, last, is_called});
  if (is_called) last_.numbers[name] = last;
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
    const RowLayout& layout = database_.schema().layout(sequence);
    counter.last = layout.get(row.image, kLastValue).as_int();
    counter.is_called = layout.get(row.image, kIsCalled).as_bool();
  } else {
    counter.last = database_.catalog().table(sequence).sequence.first;
    counter.is_called = false;
  }
  counter.is_known = true;
  return AccessStatus::kOk;
}

AccessStatus SequenceDraws::write(TableId sequence, int64_t last, bool is_called) {
  RowRef row;
  const AccessStatus status = find(sequence, row);
  if (status == AccessStatus::kAbsent) {
    const std::array<Value, 3> values = {Value::of_int(last), Value::of_int(0), Value::of_bool(is_called)};
    return transaction_.insert(sequence, values);
  }
  if (status != AccessStatus::kOk) return status;
  const std::array<ColumnValue, 2> changes = {
      {{kLastValue, Value::of_int(last)}, {kIsCalled, Value::of_bool(is_called)}}};
  return transaction_.update(sequence, row, changes);
}

bool SequenceDraws::refuse(AccessStatus status, EvaluationContext& context) {
  if (status == AccessStatus::kOutOfMemory) {
    return fail(context.error, context.arena, "53200",
                "the database is full: there is no room for another row");
  }
  met_conflict_ = true;
  // Another transaction writes the row; the statement is run again, or the block's client does it.
  return fail(context.error, context.arena, kConflictState,
              "could not serialize access due to concurrent update");
}

void SequenceDraws::committed() {
  for (const Written& each : written_) {
    const std::lock_guard lock(each.counter->mutex);
    each.counter->logged = std::max(each.counter->logged, each.draws);
  }
  written_.clear();
}

}  // namespace mneme
