#include "procedures/binder/program.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "base/deep_stack.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/ir_printer.h"
#include "procedures/binder/schema_binder.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/typing/enum_binder.h"

namespace mneme {

namespace {

class FoundRoutines final : public Routines {
 public:
  explicit FoundRoutines(const FindRoutine& find) : find_(find) {}
  const syntax::Procedure* find_routine(const std::string& name) const override { return find_(name); }

 private:
  const FindRoutine& find_;
};

std::shared_ptr<BoundProcedure> bind_procedure(const std::shared_ptr<const syntax::Procedure>& procedure,
                                               const Catalog& catalog, ProcedureId id,
                                               const FindRoutine& find) {
  if (procedure->is_function && is_own_function(procedure->name.text)) {
    refuse_as(sqlstate::kNotSupported, procedure->name.where,
              "{}() is a function of the database itself; choose another name", procedure->name.text);
  }
  auto bound = std::make_shared<BoundProcedure>();
  const FoundRoutines routines(find);
  ProcedureBinder binder(catalog, *bound->strings, bound->ordered, &routines);
  bound->procedure = binder.bind(*procedure, id);
  bound->definition = procedure;
  bound->called = binder.called();
  bound->meaning = print_procedure(catalog, bound->procedure);
  return bound;
}

void bind_schema(const syntax::SchemaChange& change, Program& program) {
  const std::string& name = change.name.text;
  const bool is_there = program.has_schema(name);
  if (change.drops) {
    std::erase(program.schemas, name);
  } else if (is_there || name == kPublicSchema || is_system_schema(name)) {
    if (change.if_not_exists) return;
    refuse_as("42P06", change.name.where, "schema \"{}\" already exists", name);
  } else {
    program.schemas.push_back(name);
  }
}

// Refuses what lies in a schema that there is not.
void check_schema(const syntax::Definition& definition, const Program& program) {
  const syntax::Name& name = definition.name();
  const std::string_view schema = schema_of(name.text);
  if (schema == kPublicSchema || program.has_schema(schema)) return;
  refuse_as("3F000", name.where, "schema \"{}\" does not exist", schema);
}

void bind_definition(const syntax::Definition& definition, Program& program) {
  check_schema(definition, program);
  if (definition.if_not_exists() && program.catalog.has_relation(definition.name().text)) return;
  if (definition.table) bind_table(*definition.table, program.catalog);
  if (definition.index) bind_index(*definition.index, program.catalog);
  if (definition.alteration) bind_alteration(*definition.alteration, program.catalog);
  if (definition.enum_change) {
    if (definition.enum_change->kind != syntax::EnumChange::Kind::kCreate && !program.procedures.empty()) {
      refuse_as(sqlstate::kNotSupported, definition.enum_change->name.where,
                "a file changes the type {} before it creates procedures", definition.enum_change->name.text);
    }
    bind_enum(*definition.enum_change, program.catalog);
  }
  if (definition.schema_change) bind_schema(*definition.schema_change, program);
  if (definition.sequence) bind_sequence(*definition.sequence, program.catalog);
  if (!definition.dropped_sequence.empty()) drop_sequence(definition.dropped_sequence.text, program.catalog);
  if (definition.view) {
    View view{definition.view->name.text, {}, definition.view->text};
    for (const syntax::Name& column : definition.view->columns) view.columns.push_back(column.text);
    if (program.catalog.has_relation(view.name) || program.find_view(view.name) != nullptr) {
      refuse_as("42P07", definition.view->name.where, "relation \"{}\" already exists", view.name);
    }
    program.views.push_back(std::move(view));
  }
  if (definition.comment) {
    const syntax::Comment& written = *definition.comment;
    const Comment comment{written.of, written.object.text, written.part.text, written.text};
    if (!program.has_commented(comment)) {
      refuse_as(sqlstate::kUndefinedObject, written.object.where,
                "there is no {} for this comment; a file creates what it comments on before",
                written.part.empty() ? written.object.text : written.object.text + "." + written.part.text);
    }
    program.set_comment(comment);
  }
  if (!definition.procedure) return;
  const syntax::Name& name = definition.procedure->name;
  if (program.find_procedure(name.text)) {
    refuse_as(sqlstate::kNotSupported, name.where,
              "there is a procedure {} already: overloading is not supported; choose another name",
              name.text);
  }
  const ProcedureId id{static_cast<uint32_t>(program.procedures.size())};
  auto bound = bind_procedure(definition.procedure, program.catalog, id,
                              [&](const std::string& routine) { return program.find_routine(routine); });
  for (const IndexId index : bound->ordered) program.catalog.mark_ordered(index);
  program.procedures.push_back(std::move(bound));
}

std::unique_ptr<Program> compile_deep(std::string_view source) {
  auto program = std::make_unique<Program>();
  program->source.add_file(std::string(source));
  for (const syntax::Definition& definition : parse_catalog(source)) bind_definition(definition, *program);
  return program;
}

// Calls work on the only definition in the text, which lies behind so many lines. Errors count from its first
// line.
template <typename Work>
auto with_parsed(std::string_view text, size_t lines_before, Work&& work) {
  try {
    const syntax::File definitions = parse(text, lines_before);
    CHECK(definitions.size() == 1);
    return work(definitions[0]);
  } catch (SourceError& error) {
    error.where.line -= static_cast<uint32_t>(lines_before);
    throw;
  }
}

}  // namespace

void SourceText::add_file(std::string text) {
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
  add(std::make_shared<const SourcePiece>(SourcePiece{
      .kind = SourcePiece::Kind::kFile, .name = {}, .table = {}, .text = std::move(text), .lines = lines}));
}

void SourceText::add(const syntax::Definition& definition) {
  using Kind = SourcePiece::Kind;
  SourcePiece piece;
  const bool alters = definition.alteration || !definition.dropped_sequence.empty() ||
                      (definition.sequence && definition.sequence->alters);
  piece.kind = definition.schema_change                  ? Kind::kSchema
               : definition.enum_change                  ? Kind::kType
               : alters                                  ? Kind::kAlteration
               : definition.table || definition.sequence ? Kind::kTable
               : definition.index                        ? Kind::kIndex
               : definition.view                         ? Kind::kView
                                                         : Kind::kProcedure;
  piece.name = definition.name().text;
  if (definition.index) piece.table = definition.index->table.text;
  if (alters) piece.table = definition.name().text;
  if (definition.alteration && definition.alteration->kind == syntax::Alteration::Kind::kRenameTo) {
    piece.table = definition.alteration->new_name.text;
    rename(definition.name().text, piece.table);
    move_indexes(piece.table);
  }
  if (definition.enum_change && definition.enum_change->kind == syntax::EnumChange::Kind::kRename) {
    piece.name = definition.enum_change->new_name.text;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].kind != Kind::kType || pieces_[i].name != definition.name().text) continue;
      pieces_.change(i, [&](SourcePiece& former) { former.name = piece.name; });
    }
  }
  // What is said of a sequence that is gone is nothing of another one's of its name.
  if (!definition.dropped_sequence.empty()) rename(piece.table, {});
  if (!definition.dropped_sequence.empty()) piece.table.clear();
  piece.text = definition.text + ";\n\n";
  piece.lines = static_cast<size_t>(std::ranges::count(piece.text, '\n'));
  add(std::make_shared<const SourcePiece>(std::move(piece)));
}

