#include "procedures/binder/statement_binder.h"

#include <algorithm>

#include "base/check.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;
using nodes::make_boolean;
using nodes::make_statement;

namespace {

constexpr Type kLoopCounterType{.kind = TypeKind::kInt};

ir::Expr make_null(const Type& type, ir::SourceLocation where) {
  ir::Expr expr;
  expr.type = type;
  expr.where = where;
  return expr;
}

// CASE WHEN condition THEN false ELSE true END
ir::Expr make_case_of_false_or_null(const ir::Expr& condition) {
  ir::Expr choice;
  choice.kind = ir::ExprKind::kCase;
  choice.type.kind = TypeKind::kBoolean;
  choice.where = condition.where;
  choice.args.push_back(condition);
  choice.args.push_back(make_boolean(false, condition.where));
  choice.args.push_back(make_boolean(true, condition.where));
  return choice;
}

}  // namespace

size_t count_placeholders(std::string_view format) {
  size_t count = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (i + 1 < format.size() && format[i + 1] == '%') {
      ++i;
    } else {
      ++count;
    }
  }
  return count;
}

namespace {

// Whether a statement leaves the block of this label.
bool leaves(const std::vector<syntax::Statement>& statements, const std::string& label) {
  return std::ranges::any_of(statements, [&](const syntax::Statement& statement) {
    if (statement.kind == syntax::StatementKind::kExit && statement.label.text == label) return true;
    const auto is_within = [&](const syntax::Branch& branch) { return leaves(branch.statements, label); };
    if (std::ranges::any_of(statement.branches, is_within) || leaves(statement.body, label)) return true;
    return statement.block != nullptr &&
           (leaves(statement.block->statements, label) ||
            std::ranges::any_of(statement.block->handlers, [&](const syntax::ExceptionHandler& handler) {
              return leaves(handler.statements, label);
            }));
  });
}

}  // namespace

ir::Procedure ProcedureBinder::bind(const syntax::Procedure& from, ProcedureId id) {
  procedure_.id = id;
  procedure_.name = from.name.text;
  procedure_.where = from.name.where;
  procedure_.is_function = from.is_function;
  procedure_.is_sql = from.is_sql;
  names_.begin_routine(from.name.text);
  names_.open_block();
  bind_parameters(from);
  if (from.returns_rows) {
    bind_rows(from);
    names_.close_block();
    return std::move(procedure_);
  }
  Routine routine;
  routine.from = &from;
  if (from.returns && !from.returns_void()) {
    routine.result = names_.declare_hidden(from.name.text, result_type(from, names_));
    procedure_.parameters.push_back({.variable = routine.result, .inout = true, .out = true});
    procedure_.has_result = true;
  }
  routine_ = &routine;
  find_row_count(from.body);
  bind_routine_body(from, procedure_.body);
  names_.close_block();
  if (row_count_.valid()) {
    check_counted();
    keep_row_count(procedure_.body);
    procedure_.body.insert(
        procedure_.body.begin(),
        nodes::make_assign(row_count_, count_constant(0, from.name.where), from.name.where));
  }
  if (procedure_.found.valid()) {
    keep_found(procedure_.body);
    Statement begin = make_statement(StatementKind::kAssign, from.name.where);
    begin.variable = procedure_.found;
    begin.expr = make_boolean(false, from.name.where);
    procedure_.body.insert(procedure_.body.begin(), std::move(begin));
  }
  drop_unkept_found(procedure_.body);
  return std::move(procedure_);
}

void ProcedureBinder::bind_parameters(const syntax::Procedure& from) {
  for (const syntax::Parameter& parameter : from.parameters) {
    if (parameter.type.base == "record") {
      refuse(parameter.type.where, "a parameter can't be a RECORD; give each field a parameter");
    }
    const Type type = names_.read_parameter_type(parameter.type);
    const std::string number = "$" + std::to_string(procedure_.parameters.size() + 1);
    if (parameter.inout && from.is_function && from.returns) {
      refuse_as(sqlstate::kNotSupported, parameter.name.where,
                "a function with OUT parameters returns these, and has no RETURNS; leave it out");
    }
    const VariableId variable = parameter.name.empty() ? names_.declare_hidden("", type)
                                                       : names_.declare(parameter.name, type, false, true);
    names_.declare_alias({number, parameter.name.where}, variable);
    procedure_.parameters.push_back({.variable = variable, .inout = parameter.inout, .out = parameter.out});
  }
}

