// IR printer: a bound program as text, for people (mneme slice, inspect), for golden tests, and for
// Program::hash.
//
// Form        one line a statement; an operation adds indented lines for what it reads and writes. Variables
//             are printed by name, with #id where a procedure has several of that name. Nothing depends on
//             layout or comments.
// Invariants  two programs print alike only if they mean the same to the log: a change of the form changes
//             every Program::hash, so old data directories are no longer recognized.
#pragma once

#include <span>
#include <string>

#include "procedures/binder/program.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/marked_body.h"

namespace mneme {

std::string print_catalog(const Catalog& catalog);
std::string print_procedure(const Catalog& catalog, const ir::Procedure& procedure);

// Statements as they are marked: the body of a procedure or of a slice of it. `indent`: of the first level,
// in blanks.
std::string print_body(const Program& program, const ir::Procedure& procedure, ir::BodyView body,
                       size_t indent = 0);

std::string print_operation(const Program& program, const ir::Procedure& procedure,
                            const ir::Operation& operation, size_t indent = 0);
std::string print_expr(const Program& program, const ir::Procedure& procedure, const ir::Expr& expr,
                       const ir::Operation* operation = nullptr);

std::string print_program(const Program& program);

}  // namespace mneme
