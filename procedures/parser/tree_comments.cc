// COMMENT ON, in a file and in a session.
#include "procedures/ir/source_error.h"
#include "procedures/parser/definition_reader.h"

namespace mneme {

namespace {

using Of = syntax::CommentOf;

Of commented_kind(MnemeParser::CommentedContext* context) {
  if (context->SCHEMA()) return Of::kSchema;
  if (context->TABLE()) return Of::kTable;
  if (context->INDEX()) return Of::kIndex;
  if (context->SEQUENCE()) return Of::kSequence;
  if (context->COLUMN()) return Of::kColumn;
  if (context->CONSTRAINT()) return Of::kConstraint;
  if (context->FUNCTION()) return Of::kFunction;
  if (context->PROCEDURE()) return Of::kProcedure;
  return context->ROUTINE() ? Of::kRoutine : Of::kView;
}

// table.column, or schema.table.column.
void read_commented_column(MnemeParser::CommentedContext* context, syntax::Comment& comment) {
  const auto names = context->name();
  if (names.size() == 1) refuse(location(context), "column name must be qualified");
  comment.part = read_name(names.back());
  comment.object = read_qualified({names.begin(), names.end() - 1});
}

}  // namespace

syntax::Definition DefinitionReader::commented(MnemeParser::CommentContext* context) const {
  auto* commented = context->commented();
  if (commented->IDENTIFIER()) {
    refuse_as(
        sqlstate::kNotSupported, location(commented),
        "COMMENT ON {}{} is not supported: write it of a schema, a table, a column, an index, a view, a "
        "sequence, a constraint, a function or a procedure",
        commented->IDENTIFIER()->getText(), commented->VIEW() ? " VIEW" : "");
  }
  syntax::Definition definition;
  syntax::Comment& comment = definition.comment.emplace();
  comment.of = commented_kind(commented);
  if (comment.of == Of::kSchema) {
    comment.object = read_name(commented->name(0));
  } else if (comment.of == Of::kColumn) {
    read_commented_column(commented, comment);
  } else {
    comment.object = read_relation(commented->relation());
    if (comment.of == Of::kConstraint) comment.part = read_name(commented->name(0));
  }
  if (context->STRING()) comment.text = read_string(context->STRING());
  if (context->ESCAPED_STRING()) comment.text = read_escaped_string(context->ESCAPED_STRING());
  definition.text = source_of(context->getStart(), context->getStop());
  return definition;
}

void DefinitionReader::read_comment(MnemeParser::CommentContext* context, syntax::Command& command) const {
  command.kind = syntax::Command::Kind::kComment;
  command.definition = commented(context);
  const syntax::Comment& comment = *command.definition->comment;
  command.names = {comment.object};
  command.routine = comment.of == Of::kFunction    ? syntax::RoutineKind::kFunction
                    : comment.of == Of::kProcedure ? syntax::RoutineKind::kProcedure
                                                   : syntax::RoutineKind::kAny;
  command.parameter_types.emplace_back();
  if (auto* types = context->commented()->parameterTypes())
    command.parameter_types.back() = read_parameter_types(types);
}

}  // namespace mneme
