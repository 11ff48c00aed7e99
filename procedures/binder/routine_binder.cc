// Routines within routines: a call of a function or procedure becomes its body, in the call's place. And
// statements that become others: RETURN, FOREACH, INSERT ... SELECT, SELECT of values.
//
// So analysis, replay and machine code see one procedure, and a call in the log is the client's alone.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/schema/text_form.h"
#include "procedures/binder/any_query_binder.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/plain_query.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;
using nodes::make_assign;
using nodes::make_statement;

namespace {

ir::Expr make_null_of(const Type& type, ir::SourceLocation where) {
  ir::Expr expr;
  expr.type = type;
  expr.where = where;
  return expr;
}

bool always_returns(const std::vector<syntax::Statement>& statements);

bool always_returns(const syntax::Block& block) {
  return always_returns(block.statements) &&
         std::ranges::all_of(block.handlers, [](const syntax::ExceptionHandler& handler) {
           return always_returns(handler.statements);
         });
}

// Whether the list's end is not come to: its last statement returns, or raises, in every case.
bool always_returns(const std::vector<syntax::Statement>& statements) {
  if (statements.empty()) return false;
  const syntax::Statement& last = statements.back();
  switch (last.kind) {
    case syntax::StatementKind::kReturn:
      return true;
    case syntax::StatementKind::kRaise:
      return last.level == ir::RaiseLevel::kException;
    case syntax::StatementKind::kBlock:
      return last.block->label.empty() && always_returns(*last.block);
    case syntax::StatementKind::kIf:
    case syntax::StatementKind::kCase:
      return (last.has_else ? always_returns(last.body) : last.kind == syntax::StatementKind::kCase) &&
             std::ranges::all_of(last.branches, [](const syntax::Branch& branch) {
               return always_returns(branch.statements);
             });
    default:
      return false;
  }
}

syntax::Expr text_literal(std::string text, ir::SourceLocation where) {
  syntax::Expr literal;
  literal.kind = syntax::ExprKind::kString;
  literal.text = std::move(text);
  literal.where = where;
  return literal;
}

}  // namespace

Type result_type(const syntax::Procedure& routine, const Names& names) {
  Type type;
  if (routine.returns->table.empty() && routine.returns->modifiers.empty() &&
      (routine.returns->base == "numeric" || routine.returns->base == "decimal")) {
    const auto has_own_digits = [&](const syntax::Parameter& parameter) {
      return names.read_parameter_type(parameter.type).kind == TypeKind::kDecimal;
    };
    type = std::ranges::any_of(routine.parameters, has_own_digits) ? kDecimalType : numeric_type(0);
  } else {
    type = names.read_type(*routine.returns);
  }
  type = without_modifiers(type);
  if (type.kind == TypeKind::kNumeric) type.scale = 0;
  return type;
}

std::vector<const syntax::Expr*> arguments_of(const syntax::Procedure& routine,
                                              const std::vector<syntax::Expr>& args,
                                              ir::SourceLocation where) {
  const auto is_named = [](const syntax::Expr& arg) { return arg.kind == syntax::ExprKind::kNamed; };
  const auto first_named = std::ranges::find_if(args, is_named);
  const auto positions = static_cast<size_t>(first_named - args.begin());
  if (const auto late = std::ranges::find_if_not(first_named, args.end(), is_named); late != args.end())
    refuse(late->where, "positional argument cannot follow named argument");
  for (auto arg = first_named; arg != args.end(); ++arg) {
    if (std::ranges::count(first_named, args.end(), arg->text, &syntax::Expr::text) > 1)
      refuse(arg->where, "argument name \"{}\" used more than once", arg->text);
  }
  std::vector<const syntax::Expr*> taken;
  size_t next = 0;
  size_t position = 0;
  for (const syntax::Parameter& parameter : routine.parameters) {
    const auto named = std::find_if(first_named, args.end(), [&](const syntax::Expr& arg) {
      return !parameter.name.empty() && arg.text == parameter.name.text;
    });
    // A function's call names no OUT parameters; a CALL names them, and gives them nothing.
    if (parameter.out && routine.is_function) {
      taken.push_back(nullptr);
    } else if (position < positions) {
      taken.push_back(&args[position++]);
      ++next;
    } else if (named != args.end()) {
      taken.push_back(&named->args[0]);
      ++next;
    } else if (parameter.initial) {
      taken.push_back(&*parameter.initial);
    } else {
      next = args.size() + 1;
      break;
    }
  }
  if (next == args.size() && taken.size() == routine.parameters.size()) return taken;
  refuse_as(sqlstate::kUndefinedFunction, where, "{} {} takes {} arguments, and is given {}",
            routine.is_function ? "function" : "procedure", routine.name.text, routine.parameters.size(),
            args.size());
}

