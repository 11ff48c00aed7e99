// CREATE and DROP of procedures and functions.
#include <algorithm>

#include "procedures/binder/expression_binder.h"
#include "procedures/binder/names.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/session/schema_edit.h"
#include "procedures/typing/conversion.h"

namespace mneme {

std::unique_ptr<Program> SchemaEdit::create_routine(const syntax::Definition& made) {
  const std::string& name = made.procedure->name.text;
  const ir::Procedure* former = program_.find_procedure(name);
  std::unique_ptr<Program> program = former == nullptr ? with_one_more(made) : replace(*former, made);
  const ir::Procedure& present = *program->find_procedure(name);
  const bool is_of_choice =
      present.by_chance.find("EXCEPTION") != std::string::npos || present.has_any_query() || present.draws;
  if (present.is_logged_by_rows() && is_of_choice) {
    notify(fmt::format("calls of {} are logged by the rows that they change: {}", present.name,
                       present.by_chance));
  }
  return program;
}

std::unique_ptr<Program> SchemaEdit::replace(const ir::Procedure& former, const syntax::Definition& made) {
  if (!made.procedure->replaces) {
    refuse_change(sqlstate_of_catalog::kDuplicateProcedure, "{} \"{}\" already exists",
                  former.is_function ? "function" : "procedure", former.name);
  }
  if (former.is_function != made.procedure->is_function) {
    refuse_change(sqlstate::kWrongObject, "cannot change routine kind: \"{}\" is a {}", former.name,
                  former.is_function ? "function" : "procedure");
  }
  SourceText one;
  one.add(made);
  Pieces pieces = pieces_of(program_.source);
  *find(pieces, Kind::kProcedure, former.name) = one.pieces().shared(0);
  std::vector<char> binds = callers_of(former.name);
  binds[former.id.value] = 1;
  std::unique_ptr<Program> program = changed(program_.catalog, std::move(pieces), binds);
  check_parameters(*program);
  return program;
}

// Callers, and what is written in a log before, know the procedure by them.
void SchemaEdit::check_parameters(const Program& changed) const {
  const std::string& name = command_.definition->procedure->name.text;
  const ir::Procedure& before = *program_.find_procedure(name);
  const ir::Procedure& after = *changed.find_procedure(name);
  const auto same = [&](size_t i) {
    const ir::Variable& a = before.variables[before.parameters[i].variable.value];
    const ir::Variable& b = after.variables[after.parameters[i].variable.value];
    return a.name == b.name && a.type == b.type && before.parameters[i].inout == after.parameters[i].inout &&
           before.parameters[i].out == after.parameters[i].out;
  };
  bool all_same = before.parameters.size() == after.parameters.size();
  for (size_t i = 0; all_same && i < before.parameters.size(); ++i) all_same = same(i);
  if (all_same) return;
  refuse_change(sqlstate_of_catalog::kOtherParameters,
                "cannot change the parameters or the result of existing {} {}: use DROP {} {} first",
                before.is_function ? "function" : "procedure", name,
                before.is_function ? "FUNCTION" : "PROCEDURE", name);
}

const ir::Procedure& SchemaEdit::named_routine(const std::string& name) const {
  const ir::Procedure* procedure = program_.find_procedure(name);
  if (procedure == nullptr) {
    refuse_change(sqlstate::kUndefinedFunction, "could not find a {} named \"{}\"", routine_word(), name);
  }
  if (command_.routine != syntax::RoutineKind::kAny &&
      procedure->is_function != (command_.routine == syntax::RoutineKind::kFunction)) {
    const bool names_types = !command_.parameter_types.empty() && command_.parameter_types[0];
    refuse_change(names_types ? sqlstate::kWrongObject : sqlstate::kUndefinedFunction, "{} is not a {}", name,
                  routine_word());
  }
  if (!has_written_parameters(*procedure)) {
    refuse_change(sqlstate::kUndefinedFunction, "{} {} with these parameters does not exist", routine_word(),
                  name);
  }
  return *procedure;
}

// The new name stands in the text in the former one's place. What calls the routine would have to be changed
// with it, where PostgreSQL lets it fail.
std::unique_ptr<Program> SchemaEdit::rename_routine(const syntax::Alteration& alteration) const {
  const ir::Procedure& former = named_routine(alteration.table.text);
  const std::string& name = alteration.new_name.text;
  if (is_own_function(name) || program_.find_procedure(name) != nullptr) {
    refuse_change(sqlstate_of_catalog::kDuplicateProcedure, "{} \"{}\" already exists",
                  former.is_function ? "function" : "procedure", name);
  }
  const std::vector<char> callers = callers_of(former.name);
  if (const auto caller = std::ranges::find(callers, 1); caller != callers.end()) {
    refuse_change(sqlstate::kNotSupported,
                  "cannot rename {}, as {} calls it, and has its statements: drop or replace that first",
                  former.name, program_.procedures[static_cast<size_t>(caller - callers.begin())].name);
  }
  Pieces pieces = pieces_of(program_.source);
  const auto piece = find(pieces, Kind::kProcedure, former.name);
  std::string text = (*piece)->text;
  const ir::SourceLocation where = parse(text).front().procedure->name.where;
  size_t at = 0;
  for (uint32_t line = 1; line < where.line; ++line) at = text.find('\n', at) + 1;
  at += where.column - 1;
  size_t end = end_of_written_name(text, at);
  const size_t next = text.find_first_not_of(" \t\n\v\f\r", end);
  // Its schema may stand before it.
  if (next != text.npos && text[next] == '.')
    end = end_of_written_name(text, text.find_first_not_of(" \t\n\v\f\r", next + 1));
  text.replace(at, end - at, written_name(name));
  SourceText one;
  one.add(parse(text).front());
  *piece = one.pieces().shared(0);
  std::vector<char> binds(program_.procedures.size());
  binds[former.id.value] = 1;
  std::unique_ptr<Program> program = changed(program_.catalog, std::move(pieces), binds);
  for (size_t i = 0; i < program->comments.size(); ++i) {
    const Comment& comment = program->comments[i];
    const bool is_routine =
        comment.of == syntax::CommentOf::kFunction || comment.of == syntax::CommentOf::kProcedure;
    if (is_routine && comment.object == former.name)
      program->comments.change(i, [&](Comment& changed) { changed.object = name; });
  }
  return program;
}

std::unique_ptr<Program> SchemaEdit::drop_routine(const std::string& name) const {
  const ir::Procedure& procedure = named_routine(name);
  const std::vector<char> callers = callers_of(name);
  if (const auto caller = std::ranges::find(callers, 1); caller != callers.end()) {
    refuse_change(sqlstate::kNotSupported,
                  "cannot drop {} {}, as {} calls it, and has its statements: drop or replace that first",
                  routine_word(), name,
                  program_.procedures[static_cast<size_t>(caller - callers.begin())].name);
  }
  Pieces pieces = pieces_of(program_.source);
  pieces.erase(find(pieces, Kind::kProcedure, name));
  return changed(program_.catalog, std::move(pieces), std::vector<char>(program_.procedures.size()),
                 procedure.id);
}

std::string_view SchemaEdit::routine_word() const {
  switch (command_.routine) {
    case syntax::RoutineKind::kFunction:
      return "function";
    case syntax::RoutineKind::kProcedure:
      return "procedure";
    case syntax::RoutineKind::kAny:
      break;
  }
  return "routine";
}

// Whether the types behind the only name that DROP writes, if any, are those of the parameters.
bool SchemaEdit::has_written_parameters(const ir::Procedure& procedure) const {
  if (command_.parameter_types.empty() || !command_.parameter_types[0]) return true;
  const std::vector<syntax::TypeName>& written = *command_.parameter_types[0];
  std::vector<Type> taken;
  std::vector<Type> all;
  for (const ir::Parameter& parameter : procedure.parameters) {
    const bool is_result = procedure.has_result && &parameter == &procedure.parameters.back();
    const Type& type = procedure.variables[parameter.variable.value].type;
    if (!parameter.out) taken.push_back(type);
    if (!is_result) all.push_back(type);
  }
  const auto same = [&](const syntax::TypeName& name, const Type& type) {
    syntax::TypeName plain = name;
    if (plain.base == "numeric" || plain.base == "decimal") plain.modifiers = {1};
    const Type other = read_plain_type(plain, program_.catalog);
    return is_same_kind(other, type) && other.is_array == type.is_array && other.is_text == type.is_text;
  };
  try {
    return std::ranges::equal(written, taken, same) || std::ranges::equal(written, all, same);
  } catch (const SourceError& error) {
    throw Refusal{failure_of(error)};
  }
}

}  // namespace mneme
