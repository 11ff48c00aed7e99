#include "analyzer/hints/told_procedures.h"

#include <set>

#include "analyzer/dependency_graph.h"
#include "analyzer/lane_plan.h"
#include "analyzer/statement_table.h"
#include "base/deep_stack.h"

namespace mneme {

namespace {

class Telling {
 public:
  Telling(const Catalog& catalog, const ir::Procedure& procedure, const std::set<OperationId>& hints)
      : catalog_(catalog), procedure_(procedure), hints_(hints) {}

  void add(const std::vector<ir::Statement>& list, ir::MarkedBody& body,
           std::vector<ir::Statement>& out) const {
    for (const ir::Statement& statement : list) {
      if (has_operation(statement)) {
        const std::optional<ToldKey> key = told_key(catalog_, procedure_, statement.operation);
        if (key && hints_.contains(key->hint))
          out.push_back(tell_statement(statement, key->hint, key->values, body));
      }
      ir::Statement copy = statement;
      copy.body.clear();
      copy.else_body.clear();
      add(statement.body, body, copy.body);
      add(statement.else_body, body, copy.else_body);
      out.push_back(std::move(copy));
    }
  }

 private:
  const Catalog& catalog_;
  const ir::Procedure& procedure_;
  const std::set<OperationId>& hints_;
};

std::set<OperationId> hints_of(const LocalGraph& local) {
  std::set<OperationId> hints;
  for (const Slice& slice : local.slices) {
    for (const LocatedAccess& access : slice.located) {
      if (access.hint.valid()) hints.insert(access.hint);
    }
  }
  return hints;
}

}  // namespace

std::vector<ToldProcedure> told_procedures(const Program& program) {
  return on_deep_stack([&] {
    const DependencyGraph graph = analyze(program);
    std::vector<ToldProcedure> told(program.procedures.size());
    for (const LocalGraph& local : graph.procedures) {
      const std::set<OperationId> hints = hints_of(local);
      if (hints.empty()) continue;
      const ir::Procedure& procedure = program.procedure(local.procedure);
      ToldProcedure& made = told[local.procedure.value];
      made.operations.assign(hints.begin(), hints.end());
      Telling(program.catalog, procedure, hints).add(procedure.body, made.body, made.body.statements);
    }
    return told;
  });
}

}  // namespace mneme
