// From runner: fills the frame with each row that a SELECT's tables, joins and conditions give. Private to
// the runner.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "procedures/query/query_runner.h"

namespace mneme::query {

class FromRunner {
 public:
  // `frame`: a value for each slot, which is the context's row 0 while it runs.
  FromRunner(QueryRunner& runner, const FromPlan& plan, std::span<Value> frame, FunctionRef<bool()> visit)
      : runner_(runner), plan_(plan), frame_(frame), visit_(visit), states_(plan.steps.size()) {}

  // False: the run has failed.
  [[nodiscard]] bool run();

 private:
  enum class Next { kGoOn, kEnough, kFailed };

  struct StepState {
    bool made = false;
    RowStore rows;
    std::unordered_map<std::string, std::vector<uint32_t>> by_key;
    std::vector<bool> matched;  // of a full join
    std::vector<RowRef> found;
    std::vector<Value> row;
  };

  Next step(size_t number);
  Next read_table(size_t number, bool& any);
  Next read_query(bool& any);
  Next use_kept_rows(size_t number, bool& any);
  Next take(size_t number, bool& any);
  Next without_row(size_t number);
  Next unmatched(size_t number);
  bool make_rows(size_t number);
  bool make_table_rows(const FromStep& step, StepState& state);
  bool make_query_rows(const FromStep& step, StepState& state);
  bool make_sets(const FromStep& step, StepState& state);
  [[nodiscard]] bool make_numbers(ir::SourceLocation where, std::span<const Value> args,
                                  std::vector<Value>& values);
  [[nodiscard]] bool make_matches(ir::SourceLocation where, std::span<const Value> args,
                                  std::vector<Value>& values);
  [[nodiscard]] bool make_times(ir::SourceLocation where, std::span<const Value> args,
                                std::vector<Value>& values);
  bool make_set(const FromStep::SetFunction& function, std::vector<Value>& values);
  bool index_rows(const FromStep& step, StepState& state);
  bool key_of(const std::vector<ir::Expr>& exprs, std::string& key, bool& has_null);
  void fill(const FromStep& step, const RowRef& row);
  void fill(const FromStep& step, std::span<const Value> row);
  Next ended() const;

  QueryRunner& runner_;
  const FromPlan& plan_;
  const std::span<Value> frame_;
  FunctionRef<bool()> visit_;
  std::vector<StepState> states_;
};

}  // namespace mneme::query
