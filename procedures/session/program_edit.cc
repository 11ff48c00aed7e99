#include "procedures/session/program_edit.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/renumbering.h"
#include "procedures/interpreter/any_query.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

using syntax::Definition;

bool uses_table(const ir::Procedure& procedure, TableId table) {
  return std::ranges::any_of(procedure.operations, [&](const ir::Operation& operation) {
    return (operation.any_query && operation.any_query->reads(table)) ||
           std::ranges::any_of(operation.access,
                               [&](const ir::TableAccess& access) { return access.table == table; });
  });
}

// Whether the text ends as it does before the object's name: with its schema, or without any if that is
// public.
bool is_behind_its_schema(std::string_view before, std::string_view name) {
  const auto drop_blanks = [&] {
    while (!before.empty() && is_ascii_blank(before.back())) before.remove_suffix(1);
  };
  if (before.ends_with('"')) before.remove_suffix(1);
  drop_blanks();
  const std::string_view schema = schema_of(name);
  if (!before.ends_with('.')) return schema == kPublicSchema;
  before.remove_suffix(1);
  drop_blanks();
  size_t begin = before.size();
  if (before.ends_with('"')) {
    begin = before.size() < 2 ? 0 : std::min(before.rfind('"', before.size() - 2), before.size());
  } else {
    const auto is_part = [](char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_'; };
    while (begin > 0 && is_part(before[begin - 1])) --begin;
  }
  return read_written_name(before.substr(begin)) == schema;
}

// A table's foreign keys are pieces of their own, so that they may go with the table that they refer to.
std::vector<Definition> parts_of(const Definition& definition) {
  std::vector<Definition> parts;
  if (definition.foreign_keys.empty()) {
    parts.push_back(std::move(parse(definition.text).front()));
    return parts;
  }
  parts.push_back(std::move(parse(definition.text_without_foreign_keys).front()));
  for (const std::string& key : definition.foreign_keys) parts.push_back(std::move(parse(key).front()));
  return parts;
}

// The same program, whose source has tables and indexes first, each definition in a piece.
std::unique_ptr<Program> in_definitions(const Program& program) {
  const syntax::File definitions = parse_catalog(program.source.text());
  SourceText source;
  for (const bool procedures : {false, true}) {
    for (const Definition& definition : definitions) {
      if (definition.comment || (definition.procedure != nullptr) != procedures) continue;
      for (const Definition& part : parts_of(definition)) source.add(part);
    }
  }
  std::unique_ptr<Program> same = compile_source(source.text());
  same->source = std::move(source);
  same->comments = program.comments;
  return same;
}

}  // namespace

ProgramEdit::ProgramEdit(const Program& program)
    : rewritten_(program.source.is_in_definitions() ? nullptr : in_definitions(program)),
      program_(rewritten_ ? *rewritten_ : program) {}

std::vector<char> ProgramEdit::users_of(TableId table) const {
  std::vector<char> users;
  for (const ir::Procedure& procedure : program_.procedures)
    users.push_back(uses_table(procedure, table) ? 1 : 0);
  return users;
}

std::vector<char> ProgramEdit::callers_of(const std::string& name) const {
  std::vector<char> callers;
  for (size_t i = 0; i < program_.procedures.size(); ++i) {
    const std::vector<std::string>& called = program_.procedures.bound(i).called;
    callers.push_back(std::ranges::find(called, name) != called.end() ? 1 : 0);
  }
  return callers;
}

void ProgramEdit::add_mentions(const std::string& word, std::vector<char>& users) const {
  size_t procedure = 0;
  for (const SourcePiece& piece : program_.source.pieces()) {
    if (piece.kind != Kind::kProcedure) continue;
    if (mentions(piece.text, word)) users[procedure] = 1;
    ++procedure;
  }
}

bool ProgramEdit::mentions(std::string_view text, std::string_view name) {
  const std::string written = written_name(bare_name(name));
  const std::string_view word = written.find("\"\"") == written.npos ? bare_name(name) : written;
  const auto is_part = [](char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_'; };
  const auto same = [](char a, char b) { return ascii_lower(a) == ascii_lower(b); };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(word.size());
    if ((at == text.begin() || !is_part(at[-1])) && (end == text.end() || !is_part(*end)) &&
        is_behind_its_schema(text.substr(0, static_cast<size_t>(at - text.begin())), name))
      return true;
  }
}

