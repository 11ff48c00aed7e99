// COMMENT ON, and what becomes of comments where their objects are renamed or dropped.
#include <algorithm>

#include "procedures/binder/schema_binder.h"
#include "procedures/session/schema_edit.h"

namespace mneme {

namespace {

using syntax::CommentOf;

}  // namespace

std::unique_ptr<Program> SchemaEdit::comment() {
  const Comment comment = checked_comment(*command_.definition->comment);
  const bool is_there =
      std::ranges::any_of(program_.comments, [&](const Comment& each) { return each.is_of_same(comment); });
  if (comment.text.empty() && !is_there) return nullptr;
  auto program = std::make_unique<Program>(program_);
  program->set_comment(comment);
  return program;
}

Comment SchemaEdit::checked_comment(const syntax::Comment& written) const {
  const std::string& name = written.object.text;
  Comment comment{written.of, name, written.part.text, written.text};
  if (written.of == CommentOf::kSchema) {
    if (name != kPublicSchema && !program_.has_schema(name))
      refuse_change(kUndefinedSchema, "schema \"{}\" does not exist", name);
    return comment;
  }
  if (written.of == CommentOf::kFunction || written.of == CommentOf::kProcedure ||
      written.of == CommentOf::kRoutine) {
    comment.of = named_routine(name).is_function ? CommentOf::kFunction : CommentOf::kProcedure;
    return comment;
  }
  check_commented_relation(written);
  if (program_.has_commented(comment)) return comment;
  if (written.of == CommentOf::kConstraint) {
    refuse_change(sqlstate::kUndefinedObject, "constraint \"{}\" for table \"{}\" does not exist",
                  written.part.text, name);
  }
  CHECK(written.of == CommentOf::kColumn);
  refuse_change(sqlstate::kUndefinedColumn, "column \"{}\" of relation \"{}\" does not exist",
                written.part.text, name);
}

void SchemaEdit::check_commented_relation(const syntax::Comment& written) const {
  const std::string& name = written.object.text;
  const TableDefinition* table = program_.catalog.find_table(name);
  const IndexDefinition* index = program_.catalog.find_index(name);
  const bool is_view = program_.find_view(name) != nullptr;
  if (table == nullptr && !is_view && (index == nullptr || index->columns.empty()))
    refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", name);
  const bool is_sequence_of_numbers = table != nullptr && is_sequence(*table);
  const bool is_table = table != nullptr && !is_sequence_of_numbers;
  const auto check = [&](bool is_of_kind, std::string_view kind) {
    if (!is_of_kind) refuse_change(sqlstate::kWrongObject, "\"{}\" is not {}", name, kind);
  };
  if (written.of == CommentOf::kTable) check(is_table, "a table");
  if (written.of == CommentOf::kIndex) check(index != nullptr, "an index");
  if (written.of == CommentOf::kView) check(is_view, "a view");
  if (written.of == CommentOf::kSequence) check(is_sequence_of_numbers, "a sequence");
  if (written.of == CommentOf::kColumn && program_.has_commented({written.of, name, written.part.text, {}}))
    return;
  if (written.of == CommentOf::kColumn && (index != nullptr || is_sequence_of_numbers))
    refuse_change(sqlstate::kWrongObject, "cannot set comment on relation \"{}\"", name);
}

void SchemaEdit::rename_comments(const Program& before, const syntax::Alteration& alteration,
                                 Program& after) {
  using AlterationKind = syntax::Alteration::Kind;
  const std::string& name = alteration.table.text;
  const bool renames_relation = alteration.kind == AlterationKind::kRenameTo;
  const bool renames_column = alteration.kind == AlterationKind::kRenameColumn;
  if (!renames_relation && !renames_column && alteration.kind != AlterationKind::kRenameConstraint) return;
  const std::string& former = renames_relation ? name : alteration.changed.text;
  // A constraint and its index have one name.
  const std::string of_former = renames_relation ? name : beside(name, former);
  const std::string present =
      renames_relation ? alteration.new_name.text : beside(name, alteration.new_name.text);
  const IndexDefinition* index = renames_column ? nullptr : before.catalog.find_index(of_former);
  const std::string of_index = index == nullptr ? "" : before.catalog.table(index->table).name;
  for (size_t i = 0; i < after.comments.size(); ++i) {
    const Comment& comment = after.comments[i];
    const bool is_routine = comment.of == CommentOf::kFunction || comment.of == CommentOf::kProcedure;
    const bool is_of_index =
        index != nullptr && comment.of == CommentOf::kIndex && comment.object == of_former;
    const bool is_of_key = index != nullptr && comment.of == CommentOf::kConstraint &&
                           comment.object == of_index && comment.part == bare_name(of_former);
    const bool is_of_relation = renames_relation && !is_routine && comment.object == former;
    const bool is_of_part = !renames_relation && comment.object == name && comment.part == former &&
                            comment.of == (renames_column ? CommentOf::kColumn : CommentOf::kConstraint);
    // An index goes to another schema with its table.
    const IndexDefinition* moved = renames_relation && comment.of == CommentOf::kIndex
                                       ? before.catalog.find_index(comment.object)
                                       : nullptr;
    if (moved != nullptr && schema_of(name) != schema_of(present) &&
        before.catalog.table(moved->table).name == name) {
      const std::string object = beside(present, bare_name(moved->name));
      after.comments.change(i, [&](Comment& changed) { changed.object = object; });
      continue;
    }
    if (!is_of_index && !is_of_key && !is_of_relation && !is_of_part) continue;
    const bool is_of_its_part = is_of_key || is_of_part;
    after.comments.change(i, [&](Comment& changed) {
      (is_of_its_part ? changed.part : changed.object) = is_of_its_part ? bare_name(present) : present;
    });
  }
}

void SchemaEdit::drop_lost_comments(Program& program) {
  for (size_t i = 0; i < program.comments.size();) {
    if (program.has_commented(program.comments[i])) {
      ++i;
    } else {
      program.comments.erase(i);
    }
  }
}

}  // namespace mneme