void ProcedureBinder::bind_routine_body(const syntax::Procedure& routine, Statements& out) {
  const bool has_result = routine_->result.valid();
  const bool returns = always_returns(routine.body);
  is_tail_ = routine.is_function || routine_->is_inlined ? returns || !has_result : false;
  Statements body;
  bind_block(routine.body, !routine_->is_inlined, body);
  if (has_result && !returns) {
    Statement raise = make_statement(StatementKind::kRaise, routine.name.where);
    raise.sqlstate = "2F005";
    raise.message = "control reached end of function without RETURN";
    body.push_back(std::move(raise));
  }
  if (!routine.is_strict || routine.parameters.empty()) {
    std::ranges::move(body, std::back_inserter(out));
    return;
  }
  std::vector<ir::Expr> nulls;
  for (size_t i = 0; i < routine.parameters.size(); ++i) {
    const syntax::Expr parameter =
        syntax::reference("", "$" + std::to_string(i + 1), routine.parameters[i].name.where);
    const Declared* declared = names_.find(parameter.text);
    if (names_.type_of(declared->variable).is_array)
      refuse_as(sqlstate::kNotSupported, parameter.where,
                "a STRICT function takes no arrays; leave STRICT out");
    nulls.push_back(nodes::make_unary(
        ir::Op::kIsNull, nodes::kBoolean,
        nodes::make_variable(declared->variable, names_.type_of(declared->variable), parameter.where),
        parameter.where));
  }
  Statement choice = make_statement(StatementKind::kIf, routine.name.where);
  choice.expr = ir::join(ir::Op::kOr, nulls);
  if (has_result) {
    choice.body.push_back(make_assign(routine_->result,
                                      make_null_of(names_.type_of(routine_->result), routine.name.where),
                                      routine.name.where));
  }
  for (Statement& statement : body) choice.else_body.push_back(std::move(statement));
  out.push_back(std::move(choice));
}

bool ProcedureBinder::sets_found(const Statements& statements) {
  return std::ranges::any_of(statements, [](const Statement& statement) {
    const bool here = statement.kind == StatementKind::kOperation ||
                      statement.kind == StatementKind::kForQuery ||
                      statement.kind == StatementKind::kForRange ||
                      (statement.kind == StatementKind::kAssign && !statement.variable.valid());
    return here || sets_found(statement.body) || sets_found(statement.else_body);
  });
}

