// Statement binder: a procedure's body to structured IR.
//
// Blocks become assignments of their variables' initial values; ELSIF and CASE become nested IFs; LOOP
// becomes WHILE true; labels become loop depths.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/binder/change_binder.h"
#include "procedures/binder/names.h"
#include "procedures/binder/operation_binder.h"
#include "procedures/binder/query_hoister.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme {

class ProcedureBinder {
 public:
  // `ordered` receives the indexes that are read in order; `strings` keeps text constants.
  ProcedureBinder(const Catalog& catalog, std::deque<std::string>& strings, std::vector<IndexId>& ordered)
      : strings_(strings),
        names_(catalog, procedure_),
        operations_(catalog, strings, ordered, names_, procedure_),
        changes_(catalog, strings, names_, operations_, procedure_, true),
        queries_(names_, operations_, procedure_) {}
  ProcedureBinder(const ProcedureBinder&) = delete;
  ProcedureBinder& operator=(const ProcedureBinder&) = delete;

  ir::Procedure bind(const syntax::Procedure& procedure, ProcedureId id);

 private:
  using Statements = std::vector<ir::Statement>;

  void bind_parameters(const syntax::Procedure& procedure);
  void bind_block(const syntax::Block& block, bool outermost, Statements& out);
  void bind_declaration(const syntax::Declaration& declaration, bool outermost, Statements& out);
  void bind_row_variable(const syntax::Declaration& declaration, bool outermost, Statements& out);
  void bind_statements(const std::vector<syntax::Statement>& statements, Statements& out);
  void bind_statement(const syntax::Statement& statement, Statements& out);
  void bind_assign(const syntax::Statement& statement, Statements& out);
  void bind_array_assign(VariableId array, const syntax::Expr& value, ir::SourceLocation where,
                         Statements& out);
  void bind_branches(const syntax::Statement& statement, Statements& out);
  ir::Expr bind_branch_condition(const syntax::Statement& statement, const syntax::Branch& branch,
                                 Statements& out);
  void bind_while(const syntax::Statement& statement, Statements& out);
  void bind_for_range(const syntax::Statement& statement, Statements& out);
  void bind_for_query(const syntax::Statement& statement, Statements& out);
  void bind_leave(const syntax::Statement& statement, Statements& out);
  void bind_raise(const syntax::Statement& statement, Statements& out);
  void bind_operation(const syntax::Statement& statement, Statements& out);
  void bind_loop_body(const syntax::Statement& statement, Statements& out);
  VariableId assignable(const syntax::Target& target) const;
  ir::Expr bind_value_for(const syntax::Expr& expr, VariableId variable);
  // An expression of PL/pgSQL's own, which PostgreSQL plans alone: as a condition, or as an assignment to
  // `target` converts.
  ir::Expr bind_condition(const syntax::Expr& expr);
  ir::Expr bind_for(const syntax::Expr& expr, const Type& target, std::string_view what);
  ir::Expr folded(ir::Expr expr);
  OperationId bind_operation_into(const syntax::Operation& operation, OperationBinder::Use use,
                                  const std::vector<syntax::Target>& targets, Statements& out);
  void keep_found(Statements& statements);

  std::deque<std::string>& strings_;
  ir::Procedure procedure_;
  Names names_;
  OperationBinder operations_;
  ChangeBinder changes_;
  QueryHoister queries_;
  std::vector<std::string> loops_;  // labels of the loops around, outermost first; "" without one
};

}  // namespace mneme