void SourceText::rename(const std::string& former, const std::string& name) {
  using Kind = SourcePiece::Kind;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const bool is_table = pieces_[i].kind == Kind::kTable && pieces_[i].name == former;
    if (!is_table && pieces_[i].table != former) continue;
    pieces_.change(i, [&](SourcePiece& piece) { (is_table ? piece.name : piece.table) = name; });
  }
}

// A table's indexes lie in its schema.
void SourceText::move_indexes(const std::string& table) {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].kind != SourcePiece::Kind::kIndex || pieces_[i].table != table) continue;
    if (schema_of(pieces_[i].name) == schema_of(table)) continue;
    pieces_.change(i, [&](SourcePiece& piece) { piece.name = beside(table, bare_name(piece.name)); });
  }
}

void SourceText::add(std::shared_ptr<const SourcePiece> piece) {
  lines_ += piece->lines;
  pieces_.push_back(std::move(piece));
}

bool SourceText::is_in_definitions() const {
  return pieces_.empty() || pieces_[0].kind != SourcePiece::Kind::kFile;
}

std::string SourceText::text() const {
  std::string text;
  for (const SourcePiece& piece : pieces_) text += piece.text;
  return text;
}

namespace {

std::string print_comment(const Comment& comment) {
  using Of = syntax::CommentOf;
  constexpr const char* kWords[] = {"TABLE",    "COLUMN",    "INDEX",   "VIEW",       "SEQUENCE",
                                    "FUNCTION", "PROCEDURE", "ROUTINE", "CONSTRAINT", "SCHEMA"};
  std::string text = fmt::format("COMMENT ON {} ", kWords[static_cast<size_t>(comment.of)]);
  if (comment.of == Of::kConstraint) text += written_name(comment.part) + " ON ";
  text += written_name(comment.object);
  if (comment.of == Of::kColumn) text += "." + written_name(comment.part);
  return text + " IS " + written_string(comment.text);
}

}  // namespace

