// Operation binder: one database statement of a procedure to one ir::Operation, with its access paths, its
// order and the columns and variables it touches.
//
// Errors      refuse(): also for statements whose result would depend on chance, as a replayed call must do
//             again what the call did.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/names.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"
#include "procedures/typing/constant_folding.h"

namespace mneme {

// Refuses a value that a statement gives for a column that is GENERATED ALWAYS AS IDENTITY (428C9).
// `gives_identities`: of the two, an identity column may have the value.
void check_not_generated(const Column& column, ir::SourceLocation where, bool gives_identities);

class OperationBinder {
 public:
  // `ordered` receives the indexes that are read in order.
  OperationBinder(const Catalog& catalog, std::deque<std::string>& strings, std::vector<IndexId>& ordered,
                  Names& names, ir::Procedure& procedure)
      : catalog_(catalog),
        strings_(strings),
        ordered_(ordered),
        names_(names),
        procedure_(procedure),
        folder_(strings) {}

  // Appends to the procedure's operations. What its rows are for decides what is asked of their order. kUser:
  // a session's statement, which is never run again, and whose rows need no order but the user's.
  enum class Use { kInto, kForLoop, kPerform, kUser };
  OperationId bind(const syntax::Operation& operation, Use use, const std::vector<syntax::Target>& targets);

  // Returns a condition to evaluate before the operation that was bound last: one that raises, as PostgreSQL
  // does when it plans, or one that names no column, which is evaluated once even if there is no row.
  std::optional<ir::Expr> take_raising();
  // Calls the free function below. A caller that has changed an operation's outputs calls this afterwards.
  void note_names(ir::Operation& operation) const;
  // Returns the names of the outputs of the operation that was bound last, "" where PostgreSQL has none.
  std::vector<std::string> output_names() const;

 private:
  void bind_select(const syntax::Operation& from, Use use, ir::Operation& to);
  void bind_select_of_no_table(const syntax::Operation& from, ir::Operation& to);
  void bind_insert(const syntax::Operation& from, ir::Operation& to);
  void bind_update(const syntax::Operation& from, ir::Operation& to);
  void bind_delete(const syntax::Operation& from, ir::Operation& to);
  void bind_columns_of_insert(const syntax::Operation& from, const TableDefinition& table, ir::Operation& to);
  ir::Expr bind_initial(const Column& column, ir::SourceLocation where);

  void add_source(const syntax::TableReference& reference);
  std::vector<ir::Expr> bind_conditions(const syntax::Operation& from);
  void bind_items(const std::vector<syntax::SelectItem>& items, ExpressionBinder& binder);
  void bind_order(const syntax::Operation& from, ExpressionBinder& binder, ir::Operation& to);
  void bind_groups(const syntax::Operation& from, ExpressionBinder& binder, ir::Operation& to);
  // Refuses a column that has no one value in a group.
  void check_grouped(const ir::Expr& expr, const ir::Operation& to) const;
  void fold_constants(ir::Operation& to);
  void set_outputs(const std::vector<syntax::Target>& targets, bool is_loop, ir::Operation& to);
  void keep_outputs_for_user(ir::Operation& to);
  VariableId writable(const syntax::Target& target) const;
  void finish(ir::Operation& to);

  const Catalog& catalog_;
  std::deque<std::string>& strings_;
  std::vector<IndexId>& ordered_;
  Names& names_;
  ir::Procedure& procedure_;
  ConstantFolder folder_;

  // About the statement being bound.
  std::optional<ir::Expr> gate_;
  std::vector<RowSource> sources_;
  std::vector<TableId> tables_;
  struct Item {
    std::string name;  // "": PostgreSQL's ?column?
    ir::Expr expr;
  };
  std::vector<Item> items_;
};

// Notes in the operation which columns and variables its expressions read, and which variables it sets.
void note_names(const Catalog& catalog, ir::Operation& operation);

}  // namespace mneme
