#include "procedures/catalog_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "procedures/parser.h"
#include "procedures/source_error.h"

namespace mneme {

namespace {

using syntax::Definition;
using syntax::DefinitionKind;

namespace sqlstate_of_catalog {
constexpr const char* kDuplicateTable = "42P07";
constexpr const char* kDuplicateProcedure = "42723";
constexpr const char* kUndefinedTable = "42P01";
constexpr const char* kUndefinedObject = "42704";
constexpr const char* kUndefinedProcedure = "42883";
constexpr const char* kOtherParameters = "42P13";
constexpr const char* kNeededByOthers = "2BP01";
}  // namespace sqlstate_of_catalog

DefinitionKind kind_of(const Definition& definition) {
  if (definition.table) return DefinitionKind::kTable;
  return definition.index ? DefinitionKind::kIndex : DefinitionKind::kProcedure;
}

struct Refusal {
  StatementResult failure;
};

template <typename... Args>
[[noreturn]] void refuse_change(const char* sqlstate, fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal{StatementResult::failure(sqlstate, fmt::format(text, std::forward<Args>(args)...))};
}

const IndexDefinition* find_index(const Catalog& catalog, std::string_view name) {
  const auto found = std::ranges::find(catalog.indexes(), name, &IndexDefinition::name);
  return found == catalog.indexes().end() ? nullptr : &*found;
}

bool uses_table(const ir::Procedure& procedure, TableId table) {
  return std::ranges::any_of(procedure.operations, [&](const ir::Operation& operation) {
    return std::ranges::any_of(operation.access,
                               [&](const ir::TableAccess& access) { return access.table == table; });
  });
}

class Change {
 public:
  Change(const Program& program, const syntax::Command& command)
      : program_(program), command_(command) {}

  std::unique_ptr<Program> make() {
    if (adds_one()) return with_one_more();
    definitions_ = parse_catalog(program_.source.text());
    if (command_.kind == syntax::Command::Kind::kCreate) {
      create(*command_.definition);
    } else {
      drop(command_.name.text);
    }
    return compiled();
  }

 private:
  // Whether the change adds a definition that leaves the meaning of all others as it is. Their number then costs nothing.
  bool adds_one() const {
    if (!program_.takes_definitions || command_.kind != syntax::Command::Kind::kCreate) return false;
    const Definition& made = *command_.definition;
    if (made.procedure) return program_.find_procedure(made.procedure->name.text) == nullptr;
    if (made.table) return true;
    // A procedure may reach its rows by the index.
    const TableDefinition* table = program_.catalog.find_table(made.index->table.text);
    return table == nullptr || std::ranges::none_of(program_.procedures, [&](const ir::Procedure& procedure) {
             return uses_table(procedure, table->id);
           });
  }

  std::unique_ptr<Program> with_one_more() const {
    const Definition& made = *command_.definition;
    if (!made.procedure) check_relation(made);
    try {
      return with_definition(program_, made.text);
    } catch (const SourceError& error) {
      refuse_uncompiled(error, 0);
    }
  }

  void check_relation(const Definition& made) const {
    const std::string& name = made.name().text;
    if (program_.catalog.find_table(name) != nullptr || find_index(program_.catalog, name) != nullptr) {
      refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists", name);
    }
    if (made.index && program_.catalog.find_table(made.index->table.text) == nullptr) {
      refuse_change(sqlstate_of_catalog::kUndefinedTable, "relation \"{}\" does not exist", made.index->table.text);
    }
  }

  void create(const Definition& made) {
    const std::string& name = made.name().text;
    if (!made.procedure) {
      check_relation(made);
      definitions_.push_back(parse_again(made));
      return;
    }
    const auto former = find(DefinitionKind::kProcedure, name);
    if (former == definitions_.end()) {
      definitions_.push_back(parse_again(made));
      return;
    }
    if (!made.procedure->replaces) {
      refuse_change(sqlstate_of_catalog::kDuplicateProcedure, "procedure \"{}\" already exists", name);
    }
    *former = parse_again(made);
    replaced_ = true;
  }

  void drop(const std::string& name) {
    switch (command_.dropped) {
      case DefinitionKind::kTable:
        return drop_table(name);
      case DefinitionKind::kIndex:
        return drop_index(name);
      case DefinitionKind::kProcedure:
        break;
    }
    const auto found = find(DefinitionKind::kProcedure, name);
    if (found == definitions_.end()) {
      refuse_change(sqlstate_of_catalog::kUndefinedProcedure, "could not find a procedure named \"{}\"",
                    name);
    }
    definitions_.erase(found);
  }

