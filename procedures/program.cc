#include "procedures/program.h"

#include <xxhash.h>

#include <algorithm>

#include "procedures/ir_printer.h"
#include "procedures/parser.h"
#include "procedures/schema_binder.h"
#include "procedures/source_error.h"
#include "procedures/statement_binder.h"

namespace mneme {

namespace {

void bind_procedure(const syntax::Procedure& procedure, Program& program) {
  if (program.find_procedure(procedure.name.text)) {
    refuse(procedure.name.where,
           "there is a procedure {} already: overloading is not supported; choose another name",
           procedure.name.text);
  }
  const ProcedureId id{static_cast<uint32_t>(program.procedures.size())};
  ProcedureBinder binder(program.catalog, program.strings);
  program.procedures.push_back(binder.bind(procedure, id));
}

}  // namespace

const ir::Procedure* Program::find_procedure(std::string_view name) const {
  const auto found = std::ranges::find(procedures, name, &ir::Procedure::name);
  return found == procedures.end() ? nullptr : &*found;
}

std::unique_ptr<Program> compile_source(std::string_view source) {
  auto program = std::make_unique<Program>();
  program->source = source;
  for (const syntax::Definition& definition : parse_catalog(source)) {
    if (definition.table) bind_table(*definition.table, program->catalog);
    if (definition.index) bind_index(*definition.index, program->catalog);
    if (definition.procedure) bind_procedure(*definition.procedure, *program);
  }
  // The printed program holds all that a log's replay depends on, and neither comments nor layout.
  const std::string meaning = print_program(*program);
  program->hash = XXH3_64bits(meaning.data(), meaning.size());
  return program;
}

Result<std::unique_ptr<Program>> compile(std::string_view source, std::string_view file_name) {
  try {
    return compile_source(source);
  } catch (const SourceError& error) {
    return invalid_argument("{}:{}:{}: {}", file_name, error.where.line, error.where.column, error.message);
  }
}

}  // namespace mneme
