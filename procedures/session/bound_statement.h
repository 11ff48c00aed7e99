// BoundStatement: a session's SELECT, INSERT, UPDATE, DELETE, CALL or DO, bound to a program once and run as
// often as one likes, each time with other values for its parameters $1, $2 ...
//
// Flow        parse_command -> BoundStatement -> SqlSession::execute()
// Invariants  it refers to the program that it was bound to, and is of no use once the schema has changed.
//             every parameter's type is known.
// Threads     run by one session at a time, as a numeric parameter may have to be given more digits
//             (fit_digits); by any of the database's sessions.
// Errors      the constructor and fit_digits() throw SourceError.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "procedures/binder/command_binder.h"
#include "procedures/binder/program.h"
#include "procedures/catalog/system_catalog.h"
#include "procedures/interpreter/call.h"
#include "procedures/parser/syntax.h"
#include "procedures/query/bound_change.h"
#include "procedures/query/bound_select.h"
#include "procedures/query/bound_with.h"

namespace mneme {

class BoundStatement {
 public:
  // `command`: an operation, a CALL or a DO. `given`: the types of its first parameters; kNull where the
  // context is to decide. `session`: of the client.
  BoundStatement(const Program& program, std::shared_ptr<const syntax::Command> command,
                 std::span<const Type> given = {}, std::shared_ptr<const SessionValues> session = nullptr);

  const syntax::Command& command() const { return *command_; }
  std::span<const Type> parameters() const { return parameters_; }
  // Returns the columns of the rows that it gives; a statement that gives only a count has none.
  std::span<const ResultColumn> columns() const { return columns_; }
  // An INSERT into a table that refers to itself.
  bool refers_to_itself() const { return refers_to_itself_; }
  // SELECT FROM t gives rows without columns.
  bool gives_rows() const { return !columns_.empty() || (select_ && !command_->operation->merges); }
  // Returns whether it is an operation that changes nothing.
  bool is_read() const {
    return command_->operation && command_->operation->kind == ir::OperationKind::kSelect &&
           !command_->operation->for_update && !call_ && !with_ && !(select_ && select_->queries.locks_rows);
  }

  // Returns whether it looks at rows of the database's tables, or may.
  bool touches_rows() const {
    if (select_) return !select_->queries.tables.empty() || with_;
    return !query_ || !query_->procedure.operations[0].access.empty();
  }

  // Returns whether it is a query of a form that procedures lack, over the database's rows or those that
  // functions make, or calls a procedure that has one.
  bool may_take_long() const {
    return change_ != nullptr || block_ != nullptr || with_ != nullptr || calls_any_query_ ||
           (select_ && (!select_->queries.tables.empty() || select_->queries.makes_rows));
  }

  // One of the five is there; the others return nullptr.
  const BoundQuery* query() const { return query_ ? &*query_ : nullptr; }
  const BoundSelect* select() const { return select_.get(); }
  const BoundChange* change() const { return change_.get(); }
  // What changes rows in WITH, beside a select() or a change(); else nullptr.
  const BoundWith* with() const { return with_.get(); }
  // The tables that describe the database, of the program that it was bound to.
  const SystemCatalog* system() const { return system_.get(); }
  const BoundCall* call() const { return call_ ? &*call_ : nullptr; }
  const BoundBlock* block() const { return block_.get(); }

  // Binds again where a number has more digits after the point than its parameter's type, or fewer and the
  // statement shows how many: `scales` are the values' by parameter, 0 for what is no numeric.
  void fit_digits(const Program& program, std::span<const uint8_t> scales);

 private:
  bool shows_digits() const;
  void bind(const Program& program);
  void bind_query_of_any_form(const Program& program);
  void bind_plain_or_select(const Program& program, const std::vector<Type>& given);
  static std::optional<syntax::Command> function_call(const Program& program, const syntax::Query& query,
                                                      bool& is_expression, std::string& column);
  void bind_function_call(const Program& program, const syntax::Command& call, std::string column);
  void bind_change_of_any_form(const Program& program);
  void bind_with_changes(const Program& program);

  std::shared_ptr<const syntax::Command> command_;
  std::shared_ptr<const SessionValues> session_;
  std::vector<Type> parameters_;
  std::vector<ResultColumn> columns_;
  std::optional<BoundQuery> query_;
  std::unique_ptr<SystemCatalog> system_;
  std::optional<syntax::Query> shown_;  // the query, where it is not the statement's own
  std::unique_ptr<BoundSelect> select_;
  std::unique_ptr<BoundChange> change_;
  std::unique_ptr<BoundWith> with_;
  std::optional<BoundCall> call_;
  bool calls_any_query_ = false;
  bool refers_to_itself_ = false;
  std::unique_ptr<BoundBlock> block_;
};

}  // namespace mneme
