// Expression: evaluates an ir::Expr over variables, the rows at hand and aggregates, as PostgreSQL 15 does.
//
// Invariants  NULL follows three-valued logic; AND, OR, CASE and coalesce evaluate no more than they need,
//             from the left. text in a result lies in a row's image, a variable, the Program's constants or
//             the arena: a caller that keeps it longer than the row copies it.
// Errors      evaluate() returns false with the reason in `error`: overflow, division by zero, text that is
//             no number.
// Threads     one owner of a context; expressions are shared. Nothing is allocated but in the arena.
#pragma once

#include <array>
#include <span>

#include "base/memory/arena.h"
#include "engine/schema/row_layout.h"
#include "engine/schema/value.h"
#include "engine/transaction/row_access.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// A row whose columns an expression may name: an image with perhaps some columns changed, or the values of a
// new row.
struct RowView {
  const RowLayout* layout = nullptr;
  const std::byte* image = nullptr;
  std::span<const ColumnValue> changes;
  std::span<const Value> values;  // used where there is no image

  Value get(ColumnId column) const {
    if (image == nullptr) return values[column.value];
    for (const ColumnValue& change : changes) {
      if (change.column == column) return change.value;
    }
    return layout->get(image, column);
  }
};

struct ArrayValue {
  std::span<const Value> elements;
  bool null = true;
};

struct EvaluationContext;

// Says what the queries inside of a session's expressions give.
class QueryValues {
 public:
  virtual ~QueryValues() = default;
  // The value of a kQuery.
  [[nodiscard]] virtual bool evaluate(const ir::Expr& expr, EvaluationContext& context, Value& result) = 0;
};

// The sequences that a session draws numbers from.
class Sequences {
 public:
  virtual ~Sequences() = default;
  // kNextValue, kCurrentValue or kSetValue; `args`: after the sequence. None of them is NULL.
  [[nodiscard]] virtual bool apply(ir::Function function, TableId sequence, std::span<const Value> args,
                                   EvaluationContext& context, Value& result) = 0;
  // The transaction goes on from a savepoint: what it wrote of sequences since is written once more. False:
  // another transaction is in the way.
  [[nodiscard]] virtual bool went_back() = 0;
  // Whether what apply() failed with is another transaction in the way: no handler catches that.
  virtual bool met_conflict() const = 0;
};

struct EvaluationContext {
  explicit EvaluationContext(Arena& a) : arena(a) {}

  std::span<const Value> variables;    // by VariableId; of an array variable's place nothing is read
  std::span<const ArrayValue> arrays;  // by VariableId
  std::array<RowView, 2> rows;         // by Expr::source
  std::span<const Value> aggregates;
  QueryValues* queries = nullptr;  // where there are some
  Sequences* sequences = nullptr;  // likewise
  Arena& arena;
  SqlError error;
};

[[nodiscard]] bool evaluate(const ir::Expr& expr, EvaluationContext& context, Value& result);

// A condition holds if it is true: neither false nor NULL.
[[nodiscard]] inline bool evaluate_condition(const ir::Expr& expr, EvaluationContext& context, bool& holds) {
  Value value;
  if (!evaluate(expr, context, value)) return false;
  holds = !value.is_null() && value.as_bool();
  return true;
}

}  // namespace mneme