// SELECT and PERFORM of values, without a table: assignments.
void ProcedureBinder::bind_values(const syntax::Statement& statement, Statements& out) {
  const syntax::Operation& from = *statement.operation;
  const bool performs = statement.kind == syntax::StatementKind::kPerform;
  if (from.for_update || (!performs && from.into.size() != from.items.size())) {
    refuse(from.where,
           "a SELECT without FROM gives one row: each value goes INTO a variable, and there is none to lock");
  }
  std::vector<std::pair<VariableId, VariableId>> moved;
  for (size_t i = 0; i < from.items.size(); ++i) {
    const syntax::Expr expr = queries_.hoist(from.items[i].expr, out);
    const VariableId target = performs ? VariableId() : assignable(from.into[i]);
    if (!performs && from.items.size() == 1) {
      if (names_.type_of(target).is_array) {
        bind_array_assign(target, expr, statement.where, out);
      } else {
        out.push_back(make_assign(target, bind_value_for(expr, target), statement.where));
      }
      continue;
    }
    // All are evaluated before the first is assigned.
    ir::Expr value = folded(ExpressionBinder(names_, strings_).bind(expr));
    if (is_unknown(value)) value = resolve_as_text(std::move(value));
    const VariableId kept = names_.declare_hidden("value " + std::to_string(i + 1), value.type);
    if (value.text_varies) names_.note_text_varies(kept);
    const bool is_plain = value.kind == ir::ExprKind::kConstant || value.kind == ir::ExprKind::kVariable;
    if (!performs || !is_plain) out.push_back(make_assign(kept, std::move(value), statement.where));
    if (!performs) moved.emplace_back(target, kept);
  }
  for (const auto& [target, kept] : moved) {
    ir::Expr value = nodes::make_variable(kept, names_.type_of(kept), statement.where);
    value.text_varies = names_.text_varies(kept);
    out.push_back(
        make_assign(target, folded(convert_for_variable(names_, target, std::move(value))), statement.where));
  }
  if (row_count_.valid())
    out.push_back(make_assign(row_count_, count_constant(1, statement.where), statement.where));
  // FOUND := true, where the procedure reads it (keep_found).
  out.push_back(make_assign(VariableId(), nodes::make_boolean(true, statement.where), statement.where));
}

// INSERT ... SELECT: a loop over the rows, which are all found before the first is inserted.
void ProcedureBinder::bind_insert_of_query(const syntax::Statement& statement, Statements& out) {
  const syntax::Operation& insert = *statement.operation;
  std::optional<syntax::Operation> query = plain_select(insert, true);
  check_change_of_query(insert);
  syntax::Operation each = insert;
  each.query = nullptr;
  const bool has_star = std::ranges::any_of(query->items, &syntax::SelectItem::star);
  const bool has_rows = !query->tables.empty() || !query->conditions.empty() || query->limit || query->offset;
  if (!has_rows && query->groups.empty() && !query->having && !has_star) {
    syntax::Statement values;
    values.kind = syntax::StatementKind::kOperation;
    values.where = statement.where;
    for (const syntax::SelectItem& item : query->items) each.values.push_back(item.expr);
    values.operation = std::move(each);
    return bind_operation(values, out);
  }
  query->kind = ir::OperationKind::kSelect;
  const bool has_groups = query->distinct || !query->groups.empty();
  for (size_t i = 0; i < query->items.size() && !has_star; ++i) {
    // GROUP BY may name it.
    if (has_groups && !query->items[i].alias.empty()) continue;
    query->items[i].alias = {"column" + std::to_string(i + 1), query->where};
  }
  // No name of the user's holds a blank.
  const syntax::Name row{"row of query " + std::to_string(++calls_), statement.where};
  names_.declare_record(row);
  const VariableId sum = begin_sum(statement.where, out);
  Statement loop = make_statement(StatementKind::kForQuery, statement.where);
  loop.operation = bind_operation_into(*query, OperationBinder::Use::kForLoop, {{row, {}}}, out).id;
  for (const auto& [name, variable] : *names_.get(row).record->fields)
    each.values.push_back(syntax::reference(row.text, name, statement.where));
  syntax::Statement values;
  values.kind = syntax::StatementKind::kOperation;
  values.where = statement.where;
  values.operation = std::move(each);
  bind_operation(values, loop.body);
  add_count(sum, statement.where, loop.body);
  out.push_back(std::move(loop));
  end_sum(sum, statement.where, out);
}

