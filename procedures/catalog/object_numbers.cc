#include "procedures/catalog/object_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/memory/arena.h"
#include "engine/schema/array_form.h"
#include "engine/schema/qualified_name.h"
#include "engine/schema/text_form.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/syntax.h"
#include "procedures/parser/written_names.h"
#include "procedures/values/text_forms.h"
#include "procedures/values/type_oids.h"
#include "procedures/values/value_text.h"

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

int64_t of_schema(const Program& program, std::string_view name) {
  if (name == kPublicSchema) return kPublic;
  if (name == "pg_catalog") return kPgCatalog;
  if (name == "information_schema") return kInformationSchema;
  const auto found = std::ranges::find(program.schemas, name);
  return found == program.schemas.end() ? 0 : 700'000 + (found - program.schemas.begin());
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
      all.push_back(
          {.oid = oid++, .name = beside(table.name, key.name), .table = table.id, .foreign_key = &key});
    for (const CheckConstraint& check : table.checks)
      all.push_back(
          {.oid = oid++, .name = beside(table.name, check.name), .table = table.id, .check = &check});
  }
  return all;
}

std::vector<Description> descriptions(const Program& program) {
  using Of = syntax::CommentOf;
  std::vector<Description> all;
  const auto view_number = [&](const Comment& comment) {
    return of_view(static_cast<uint32_t>(std::ranges::find(program.views, comment.object, &View::name) -
                                         program.views.begin()));
  };
  for (const Comment& comment : program.comments) {
    Description made{.list = "pg_class", .object = 0, .part = 0, .text = comment.text};
    const TableDefinition* table = program.catalog.find_table(comment.object);
    switch (comment.of) {
      case Of::kIndex:
        made.object = of(program.catalog.find_index(comment.object)->id);
        break;
      case Of::kView:
        made.object = view_number(comment);
        break;
      case Of::kTable:
      case Of::kSequence:
        made.object = of(table->id);
        break;
      case Of::kColumn:
        made.object = table != nullptr ? of(table->id) : view_number(comment);
        if (table != nullptr) {
          made.part = int64_t{table->find_column(comment.part)->value} + 1;
        } else {
          const std::vector<std::string>& columns = program.find_view(comment.object)->columns;
          made.part = std::ranges::find(columns, comment.part) - columns.begin() + 1;
        }
        break;
      case Of::kSchema:
        made.list = "pg_namespace";
        made.object = of_schema(program, comment.object);
        break;
      case Of::kConstraint:
        made.list = "pg_constraint";
        for (const Constraint& each : constraints(program)) {
          if (each.table == table->id && bare_name(each.name) == comment.part) made.object = each.oid;
        }
        break;
      case Of::kFunction:
      case Of::kProcedure:
      case Of::kRoutine:
        made.list = "pg_proc";
        made.object = of(program.find_procedure(comment.object)->id);
    }
    all.push_back(made);
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
  const auto digits = [&](std::string_view name) {
    return modifier >= 0 ? fmt::format("{}({})", name, modifier) : std::string(name);
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
    case 1083:
      return digits("time") + " without time zone";
    case 1114:
      return digits("timestamp") + " without time zone";
    case 1184:
      return digits("timestamp") + " with time zone";
    case 1186:
      return modifier < 0 || (modifier & 0xffff) == 0xffff ? "interval"
                                                           : fmt::format("interval({})", modifier & 0xffff);
    case 1700: {
      if (modifier < 4) return "numeric";
      return fmt::format("numeric({},{})", (modifier - 4) >> 16, (modifier - 4) & 0xffff);
    }
    case 17:
      return "bytea";
    case 114:
      return "json";
    case 2950:
      return "uuid";
    case 3802:
      return "jsonb";
    case 22:
      return "int2vector";
    case 30:
      return "oidvector";
    case kVoidType:
      return "void";
    case kRecordType:
      return "record";
    default:
      break;
  }
  for (const int64_t element :
       {16, 17, 20, 21, 23, 25, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1700, 2950, 3802}) {
    const std::optional<Type> plain = type_of_oid(static_cast<uint32_t>(element));
    if (!plain) continue;
    Type array = *plain;
    array.is_array = true;
    if (oid_of(array) == type) return formatted_type(element, modifier) + "[]";
  }
  return "???";
}

std::string formatted_type(const Catalog& catalog, int64_t type, int64_t modifier) {
  for (Type each : catalog.enums()) {
    if (oid_of(each) == type) return std::string(type_name(each));
    each.is_array = true;
    if (oid_of(each) == type) return std::string(type_name(each)) + "[]";
  }
  return formatted_type(type, modifier);
}

std::string column_list(const TableDefinition& table, const std::vector<ColumnId>& columns) {
  std::string text;
  for (const ColumnId column : columns) {
    if (!text.empty()) text += ", ";
    text += shown_name(table.column(column).name);
  }
  return text;
}

std::string index_definition(const Program& program, const IndexDefinition& index) {
  const TableDefinition& table = program.catalog.table(index.table);
  const std::string rows = index.predicate.empty() ? "" : fmt::format(" WHERE ({})", index.predicate);
  return fmt::format(
      "CREATE {}INDEX {} ON {}.{} USING {} ({}){}", index.unique || index.unique_in_part ? "UNIQUE " : "",
      shown_name(bare_name(index.name)), shown_name(schema_of(table.name)), shown_name(bare_name(table.name)),
      program.catalog.is_ordered(index) ? "btree" : "hash", column_list(table, index.columns), rows);
}

std::string constraint_definition(const Program& program, const Constraint& constraint,
                                  std::string_view schema) {
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
  // Another schema's name is there anyway.
  if (schema_of(referenced.name) != kPublicSchema) schema = {};
  return fmt::format("FOREIGN KEY ({}) REFERENCES {}{}({}){}{}{}{}", column_list(table, key.columns), schema,
                     shown_name(referenced.name), column_list(referenced, key.referenced_columns),
                     action("UPDATE", key.on_update), action("DELETE", key.on_delete),
                     key.deferrable ? " DEFERRABLE" : "", key.deferred ? " INITIALLY DEFERRED" : "");
}

std::string procedure_arguments(const Program& program, const ir::Procedure& procedure) {
  std::string text;
  for (const ir::Parameter& parameter : procedure.parameters) {
    if (procedure.has_result && &parameter == &procedure.parameters.back()) break;
    const ir::Variable& variable = procedure.variables[parameter.variable.value];
    if (!text.empty()) text += ", ";
    // A function's parameters are IN where nothing else is said.
    const std::string_view mode = parameter.out     ? "OUT "
                                  : parameter.inout ? "INOUT "
                                                    : (procedure.is_function ? "" : "IN ");
    const std::string name = variable.name.empty() ? "" : shown_name(variable.name) + " ";
    text += fmt::format("{}{}{}", mode, name, formatted_type(program.catalog, oid_of(variable.type), -1));
  }
  return text;
}

int64_t result_type(const ir::Procedure& procedure) {
  if (!procedure.rows.empty()) return kRecordType;
  if (!procedure.has_result) {
    const auto results = std::ranges::count_if(procedure.parameters, &ir::Parameter::inout);
    if (results != 1 || !procedure.is_function) return results == 0 ? kVoidType : kRecordType;
    const auto only = std::ranges::find(procedure.parameters, true, &ir::Parameter::inout);
    return oid_of(procedure.variables[only->variable.value].type);
  }
  return oid_of(procedure.variables[procedure.parameters.back().variable.value].type);
}

namespace {

constexpr InputFunction kInputFunctions[] = {
    {16, 1242, "boolin"},         {18, 1245, "charin"},         {19, 34, "namein"},
    {20, 460, "int8in"},          {21, 38, "int2in"},           {23, 42, "int4in"},
    {25, 46, "textin"},           {26, 1798, "oidin"},          {700, 200, "float4in"},
    {701, 214, "float8in"},       {1042, 1044, "bpcharin"},     {1043, 1046, "varcharin"},
    {1082, 1084, "date_in"},      {1114, 1312, "timestamp_in"}, {1184, 1150, "timestamptz_in"},
    {1083, 1143, "time_in"},      {1186, 1160, "interval_in"},  {1700, 1701, "numeric_in"},
    {kVoidType, 2298, "void_in"}, {0, kArrayIn, "array_in"}};

const SourcePiece* source_of(const Program& program, const ir::Procedure& procedure) {
  for (const SourcePiece& piece : program.source.pieces()) {
    if (piece.kind == SourcePiece::Kind::kProcedure && piece.name == procedure.name) return &piece;
  }
  return nullptr;
}

// The places of a definition's body, and of its two dollar quotes.
struct BodyPlaces {
  size_t begin;
  size_t end;
  size_t quote_length;
};
std::optional<BodyPlaces> find_body(std::string_view definition) {
  const size_t quote = definition.find('$');
  if (quote == definition.npos) return std::nullopt;
  const size_t quote_end = definition.find('$', quote + 1);
  if (quote_end == definition.npos) return std::nullopt;
  const std::string_view mark = definition.substr(quote, quote_end + 1 - quote);
  const size_t end = definition.find(mark, quote_end + 1);
  if (end == definition.npos) return std::nullopt;
  return BodyPlaces{quote_end + 1, end, mark.size()};
}

}  // namespace

std::string shown_rows(const ir::Procedure& procedure) {
  const size_t name = procedure.rows.find(kSchemaBegin);
  if (name == std::string::npos) return procedure.rows;
  return procedure.rows.substr(0, name) + shown_name(std::string_view(procedure.rows).substr(name));
}

std::string procedure_body(const Program& program, const ir::Procedure& procedure) {
  const SourcePiece* source = source_of(program, procedure);
  const std::optional<BodyPlaces> body = source == nullptr ? std::nullopt : find_body(source->text);
  return body ? source->text.substr(body->begin, body->end - body->begin) : "";
}

std::string procedure_definition(const Program& program, const ir::Procedure& procedure) {
  const SourcePiece* source = source_of(program, procedure);
  if (source == nullptr) return "";
  const std::optional<BodyPlaces> body = find_body(source->text);
  if (!body) return source->text;
  const std::string_view kind = procedure.is_function ? "function" : "procedure";
  std::string text =
      fmt::format("CREATE OR REPLACE {} {}.{}({})\n", procedure.is_function ? "FUNCTION" : "PROCEDURE",
                  shown_name(schema_of(procedure.name)), shown_name(bare_name(procedure.name)),
                  procedure_arguments(program, procedure));
  if (procedure.is_function) {
    text += fmt::format(" RETURNS {}\n", procedure.rows.empty()
                                             ? formatted_type(program.catalog, result_type(procedure), -1)
                                             : shown_rows(procedure));
  }
  // What the definition says besides stays as it was written.
  const std::string around = source->text.substr(0, body->begin - body->quote_length) +
                             source->text.substr(body->end + body->quote_length);
  const auto says = [&](std::string_view word) {
    return std::ranges::search(around, word, {}, ascii_lower, ascii_lower).begin() != around.end();
  };
  for (const char* word :
       {"language sql", "immutable", "stable", "strict", "leakproof", "security", "parallel", "cost "}) {
    if (says(word)) return source->text;
  }
  return text +
         fmt::format(" LANGUAGE plpgsql\nAS ${}${}${}$\n", kind, procedure_body(program, procedure), kind);
}

std::string default_expression(const Column& column, std::string_view schema) {
  if (column.is_generated()) return fmt::format("({})", column.generated);
  const std::string& text = column.initial;
  const bool is_quoted = text.size() > 1 && text.front() == '\'' && text.back() == '\'';
  if (is_quoted && column.type.kind == TypeKind::kChar) return text + "::bpchar";
  if (is_quoted && has_read_form(column.type)) {
    Arena arena;
    SqlError error;
    std::string_view read;
    const syntax::Expr written = parse_expression(text);
    if (written.kind == syntax::ExprKind::kString && read_form(column.type, written.text, arena, read, error))
      return written_string(read) + "::" + form_name(column.type);
  }
  const Type element = is_array_form(column.type) ? declared_element(column.type) : column.type;
  if (is_quoted && element.kind == TypeKind::kEnum) {
    const bool is_public = schema_of(enum_definition(element).name) == kPublicSchema;
    return fmt::format("{}::{}{}{}", text, is_public ? schema : std::string_view(), type_name(element),
                       is_array_form(column.type) ? "[]" : "");
  }
  if (is_quoted) return text + "::" + formatted_type(oid_of(column.type), -1);
  constexpr std::string_view kNext = "nextval('";
  const bool draws = text.starts_with(kNext) && text.ends_with("')");
  if (draws && end_of_written_name(text, kNext.size()) + 2 != text.size()) schema = {};
  if (draws)
    return fmt::format("{}{}{}::regclass)", kNext, schema,
                       std::string_view(text).substr(kNext.size(), text.size() - kNext.size() - 1));
  const auto is_of_number = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  if (text.size() > 1 && text[0] == '-' &&
      std::ranges::all_of(std::string_view(text).substr(1), is_of_number)) {
    const bool has_point = text.find('.') != text.npos;
    return fmt::format("'{}'::{}", text, has_point ? "numeric" : text.size() > 10 ? "bigint" : "integer");
  }
  for (const std::string_view word : {"CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE"}) {
    if (std::ranges::equal(text, word, {}, ascii_lower, ascii_lower)) return std::string(word);
  }
  return text;
}

int64_t input_function(int64_t type) {
  const auto found = std::ranges::find(kInputFunctions, type, &InputFunction::type);
  return found == std::end(kInputFunctions) ? 0 : found->number;
}

std::optional<int64_t> find_input_function(std::string_view name) {
  const auto found = std::ranges::find(kInputFunctions, name, &InputFunction::name);
  return found == std::end(kInputFunctions) ? std::nullopt : std::optional(found->number);
}

std::span<const InputFunction> input_functions() {
  return kInputFunctions;
}

std::string_view input_function_name(int64_t number) {
  const auto found = std::ranges::find(kInputFunctions, number, &InputFunction::number);
  return found == std::end(kInputFunctions) ? std::string_view() : found->name;
}

}  // namespace mneme::oids
