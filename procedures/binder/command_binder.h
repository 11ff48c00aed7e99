// Command binder: a session's SELECT, INSERT, UPDATE, DELETE or CALL to what the interpreter runs: an
// anonymous procedure.
//
// Flow        parse_command -> bind_query or bind_call -> sql_session.h
// Invariants  a query is one FOR loop without a body over its operation, which records its rows
//             (recording.h): whatever the operation, its rows are those of `columns`, and without columns
//             only their count means something. a call's arguments are the INOUT parameters of a procedure
//             that assigns them. nothing here asks for an index to be ordered, as the indexes are there
//             already: what reads a range of a hash table gets its rows in no order, and sorts them where one
//             is wanted.
// Errors      as compile() has them: the construct, and what is accepted instead.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/binder/program.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/marked_body.h"
#include "procedures/ir/sql_error.h"
#include "procedures/parser/syntax.h"

namespace mneme {

struct ResultColumn {
  std::string name;
  Type type;
};

struct BoundQuery {
  ir::Procedure procedure;          // has no body of its own
  ir::MarkedBody body;              // keeps the rows that it finds
  std::deque<std::string> strings;  // what text constants point into
  std::vector<ResultColumn> columns;
};

struct BoundCall {
  ProcedureId callee;
  ir::Procedure procedure;  // has one INOUT parameter for each of the callee's that is no array
  std::deque<std::string> strings;
  // By the callee's parameters. Of an array the text, as in '{1,2}'; nothing: NULL.
  std::vector<std::optional<std::string>> arrays;
};

// Both throw SourceError.
BoundQuery bind_query(const Program& program, const syntax::Operation& operation);
BoundCall bind_call(const Program& program, const syntax::Command& call);

}  // namespace mneme