ProcedureBinder::Inlined ProcedureBinder::inline_body(const syntax::Procedure& callee,
                                                      const std::vector<syntax::Expr>& args,
                                                      ir::SourceLocation where, Statements& out) {
  const std::vector<const syntax::Expr*> given = arguments_of(callee, args, where);
  Inlined inlined;
  for (size_t i = 0; i < given.size(); ++i) {
    const syntax::Parameter& parameter = callee.parameters[i];
    const Type type = names_.read_parameter_type(parameter.type);
    const std::string name = parameter.name.empty() ? "$" + std::to_string(i + 1) : parameter.name.text;
    const bool is_default = parameter.initial && given[i] == &*parameter.initial;
    if (type.is_array) {
      inlined.parameters.push_back(names_.declare_hidden(name, type));
      if (parameter.out || given[i] == nullptr) {
        refuse_as(sqlstate::kNotSupported, where, "an OUT parameter that is an array is not supported here");
      }
      bind_array_assign(inlined.parameters.back(), *given[i], where, out);
      continue;
    }
    ir::Expr value;
    if (parameter.out || given[i] == nullptr) {
      value = make_null_of(without_modifiers(type), where);
    } else {
      std::optional<Names::InRoutine> routine_alone;
      if (is_default) routine_alone.emplace(names_, callee.name.text, where);
      if (is_default) names_.open_block();
      value = folded(argument_for(ExpressionBinder(names_, strings_).bind(queries_.hoist(*given[i], out)),
                                  type, i + 1, callee));
    }
    const VariableId variable = names_.declare_hidden(name, value.type);
    names_.note_parameter(variable);
    if (value.text_varies) names_.note_text_varies(variable);
    out.push_back(make_assign(variable, std::move(value), where));
    inlined.parameters.push_back(variable);
  }
  std::optional<Names::InRoutine> routine_alone(std::in_place, names_, callee.name.text, where);
  names_.open_block();
  for (size_t i = 0; i < given.size(); ++i) {
    const syntax::Name& name = callee.parameters[i].name;
    if (!name.empty()) names_.declare_alias(name, inlined.parameters[i]);
    names_.declare_alias({"$" + std::to_string(i + 1), name.where}, inlined.parameters[i]);
  }
  Routine routine;
  routine.from = &callee;
  routine.is_inlined = true;
  if (callee.returns && !callee.returns_void())
    routine.result = names_.declare_hidden(callee.name.text + " result", result_type(callee, names_));
  Routine* const outer = std::exchange(routine_, &routine);
  std::vector<Loop> loops = std::exchange(loops_, {});
  std::vector<OpenCursor> cursors = std::exchange(cursors_, {});
  const bool is_tail = is_tail_;
  const Handler* const handler = std::exchange(handler_, nullptr);
  const VariableId found = std::exchange(procedure_.found, VariableId());
  const VariableId row_count = std::exchange(row_count_, VariableId());
  const std::optional<ir::SourceLocation> uncounted = std::exchange(uncounted_, std::nullopt);
  Statements body;
  find_row_count(callee.body);
  bind_routine_body(callee, body);
  if (row_count_.valid()) {
    check_counted();
    keep_row_count(body);
  }
  if (procedure_.found.valid() || sets_found(body)) {
    names_.found();  // The body's statements don't set the caller's.
    keep_found(body);
    body.insert(body.begin(), make_assign(procedure_.found, nodes::make_boolean(false, where), where));
  }
  if (row_count_.valid()) body.insert(body.begin(), make_assign(row_count_, count_constant(0, where), where));
  procedure_.found = found;
  row_count_ = row_count;
  uncounted_ = uncounted;
  handler_ = handler;
  is_tail_ = is_tail;
  loops_ = std::move(loops);
  cursors_ = std::move(cursors);
  routine_ = outer;
  routine_alone.reset();
  inlined.result = routine.result;
  if (routine.jumps) {
    Statement loop = make_statement(StatementKind::kWhile, where);
    loop.expr = nodes::make_boolean(true, where);
    for (Statement& statement : body) loop.body.push_back(std::move(statement));
    Statement leave = make_statement(StatementKind::kExit, where);
    leave.expr = nodes::make_boolean(true, where);
    loop.body.push_back(std::move(leave));
    out.push_back(std::move(loop));
  } else {
    std::ranges::move(body, std::back_inserter(out));
  }
  return inlined;
}