void ProcedureBinder::bind_block(const syntax::Block& block, bool outermost, Statements& out) {
  names_.open_block();
  const size_t cursors = cursors_.size();
  for (const syntax::Declaration& declaration : block.declarations)
    bind_declaration(declaration, outermost, out);
  if (!block.handlers.empty()) {
    if (!block.label.empty() && leaves(block.statements, block.label.text)) {
      refuse_as(sqlstate::kNotSupported, block.label.where,
                "EXIT from a block with EXCEPTION is not supported; label a block inside or around it");
    }
    bind_handlers(block, out);
  } else if (!block.label.empty() && leaves(block.statements, block.label.text)) {
    bind_labelled(block, out);
  } else {
    bind_statements(block.statements, out);
  }
  cursors_.resize(cursors);
  names_.close_block();
}

// A block that an EXIT leaves is a loop whose first iteration is its last.
void ProcedureBinder::bind_labelled(const syntax::Block& block, Statements& out) {
  const ir::SourceLocation where = block.label.where;
  Statement loop = make_statement(StatementKind::kWhile, where);
  loop.expr = make_boolean(true, where);
  loops_.push_back({block.label.text, true});
  bind_statements(block.statements, loop.body);
  loops_.pop_back();
  Statement leave = make_statement(StatementKind::kExit, where);
  leave.expr = make_boolean(true, where);
  loop.body.push_back(std::move(leave));
  out.push_back(std::move(loop));
}

void ProcedureBinder::bind_declaration(const syntax::Declaration& declaration, bool outermost,
                                       Statements& out) {
  if (declaration.cursor) return declare_cursor(declaration, out);
  if (declaration.type.base == "record") {
    if (declaration.initial || declaration.constant) {
      refuse(declaration.name.where, "a RECORD takes no initial value; a SELECT or FOR loop fills it");
    }
    names_.declare_record(declaration.name);
    return;
  }
  if (declaration.type.base == syntax::kRowType) return bind_row_variable(declaration, outermost, out);
  const Type type = names_.read_type(declaration.type);
  if (declaration.not_null) {
    refuse_as(sqlstate::kNotSupported, declaration.name.where,
              "a variable that is NOT NULL is not supported; leave NOT NULL out, and use ASSERT");
  }
  if (declaration.constant && !declaration.initial) {
    refuse(declaration.name.where, "the CONSTANT {} has no value; write :=", declaration.name.text);
  }
  // The initial value is evaluated before the name is known, as in PostgreSQL.
  if (type.is_array) {
    const VariableId array = names_.declare(declaration.name, type, declaration.constant, false);
    if (declaration.initial) {
      bind_array_assign(array, *declaration.initial, declaration.name.where, out);
    } else if (!outermost) {
      refuse(declaration.name.where, "an array in an inner block needs an initial value, as '{{}}'");
    }
    return;
  }
  Statement assign = make_statement(StatementKind::kAssign, declaration.name.where);
  if (declaration.initial) {
    assign.expr = bind_for(queries_.hoist(*declaration.initial, out), type, declaration.name.text);
  } else {
    assign.expr = make_null(type, declaration.name.where);
  }
  assign.variable = names_.declare(declaration.name, type, declaration.constant, false);
  // The outermost block's variables are NULL as the call begins; an inner block may be entered again.
  if (declaration.initial || !outermost) out.push_back(std::move(assign));
}

