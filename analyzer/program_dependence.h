// Program dependence: for each statement, which statements give it values and which decide whether it runs.
//
// Value dependences come from reaching definitions over the flow graph. Control dependences follow from the
// structure: a statement depends on the IF or loop around it, and on each EXIT, CONTINUE or RETURN that may
// skip it; a loop depends on the jumps that may end it. Everything that a statement needs is thus reached by
// following both.
// Source      Ferrante, Ottenstein, Warren: The Program Dependence Graph and Its Use in Optimization (TOPLAS
//             1987).
#pragma once

#include <vector>

#include "analyzer/statement_table.h"
#include "procedures/ir/ir.h"

namespace mneme {

struct ValueDependence {
  VariableId variable;
  StatementId definition;  // not valid: the call (an argument, or NULL)
  bool loop_carried;       // by the outermost loop around both: set in one iteration, used in a later one
};

struct ControlDependence {
  StatementId on;
  bool loop_carried;
};

class ProgramDependence {
 public:
  ProgramDependence(const ir::Procedure& procedure, const std::vector<ir::Statement>& body,
                    const StatementTable& table);

  const std::vector<ValueDependence>& values(StatementId id) const { return values_[id.value]; }
  const std::vector<ControlDependence>& controls(StatementId id) const { return controls_[id.value]; }
  // How often the flow graph was walked until nothing changed any more.
  size_t passes() const { return passes_; }

 private:
  StatementId outermost_loop(StatementId id) const;  // around it or itself
  void find_values(const ir::Procedure& procedure, const std::vector<ir::Statement>& body);
  void add_jump(StatementId jump);

  const StatementTable& table_;
  std::vector<std::vector<ValueDependence>> values_;
  std::vector<std::vector<ControlDependence>> controls_;
  size_t passes_ = 0;
};

}  // namespace mneme