void ProcedureBinder::check_counted() const {
  if (!uncounted_) return;
  refuse_as(sqlstate::kNotSupported, *uncounted_,
            "GET DIAGNOSTICS ... ROW_COUNT is not supported beside PERFORM of a query, whose rows it would "
            "not count; "
            "use FOUND, or count(*)");
}

ir::Expr ProcedureBinder::count_constant(int64_t count, ir::SourceLocation where) {
  ir::Expr constant = nodes::make(ir::ExprKind::kConstant, Type{.kind = TypeKind::kBigInt}, where);
  constant.constant = Value::of_int(count);
  return constant;
}

syntax::Expr ProcedureBinder::call_in_expression(const syntax::Expr& call, const syntax::Procedure& routine,
                                                 Statements& out) {
  if (call.star || call.distinct || call.window || call.filter || call.order) {
    refuse_as(sqlstate::kWrongObject, call.where, "{} is no aggregate or window function", call.text);
  }
  check_returns_value(routine, call.where);
  const Inlined inlined = inline_body(routine, call.args, call.where, out);
  VariableId result = inlined.result;
  if (!routine.returns) {
    for (size_t i = 0; i < routine.parameters.size(); ++i) {
      if (!routine.parameters[i].inout) continue;
      if (result.valid()) {
        refuse_as(sqlstate::kNotSupported, call.where,
                  "function {} returns several values; SELECT * FROM {}(...) of a session has them",
                  call.text, call.text);
      }
      result = inlined.parameters[i];
    }
  }
  if (!result.valid()) {
    // What a void function returns is an empty text, and NULL in LANGUAGE sql.
    syntax::Expr nothing = text_literal("", call.where);
    if (routine.is_sql) nothing.kind = syntax::ExprKind::kNull;
    return nothing;
  }
  // No name of the user's holds a blank.
  const syntax::Name name{"call " + std::to_string(++calls_), call.where};
  names_.declare_alias(name, result);
  return syntax::reference("", name.text, call.where);
}

void ProcedureBinder::bind_call(const syntax::Statement& statement, Statements& out) {
  const std::string& name = statement.name.text;
  const syntax::Procedure* callee = names_.find_routine(name);
  names_.check_recursion(name, statement.name.where);
  if (callee == nullptr)
    refuse_as(sqlstate::kUndefinedFunction, statement.name.where, "procedure {} does not exist", name);
  if (callee->is_function) {
    refuse_as(sqlstate::kWrongObject, statement.name.where,
              "{} is not a procedure; to call a function, use PERFORM or SELECT", name);
  }
  const std::vector<const syntax::Expr*> given = arguments_of(*callee, statement.args, statement.where);
  for (size_t i = 0; i < given.size(); ++i) {
    const syntax::Parameter& parameter = callee->parameters[i];
    if (parameter.inout && given[i]->kind != syntax::ExprKind::kReference) {
      refuse(given[i]->where,
             "procedure parameter \"{}\" is an output parameter but corresponding argument is not writable",
             parameter.name.text);
    }
  }
  const Inlined inlined = inline_body(*callee, statement.args, statement.where, out);
  for (size_t i = 0; i < given.size(); ++i) {
    if (!callee->parameters[i].inout) continue;
    syntax::Target target;
    const bool is_field = !given[i]->qualifier.empty();
    target.name = {is_field ? given[i]->qualifier : given[i]->text, given[i]->where};
    if (is_field) target.field = {given[i]->text, given[i]->where};
    const VariableId variable = assignable(target);
    const VariableId from = inlined.parameters[i];
    if (names_.type_of(variable).is_array) {
      Statement assign = make_statement(StatementKind::kArrayAssign, statement.where);
      assign.variable = variable;
      assign.source_array = from;
      out.push_back(std::move(assign));
      continue;
    }
    ir::Expr value = nodes::make_variable(from, names_.type_of(from), statement.where);
    value.text_varies = names_.text_varies(from);
    out.push_back(make_assign(variable, folded(convert_for_variable(names_, variable, std::move(value))),
                              statement.where));
  }
}

