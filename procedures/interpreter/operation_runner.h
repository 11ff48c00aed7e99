// OperationRunner: performs one database operation: finds rows, orders and cuts them, changes them, yields
// outputs.
//
// Flow        interpreter.cc -> perform() -> row_finder.h -> outputs on a stack of rows; a loop over a query
//             leaves its rows there while its body's operations put theirs on top.
// Invariants  rows to be changed are all found before the first is changed. Output text is copied out of
//             rows.
#pragma once

#include <span>
#include <vector>

#include "procedures/interpreter/run_state.h"
#include "procedures/ir/ir.h"

namespace mneme {

// Result rows on the stack: `count` rows of `width` outputs. A change without outputs counts the rows it
// changed.
struct ResultRows {
  size_t base = 0;
  uint32_t count = 0;
  uint32_t width = 0;
};

class OperationRunner {
 public:
  explicit OperationRunner(RunState& state) : state_(state) {}

  void begin() { stack_.clear(); }

  // Whether the caller wants all rows of a select (a loop), or as many as decide an INTO: one, or two where
  // strict.
  enum class Wanted { kAll, kInto };
  [[nodiscard]] bool perform(const ir::Operation& operation, Wanted wanted, ResultRows& rows);

  std::span<const Value> values(const ResultRows& rows) const {
    return {stack_.data() + rows.base, size_t{rows.count} * rows.width};
  }
  // Casts what row `i` has selected to the outputs' variables' types, in place, where that was left until it
  // is taken.
  [[nodiscard]] bool cast_row(const ir::Operation& operation, const ResultRows& rows, uint32_t i);
  // The same for all rows, which are to be recorded. A value that can't be cast becomes NULL: the run that is
  // recorded completes, so its row is never taken.
  void cast_all_rows(const ir::Operation& operation, const ResultRows& rows);
  // Takes the rows, and all above them, off the stack.
  void pop(const ResultRows& rows) { stack_.resize(rows.base); }
  // How high the stack is, and taking off it what lies above that.
  size_t height() const { return stack_.size(); }
  void cut(size_t height) { stack_.resize(height); }

 private:
  struct Cut {
    uint64_t skip = 0;
    uint64_t take = 0;
  };
  struct AggregateState {
    uint64_t count = 0;  // of values that are not NULL; of rows for count(*)
    int128 exact_sum = 0;
    double double_sum = 0;
    Value extreme;
    std::vector<Value> distinct;
  };

  bool select(const ir::Operation& operation, Wanted wanted, ResultRows& rows);
  bool select_any(const ir::Operation& operation, Wanted wanted, ResultRows& rows);
  bool insert(const ir::Operation& operation, ResultRows& rows);
  bool update(const ir::Operation& operation, ResultRows& rows);
  bool erase(const ir::Operation& operation, ResultRows& rows);

  // Calls visit for each row, or pair of rows, that the operation is about. False: the run has failed.
  bool visit_rows(const ir::Operation& operation, FunctionRef<bool()> visit);
  bool collect_rows(const ir::Operation& operation);
  bool prepare_cut(const ir::Operation& operation, Wanted wanted, Cut& cut);
  bool prepare_count(const std::optional<ir::Expr>& expr, ir::SourceLocation where, const char* sqlstate,
                     const char* name, std::optional<uint64_t>& count);
  bool push_outputs(const ir::Operation& operation);
  bool cast_output(const ir::Output& output, Value& value);
  bool evaluate_assignments(const ir::Operation& operation);
  void add_to_row(const ir::Operation& operation, std::byte* image);
  // Refuses NULL, and text of too many bytes, for a column that can't hold it.
  void tell_failing_row(TableId table, std::span<const Value> values);
  bool check_column(const ir::Operation& operation, ColumnId column, const Value& value);

  bool select_ordered(const ir::Operation& operation, const Cut& cut, ResultRows& rows);
  void sort_rows(const ir::Operation& operation, const Cut& cut, ResultRows& rows);

  bool select_aggregates(const ir::Operation& operation, const Cut& cut, ResultRows& rows);
  void begin_aggregates(const ir::Operation& operation);
  bool select_groups(const ir::Operation& operation, const Cut& cut, ResultRows& rows);
  bool push_group(const ir::Operation& operation, ResultRows& rows);
  bool add_row(const ir::Operation& operation);
  bool add_value(const ir::Operation& operation, const ir::Aggregate& aggregate, AggregateState& into,
                 const Value& value);
  bool finish_aggregates(const ir::Operation& operation);
  bool finish_sum(const ir::Operation& operation, const ir::Aggregate& aggregate, const AggregateState& state,
                  Value& result);

  RunState& state_;
  std::vector<Value> stack_;

  // Reused by each operation.
  std::vector<RowRef> found_rows_;
  std::vector<uint32_t> row_order_;
  std::vector<Value> new_values_;
  std::vector<ColumnValue> changes_;
  std::vector<Value> additions_;  // by assignment; of those that add
  std::vector<AggregateState> aggregates_;
  std::vector<Value> aggregate_results_;
};

}  // namespace mneme