  void drop_table(const std::string& name) {
    const TableDefinition* table = program_.catalog.find_table(name);
    if (table == nullptr) {
      refuse_change(sqlstate_of_catalog::kUndefinedTable, "table \"{}\" does not exist", name);
    }
    for (const ir::Procedure& procedure : program_.procedures) {
      if (!uses_table(procedure, table->id)) continue;
      refuse_change(sqlstate_of_catalog::kNeededByOthers,
                    "cannot drop table {} because other objects depend on it: procedure {} uses it", name,
                    procedure.name);
    }
    definitions_.erase(find(DefinitionKind::kTable, name));
    std::erase_if(definitions_, [&](const Definition& d) { return d.index && d.index->table.text == name; });
  }

  void drop_index(const std::string& name) {
    const IndexDefinition* index = find_index(program_.catalog, name);
    if (index == nullptr) {
      refuse_change(sqlstate_of_catalog::kUndefinedObject, "index \"{}\" does not exist", name);
    }
    const auto found = find(DefinitionKind::kIndex, name);
    if (found == definitions_.end()) {
      refuse_change(sqlstate_of_catalog::kNeededByOthers,
                    "cannot drop index {} because constraint {} on table {} requires it", name, name,
                    program_.catalog.table(index->table).name);
    }
    definitions_.erase(found);
  }

  syntax::File::iterator find(DefinitionKind kind, const std::string& name) {
    return std::ranges::find_if(
        definitions_, [&](const Definition& d) { return kind_of(d) == kind && d.name().text == name; });
  }

  // The definition by itself: where a file says OR REPLACE there is nothing to replace.
  static Definition parse_again(const Definition& definition) {
    return std::move(parse(definition.text).front());
  }

  std::unique_ptr<Program> compiled() {
    std::string source;
    size_t changed_from = 0;  // the line before the definition that was made
    size_t lines = 0;
    const auto add = [&](const Definition& definition) {
      const bool is_new = command_.definition && definition.text == command_.definition->text;
      if (is_new) changed_from = lines;
      source += definition.text + ";\n\n";
      lines += static_cast<size_t>(std::ranges::count(definition.text, '\n')) + 2;
    };
    for (const Definition& definition : definitions_) {
      if (!definition.procedure) add(definition);
    }
    for (const Definition& definition : definitions_) {
      if (definition.procedure) add(definition);
    }
    std::unique_ptr<Program> changed;
    try {
      changed = compile_source(source);
    } catch (const SourceError& error) {
      refuse_uncompiled(error, changed_from);
    }
    if (replaced_) check_parameters(*changed);
    changed->takes_definitions = true;
    return changed;
  }

  [[noreturn]] void refuse_uncompiled(const SourceError& error, size_t lines_before) const {
    if (command_.kind == syntax::Command::Kind::kDrop) {
      refuse_change(sqlstate_of_catalog::kNeededByOthers,
                    "cannot drop {} because other objects depend on it: without it, {}", command_.name.text,
                    error.message);
    }
    refuse_change(error.sqlstate != nullptr ? error.sqlstate : sqlstate::kSyntaxError, "line {}:{}: {}",
                  error.where.line > lines_before ? error.where.line - lines_before : error.where.line,
                  error.where.column, error.message);
  }

  // Callers, and what is written in a log before, know the procedure by them.
  void check_parameters(const Program& changed) const {
    const std::string& name = command_.definition->procedure->name.text;
    const ir::Procedure& before = *program_.find_procedure(name);
    const ir::Procedure& after = *changed.find_procedure(name);
    const auto same = [&](size_t i) {
      const ir::Variable& a = before.variables[before.parameters[i].variable.value];
      const ir::Variable& b = after.variables[after.parameters[i].variable.value];
      return a.name == b.name && a.type == b.type && before.parameters[i].inout == after.parameters[i].inout;
    };
    bool all_same = before.parameters.size() == after.parameters.size();
    for (size_t i = 0; all_same && i < before.parameters.size(); ++i) all_same = same(i);
    if (all_same) return;
    refuse_change(sqlstate_of_catalog::kOtherParameters,
                  "cannot change the parameters of existing procedure {}: use DROP PROCEDURE {} first", name,
                  name);
  }

  const Program& program_;
  const syntax::Command& command_;
  syntax::File definitions_;
  bool replaced_ = false;
};

}  // namespace

ChangedProgram changed_program(const Program& program, const syntax::Command& command) {
  CHECK(command.changes_schema());
  ChangedProgram changed;
  try {
    changed.program = Change(program, command).make();
  } catch (const Refusal& refusal) {
    changed.failure = refusal.failure;
  }
  return changed;
}

std::string tag_of_change(const syntax::Command& command) {
  const bool creates = command.kind == syntax::Command::Kind::kCreate;
  std::string tag = creates ? "CREATE " : "DROP ";
  switch (creates ? kind_of(*command.definition) : command.dropped) {
    case DefinitionKind::kTable:
      return tag + "TABLE";
    case DefinitionKind::kIndex:
      return tag + "INDEX";
    case DefinitionKind::kProcedure:
      return tag + "PROCEDURE";
  }
  return tag;
}

}  // namespace mneme