// TABLE%ROWTYPE: a record whose fields are the table's columns, NULL at first.
void ProcedureBinder::bind_row_variable(const syntax::Declaration& declaration, bool outermost,
                                        Statements& out) {
  if (declaration.initial || declaration.constant)
    refuse(declaration.name.where, "a row variable takes no initial value; a SELECT or FOR loop fills it");
  const syntax::Name& of = declaration.type.table;
  const TableDefinition* table = names_.find_table(of.text);
  if (table == nullptr)
    refuse_as(sqlstate::kUndefinedTable, of.where, "relation \"{}\" does not exist", of.text);
  names_.declare_record(declaration.name);
  std::vector<std::string> columns;
  std::vector<Type> types;
  for (const Column& column : table->columns) {
    columns.push_back(column.name);
    types.push_back(column.type);
  }
  const std::vector<VariableId> fields =
      names_.fill_record(names_.get(declaration.name), columns, types, declaration.name.where);
  for (size_t i = 0; i < fields.size() && !outermost; ++i) {
    Statement assign = make_statement(StatementKind::kAssign, declaration.name.where);
    assign.variable = fields[i];
    assign.expr = make_null(types[i], declaration.name.where);
    out.push_back(std::move(assign));
  }
}

void ProcedureBinder::bind_statements(const std::vector<syntax::Statement>& statements, Statements& out) {
  const bool is_tail = is_tail_;
  for (const syntax::Statement& statement : statements) {
    is_tail_ = is_tail && &statement == &statements.back();
    bind_statement(statement, out);
  }
  is_tail_ = is_tail;
}

void ProcedureBinder::bind_statement(const syntax::Statement& statement, Statements& out) {
  switch (statement.kind) {
    case syntax::StatementKind::kBlock:
      return bind_block(*statement.block, false, out);
    case syntax::StatementKind::kAssign:
      return bind_assign(statement, out);
    case syntax::StatementKind::kIf:
    case syntax::StatementKind::kCase:
      return bind_branches(statement, out);
    case syntax::StatementKind::kLoop:
    case syntax::StatementKind::kWhile:
      return bind_while(statement, out);
    case syntax::StatementKind::kForRange:
      return bind_for_range(statement, out);
    case syntax::StatementKind::kForQuery:
      return bind_for_query(statement, out);
    case syntax::StatementKind::kExit:
    case syntax::StatementKind::kContinue:
      return bind_leave(statement, out);
    case syntax::StatementKind::kForCursor:
      return bind_for_cursor(statement, out);
    case syntax::StatementKind::kOpen:
      return bind_open(statement, out);
    case syntax::StatementKind::kClose:
      return bind_close(statement, out);
    case syntax::StatementKind::kFetch:
      return bind_fetch(statement, out);
    case syntax::StatementKind::kReturnRows:
      refuse(statement.where, "cannot use RETURN QUERY in a function that does not return rows");
    case syntax::StatementKind::kForEach:
      return bind_for_each(statement, out);
    case syntax::StatementKind::kAssert:
      return bind_assert(statement, out);
    case syntax::StatementKind::kDiagnostics:
      return bind_diagnostics(statement, out);
    case syntax::StatementKind::kCall:
      return bind_call(statement, out);
    case syntax::StatementKind::kReturn:
      return bind_return(statement, out);
    case syntax::StatementKind::kRaise:
      return bind_raise(statement, out);
    case syntax::StatementKind::kNull:
      return;
    case syntax::StatementKind::kPerform:
    case syntax::StatementKind::kOperation:
      return bind_operation(statement, out);
  }
  CHECK(false && "no such statement");
}

VariableId ProcedureBinder::assignable(const syntax::Target& target) const {
  const Declared& declared = names_.get(target.name);
  if (declared.constant)
    refuse(target.name.where, "{} is a CONSTANT and can't be assigned to", target.name.text);
  if (declared.record) {
    if (target.field.empty()) {
      refuse(target.name.where,
             "a whole record can't be assigned; assign its fields, or fill it with SELECT ... INTO");
    }
    return names_.field(*declared.record, target.field.text, target.field.where);
  }
  if (!target.field.empty())
    refuse(target.field.where, "{} is no record and has no fields", target.name.text);
  return declared.variable;
}

ir::Expr ProcedureBinder::bind_value_for(const syntax::Expr& expr, VariableId variable) {
  ExpressionBinder binder(names_, strings_);
  return folded(convert_for_variable(names_, variable, binder.bind(expr)));
}

ir::Expr ProcedureBinder::bind_condition(const syntax::Expr& expr) {
  return folded(ExpressionBinder(names_, strings_).bind_condition(expr));
}

ir::Expr ProcedureBinder::bind_for(const syntax::Expr& expr, const Type& target, std::string_view what) {
  return folded(ExpressionBinder(names_, strings_).bind_for(expr, target, what));
}

