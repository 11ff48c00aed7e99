// Program: what a .sql file means: a catalog and its procedures, bound and typed.
//
//     Result<std::unique_ptr<Program>> program = compile(text, "tpcc.sql");
//
// Errors      one sentence: file:line:column, the construct, and what is accepted instead. The first error ends it.
// Threads     constant once made; any thread may read it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/catalog.h"
#include "procedures/ir.h"

namespace mneme {

struct Program {
  Catalog catalog;
  std::vector<ir::Procedure> procedures;
  std::deque<std::string> strings;  // what text constants point into
  std::string source;               // the SQL text, as kept in the data directory
  uint64_t hash = 0;                // of the source's meaning to the log: stamped on each of its files

  const ir::Procedure* find_procedure(std::string_view name) const;
  const ir::Procedure& procedure(ProcedureId id) const { return procedures[id.value]; }
};

Result<std::unique_ptr<Program>> compile(std::string_view source, std::string_view file_name);

// The same, but throws the SourceError.
std::unique_ptr<Program> compile_source(std::string_view source);

}  // namespace mneme