void ProcedureBinder::bind_return(const syntax::Statement& statement, Statements& out) {
  const syntax::Procedure& routine = *routine_->from;
  if (statement.expr) {
    if (!routine_->result.valid()) {
      refuse_as(routine.is_function ? sqlstate::kDatatypeMismatch : sqlstate::kSyntaxError,
                statement.expr->where, "RETURN cannot have a parameter in {}",
                !routine.is_function ? "a procedure"
                : routine.returns    ? "function returning void"
                                     : "function with OUT parameters");
    }
    assign_result(*statement.expr, out);
  } else if (routine_->result.valid()) {
    refuse(statement.where, "a function's RETURN needs an expression: what it returns");
  }
  if (is_tail_) return;
  if (!routine_->is_inlined) {
    out.push_back(make_statement(StatementKind::kReturn, statement.where));
    return;
  }
  routine_->jumps = true;
  Statement leave = make_statement(StatementKind::kExit, statement.where);
  leave.loop_depth = static_cast<uint32_t>(loops_.size());
  leave.expr = nodes::make_boolean(true, statement.where);
  out.push_back(std::move(leave));
}

// PostgreSQL ignores the modifiers of the type that a function returns: a number keeps its digits.
void ProcedureBinder::assign_result(const syntax::Expr& expr, Statements& out) {
  const std::string& name = routine_->from->name.text;
  ir::Expr value = ExpressionBinder(names_, strings_).bind(queries_.hoist(expr, out));
  Type type = names_.type_of(routine_->result);
  const bool is_null = value.kind == ir::ExprKind::kConstant && value.constant.is_null();
  if (type.kind == TypeKind::kNumeric && !is_null) {
    const Digits digits = decimals_of(value);
    const bool is_exact =
        value.type.is_integer() || value.type.kind == TypeKind::kNumeric || is_unknown(value);
    if (!routine_->has_digits && (value.type.kind == TypeKind::kDecimal || digits.vary)) {
      type = kDecimalType;
    } else if (digits.vary || !is_exact || (routine_->has_digits && digits.count != type.scale)) {
      refuse_as(
          sqlstate::kNotSupported, expr.where,
          "what function {} returns has the same digits after the point in each RETURN; write CAST(... AS "
          "numeric(p,s)) in each",
          name);
    }
    routine_->has_digits = true;
    if (type.kind == TypeKind::kNumeric) type.scale = static_cast<uint8_t>(digits.count);
    names_.set_parameter_type(routine_->result, type);
  }
  if (value.text_varies) names_.note_text_varies(routine_->result);
  out.push_back(make_assign(routine_->result, folded(convert_for_assignment(std::move(value), type, name)),
                            expr.where));
}

// ---- functions that return rows ----