ir::Expr ProcedureBinder::folded(ir::Expr expr) {
  ConstantFolder(strings_).fold_alone(expr);
  return expr;
}

void ProcedureBinder::bind_assign(const syntax::Statement& statement, Statements& out) {
  const VariableId variable = assignable(statement.target);
  if (names_.type_of(variable).is_array)
    return bind_array_assign(variable, *statement.expr, statement.where, out);
  Statement assign = make_statement(StatementKind::kAssign, statement.where);
  assign.variable = variable;
  assign.expr = bind_value_for(queries_.hoist(*statement.expr, out), variable);
  out.push_back(std::move(assign));
}

ir::Expr ProcedureBinder::bind_branch_condition(const std::optional<syntax::Expr>& of,
                                                const syntax::Branch& branch, Statements& out) {
  if (!of) {
    if (branch.conditions.size() != 1) {
      refuse(branch.where, "a WHEN of a CASE without an expression takes one condition; join them with OR");
    }
    return bind_condition(queries_.hoist(branch.conditions[0], out));
  }
  // PostgreSQL keeps the subject in a variable: a bare literal is text, whatever it meets.
  syntax::Expr subject = *of;
  if (subject.kind == syntax::ExprKind::kString || subject.kind == syntax::ExprKind::kNull) {
    subject = {};
    subject.kind = syntax::ExprKind::kCast;
    subject.type.base = "text";
    subject.where = subject.type.where = of->where;
    subject.args = {*of};
  }
  // CASE x WHEN a, b is x = a OR x = b. Only a and b are constants to PostgreSQL.
  ExpressionBinder binder(names_, strings_);
  std::vector<ir::Expr> comparisons;
  for (const syntax::Expr& condition : branch.conditions) {
    syntax::Expr equal;
    equal.kind = syntax::ExprKind::kBinary;
    equal.op = ir::Op::kEqual;
    equal.where = condition.where;
    equal.args = {subject, queries_.hoist(condition, out)};
    comparisons.push_back(binder.bind_condition(equal));
    for (ir::Expr& side : comparisons.back().args) side = folded(std::move(side));
  }
  return ir::join(ir::Op::kOr, comparisons);
}

void ProcedureBinder::bind_branches(const syntax::Statement& statement, Statements& out) {
  Statements* into = &out;
  // What CASE compares is evaluated once.
  std::optional<syntax::Expr> subject;
  if (statement.expr) subject = queries_.hoist(*statement.expr, out);
  for (const syntax::Branch& branch : statement.branches) {
    Statement choice = make_statement(StatementKind::kIf, branch.where);
    choice.expr = bind_branch_condition(subject, branch, *into);
    bind_statements(branch.statements, choice.body);
    into->push_back(std::move(choice));
    into = &into->back().else_body;
  }
  if (statement.has_else) {
    bind_statements(statement.body, *into);
  } else if (statement.kind == syntax::StatementKind::kCase) {
    Statement raise = make_statement(StatementKind::kRaise, statement.where);
    raise.sqlstate = sqlstate::kCaseNotFound;
    raise.message = "case not found";
    into->push_back(std::move(raise));
  }
}

void ProcedureBinder::bind_loop_body(const syntax::Statement& statement, Statements& out) {
  loops_.push_back({statement.label.text});
  const bool is_tail = std::exchange(is_tail_, false);
  bind_statements(statement.body, out);
  is_tail_ = is_tail;
  loops_.pop_back();
}

void ProcedureBinder::bind_while(const syntax::Statement& statement, Statements& out) {
  Statement loop = make_statement(StatementKind::kWhile, statement.where);
  if (statement.expr && queries_.needs_statements(*statement.expr)) {
    // LOOP look; EXIT WHEN NOT what was found; ... END LOOP
    loop.expr = make_boolean(true, statement.where);
    Statements look;
    Statement leave = make_statement(StatementKind::kExit, statement.where);
    names_.open_block();
    const ir::Expr condition = bind_condition(queries_.hoist(*statement.expr, look));
    names_.close_block();
    leave.expr = make_case_of_false_or_null(condition);
    look.push_back(std::move(leave));
    for (Statement& each : look) loop.body.push_back(std::move(each));
  } else {
    loop.expr = statement.expr ? bind_condition(*statement.expr) : make_boolean(true, statement.where);
  }
  bind_loop_body(statement, loop.body);
  out.push_back(std::move(loop));
}