ProgramEdit::Pieces ProgramEdit::pieces_of(const SourceText& source) {
  Pieces pieces;
  for (size_t i = 0; i < source.pieces().size(); ++i) pieces.push_back(source.pieces().shared(i));
  return pieces;
}

ProgramEdit::Pieces::iterator ProgramEdit::find(Pieces& pieces, Kind kind, const std::string& name) {
  return std::ranges::find_if(pieces,
                              [&](const auto& piece) { return piece->kind == kind && piece->name == name; });
}

std::unique_ptr<Program> ProgramEdit::changed(Catalog catalog, Pieces pieces, const std::vector<char>& binds,
                                              std::optional<ProcedureId> gone) const {
  // A procedure that is bound anew may use whatever there is, so all that is comes before it.
  if (std::ranges::find(binds, 1) != binds.end()) {
    std::ranges::stable_partition(pieces, [](const auto& piece) { return piece->kind != Kind::kProcedure; });
  }
  const Renumbering numbers(program_.catalog, catalog);
  const std::vector<size_t> lines = lines_before_procedures();
  auto next = std::make_unique<Program>();
  std::vector<char> ordered(catalog.indexes().size());
  // One that is bound anew may call others that stand behind it, and are bound anew as well.
  std::map<std::string, std::shared_ptr<const syntax::Procedure>, std::less<>> written;
  for (size_t former = 0; const auto& piece : pieces) {
    if (piece->kind != Kind::kProcedure) continue;
    if (gone && gone->value == former) ++former;
    const bool is_same = binds[former] == 0 || piece == program_.source.pieces().shared(piece_of(former));
    written[piece->name] =
        is_same ? program_.procedures.bound(former).definition : parse(piece->text).front().procedure;
    ++former;
  }
  const FindRoutine find = [&](const std::string& name) -> const syntax::Procedure* {
    const auto found = written.find(name);
    return found == written.end() ? nullptr : found->second.get();
  };
  for (size_t former = 0; auto& piece : pieces) {
    if (piece->kind == Kind::kProcedure) {
      if (gone && gone->value == former) ++former;
      const ProcedureId id{static_cast<uint32_t>(next->procedures.size())};
      const size_t here = next->source.lines();
      // A query's plan holds the numbers of tables, and so does a draw: renumbered() does not reach them.
      const ir::Procedure& present = program_.procedures[former];
      const bool is_anew =
          binds[former] != 0 || (!numbers.is_same() && (present.has_any_query() || present.draws));
      std::shared_ptr<const BoundProcedure> bound =
          is_anew ? bind_one(catalog, piece->text, here, id, find)
                  : renumbered(program_.procedures.shared(former), numbers, id,
                               static_cast<int64_t>(here) - static_cast<int64_t>(lines[former]));
      for (const IndexId index : bound->ordered) ordered[index.value] = 1;
      next->procedures.push_back(std::move(bound));
      ++former;
    }
    next->source.add(std::move(piece));
  }
  for (uint32_t i = 0; i < ordered.size(); ++i) catalog.mark_ordered(IndexId{i}, ordered[i] != 0);
  next->catalog = std::move(catalog);
  return next;
}

void ProgramEdit::add_users(TableId table, std::vector<char>& users) const {
  const std::vector<char> more = users_of(table);
  for (size_t i = 0; i < more.size(); ++i) users[i] |= more[i];
}

size_t ProgramEdit::piece_of(size_t procedure) const {
  const SharedList<SourcePiece>& pieces = program_.source.pieces();
  size_t piece = 0;
  for (size_t seen = 0;; ++piece) {
    if (pieces[piece].kind == Kind::kProcedure && seen++ == procedure) return piece;
  }
}

std::vector<size_t> ProgramEdit::lines_before_procedures() const {
  std::vector<size_t> before;
  size_t lines = 0;
  for (const SourcePiece& piece : program_.source.pieces()) {
    if (piece.kind == Kind::kProcedure) before.push_back(lines);
    lines += piece.lines;
  }
  return before;
}

}  // namespace mneme
