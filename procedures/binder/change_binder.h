// Change binder: an INSERT, UPDATE or DELETE to statements: the operation itself, and around it what ON
// CONFLICT, CHECK and FOREIGN KEY ask for.
//
// Flow        syntax::Operation -> operations, IF, RAISE, FOR over the operation's rows -> the body
// Invariants  what constraints ask for is made of ordinary operations: analysis, replay and machine code know
//             nothing of constraints, and a replayed call looks at the rows that the call looked at. A
//             foreign key is looked at once all rows of its statement are changed, as PostgreSQL does; where
//             a key that others refer to changes, before.
//             An INSERT's values are evaluated once, into variables, before a CHECK, ON CONFLICT or foreign
//             key looks at them.
// Names       no name of a user's holds a blank: "new a" is the variable that holds the new row's column a,
//             "old a" the one that holds the former row's.
// Errors      refuse(), with PostgreSQL's SQLSTATEs.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/binder/names.h"
#include "procedures/binder/operation_binder.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme {

class ChangeBinder {
 public:
  using Statements = std::vector<ir::Statement>;
  // Binds the operation whose rows, or whose number of rows, is the user's, and returns the statement that
  // performs it: kOperation or kForQuery. Appends what is to come before it to `out`.
  using Perform = std::function<ir::Statement(const syntax::Operation&, Statements& out)>;

  // `keeps_found`: the statements are a procedure's, whose FOUND says whether the operation changed rows.
  ChangeBinder(const Catalog& catalog, std::deque<std::string>& strings, Names& names,
               OperationBinder& operations, ir::Procedure& procedure, bool keeps_found)
      : catalog_(catalog),
        strings_(strings),
        names_(names),
        operations_(operations),
        procedure_(procedure),
        keeps_found_(keeps_found) {}

  // An INSERT in `change` has one row. Where its statement has more, `references` gets what the row's foreign
  // keys ask for, to come behind all of them; but not with ON CONFLICT, by which the row may stay out.
  void bind(const syntax::Operation& change, const Perform& perform, Statements& out,
            Statements* references = nullptr);

 private:
  struct Reference {
    const TableDefinition* table;
    const ForeignKey* key;
  };
  using Columns = std::vector<ColumnId>;

  void bind_insert(const TableDefinition& table, const syntax::Operation& change, const Perform& perform,
                   Statements& out, Statements* references);
  void bind_update(const TableDefinition& table, const syntax::Operation& change, const Perform& perform,
                   Statements& out);
  void bind_delete(const TableDefinition& table, const syntax::Operation& change, const Perform& perform,
                   Statements& out);

  // What an INSERT may meet: the columns of a unique key, and of which rows it is one.
  struct Arbiter {
    Columns columns;
    const IndexDefinition* partial = nullptr;
  };
  void generate(const TableDefinition& table, const Column& column, ir::SourceLocation where,
                Statements& out);
  bool has_rules(const TableDefinition& table) const;
  // A condition over the row's columns as one over its variables.
  ir::Expr over_new_row(const TableDefinition& table, const std::string& condition, ir::SourceLocation where);
  void expect_unique(const TableDefinition& table, const IndexDefinition& index, bool is_there,
                     ir::SourceLocation where, Statements& out);
  Columns columns_of_rule(const TableDefinition& table, const IndexDefinition& index) const;
  syntax::Operation rows_in_part(const TableDefinition& table, const IndexDefinition& index, bool without_row,
                                 ir::SourceLocation where) const;
  ir::Expr probe_arbiter(const TableDefinition& table, const Arbiter& arbiter, ir::SourceLocation where,
                         Statements& out);
  void hoist_values(const TableDefinition& table, OperationId insert, bool looks_for_nulls, Statements& out);
  std::vector<Arbiter> find_arbiters(const TableDefinition& table, const syntax::OnConflict& conflict) const;
  syntax::Operation update_of_conflict(const TableDefinition& table, const syntax::Operation& insert,
                                       const Arbiter& arbiter) const;
  void check(const TableDefinition& table, const CheckConstraint& check, ir::SourceLocation where,
             Statements& out);
  void expect_referenced(const TableDefinition& table, const ForeignKey& key, ir::SourceLocation where,
                         Statements& out);
  void expect_no_reference(const TableDefinition& table, const Reference& reference, ir::SourceLocation where,
                           Statements& out);
  void follow_delete(const TableDefinition& table, const Reference& reference, ir::SourceLocation where,
                     Statements& out);
  void follow_key_changes(const TableDefinition& table, const syntax::Operation& change,
                          const std::vector<Reference>& references, Statements& out);
  void follow_key_change(const TableDefinition& table, const Reference& reference, VariableId seen,
                         ir::SourceLocation where, Statements& out);
  std::vector<Reference> references_to(const TableDefinition& table, const Columns* changed) const;

  // Adds the columns of the operation's rows to what the statement finds, under `prefix`, and makes it a
  // loop.
  void keep_columns(const TableDefinition& table, std::string_view prefix, const Columns& columns,
                    ir::Statement& statement, Statements& out);
  // Appends a look-up of a row with these values. Returns the variable that says whether there is one.
  VariableId probe(const TableDefinition& table, const Columns& columns,
                   const std::vector<std::string>& variables, ir::SourceLocation where, Statements& out);
  VariableId probe(const syntax::Operation& rows, Statements& out);
  void perform_unseen(const syntax::Operation& change, Statements& out);
  syntax::Operation rows_of(ir::OperationKind kind, const TableDefinition& table, const Columns& columns,
                            const std::vector<std::string>& variables, ir::SourceLocation where) const;
  static std::string new_name(const Column& column);
  static std::string old_name(const Column& column);
  static std::vector<std::string> names_of(const TableDefinition& table, const Columns& columns,
                                           std::string (*name)(const Column&));
  static bool shares(const Columns& a, const Columns& b);
  // Returns the expression of ON CONFLICT DO UPDATE in which EXCLUDED's columns are the new row's variables.
  // A column without its table is ambiguous there, as in PostgreSQL.
  static syntax::Expr with_excluded(syntax::Expr expr, const TableDefinition& table);
  // Gives the RAISE in `choice` PostgreSQL's detail of a key, or of a row: `before`, the variables' values,
  // `behind`.
  void add_detail(ir::Statement& choice, const std::string& before, const std::vector<std::string>& variables,
                  const std::string& behind, bool shows_nulls);
  static std::vector<std::string> new_names(const TableDefinition& table);
  static std::string listed(const TableDefinition& table, const Columns& columns);
  VariableId declare(const std::string& name, const Type& type, ir::SourceLocation where);
  ir::Expr variable(VariableId id, ir::SourceLocation where) const;
  VariableId variable_named(const std::string& name) const;

  const Catalog& catalog_;
  std::deque<std::string>& strings_;
  Names& names_;
  OperationBinder& operations_;
  ir::Procedure& procedure_;
  const bool keeps_found_;
};

// Returns the index that INSERT ... ON CONFLICT DO UPDATE means, and its columns.
const IndexDefinition& index_of_conflict(const Catalog& catalog, const TableDefinition& table,
                                         const syntax::OnConflict& conflict);
std::vector<ColumnId> columns_of_conflict(const Catalog& catalog, const TableDefinition& table,
                                          const syntax::OnConflict& conflict);

}  // namespace mneme
