// Command binder: a session's SELECT, INSERT, UPDATE, DELETE or CALL to what the interpreter runs: an
// anonymous procedure, whose parameters are the statement's own, $1, $2 ...
//
// Flow        parse_command -> bind_query or bind_call -> sql_session.h
// Parameters  one whose type is not given takes that of the place where the statement first names it, as in
//             PostgreSQL: the statement is bound once to learn the types, and again with them. A numeric one
//             has so many digits after the point as its type says; for a value of more of them the statement
//             is bound again.
// Invariants  a query is a FOR loop without a body over its operation, which records its rows (recording.h):
//             whatever the operation, its rows are those of `columns`, and without columns only their count
//             means something. An INSERT of several rows is as many loops. a call's arguments are the INOUT
//             parameters, behind the statement's own, of a procedure that assigns them. nothing here asks for
//             an index to be ordered, as the indexes are there already: what reads a range of a hash table
//             gets its rows in no order, and sorts them where one is wanted.
// Errors      as compile() has them: the construct, and what is accepted instead.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/binder/program.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/marked_body.h"
#include "procedures/ir/session_values.h"
#include "procedures/ir/sql_error.h"
#include "procedures/parser/syntax.h"

namespace mneme {

// The column of a table that a column of a result is, and no expression over it.
struct ColumnOrigin {
  TableId table;
  ColumnId column;
};

struct ResultColumn {
  std::string name;
  Type type;
  std::optional<ColumnOrigin> origin{};
};

struct BoundQuery {
  ir::Procedure procedure;          // has no body of its own
  ir::MarkedBody body;              // keeps the rows that it finds
  std::deque<std::string> strings;  // what text constants point into
  std::vector<ResultColumn> columns;
};

struct BoundCall {
  // An array that is an argument: a parameter of the statement, text as in '{1,2}', or so many elements that
  // `procedure` computes; none of them: NULL.
  struct Array {
    std::optional<uint32_t> parameter{};
    std::optional<std::string> text{};
    std::optional<size_t> elements{};
  };

  ProcedureId callee;
  // Has, after the statement's parameters, one INOUT parameter for each of the callee's that is no array, and
  // for each element of an array that it computes.
  ir::Procedure procedure;
  std::deque<std::string> strings;
  std::vector<Array> arrays;  // by the callee's parameters
};

// The block of DO: a procedure without parameters, and without a name that anything else knows.
struct BoundBlock {
  ir::Procedure procedure;
  std::deque<std::string> strings;
};

// What the binding of a statement says of its parameters: the type of each is that of the first place that
// names it.
class LearnedTypes {
 public:
  // `types`: of the parameters, kNull where they are not given.
  explicit LearnedTypes(std::vector<Type>& types)
      : types_(types), places_(types.size()), named_(types.size()) {}

  // A part of an expression, which may be a parameter.
  void look_at(const ir::Expr& part);
  // After the last part. Throws SourceError where a type is still not known. Unless `names_all`, a parameter
  // that no part has named may stay so.
  void finish(const ir::Procedure& procedure, bool names_all = true);

  static bool any_unknown(std::span<const Type> types);

 private:
  std::vector<Type>& types_;
  std::vector<std::optional<ir::SourceLocation>> places_;
  std::vector<char> named_;  // by parameter
};

// `parameters`: the types of the statement's, kNull where they are not given; they are all known afterwards.
// Both throw SourceError.
// `session`: of the client, where there is one.
BoundQuery bind_query(const Program& program, const syntax::Operation& operation,
                      std::vector<Type>& parameters, const SessionValues* session = nullptr);
BoundCall bind_call(const Program& program, const syntax::Command& call, std::vector<Type>& parameters);
std::unique_ptr<BoundBlock> bind_block(const Program& program, const syntax::Command& command);

}  // namespace mneme