// Hashes what print_program() prints: all that replay of a log depends on, without comments and layout.
uint64_t Program::hash() const {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  CHECK(state != nullptr && XXH3_64bits_reset(state.get()) == XXH_OK);
  const auto add = [&](const std::string& text) {
    CHECK(XXH3_64bits_update(state.get(), text.data(), text.size()) == XXH_OK);
  };
  for (const std::string& schema : schemas) add("schema " + schema);
  add(print_catalog(catalog));
  for (size_t i = 0; i < procedures.size(); ++i) add(procedures.bound(i).meaning);
  for (const View& view : views) {
    add("view " + view.name);
    for (const std::string& column : view.columns) add(" " + column);
    add(" " + view.text);
  }
  for (const Comment& comment : comments) add(print_comment(comment));
  return XXH3_64bits_digest(state.get());
}

std::string Program::text() const {
  std::string text = source.text();
  if (!source.is_in_definitions()) return text;
  for (const Comment& comment : comments) text += print_comment(comment) + ";\n\n";
  return text;
}

bool Program::has_commented(const Comment& comment) const {
  using Of = syntax::CommentOf;
  const TableDefinition* table = catalog.find_table(comment.object);
  const bool is_table = table != nullptr && !is_sequence(*table);
  switch (comment.of) {
    case Of::kTable:
      return is_table;
    case Of::kColumn:
      if (is_table) return table->find_column(comment.part).has_value();
      if (const View* view = find_view(comment.object))
        return std::ranges::find(view->columns, comment.part) != view->columns.end();
      return false;
    case Of::kIndex: {
      const IndexDefinition* index = catalog.find_index(comment.object);
      return index != nullptr && !index->columns.empty();
    }
    case Of::kView:
      return find_view(comment.object) != nullptr;
    case Of::kSequence:
      return table != nullptr && !is_table;
    case Of::kSchema:
      return comment.object == kPublicSchema || has_schema(comment.object);
    case Of::kConstraint:
      return is_table && has_constraint(*table, catalog, comment.part);
    case Of::kFunction:
    case Of::kProcedure:
    case Of::kRoutine:
      break;
  }
  const ir::Procedure* routine = find_procedure(comment.object);
  return routine != nullptr && routine->is_function == (comment.of == Of::kFunction);
}

void Program::set_comment(const Comment& comment) {
  const auto former =
      std::ranges::find_if(comments, [&](const Comment& each) { return each.is_of_same(comment); });
  const auto place = static_cast<size_t>(former - comments.begin());
  if (!comment.text.empty()) {
    comments.put(place, std::make_shared<const Comment>(comment));
  } else if (former != comments.end()) {
    comments.erase(place);
  }
}

const ir::Procedure* Program::find_procedure(std::string_view name) const {
  const auto found = std::ranges::find(procedures, name, &ir::Procedure::name);
  return found == procedures.end() ? nullptr : &*found;
}

const syntax::Procedure* ProgramRoutines::find_routine(const std::string& name) const {
  return program_.find_routine(name);
}

const syntax::Procedure* Program::find_routine(std::string_view name) const {
  const ir::Procedure* found = find_procedure(name);
  return found == nullptr ? nullptr : procedures.bound(found->id.value).definition.get();
}

const View* Program::find_view(std::string_view name) const {
  const auto found = std::ranges::find(views, name, &View::name);
  return found == views.end() ? nullptr : &*found;
}

std::unique_ptr<Program> compile_source(std::string_view source) {
  return on_deep_stack([&] { return compile_deep(source); });
}

std::shared_ptr<BoundProcedure> bind_one(const Catalog& catalog, std::string_view text, size_t lines_before,
                                         ProcedureId id, const FindRoutine& find) {
  return on_deep_stack([&] {
    return with_parsed(text, lines_before, [&](const syntax::Definition& definition) {
      return bind_procedure(definition.procedure, catalog, id, find);
    });
  });
}

std::unique_ptr<Program> with_definition(const Program& program, std::string_view text) {
  CHECK(program.source.is_in_definitions());
  return on_deep_stack([&] {
    auto next = std::make_unique<Program>(program);
    with_parsed(text, program.source.lines(), [&](const syntax::Definition& definition) {
      bind_definition(definition, *next);
      next->source.add(definition);
    });
    return next;
  });
}

Result<std::unique_ptr<Program>> compile(std::string_view source, std::string_view file_name) {
  try {
    return compile_source(source);
  } catch (const SourceError& error) {
    return invalid_argument("{}:{}:{}: {}", file_name, error.where.line, error.where.column, error.message);
  }
}

}  // namespace mneme
