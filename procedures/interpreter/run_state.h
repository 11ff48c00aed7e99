// RunState: what the parts of the interpreter share while a run lasts: variables, memory, the rows' door, the
// outcome.
//
// Private to the interpreter (interpreter.cc, operation_runner.h, row_finder.h) and to query/.
// Invariants  a part that returns false has set the outcome; the run ends with that.
#pragma once

#include "base/memory/arena.h"
#include "engine/schema/schema.h"
#include "engine/transaction/row_access.h"
#include "procedures/interpreter/duplicate_key.h"
#include "procedures/interpreter/frame.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/values/expression.h"
#include "procedures/values/run_errors.h"
#include "procedures/values/stop_request.h"

namespace mneme {

inline constexpr const char* kLockNotAvailable = "55P03";

struct RunState {
  explicit RunState(const Schema& s) : schema(s), context(arena) {}

  const Schema& schema;
  Arena arena;
  Frame frame;
  EvaluationContext context;
  RowAccess* rows = nullptr;
  Outcome outcome;
  StopRequest* stop = nullptr;  // nullptr: the run goes on to its end

  // Ends the run for the error that an expression has left in the context.
  [[nodiscard]] bool raise(ir::SourceLocation where) {
    if (!outcome.completed()) return false;  // a query inside of the expression has ended it
    outcome = {Outcome::Kind::kRaised, context.error.sqlstate, context.error.message, where,
               context.error.detail,   context.error.hint};
    return false;
  }
  template <typename... Args>
  [[nodiscard]] bool raise(ir::SourceLocation where, const char* sqlstate, fmt::format_string<Args...> text,
                           Args&&... args) {
    (void)fail(context.error, arena, sqlstate, text, std::forward<Args>(args)...);
    return raise(where);
  }

  // Returns false, and ends the run, where it is asked to stop. For each row and iteration.
  [[nodiscard]] bool goes_on(ir::SourceLocation where) {
    return stop == nullptr || !stop->is_due() || end_stopped(where);
  }
  // Does the same at once, whatever the calls before. A run begins with it.
  [[nodiscard]] bool may_begin(ir::SourceLocation where) {
    return stop == nullptr || stop->reason() == StopRequest::Reason::kNone || end_stopped(where);
  }
  [[gnu::cold]] bool end_stopped(ir::SourceLocation where) {
    if (!outcome.completed()) return false;
    context.error = stopped_error(*stop);
    outcome = {Outcome::Kind::kStopped, context.error.sqlstate, context.error.message, where};
    return false;
  }

  [[nodiscard]] bool value_of(const ir::Expr& expr, ir::SourceLocation where, Value& value) {
    return evaluate(expr, context, value) || raise(where);
  }

  // Ends the run for what the rows' door has answered.
  [[nodiscard]] bool refuse(AccessStatus status, const ir::Operation& operation) {
    switch (status) {
      case AccessStatus::kConflict:
        outcome = {Outcome::Kind::kConflict, "", "", operation.where};
        return false;
      case AccessStatus::kOutOfMemory:
        outcome = {Outcome::Kind::kOutOfMemory, "", "", operation.where};
        return false;
      case AccessStatus::kDuplicateKey:
        (void)fail_duplicate_key(schema, operation, rows->refusal(), arena, context.error);
        return raise(operation.where);
      case AccessStatus::kLocked:
        return raise(operation.where, kLockNotAvailable, "could not obtain lock on row in relation \"{}\"",
                     schema.catalog().table(operation.access.back().table).name);
      case AccessStatus::kOk:
      case AccessStatus::kAbsent:
        break;
    }
    CHECK(false && "an answer that ends a run");
    return false;
  }

  // A value that outlives the row it was read from.
  Value kept(const Type& type, const Value& value) {
    if (!type.is_string() || value.is_null()) return value;
    return Value::of_text(arena.copy(value.as_text()));
  }
};

}  // namespace mneme
