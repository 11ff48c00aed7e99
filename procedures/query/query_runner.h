// Query runner: carries a query's plan out on a transaction.
//
// Flow        query_plan.h -> run() -> from_runner.h (FROM, a row at a time into the frame), grouping.h
//             (GROUP BY) -> window_runner.h -> the outputs -> DISTINCT, ORDER BY, LIMIT -> the caller
// Invariants  the rows of a scan are all found before a row of another table is looked for, unless nothing
//             else reads while they are used. A query inside of an expression that takes nothing of the row
//             around it runs once; the others for each row.
// Memory      what is kept for joins, groups, sorts and DISTINCT is bounded (kMostBytes): beyond that the
//             query fails with 53200.
// Stopping    the run looks at its StopRequest for each row that it meets, keeps or compares.
// Errors      the outcome, as the interpreter's.
// Threads     one owner; plans are shared.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/function_ref.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/interpreter/notices.h"
#include "procedures/interpreter/run_state.h"
#include "procedures/query/provided_tables.h"
#include "procedures/query/query_plan.h"
#include "procedures/query/row_store.h"

namespace mneme::query {

class QueryRunner final : public QueryValues {
 public:
  // Called for each row; false: no more are wanted.
  using Visitor = FunctionRef<bool(std::span<const Value>)>;

  static constexpr size_t kMostBytes = size_t{1} << 30;

  explicit QueryRunner(const Schema& schema) : state_(schema) {}

  // `variables`: the procedure's, of which the first ones are the statement's parameters. `provider` and
  // `stop` may be nullptr. `given`: the rows of the given tables, by number. The message of an error lives
  // until the next run.
  Outcome run(const BoundQueries& queries, std::span<const Value> variables,
              std::span<const ArrayValue> arrays, RowAccess& rows, const ProvidedTables* provider,
              Sequences* sequences, StopRequest* stop, Visitor visit,
              std::span<const RowStore* const> given = {});

  bool evaluate(const ir::Expr& expr, EvaluationContext& context, Value& result) override;

  // What functions that the last run called have said by RAISE NOTICE and its kind.
  const Notices& notices() const { return notices_; }

  // From now on runs count their rows; nullptr: they don't.
  void count_rows(RowCounts* counts) { counts_ = counts; }

 private:
  friend class FromRunner;
  friend class Groups;
  friend class AggregateRunner;
  friend class WindowRunner;
  friend class WindowFrames;

  // What a query that takes nothing from outside has given.
  struct Known {
    bool made = false;
    bool exists = false;
    Value value;
    RowStore rows;
    std::unordered_set<std::string> keys;
    bool has_null = false;
  };
  // The rows at hand, given back when another query has run.
  class Around {
   public:
    explicit Around(EvaluationContext& context)
        : context_(context), rows_(context.rows), aggregates_(context.aggregates) {}
    ~Around() {
      context_.rows = rows_;
      context_.aggregates = aggregates_;
    }
    Around(const Around&) = delete;
    Around& operator=(const Around&) = delete;

   private:
    EvaluationContext& context_;
    const std::array<RowView, 2> rows_;
    const std::span<const Value> aggregates_;
  };

  // Each returns false where the run has failed.
  [[nodiscard]] bool run_query(const QueryPlan& plan, Visitor visit);
  [[nodiscard]] bool run_body(const QueryPlan& plan, Visitor visit);
  [[nodiscard]] bool run_select(const SelectPlan& plan, Visitor visit);
  bool run_sets(const SelectPlan& plan, std::span<Value> frame, FunctionRef<bool()> visit);
  [[nodiscard]] bool run_set(const SetPlan& plan, std::span<const Column> columns, Visitor visit);
  [[nodiscard]] bool run_recursion(const RecursionPlan& plan, std::span<const Column> columns, Visitor visit);
  [[nodiscard]] bool run_sorted(const QueryPlan& plan, uint64_t skip, uint64_t take, Visitor visit);
  // Locks what FOR UPDATE and its kind are to lock of the row. `is_ours`: whether it may be used.
  [[nodiscard]] bool lock_rows(const QueryPlan& plan, std::span<const Value> row, bool& is_ours);
  [[nodiscard]] bool count_of(const std::optional<ir::Expr>& expr, const char* sqlstate, const char* name,
                              std::optional<uint64_t>& count);
  [[nodiscard]] bool run_routine(const ir::Procedure& routine, std::span<const Value> args, Value& result);
  bool raise_second_row();
  [[nodiscard]] bool run_subquery(const Subquery& query, std::span<const Value> tested, Value& result);
  [[nodiscard]] bool know(const Subquery& query, Known& known);
  [[nodiscard]] bool compare(const Subquery& query, std::span<const Value> row, Value& result);

  [[nodiscard]] bool value_of(const ir::Expr& expr, Value& value) {
    return state_.value_of(expr, expr.where, value);
  }
  [[nodiscard]] bool holds(const std::optional<ir::Expr>& condition, bool& result);
  // Counts bytes that are kept.
  [[nodiscard]] bool keep(size_t bytes);
  [[nodiscard]] bool keep_row(RowStore& store, std::span<const Value> row, bool copy_text = true);

  void count(const void* node, uint64_t NodeRows::*which) {
    if (counts_ != nullptr) ++((*counts_)[node].*which);
  }

  RunState state_;
  std::unique_ptr<Interpreter> interpreter_;  // of the functions that are called
  Notices notices_;
  RowCounts* counts_ = nullptr;
  Arena kept_;   // text of rows that are kept while a query runs
  Arena known_;  // text of what is known for the whole statement
  size_t kept_bytes_ = 0;
  const BoundQueries* queries_ = nullptr;
  const ProvidedTables* provider_ = nullptr;
  std::vector<Value> variables_;
  std::vector<Known> known_queries_;
  std::vector<const RowStore*> working_rows_;  // by recursion: what it found last
};

// The bytes by which rows of these columns are told apart.
std::string key_of_row(std::span<const Column> columns, std::span<const Value> row);

}  // namespace mneme::query
