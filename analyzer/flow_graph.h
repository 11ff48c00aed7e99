// Flow graph: the order in which a procedure's statements may run, with the variables that each step reads
// and sets.
//
// A loop takes several steps: FOR evaluates its bounds or query once (`enter`), then tests (`head`), sets its
// variables for an iteration (`row`), and at its end sets FOUND (`leave`). All of them belong to the loop's
// statement. A jump to an outer loop also ends the loops in between. Each of these that sets FOUND does so
// in a step of its own.
// Invariants  step 0 is the call: it sets every variable, to an argument or NULL.
// Why         reaching definitions need the graph. Control dependences do not: they follow from the nesting
//             of the statements (program_dependence.h).
#pragma once

#include <vector>

#include "analyzer/statement_table.h"
#include "procedures/ir/ir.h"

namespace mneme {

struct FlowStep {
  struct Definition {
    VariableId variable;
    StatementId owner;  // the statement that sets the variable; not valid for the call
    bool always;        // whether no older value of the variable survives this step
  };

  StatementId owner;
  std::vector<VariableId> uses;
  std::vector<Definition> defines;
  std::vector<size_t> successors;
  // Whether the step is the head of an outermost loop. Every edge into such a head begins a new iteration of
  // `owner`, except the edge from the step `enter`.
  bool outermost_head = false;
  size_t enter = 0;
};

class FlowGraph {
 public:
  FlowGraph(const ir::Procedure& procedure, const std::vector<ir::Statement>& body,
            const StatementTable& table);

  static constexpr size_t kCall = 0;
  const std::vector<FlowStep>& steps() const { return steps_; }

 private:
  struct Loop {
    StatementId id;
    VariableId found;
    size_t on_exit;
    size_t on_continue;
  };

  // Each returns the step at which its statements begin, given the step that follows them.
  size_t add_list(const std::vector<ir::Statement>& statements, size_t next);
  size_t add_statement(const ir::Statement& statement, size_t next);
  size_t add_loop(const ir::Statement& statement, StatementId id, size_t next);
  size_t add_jump(const ir::Statement& statement, StatementId id, size_t next);
  size_t add_step(StatementId owner, std::vector<size_t> successors);

  const ir::Procedure& procedure_;
  const StatementTable& table_;
  std::vector<FlowStep> steps_;
  std::vector<Loop> loops_;  // the loops around the statement that is being added, outermost first
  size_t end_ = 0;
};

}  // namespace mneme
