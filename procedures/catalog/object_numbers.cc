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

const ir::Procedure* procedure(const Program& program, int64_t oid) {
  const int64_t number = oid - of(ProcedureId{0});
  if (number < 0 || number >= static_cast<int64_t>(program.procedures.size())) return nullptr;
  return &program.procedure(ProcedureId{static_cast<uint32_t>(number)});
}

const IndexDefinition* constraint(const Program& program, int64_t oid) {
  const IndexDefinition* made = index(program, oid - constraint_of(IndexId{0}) + of(IndexId{0}));
  return made != nullptr && is_constraint(program, *made) ? made : nullptr;
}

bool is_primary_key(const Program& program, const IndexDefinition& index) {
  return program.catalog.table(index.table).primary_key == index.id;
}

bool is_constraint(const Program& program, const IndexDefinition& index) {
  return is_primary_key(program, index) || (index.unique && index.name.ends_with("_key"));
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
    case 701:
      return "double precision";
    case 1042:
      return length("character");
    case 1043:
      return length("character varying");
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
  for (const int64_t element : {16, 20, 21, 23, 25, 701, 1042, 1043, 1114, 1700}) {
    const std::optional<Type> plain = type_of_oid(static_cast<uint32_t>(element));
    if (!plain) continue;
    Type array = *plain;
    array.is_array = true;
    if (oid_of(array) == type) return formatted_type(element, modifier) + "[]";
  }
  return "???";
}

std::string column_list(const Program& program, const IndexDefinition& index) {
  const TableDefinition& table = program.catalog.table(index.table);
  std::string text;
  for (const ColumnId column : index.columns) {
    if (!text.empty()) text += ", ";
    text += table.column(column).name;
  }
  return text;
}

std::string index_definition(const Program& program, const IndexDefinition& index) {
  return fmt::format("CREATE {}INDEX {} ON public.{} USING {} ({})", index.unique ? "UNIQUE " : "",
                     index.name, program.catalog.table(index.table).name,
                     index.ordered || !index.unique ? "btree" : "hash", column_list(program, index));
}

std::string constraint_definition(const Program& program, const IndexDefinition& index) {
  return fmt::format("{} ({})", is_primary_key(program, index) ? "PRIMARY KEY" : "UNIQUE",
                     column_list(program, index));
}

std::string procedure_arguments(const ir::Procedure& procedure) {
  std::string text;
  for (const ir::Parameter& parameter : procedure.parameters) {
    const ir::Variable& variable = procedure.variables[parameter.variable.value];
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} {}", parameter.inout ? "INOUT" : "IN", variable.name,
                        formatted_type(oid_of(variable.type), -1));
  }
  return text;
}

}  // namespace mneme::oids
