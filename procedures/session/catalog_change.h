// Catalog change: the program that follows from another by one CREATE or DROP.
//
// Flow        a session's statement, or a schema record of the log -> changed_program() ->
//             recovery/database/schema_change.h
// Invariants  the same statement on equal programs gives equal programs, so that replay follows the run. Ids
//             of what stays keep their order: what is created comes last among tables and indexes, or among
//             procedures; what is replaced keeps its place. So ids change only by DROP. the new program's
//             source is a catalog.sql by itself: the definitions as they were written, without the comments
//             between them.
// Cost        a change compiles what it changes: the definition that it brings, and for an index the
//             procedures that use its table. Other procedures are the same objects, unless numbers or lines
//             of theirs have changed: then they are copied (renumbering.h). The first change of a program
//             that was read from a file compiles the whole file once more.
// Errors      in PostgreSQL's words and codes where it refuses the same; a table or index that a procedure
//             needs is refused, too, which PostgreSQL would find out when the procedure is called.
#pragma once

#include <memory>

#include "procedures/binder/program.h"
#include "procedures/parser/syntax.h"
#include "procedures/session/sql_session.h"

namespace mneme {

struct ChangedProgram {
  std::unique_ptr<Program> program;  // none: it was refused, or there is nothing to change
  // Where there is no program: why, as a failure; or the success of a change that changes nothing, as CREATE
  // TABLE IF NOT EXISTS of a table that there is. Where there is one: its notice.
  StatementResult told;
};

// `command`: a change of the schema.
ChangedProgram changed_program(const Program& program, const syntax::Command& command);

// Returns the tag that PostgreSQL prints after the command: CREATE TABLE, DROP INDEX, ...
std::string tag_of_change(const syntax::Command& command);

}  // namespace mneme