std::vector<std::pair<syntax::Name, syntax::TypeName>> columns_of_rows(const syntax::Procedure& routine,
                                                                       const Names& names) {
  std::vector<std::pair<syntax::Name, syntax::TypeName>> columns;
  for (const syntax::RowColumn& column : routine.row_columns) {
    const bool is_setof = column.name.text == routine.name.text;
    const TableDefinition* table = is_setof ? names.find_table(column.type.base) : nullptr;
    if (table == nullptr || is_sequence(*table)) {
      columns.emplace_back(column.name, column.type);
      // PostgreSQL ignores how many digits or characters the type says.
      syntax::TypeName& type = columns.back().second;
      if (type.base != "char" && type.base != "character" && type.base != "bpchar") type.modifiers.clear();
      continue;
    }
    for (const Column& each : table->columns)
      columns.emplace_back(syntax::Name{each.name, column.name.where},
                           written_type(each.type, column.name.where));
  }
  for (const syntax::Parameter& parameter : routine.parameters) {
    if (parameter.out) columns.emplace_back(parameter.name, parameter.type);
  }
  if (columns.empty())
    refuse_as("42P13", routine.name.where,
              "function result type must be specified because of result type record");
  return columns;
}

syntax::Query query_of_rows(const syntax::Procedure& routine, const Names& names) {
  const ir::SourceLocation where = routine.name.where;
  // No name of the user's holds a blank.
  const std::string rows = "rows of the function";
  syntax::Query query;
  query.where = query.first.where = where;
  syntax::SelectCore& core = query.first.select.emplace();
  core.where = where;
  syntax::FromItem& from = core.from.emplace_back();
  from.kind = syntax::FromItem::Kind::kQuery;
  from.where = where;
  from.query = routine.rows;
  from.alias = {rows, where};
  for (const auto& [name, type] : columns_of_rows(routine, names)) {
    const std::string column = "column " + std::to_string(core.items.size() + 1);
    from.column_aliases.push_back({column, where});
    syntax::Expr cast = syntax::make_expression(syntax::ExprKind::kCast, where);
    cast.type = type;
    cast.args.push_back(syntax::reference(rows, column, where));
    core.items.push_back({false, {}, std::move(cast), name});
  }
  if (!routine.is_strict) return query;
  std::vector<syntax::Expr> given;
  for (size_t i = 0; i < routine.parameters.size(); ++i) {
    if (routine.parameters[i].out) continue;
    syntax::Expr parameter = syntax::make_expression(syntax::ExprKind::kParameter, where);
    parameter.text = std::to_string(i + 1);
    given.push_back(syntax::make_unary(ir::Op::kIsNotNull, std::move(parameter), where));
  }
  if (!given.empty()) core.condition = syntax::join(ir::Op::kAnd, given);
  return query;
}

// The query is bound for its faults, and so that the tables that it reads are known.
void ProcedureBinder::bind_rows(const syntax::Procedure& from) {
  const auto columns = columns_of_rows(from, names_);
  const BoundAnyQuery bound = bind_any_query(catalog_, names_, strings_, *from.rows, nullptr);
  if (bound.types.size() != columns.size()) {
    refuse_as(from.is_sql ? "42P13" : "42804", from.rows->where,
              "the query gives {} columns, and function {} returns {}", bound.types.size(), from.name.text,
              columns.size());
  }
  syntax::Operation select;
  select.where = from.rows->where;
  select.text = from.rows->text.empty() ? "the query of " + from.name.text : from.rows->text;
  select.query = std::make_shared<const syntax::Query>(query_of_rows(from, names_));
  (void)bind_any(select, nullptr, [](const BoundAnyQuery&) { return std::vector<VariableId>(); });
  for (const auto& [name, type] : columns) {
    const bool is_table = !from.row_columns.empty() && from.row_columns[0].name.text != from.name.text;
    procedure_.rows += procedure_.rows.empty() ? (is_table ? "TABLE(" : "SETOF ") : ", ";
    if (is_table) procedure_.rows += name.text + " ";
    procedure_.rows += message_name(names_.read_type(type));
    if (!is_table) break;
    if (&name == &columns.back().first) procedure_.rows += ")";
  }
  if (from.row_columns.empty()) procedure_.rows = "SETOF record";
  if (from.row_columns.size() == 1 && columns.size() > 1)
    procedure_.rows = "SETOF " + from.row_columns[0].type.base;
}

}  // namespace mneme
