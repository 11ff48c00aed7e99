// Any query: a procedure's SELECT of a form, or with functions, that the IR has no words for. It is planned
// as a session's query is, and runs on the interpreter alone.
//
// Flow        binder/any_query_binder.h -> ir::Operation::any_query -> operation_runner.h -> run()
// Invariants  it reads rows, and changes none. What it finds is not known to the analysis: a procedure that
//             has one and changes rows is logged by these (ir::Operation::by_chance).
//             it is constant, and refers to the catalog that it was bound to.
// Threads     run by any, each with an access of its own.
#pragma once

#include <span>

#include "base/function_ref.h"
#include "base/memory/arena.h"
#include "engine/schema/schema.h"
#include "engine/transaction/row_access.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/values/expression.h"
#include "procedures/values/stop_request.h"

namespace mneme {

class AnyQuery {
 public:
  // What a run works on. The texts of an error are put into the arena.
  struct Run {
    const Schema& schema;
    std::span<const Value> variables;  // the procedure's
    std::span<const ArrayValue> arrays;
    RowAccess& rows;
    Sequences* sequences;
    StopRequest* stop;
    Arena& texts;
  };

  virtual ~AnyQuery() = default;
  // Calls visit(row) for each row until it returns false. A row's text lives until `visit` returns.
  virtual Outcome run(const Run& run, FunctionRef<bool(std::span<const Value>)> visit) const = 0;
  // Whether rows of the table are read.
  virtual bool reads(TableId table) const = 0;
};

}  // namespace mneme
