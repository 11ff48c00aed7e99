// Window runner: keeps the rows that HAVING leaves, and gives each the results of the window functions.
// Private to the runner.
//
// Order       the rows are visited in the order of the last window.
// Cost        a window sorts its rows once. An aggregate goes on from the row before where its frame has
//             grown at its end, or lost rows that can be taken out again; otherwise it starts anew.
#pragma once

#include <vector>

#include "procedures/query/aggregate_runner.h"
#include "procedures/query/query_runner.h"
#include "procedures/query/window_frames.h"

namespace mneme::query {

class WindowRunner {
 public:
  WindowRunner(QueryRunner& runner, const SelectPlan& plan)
      : runner_(runner),
        plan_(plan),
        aggregates_(runner),
        functions_(static_cast<uint32_t>(plan.window_functions.size())),
        rows_(functions_ + plan.kept.size()),
        row_(functions_ + plan.kept.size()) {}

  // Keeps the row at hand. Both methods return false where the run has failed.
  [[nodiscard]] bool add();
  // Computes the functions, and calls visit() for each row: the context's row 0 is that row.
  [[nodiscard]] bool visit(FunctionRef<bool()> visit);

 private:
  bool run_window(const WindowPlan& window);
  bool make_keys(const WindowPlan& window);
  void sort(const WindowPlan& window);
  void divide(const WindowPlan& window);
  bool run_function(uint32_t number, WindowFrames& frames, PositionRange partition);
  bool rank(const WindowFunction& function, PositionRange partition, uint32_t position, Value& result);
  bool ntile(uint32_t number, PositionRange partition);
  bool value_beside(const WindowFunction& function, PositionRange partition, uint32_t position,
                    Value& result);
  bool value_in_frame(const WindowFunction& function, WindowFrames& frames, uint32_t position, Value& result);
  bool run_aggregate(uint32_t number, WindowFrames& frames, PositionRange partition);
  bool move_to(const WindowFunction& function, const WindowFrames& frames, uint32_t position,
               PositionRange frame, PositionRange& added, AggregateState& state, bool& changed);
  bool evaluate_at(uint32_t position, const ir::Expr& expr, Value& result);
  bool keep_result(const ir::Expr& expr, Value& result);
  void look_at(uint32_t position);
  void set(uint32_t position, uint32_t number, const Value& value) {
    rows_.set(ordering_.rows[position], number, value);
  }

  QueryRunner& runner_;
  const SelectPlan& plan_;
  AggregateRunner aggregates_;
  const uint32_t functions_;
  RowStore rows_;
  std::vector<Value> row_;
  WindowOrdering ordering_;
};

}  // namespace mneme::query
