#include "procedures/native/emitter.h"

#include <algorithm>

#include "engine/schema/array_form.h"
#include "engine/schema/qualified_name.h"
#include "engine/schema/text_form.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/native/emitter_lookups.h"
#include "procedures/native/emitter_statement.h"

namespace mneme {

namespace {

using ir::Procedure;

constexpr const char* kHead =
    R"(// Written by Mneme's emitter: stored procedures as machine code is made of them. Not meant to be edited.
#include "procedures/native/native_runtime.h"

// A statement's code has what some statement of its kind needs.
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace mneme::native {
namespace {

using namespace std::string_view_literals;
)";

const char* stored_type(const RowLayout::Place& place) {
  switch (place.kind) {
    case TypeKind::kBoolean:
      return "bool";
    case TypeKind::kSmallInt:
      return "int16_t";
    case TypeKind::kInt:
    case TypeKind::kDate:
      return "int32_t";
    case TypeKind::kReal:
      return "float";
    case TypeKind::kNumeric:
      return place.wide_numeric ? "int128" : "int64_t";
    case TypeKind::kInterval:
      return "int128";
    case TypeKind::kDouble:
      return "double";
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return place.is_long ? "LongString" : "std::string_view";
    default:
      return "int64_t";
  }
}

std::string emit_table(const Schema& schema, const TableDefinition& table) {
  std::string text = fmt::format("\nnamespace t_{} {{\n", identifier_of(table.name));
  for (uint32_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const RowLayout::Place& place = schema.layout(table.id).place(ColumnId{i});
    const std::string name = identifier_of(column.name);
    if (place.null_flag < 0) {
      text += fmt::format("constexpr Column<{}> c_{}{{{}}};  // {}\n", stored_type(place), name, place.offset,
                          to_string(column.type));
    } else {
      text += fmt::format("constexpr NullableColumn<{}> c_{}{{{{{}}}, {}}};  // {}\n", stored_type(place),
                          name, place.offset, place.null_flag, to_string(column.type));
    }
  }
  return text + "}\n";
}

std::string variable_declaration(UnitScope& scope, size_t i) {
  const Procedure& procedure = scope.procedure;
  const Type& type = procedure.variables[i].type;
  const auto parameter =
      std::ranges::find(procedure.parameters, VariableId{static_cast<uint32_t>(i)}, &ir::Parameter::variable);
  std::string argument;
  if (parameter != procedure.parameters.end()) {
    argument = fmt::format("run.arguments[{}]", parameter - procedure.parameters.begin());
  } else if (procedure.call_time.valid() && procedure.call_time.value == i) {
    argument = "run.arguments.back()";
  }
  const std::string& name = scope.variables[i];
  if (type.is_array)
    return fmt::format("  Array {}{};\n", name, argument.empty() ? "" : "(" + argument + ")");
  const Rep rep = rep_of(type);
  if (!argument.empty()) return fmt::format("  auto {} = {};\n", name, unboxed(rep, argument + ".scalar"));
  const bool is_found = procedure.found.valid() && procedure.found.value == i;
  return fmt::format("  Nullable<{}> {}{};\n", type_of(rep), name, is_found ? "{false, false}" : "");
}

std::string emit_results(UnitScope& scope) {
  std::string text;
  size_t number = 0;
  for (const ir::Parameter& parameter : scope.procedure.parameters) {
    if (!parameter.inout) continue;
    const Type& type = scope.procedure.variables[parameter.variable.value].type;
    const std::string& name = scope.variable(parameter.variable);
    const std::string argument =
        type.is_array
            ? name + ".argument()"
            : fmt::format("Argument::of({})", boxed({name + ".value", name + ".null", rep_of(type)}, type));
    text += fmt::format("  run.results[{}] = {};\n", number++, argument);
  }
  return text;
}

std::string emit_unit(const Schema& schema, const NativeUnit& unit) {
  UnitScope scope(schema, unit);
  StatementEmitter statements(scope);
  statements.emit_block(unit.body.statements);
  const std::string body = scope.text.joined();
  const std::string results = unit.is_whole() ? emit_results(scope) : "";

  std::string text = fmt::format(
      "\n// {}{}.\ntemplate <class Rows>\nbool unit_{}(Rows* rows, NativeRun& run) {{\n",
      unit.is_whole() ? "" : "A slice of ", shown_names(unit.procedure->name), identifier_of(unit.name));
  for (size_t i = 0; i < scope.variables.size(); ++i) {
    if (scope.used[i]) text += variable_declaration(scope, i);
  }
  for (const uint32_t operation : scope.recalled)
    text += fmt::format("  Executions executions_{};\n", operation);
  // A jump to the end passes no declaration outside this block.
  text += "  {\n" + body + "  }\n";
  if (statements.returns()) text += "done:\n";
  return text + results + "  return true;\n}\n";
}

bool is_interpreted(const Type& type) {
  return type.kind == TypeKind::kInterval || type.kind == TypeKind::kDecimal;
}

bool is_enum(const Type& type) {
  return type.kind == TypeKind::kEnum || type.elements == TypeKind::kEnum;
}

bool needs_interpreted_type(const ir::Expr& whole) {
  bool any = false;
  ir::walk(whole, [&](const ir::Expr& part) {
    any |= is_interpreted(part.type);
    any |= part.kind == ir::ExprKind::kCast && (has_read_form(part.type) || is_array_form(part.type));
    any |= part.kind == ir::ExprKind::kFunction && part.function == ir::Function::kArrayText;
    // Machine code knows no labels: it holds an enum's value as a number.
    if (part.kind != ir::ExprKind::kCast && part.kind != ir::ExprKind::kFunction) return;
    any |= is_enum(part.type) ||
           std::ranges::any_of(part.args, [](const ir::Expr& arg) { return is_enum(arg.type); });
  });
  return any;
}
bool needs_interpreted_type(const std::optional<ir::Expr>& expr) {
  return expr && needs_interpreted_type(*expr);
}

bool needs_interpreted_type(std::span<const ir::Statement> statements) {
  return std::ranges::any_of(statements, [](const ir::Statement& statement) {
    return needs_interpreted_type(statement.expr) || needs_interpreted_type(statement.limit) ||
           needs_interpreted_type(statement.step) ||
           std::ranges::any_of(
               statement.args,
               [](const ir::Expr& arg) { return is_enum(arg.type) || needs_interpreted_type(arg); }) ||
           needs_interpreted_type(statement.body) || needs_interpreted_type(statement.else_body);
  });
}

// Whether the unit computes with intervals or numerics of any digits, reads a uuid, a json or a bytea, or
// draws numbers: the interpreter alone does so.
bool needs_interpreted_type(const NativeUnit& unit) {
  const ir::Procedure& procedure = *unit.procedure;
  bool any = procedure.draws || needs_interpreted_type(unit.body.statements);
  for (const ir::Variable& variable : procedure.variables) any |= is_interpreted(variable.type);
  for (const ir::Operation& operation : procedure.operations)
    ir::for_each_expression(operation, [&](const ir::Expr& whole) { any |= needs_interpreted_type(whole); });
  return any;
}

// Whether the unit takes changes back, groups rows, or has a query of any form, which the interpreter alone
// does.
bool needs_interpreter(const ir::Procedure& procedure, std::span<const ir::Statement> statements) {
  return std::ranges::any_of(statements, [&](const ir::Statement& statement) {
    const bool has_operation =
        statement.kind == ir::StatementKind::kOperation || statement.kind == ir::StatementKind::kForQuery;
    return statement.kind == ir::StatementKind::kTry ||
           (has_operation && (!procedure.operations[statement.operation.value].groups.empty() ||
                              procedure.operations[statement.operation.value].any_query)) ||
           needs_interpreter(procedure, statement.body) || needs_interpreter(procedure, statement.else_body);
  });
}

std::string functions_of(const NativeUnit& unit, const std::string& lookups) {
  const std::string on_transaction =
      unit.is_whole() ? fmt::format("run_on_transaction<&unit_{}<Transaction>>", identifier_of(unit.name))
                      : "nullptr";
  const std::string on_any = unit.is_for_replay
                                 ? "nullptr"
                                 : fmt::format("run_on_any<&unit_{}<RowAccess>>", identifier_of(unit.name));
  const std::string on_replay =
      unit.is_for_replay ? fmt::format("run_on_replay<&unit_{}<ReplayAccess>>", identifier_of(unit.name))
                         : "nullptr";
  return fmt::format("    {{{}, {}, {}, {{{}}}}},\n", on_transaction, on_any, on_replay, lookups);
}

}  // namespace

std::string emit_cpp(const Program& program, const Schema& schema, std::span<const NativeUnit> units) {
  std::string text = kHead;
  for (const TableDefinition& table : program.catalog.tables()) text += emit_table(schema, table);
  std::string functions;
  for (const NativeUnit& unit : units) {
    if (needs_interpreted_type(unit) || needs_interpreter(*unit.procedure, unit.body.statements)) {
      functions += "    {nullptr, nullptr, nullptr, {}},\n";
      continue;
    }
    text += emit_unit(schema, unit);
    const LookupFunctions lookups = emit_lookups(schema, unit);
    text += lookups.text;
    functions += functions_of(unit, lookups.names);
  }
  text += "\n}  // namespace\n}  // namespace mneme::native\n\n";
  text += "using namespace mneme;\nusing namespace mneme::native;\n\n";
  text += "extern \"C\" {\n";
  text += fmt::format("extern const uint32_t mneme_native_unit_count = {};\n", units.size());
  text += fmt::format("extern const NativeFunctions mneme_native_units[{}] = {{\n",
                      std::max<size_t>(1, units.size()));
  return text + functions + "};\n}\n";
}

}  // namespace mneme
