// RunState: what the parts of the interpreter share while a run lasts: variables, memory, the rows' door, the outcome.
//
// Private to the interpreter (interpreter.cc, operation_runner.h, row_finder.h).
// Invariants  a part that returns false has set the outcome; nobody goes on after that.
#pragma once

#include "base/arena.h"
#include "engine/row_access.h"
#include "engine/schema.h"
#include "procedures/expression.h"
#include "procedures/frame.h"
#include "procedures/interpreter.h"

namespace mneme {

struct RunState {
  explicit RunState(const Schema& s) : schema(s), context(arena) {}

  const Schema& schema;
  Arena arena;
  Frame frame;
  EvaluationContext context;
  RowAccess* rows = nullptr;
  Outcome outcome;

  // Ends the run for the error that an expression has left in the context.
  [[nodiscard]] bool raise(ir::SourceLocation where) {
    outcome = {Outcome::Kind::kRaised, context.error.sqlstate, context.error.message, where};
    return false;
  }
  template <typename... Args>
  [[nodiscard]] bool raise(ir::SourceLocation where, const char* sqlstate, fmt::format_string<Args...> text,
                           Args&&... args) {
    (void)fail(context.error, arena, sqlstate, text, std::forward<Args>(args)...);
    return raise(where);
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
        return raise_duplicate_key(operation);
      case AccessStatus::kOk:
      case AccessStatus::kAbsent:
        break;
    }
    CHECK(false && "an answer that ends a run");
    return false;
  }

  // Which of several unique indexes has the key already, the rows' door does not tell.
  [[nodiscard]] bool raise_duplicate_key(const ir::Operation& operation) {
    const TableDefinition& table = schema.catalog().table(operation.access[0].table);
    const IndexDefinition* only = nullptr;
    size_t count = 0;
    for (IndexId index : table.indexes) {
      if (!schema.catalog().index(index).unique) continue;
      only = &schema.catalog().index(index);
      ++count;
    }
    if (count == 1) {
      return raise(operation.where, sqlstate::kUnique,
                   "duplicate key value violates unique constraint \"{}\"", only->name);
    }
    return raise(operation.where, sqlstate::kUnique,
                 "duplicate key value violates one of the {} unique constraints of \"{}\"", count,
                 table.name);
  }

  // A value that outlives the row it was read from.
  Value kept(const Type& type, const Value& value) {
    if (!type.is_string() || value.is_null()) return value;
    return Value::of_text(arena.copy(value.as_text()));
  }
};

}  // namespace mneme
