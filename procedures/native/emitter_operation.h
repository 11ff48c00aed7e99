// Operation emitter: one database operation in C++: its rows, what becomes of them, and its outputs' way to
// variables, loops and recordings.
//
// Invariants  outputs are all evaluated before a variable is set, changes before the first column is stored;
//             rows to be changed are found before the first is changed; text that comes from a row is copied.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "procedures/native/emitter_access.h"

namespace mneme {

class OperationEmitter {
 public:
  explicit OperationEmitter(UnitScope& scope)
      : scope_(scope), text_(scope.text), expressions_(scope), access_(scope) {}

  // A statement of kind kOperation. `iteration`: of the outermost loop around it, in C++.
  void emit(const ir::Statement& statement, const std::string& iteration);

  // The rows of a loop's query, found; then for each of them, with the outputs in their variables, `body`. It
  // is called once, with the C++ number of the iteration. Returns the C++ condition that there was a row.
  using LoopBody = std::function<void(const std::string& number)>;
  std::string emit_loop(const ir::Statement& statement, const std::string& iteration, const LoopBody& body);

 private:
  // The rows that an INTO fetches, as C++ numbers: at most so many, after skipping so many; empty: as many as
  // there are, or none skipped.
  struct Cut {
    std::string skip;
    std::string take;
  };
  // Where a select's outputs go, row by row.
  using Sink = std::function<void(const std::vector<Operand>& outputs)>;

  void select_into(const ir::Operation& operation);
  void insert(const ir::Operation& operation, const Sink& sink);
  void read_elements(const ir::Operation& operation);
  void write_insert(const ir::Operation& operation);
  void change(const ir::Operation& operation, const Sink& sink);
  void change_row(const ir::Operation& operation, const Sink& sink);
  void check_room(const ir::Operation& operation, ColumnId id, const ir::Expr& expr, const Operand& value);
  void update_row(const ir::Operation& operation, const Sink& sink);
  void store_parts(const ir::Operation& operation, const std::vector<Operand>& values,
                   FunctionRef<bool(size_t)> is_stored);
  void store_by_access(const ir::Operation& operation, const std::vector<Operand>& values,
                       FunctionRef<bool(size_t)> is_stored);
  void locate(const ir::Statement& statement, const std::string& iteration);
  void tell(const ir::Statement& statement);
  std::string key_of(const ir::Statement& statement);
  void recall(const ir::Statement& statement, const std::string& iteration);
  void record(const ir::Operation& operation, const std::string& iteration);
  void check_into(const ir::Operation& operation);
  void set_outputs(const ir::Operation& operation);

  Cut write_cut(const ir::Operation& operation, bool into);
  void write_count(const std::optional<ir::Expr>& expr, const std::string& name, const char* sqlstate,
                   const char* what);
  // A select's rows, cut. `counted` counts them, where that is not what the sink does itself.
  void stream_rows(const ir::Operation& operation, const Cut& cut, const std::string& counted,
                   const Sink& sink);
  void select_aggregates(const ir::Operation& operation, const Cut& cut, const Sink& sink);
  void add_row(const ir::Operation& operation);
  void add_value(const ir::Operation& operation, size_t i, const Operand& value);
  void finish_aggregates(const ir::Operation& operation);
  // The vector `results` of the select's rows; for an order that the path does not deliver they are sorted.
  std::string collect_results(const ir::Operation& operation, const Cut& cut, std::string& begin,
                              std::string& end);
  void cast_recorded_row(const ir::Operation& operation, const std::string& row);
  void sort_results(const ir::Operation& operation, const std::string& results);

  std::vector<Operand> evaluate_outputs(const ir::Operation& operation);
  // The representation in a row that is found: before the cast that is left until the row is taken.
  Rep rep_of_found(const ir::Output& output) const;
  // `selected`, as found, cast to the output's variable's type where that was left until now.
  Operand cast_output(const ir::Output& output, const Operand& selected);
  void cast_outputs(const ir::Operation& operation);
  void declare_outputs(const ir::Operation& operation, bool recalled);
  void fill_outputs(const std::vector<Operand>& outputs);
  void set_found(const ir::Operation& operation, const std::string& condition);
  std::string table_literal(const ir::Operation& operation) const;
  bool sorts(const ir::Operation& operation) const {
    return operation.aggregates.empty() && !operation.order.empty() && !operation.order_is_path_order;
  }

  UnitScope& scope_;
  FunctionText& text_;
  ExpressionEmitter expressions_;
  AccessEmitter access_;
  std::vector<std::string> outputs_;     // of the operation at hand: Nullables in C++
  std::vector<std::string> aggregates_;  // of the operation at hand: stems of their variables
};

}  // namespace mneme
