#include "procedures/program.h"

#include <xxhash.h>

#include <algorithm>

#include "base/deep_stack.h"
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
  auto bound = std::make_shared<BoundProcedure>();
  std::vector<IndexId> ordered;
  ProcedureBinder binder(program.catalog, bound->strings, ordered);
  bound->procedure = binder.bind(procedure, id);
  for (const IndexId index : ordered) program.catalog.mark_ordered(index);
  bound->meaning = print_procedure(program, bound->procedure);
  program.procedures.push_back(std::move(bound));
}

void bind_definition(const syntax::Definition& definition, Program& program) {
  if (definition.table) bind_table(*definition.table, program.catalog);
  if (definition.index) bind_index(*definition.index, program.catalog);
  if (definition.procedure) bind_procedure(*definition.procedure, program);
}

// Of print_program(): it holds all that a log's replay depends on, and neither comments nor layout.
uint64_t hash_of(const Program& program) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  CHECK(state != nullptr && XXH3_64bits_reset(state.get()) == XXH_OK);
  const auto add = [&](const std::string& text) {
    CHECK(XXH3_64bits_update(state.get(), text.data(), text.size()) == XXH_OK);
  };
  add(print_catalog(program.catalog));
  for (size_t i = 0; i < program.procedures.size(); ++i) add(program.procedures.bound(i).meaning);
  return XXH3_64bits_digest(state.get());
}

std::unique_ptr<Program> compile_deep(std::string_view source) {
  auto program = std::make_unique<Program>();
  program->source.add(std::string(source));
  for (const syntax::Definition& definition : parse_catalog(source)) bind_definition(definition, *program);
  program->hash = hash_of(*program);
  return program;
}

std::unique_ptr<Program> with_definition_deep(const Program& program, std::string_view text) {
  CHECK(program.takes_definitions);
  auto next = std::make_unique<Program>(program);
  try {
    const syntax::File definitions = parse(text, next->source.lines());
    CHECK(definitions.size() == 1);
    bind_definition(definitions[0], *next);
  } catch (SourceError& error) {
    error.where.line -= static_cast<uint32_t>(next->source.lines());
    throw;
  }
  next->source.add(std::string(text) + ";\n\n");
  next->hash = hash_of(*next);
  return next;
}

}  // namespace

void SourceText::add(std::string piece) {
  lines_ += static_cast<size_t>(std::ranges::count(piece, '\n'));
  pieces_.push_back(std::make_shared<const std::string>(std::move(piece)));
}

std::string SourceText::text() const {
  std::string text;
  for (const auto& piece : pieces_) text += *piece;
  return text;
}

const ir::Procedure* Program::find_procedure(std::string_view name) const {
  const auto found = std::ranges::find(procedures, name, &ir::Procedure::name);
  return found == procedures.end() ? nullptr : &*found;
}

std::unique_ptr<Program> compile_source(std::string_view source) {
  return on_deep_stack([&] { return compile_deep(source); });
}

std::unique_ptr<Program> with_definition(const Program& program, std::string_view definition) {
  return on_deep_stack([&] { return with_definition_deep(program, definition); });
}

Result<std::unique_ptr<Program>> compile(std::string_view source, std::string_view file_name) {
  try {
    return compile_source(source);
  } catch (const SourceError& error) {
    return invalid_argument("{}:{}:{}: {}", file_name, error.where.line, error.where.column, error.message);
  }
}

}  // namespace mneme
