#include "procedures/session/catalog_change.h"

#include "procedures/session/schema_edit.h"

namespace mneme {

namespace {

using syntax::Definition;
using syntax::DefinitionKind;

DefinitionKind kind_of(const Definition& definition) {
  if (definition.table) return DefinitionKind::kTable;
  if (definition.sequence) return DefinitionKind::kSequence;
  if (definition.view) return DefinitionKind::kView;
  if (definition.enum_change) return DefinitionKind::kType;
  if (definition.schema_change) return DefinitionKind::kSchema;
  return definition.index ? DefinitionKind::kIndex : DefinitionKind::kProcedure;
}

}  // namespace

ChangedProgram changed_program(const Program& program, const syntax::Command& command) {
  CHECK(command.changes_schema());
  ChangedProgram changed;
  try {
    SchemaEdit change(program, command);
    changed.program = change.make();
    changed.told.tag = tag_of_change(command);
    changed.told.notice = change.notice();
  } catch (const Refusal& refusal) {
    changed.told = refusal.failure;
  }
  return changed;
}

std::string tag_of_change(const syntax::Command& command) {
  if (command.kind == syntax::Command::Kind::kTruncate) return "TRUNCATE TABLE";
  if (command.kind == syntax::Command::Kind::kComment) return "COMMENT";
  const bool creates = command.kind == syntax::Command::Kind::kCreate;
  const bool alters = command.kind == syntax::Command::Kind::kAlter;
  const bool is_function = creates
                               ? command.definition->procedure && command.definition->procedure->is_function
                               : command.routine == syntax::RoutineKind::kFunction;
  std::string tag = creates ? "CREATE " : alters ? "ALTER " : "DROP ";
  switch (creates ? kind_of(*command.definition) : alters ? command.altered : command.dropped) {
    case DefinitionKind::kTable:
      return tag + "TABLE";
    case DefinitionKind::kIndex:
      return tag + "INDEX";
    case DefinitionKind::kProcedure:
      if (!creates && command.routine == syntax::RoutineKind::kAny) return tag + "ROUTINE";
      return tag + (is_function ? "FUNCTION" : "PROCEDURE");
    case DefinitionKind::kSequence:
      return tag + "SEQUENCE";
    case DefinitionKind::kView:
      return tag + "VIEW";
    case DefinitionKind::kType:
      return tag + "TYPE";
    case DefinitionKind::kSchema:
      return tag + "SCHEMA";
  }
  return tag;
}

}  // namespace mneme