void ProcedureBinder::bind_for_range(const syntax::Statement& statement, Statements& out) {
  if (!statement.target.field.empty()) {
    refuse(statement.target.field.where,
           "a FOR loop over numbers counts in a variable of its own; write one name");
  }
  Statement loop = make_statement(StatementKind::kForRange, statement.where);
  loop.reverse = statement.reverse;
  loop.expr = bind_for(queries_.hoist(*statement.expr, out), kLoopCounterType, "a FOR loop's bound");
  loop.limit = bind_for(queries_.hoist(*statement.limit, out), kLoopCounterType, "a FOR loop's bound");
  if (statement.step) loop.step = bind_for(queries_.hoist(*statement.step, out), kLoopCounterType, "BY");
  names_.open_block();
  loop.variable = names_.declare(statement.target.name, kLoopCounterType, false, false);
  bind_loop_body(statement, loop.body);
  names_.close_block();
  out.push_back(std::move(loop));
}

void ProcedureBinder::bind_for_query(const syntax::Statement& statement, Statements& out) {
  Statement loop = make_statement(StatementKind::kForQuery, statement.where);
  Bound bound =
      bind_operation_into(*statement.operation, OperationBinder::Use::kForLoop, statement.targets, out);
  loop.operation = bound.id;
  std::ranges::move(bound.taken, std::back_inserter(loop.body));
  bind_loop_body(statement, loop.body);
  out.push_back(std::move(loop));
}

void ProcedureBinder::bind_leave(const syntax::Statement& statement, Statements& out) {
  const bool is_exit = statement.kind == syntax::StatementKind::kExit;
  Statement leave =
      make_statement(is_exit ? StatementKind::kExit : StatementKind::kContinue, statement.where);
  const auto loop = std::find_if(loops_.rbegin(), loops_.rend(), [&](const Loop& each) {
    return statement.label.empty() ? !each.is_block : each.label == statement.label.text;
  });
  if (loop == loops_.rend() && statement.label.empty())
    refuse(statement.where, "{} is outside of any loop", is_exit ? "EXIT" : "CONTINUE");
  if (loop == loops_.rend()) {
    refuse(statement.label.where, "no loop around this statement is labelled <<{}>>", statement.label.text);
  }
  if (loop->is_block && !is_exit)
    refuse(statement.label.where, "block label \"{}\" cannot be used in CONTINUE", statement.label.text);
  leave.loop_depth = static_cast<uint32_t>(loop - loops_.rbegin());
  leave.expr = statement.expr ? bind_condition(queries_.hoist(*statement.expr, out))
                              : make_boolean(true, statement.where);
  out.push_back(std::move(leave));
}

// No statement reads the FOUND that these set.
void ProcedureBinder::drop_unkept_found(Statements& statements) {
  std::erase_if(statements, [](const Statement& statement) {
    return statement.kind == StatementKind::kAssign && !statement.variable.valid();
  });
  for (Statement& statement : statements) {
    drop_unkept_found(statement.body);
    drop_unkept_found(statement.else_body);
  }
}

// The procedure reads FOUND somewhere: every statement that sets it says so. Those that constraints add have
// variables of their own for it.
void ProcedureBinder::keep_found(Statements& statements) {
  for (Statement& statement : statements) {
    if (statement.kind == StatementKind::kAssign && !statement.variable.valid())
      statement.variable = procedure_.found;
    if (statement.kind == StatementKind::kForRange || statement.kind == StatementKind::kForQuery) {
      if (!statement.found.valid()) statement.found = procedure_.found;
    }
    if (statement.kind == StatementKind::kOperation &&
        !procedure_.operations[statement.operation.value].found.valid()) {
      ir::Operation& operation = procedure_.operations[statement.operation.value];
      operation.found = procedure_.found;
      operation.defines.push_back(procedure_.found);
      std::ranges::sort(operation.defines);
    }
    keep_found(statement.body);
    keep_found(statement.else_body);
  }
}

}  // namespace mneme
