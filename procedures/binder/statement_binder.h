// Statement binder: a procedure's body to structured IR.
//
// A statement whose form or functions the IR has no words for is tried as a query of any form (any_query.h).
// Blocks become assignments of their variables' initial values; ELSIF and CASE become nested IFs; LOOP
// becomes WHILE true; labels become loop depths.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "engine/schema/catalog.h"
#include "procedures/binder/any_query_binder.h"
#include "procedures/binder/change_binder.h"
#include "procedures/binder/names.h"
#include "procedures/binder/operation_binder.h"
#include "procedures/binder/query_hoister.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme {

class ProcedureBinder final : private AnyExpressions {
 public:
  // `ordered` receives the indexes that are read in order; `strings` keeps text constants.
  // `routines`: what the procedure may call.
  ProcedureBinder(const Catalog& catalog, std::deque<std::string>& strings, std::vector<IndexId>& ordered,
                  const Routines* routines)
      : catalog_(catalog),
        strings_(strings),
        names_(catalog, procedure_),
        operations_(catalog, strings, ordered, names_, procedure_),
        changes_(catalog, strings, names_, operations_, procedure_, true),
        queries_(names_, operations_, procedure_, *this,
                 [this](const syntax::Expr& call, const syntax::Procedure& routine,
                        std::vector<ir::Statement>& out) { return call_in_expression(call, routine, out); }) {
    names_.set_routines(routines);
    names_.allow_draws();
  }
  ProcedureBinder(const ProcedureBinder&) = delete;
  ProcedureBinder& operator=(const ProcedureBinder&) = delete;

  ir::Procedure bind(const syntax::Procedure& procedure, ProcedureId id);
  // The routines that it calls, by name.
  const std::vector<std::string>& called() const { return names_.called(); }

 private:
  using Statements = std::vector<ir::Statement>;

  // A loop around the statement, or a block with a label that an EXIT names: a loop of one iteration.
  struct Loop {
    std::string label;  // "" without one
    bool is_block = false;
  };
  // The routine whose body is being bound.
  struct Routine {
    const syntax::Procedure* from = nullptr;
    VariableId result;        // what RETURN sets
    bool has_digits = false;  // of a numeric result: they are known
    bool is_inlined = false;
    bool jumps = false;  // a RETURN leaves the loop around the inlined body
  };
  // A declared cursor.
  struct OpenCursor {
    std::string name;
    std::shared_ptr<const syntax::Cursor> from;
    std::vector<VariableId> parameters;
    VariableId is_open;
    VariableId place;
    // The query's columns: their names, and the arrays that hold their values. The first OPEN that is bound
    // declares them.
    std::vector<std::string> names;
    std::vector<VariableId> columns;
  };
  // The EXCEPTION handler around the statement: what has been caught.
  struct Handler {
    VariableId sqlstate;
    VariableId message;
  };
  // A call that has become its body.
  struct Inlined {
    VariableId result;
    std::vector<VariableId> parameters;
  };

  void bind_parameters(const syntax::Procedure& procedure);
  void bind_rows(const syntax::Procedure& procedure);
  void bind_routine_body(const syntax::Procedure& routine, Statements& out);
  Inlined inline_body(const syntax::Procedure& callee, const std::vector<syntax::Expr>& args,
                      ir::SourceLocation where, Statements& out);
  // Returns the name of what the function returns.
  syntax::Expr call_in_expression(const syntax::Expr& call, const syntax::Procedure& routine,
                                  Statements& out);
  void bind_call(const syntax::Statement& statement, Statements& out);
  void bind_return(const syntax::Statement& statement, Statements& out);
  void assign_result(const syntax::Expr& expr, Statements& out);
  void bind_assert(const syntax::Statement& statement, Statements& out);
  void bind_diagnostics(const syntax::Statement& statement, Statements& out);
  // Arrays and cursors (cursor_statements.cc).
  void bind_for_each(const syntax::Statement& statement, Statements& out);
  void fill_array(VariableId array, syntax::Expr value, ir::SourceLocation where, Statements& out);
  void declare_cursor(const syntax::Declaration& declaration, Statements& out);
  OpenCursor& cursor_named(const syntax::Name& name);
  static void require_open(const OpenCursor& cursor, ir::SourceLocation where, Statements& out);
  void begin_cursor_query(const OpenCursor& cursor, const syntax::Statement& statement, Statements& out);
  void bind_open(const syntax::Statement& statement, Statements& out);
  void bind_close(const syntax::Statement& statement, Statements& out);
  void bind_fetch(const syntax::Statement& statement, Statements& out);
  void bind_for_cursor(const syntax::Statement& statement, Statements& out);
  ir::Expr next_place(const OpenCursor& cursor, const syntax::Statement& statement, Statements& out);

