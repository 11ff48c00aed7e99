#include "procedures/catalog/object_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "procedures/values/type_oids.h"

namespace mneme::oids {

const TableDefinition* table(const Program& program, int64_t oid) {
  const int64_t number = oid - of(TableId{0});
  if (number < 0 || number >= static_cast<int64_t>(program.catalog.tables().size())) return nullptr;
  return &program.catalog.table(TableId{static_cast<uint32_t>(number)});
}

const IndexDefinition* index(const Program& program, int64_t oid) {
  const int64_t number = oid - of(IndexId{0});
  if (number < 0 || number >= static_cast<int64_t>(program.catalog.indexes().size())) return nullptr;
  return &program.catalog.index(IndexId{static_cast<uint32_t>(number)});
}

const View* view(const Program& program, int64_t oid) {
  const int64_t number = oid - of_view(0);
  if (number < 0 || number >= static_cast<int64_t>(program.views.size())) return nullptr;
  return &program.views[static_cast<size_t>(number)];
}

const ir::Procedure* procedure(const Program& program, int64_t oid) {
  const int64_t number = oid - of(ProcedureId{0});
  if (number < 0 || number >= static_cast<int64_t>(program.procedures.size())) return nullptr;
  return &program.procedure(ProcedureId{static_cast<uint32_t>(number)});
}

std::vector<Constraint> constraints(const Program& program) {
  std::vector<Constraint> all;
  for (const TableDefinition& table : program.catalog.tables()) {
    if (is_sequence(table)) continue;
    for (const IndexId id : table.indexes) {
      const IndexDefinition& index = program.catalog.index(id);
      if (!is_constraint(program, index)) continue;
      all.push_back(
          {.oid = 400'000 + int64_t{id.value}, .name = index.name, .table = table.id, .key = &index});
    }
    int64_t oid = 2'000'000 + int64_t{table.id.value} * 1000;
    for (const ForeignKey& key : table.foreign_keys)
      all.push_back({.oid = oid++, .name = key.name, .table = table.id, .foreign_key = &key});
    for (const CheckConstraint& check : table.checks)
      all.push_back({.oid = oid++, .name = check.name, .table = table.id, .check = &check});
  }
  return all;
}

bool is_primary_key(const Program& program, const IndexDefinition& index) {
  return program.catalog.table(index.table).primary_key == index.id;
}

bool is_constraint(const Program& program, const IndexDefinition& index) {
  return is_primary_key(program, index) || index.origin == IndexOrigin::kConstraint;
}

std::string formatted_type(int64_t type, int64_t modifier) {
  const auto length = [&](std::string_view name) {
    return modifier > 4 ? fmt::format("{}({})", name, modifier - 4) : std::string(name);
  };
  switch (type) {
    case 16:
      return "boolean";
    case 18:
      return "\"char\"";
    case 19:
      return "name";
    case 20:
      return "bigint";
    case 21:
      return "smallint";
    case 23:
      return "integer";
    case 25:
      return "text";
    case 26:
      return "oid";
    case 700:
      return "real";
    case 701:
      return "double precision";
    case 1042:
      return length("character");
    case 1043:
      return length("character varying");
    case 1082:
      return "date";
    case 1114:
      return "timestamp without time zone";
    case 1700: {
      if (modifier < 4) return "numeric";
      return fmt::format("numeric({},{})", (modifier - 4) >> 16, (modifier - 4) & 0xffff);
    }
    case kVoidType:
      return "void";
    default:
      break;
  }
  for (const int64_t element : {16, 20, 21, 23, 25, 700, 701, 1042, 1043, 1082, 1114, 1700}) {
    const std::optional<Type> plain = type_of_oid(static_cast<uint32_t>(element));
    if (!plain) continue;
    Type array = *plain;
    array.is_array = true;
    if (oid_of(array) == type) return formatted_type(element, modifier) + "[]";
  }
  return "???";
}

std::string column_list(const TableDefinition& table, const std::vector<ColumnId>& columns) {
  std::string text;
  for (const ColumnId column : columns) {
    if (!text.empty()) text += ", ";
    text += table.column(column).name;
  }
  return text;
}

std::string index_definition(const Program& program, const IndexDefinition& index) {
  const TableDefinition& table = program.catalog.table(index.table);
  return fmt::format("CREATE {}INDEX {} ON public.{} USING {} ({})", index.unique ? "UNIQUE " : "",
                     index.name, table.name, program.catalog.is_ordered(index) ? "btree" : "hash",
                     column_list(table, index.columns));
}

std::string constraint_definition(const Program& program, const Constraint& constraint) {
  const TableDefinition& table = program.catalog.table(constraint.table);
  if (constraint.check != nullptr) return fmt::format("CHECK (({}))", constraint.check->condition);
  if (constraint.key != nullptr) {
    return fmt::format("{} ({})", is_primary_key(program, *constraint.key) ? "PRIMARY KEY" : "UNIQUE",
                       column_list(table, constraint.key->columns));
  }
  const ForeignKey& key = *constraint.foreign_key;
  const TableDefinition& referenced = program.catalog.table(key.referenced);
  const auto action = [](std::string_view event, ForeignKeyAction action) -> std::string {
    constexpr std::string_view kWords[] = {"", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"};
    if (action == ForeignKeyAction::kNoAction) return "";
    return fmt::format(" ON {} {}", event, kWords[static_cast<size_t>(action)]);
  };
  return fmt::format("FOREIGN KEY ({}) REFERENCES {}({}){}{}", column_list(table, key.columns),
                     referenced.name, column_list(referenced, key.referenced_columns),
                     action("UPDATE", key.on_update), action("DELETE", key.on_delete));
}

std::string procedure_arguments(const ir::Procedure& procedure) {
  std::string text;
  for (const ir::Parameter& parameter : procedure.parameters) {
    if (procedure.has_result && &parameter == &procedure.parameters.back()) break;
    const ir::Variable& variable = procedure.variables[parameter.variable.value];
    if (!text.empty()) text += ", ";
    // A function's parameters are IN where nothing else is said.
    const std::string_view mode = parameter.out     ? "OUT "
                                  : parameter.inout ? "INOUT "
                                                    : (procedure.is_function ? "" : "IN ");
    const std::string name = variable.name.empty() ? "" : variable.name + " ";
    text += fmt::format("{}{}{}", mode, name, formatted_type(oid_of(variable.type), -1));
  }
  return text;
}

int64_t result_type(const ir::Procedure& procedure) {
  if (!procedure.has_result) {
    const auto results = std::ranges::count_if(procedure.parameters, &ir::Parameter::inout);
    if (results != 1 || !procedure.is_function) return results == 0 ? kVoidType : kRecordType;
    const auto only = std::ranges::find(procedure.parameters, true, &ir::Parameter::inout);
    return oid_of(procedure.variables[only->variable.value].type);
  }
  return oid_of(procedure.variables[procedure.parameters.back().variable.value].type);
}

}  // namespace mneme::oids