  void bind_values(const syntax::Statement& statement, Statements& out);
  void bind_insert_of_query(const syntax::Statement& statement, Statements& out);
  static bool sets_found(const Statements& statements);
  static void drop_unkept_found(Statements& statements);
  void bind_handlers(const syntax::Block& block, Statements& out);
  ir::Expr handles(const syntax::ExceptionHandler& handler, VariableId sqlstate);
  ir::Expr bind_text(const syntax::Expr& expr, std::string_view what, Statements& out);
  static ir::Expr count_constant(int64_t count, ir::SourceLocation where);
  syntax::Operation without_calls(const syntax::Operation& from, Statements& out);
  void bind_block(const syntax::Block& block, bool outermost, Statements& out);
  void bind_labelled(const syntax::Block& block, Statements& out);
  void bind_declaration(const syntax::Declaration& declaration, bool outermost, Statements& out);
  void bind_row_variable(const syntax::Declaration& declaration, bool outermost, Statements& out);
  void bind_statements(const std::vector<syntax::Statement>& statements, Statements& out);
  void bind_statement(const syntax::Statement& statement, Statements& out);
  void bind_assign(const syntax::Statement& statement, Statements& out);
  void bind_array_assign(VariableId array, const syntax::Expr& value, ir::SourceLocation where,
                         Statements& out);
  void bind_branches(const syntax::Statement& statement, Statements& out);
  // `subject`: of CASE, without its queries.
  ir::Expr bind_branch_condition(const std::optional<syntax::Expr>& subject, const syntax::Branch& branch,
                                 Statements& out);
  void bind_while(const syntax::Statement& statement, Statements& out);
  void bind_for_range(const syntax::Statement& statement, Statements& out);
  void bind_for_query(const syntax::Statement& statement, Statements& out);
  void bind_leave(const syntax::Statement& statement, Statements& out);
  void bind_raise(const syntax::Statement& statement, Statements& out);
  void bind_operation(const syntax::Statement& statement, Statements& out);
  VariableId array_that_takes(const syntax::Operation& select) const;
  bool goes_into_record(const syntax::Operation& select) const;
  void bind_change(const syntax::Statement& statement, Statements& out);
  void bind_plain_change(const syntax::Statement& statement, Statements& out);
  void bind_loop_body(const syntax::Statement& statement, Statements& out);
  VariableId assignable(const syntax::Target& target) const;
  ir::Expr bind_value_for(const syntax::Expr& expr, VariableId variable);
  // An expression of PL/pgSQL's own, which PostgreSQL plans alone: as a condition, or as an assignment to
  // `target` converts.
  ir::Expr bind_condition(const syntax::Expr& expr);
  ir::Expr bind_for(const syntax::Expr& expr, const Type& target, std::string_view what);
  ir::Expr folded(ir::Expr expr);
  // An operation, and what is to follow it, once a row is taken.
  struct Bound {
    OperationId id;
    Statements taken;
  };
  Bound bind_operation_into(const syntax::Operation& operation, OperationBinder::Use use,
                            const std::vector<syntax::Target>& targets, Statements& out);

  // Queries of any form (operation_statements.cc).
  bool needs_query(const syntax::Expr& expr) override;
  syntax::Expr query_of(const syntax::Expr& expr, Statements& out) override;
  // `into`: returns the variables that take a row's values, of which there may be none.
  using IntoVariables = FunctionRef<std::vector<VariableId>(const BoundAnyQuery& bound)>;
  OperationId bind_any(const syntax::Operation& from, const std::vector<std::optional<Type>>* targets,
                       IntoVariables into);
  Bound bind_any_into(const syntax::Operation& from, OperationBinder::Use use,
                      const std::vector<syntax::Target>& targets);
  static void check_change_of_query(const syntax::Operation& change);
  void bind_change_of_query(const syntax::Statement& statement, Statements& out);
  void keep_found(Statements& statements);
  // The routine asks for ROW_COUNT somewhere: each operation of the user's says how many rows it had. Those
  // that constraints add do not.
  void keep_row_count(Statements& statements);
  // Refuses ROW_COUNT beside a statement whose rows it would not count.
  void check_counted() const;
  // A statement of several changes: ROW_COUNT is the sum of what each has counted. Does nothing where the
  // routine does not ask for it.
  void find_row_count(const syntax::Block& body);
  VariableId begin_sum(ir::SourceLocation where, Statements& out);
  void reset_count(ir::SourceLocation where, Statements& out);
  void add_count(VariableId sum, ir::SourceLocation where, Statements& out);
  void end_sum(VariableId sum, ir::SourceLocation where, Statements& out);

  const Catalog& catalog_;
  std::deque<std::string>& strings_;
  ir::Procedure procedure_;
  Names names_;
  OperationBinder operations_;
  ChangeBinder changes_;
  QueryHoister queries_;
  std::vector<Loop> loops_;          // the loops around, outermost first
  std::vector<OpenCursor> cursors_;  // of the blocks around, outermost first
  Routine* routine_ = nullptr;
  const Handler* handler_ = nullptr;
  bool is_tail_ = false;  // nothing of the routine follows the statement
  uint32_t calls_ = 0;
  VariableId row_count_;                         // where ROW_COUNT is asked for
  std::optional<ir::SourceLocation> uncounted_;  // a statement whose rows ROW_COUNT would not count
};

// Why a procedure with an EXCEPTION block is logged by rows.
std::string reason_of_try(const ir::Statement& attempt);
size_t count_placeholders(std::string_view format);

}  // namespace mneme
