// Routines within routines: a call of a function or procedure becomes its body, in the call's place, and what
// RETURN, RAISE, ASSERT and EXCEPTION say becomes statements of the IR.
//
// So analysis, replay and machine code see one procedure, and a call in the log is the client's alone.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "procedures/binder/constant_folding.h"
#include "procedures/binder/conversion.h"
#include "procedures/binder/expression_nodes.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/condition_names.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;
using nodes::make_assign;
using nodes::make_statement;

namespace {

constexpr Type kTextOfError{.kind = TypeKind::kVarchar, .is_text = true};

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

// The elements of a message with its percent signs doubled stand for themselves.
std::string without_placeholders(std::string_view message) {
  std::string text;
  for (const char c : message) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

}  // namespace

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

ProcedureBinder::Inlined ProcedureBinder::inline_body(const syntax::Procedure& callee,
                                                      const std::vector<syntax::Expr>& args,
                                                      ir::SourceLocation where, Statements& out) {
  const std::vector<const syntax::Expr*> given = arguments_of(callee, args, where);
  Inlined inlined;
  for (size_t i = 0; i < given.size(); ++i) {
    const syntax::Parameter& parameter = callee.parameters[i];
    const Type type = names_.read_type(parameter.type);
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
      Type own = type;
      own.precision = 0;
      own.length = 0;
      value = make_null_of(own, where);
    } else {
      Names::Blocks around;
      if (is_default) around = names_.enter_routine(callee.name.text, where);
      if (is_default) names_.open_block();
      value = folded(argument_for(ExpressionBinder(names_, strings_).bind(queries_.hoist(*given[i], out)),
                                  type, i + 1, callee));
      if (is_default) names_.leave_routine(std::move(around));
    }
    const VariableId variable = names_.declare_hidden(name, value.type);
    names_.note_parameter(variable);
    if (value.text_varies) names_.note_text_varies(variable);
    out.push_back(make_assign(variable, std::move(value), where));
    inlined.parameters.push_back(variable);
  }
  Names::Blocks around = names_.enter_routine(callee.name.text, where);
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
  const bool is_tail = is_tail_;
  const Handler* const handler = std::exchange(handler_, nullptr);
  const VariableId found = std::exchange(procedure_.found, VariableId());
  const VariableId row_count = std::exchange(row_count_, VariableId());
  Statements body;
  bind_routine_body(callee, body);
  if (row_count_.valid()) keep_row_count(body);
  names_.found();  // The body's statements don't set the caller's.
  keep_found(body);
  body.insert(body.begin(), make_assign(procedure_.found, nodes::make_boolean(false, where), where));
  if (row_count_.valid()) body.insert(body.begin(), make_assign(row_count_, count_constant(0, where), where));
  procedure_.found = found;
  row_count_ = row_count;
  handler_ = handler;
  is_tail_ = is_tail;
  loops_ = std::move(loops);
  routine_ = outer;
  names_.leave_routine(std::move(around));
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
  const Inlined inlined = inline_body(routine, call.args, call.where, out);
  // To PostgreSQL, what a void function returns is an empty text.
  if (!inlined.result.valid()) return text_literal("", call.where);
  // No name of the user's holds a blank.
  const syntax::Name name{"call " + std::to_string(++calls_), call.where};
  names_.declare_alias(name, inlined.result);
  return syntax::reference("", name.text, call.where);
}

void ProcedureBinder::bind_call(const syntax::Statement& statement, Statements& out) {
  const std::string& name = statement.name.text;
  const syntax::Procedure* callee = names_.find_routine(name);
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
      refuse_as(sqlstate::kDatatypeMismatch, statement.expr->where, "RETURN cannot have a parameter in {}",
                routine.is_function ? "function returning void" : "a procedure");
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
    if (digits.vary || !is_exact || (routine_->has_digits && digits.count != type.scale)) {
      refuse_as(
          sqlstate::kNotSupported, expr.where,
          "what function {} returns has the same digits after the point in each RETURN; write CAST(... AS "
          "numeric(p,s)) in each",
          name);
    }
    routine_->has_digits = true;
    type.scale = static_cast<uint8_t>(digits.count);
    names_.set_parameter_type(routine_->result, type);
  }
  if (value.text_varies) names_.note_text_varies(routine_->result);
  out.push_back(make_assign(routine_->result, folded(convert_for_assignment(std::move(value), type, name)),
                            expr.where));
}

ir::Expr ProcedureBinder::bind_text(const syntax::Expr& expr, std::string_view what, Statements& out) {
  ir::Expr value = folded(ExpressionBinder(names_, strings_).bind_value(queries_.hoist(expr, out)));
  require_certain_text(value, what);
  return value;
}

void ProcedureBinder::bind_raise(const syntax::Statement& statement, Statements& out) {
  Statement raise = make_statement(StatementKind::kRaise, statement.where);
  raise.level = statement.level;
  if (statement.raises_again) {
    if (handler_ == nullptr) {
      raise.sqlstate = "0Z002";
      raise.message = "RAISE without parameters cannot be used outside an exception handler";
    } else {
      raise.sqlstate_variable = handler_->sqlstate;
      raise.message = "%";
      raise.args.push_back(nodes::make_variable(handler_->message, kTextOfError, statement.where));
    }
    out.push_back(std::move(raise));
    return;
  }
  std::optional<std::string> code;
  if (!statement.sqlstate.empty()) code = statement.sqlstate;
  std::string condition = statement.condition;
  const syntax::Expr* message = nullptr;
  const syntax::Expr* detail = nullptr;
  const syntax::Expr* hint = nullptr;
  for (const syntax::RaiseOption& option : statement.options) {
    const auto once = [&](bool given) {
      if (!given) return;
      std::string word = option.word;
      for (char& c : word) c = static_cast<char>(c - 'a' + 'A');
      refuse(option.value.where, "RAISE option already specified: {}", word);
    };
    if (option.word == "errcode") {
      once(code.has_value());
      if (option.value.kind != syntax::ExprKind::kString) {
        refuse_as(sqlstate::kNotSupported, option.value.where,
                  "ERRCODE is written as a string, as ERRCODE = '23505' or ERRCODE = 'unique_violation'");
      }
      condition = option.value.text;
      if (is_sqlstate(condition)) {
        code = condition;
      } else {
        const std::vector<std::string> sqlstates = sqlstates_of_condition(condition);
        if (sqlstates.empty())
          refuse_as(sqlstate::kUndefinedObject, option.value.where, "unrecognized exception condition \"{}\"",
                    condition);
        code = sqlstates.front();
      }
    } else if (option.word == "message") {
      once(message != nullptr || statement.message);
      message = &option.value;
    } else if (option.word == "detail") {
      once(detail != nullptr);
      detail = &option.value;
    } else if (option.word == "hint") {
      once(hint != nullptr);
      hint = &option.value;
    } else {
      refuse_as(sqlstate::kNotSupported, option.value.where,
                "RAISE takes ERRCODE, MESSAGE, DETAIL and HINT here, and not {}", option.word);
    }
  }
  if (message != nullptr) {
    raise.message = "%";
    raise.args.push_back(bind_text(*message, "what RAISE prints", out));
  } else if (statement.message) {
    raise.message = *statement.message;
    const size_t wanted = count_placeholders(raise.message);
    if (wanted != statement.args.size()) {
      refuse(statement.where,
             "this RAISE has {} % in its message and {} arguments; each % takes one (%% is a percent sign)",
             wanted, statement.args.size());
    }
    for (const syntax::Expr& arg : statement.args)
      raise.args.push_back(bind_text(arg, "what RAISE prints", out));
  } else {
    raise.message = without_placeholders(!condition.empty() ? condition : sqlstate::kRaise);
  }
  raise.has_detail = detail != nullptr;
  raise.has_hint = hint != nullptr;
  for (const syntax::Expr* each : {detail, hint}) {
    if (each != nullptr) raise.args.push_back(bind_text(*each, "what RAISE prints", out));
  }
  if (code) {
    strings_.push_back(*code);
    raise.sqlstate = strings_.back().c_str();
  } else if (raise.level != ir::RaiseLevel::kException) {
    raise.sqlstate = raise.level == ir::RaiseLevel::kWarning ? "01000" : "00000";
  }
  out.push_back(std::move(raise));
}

// IF (condition) IS NOT TRUE THEN RAISE
void ProcedureBinder::bind_assert(const syntax::Statement& statement, Statements& out) {
  Statement choice = make_statement(StatementKind::kIf, statement.where);
  ir::Expr condition = bind_condition(queries_.hoist(*statement.expr, out));
  choice.expr = nodes::make_unary(ir::Op::kIsNotTrue, nodes::kBoolean, std::move(condition), statement.where);
  Statement raise = make_statement(StatementKind::kRaise, statement.where);
  raise.sqlstate = "P0004";
  raise.message = "assertion failed";
  Statements before;
  if (!statement.args.empty()) {
    syntax::Expr text;
    text.kind = syntax::ExprKind::kCast;
    text.type.base = "text";
    text.where = text.type.where = statement.where;
    text.args = {statement.args[0]};
    syntax::Expr message;
    message.kind = syntax::ExprKind::kCall;
    message.text = "coalesce";
    message.where = statement.where;
    message.args = {std::move(text), text_literal("assertion failed", statement.where)};
    raise.message = "%";
    raise.args.push_back(bind_text(message, "what ASSERT prints", before));
  }
  for (Statement& each : before) choice.body.push_back(std::move(each));
  choice.body.push_back(std::move(raise));
  out.push_back(std::move(choice));
}

void ProcedureBinder::bind_diagnostics(const syntax::Statement& statement, Statements& out) {
  for (size_t i = 0; i < statement.words.size(); ++i) {
    const std::string& word = statement.words[i];
    const syntax::Target& target = statement.targets[i];
    const VariableId variable = assignable(target);
    const bool is_stacked = word.starts_with("stacked ");
    VariableId from;
    if (is_stacked && handler_ == nullptr) {
      refuse_as("0Z002", statement.where,
                "GET STACKED DIAGNOSTICS cannot be used outside an exception handler");
    }
    if (word == "row_count") {
      if (!row_count_.valid())
        row_count_ = names_.declare_hidden("row_count", Type{.kind = TypeKind::kBigInt});
      if (uncounted_) {
        refuse_as(sqlstate::kNotSupported, statement.where,
                  "ROW_COUNT is not supported beside PERFORM of a table, ON CONFLICT and INSERT of several "
                  "rows, as at line {}; use FOUND, or count(*)",
                  uncounted_->line);
      }
      from = row_count_;
    } else if (word == "stacked returned_sqlstate") {
      from = handler_->sqlstate;
    } else if (word == "stacked message_text") {
      from = handler_->message;
    } else {
      refuse_as(
          sqlstate::kNotSupported, statement.where,
          "GET DIAGNOSTICS gives ROW_COUNT, and in a handler RETURNED_SQLSTATE and MESSAGE_TEXT; not {}",
          word);
    }
    ir::Expr value = nodes::make_variable(from, names_.type_of(from), statement.where);
    out.push_back(make_assign(variable, folded(convert_for_variable(names_, variable, std::move(value))),
                              statement.where));
  }
}

// BEGIN ... EXCEPTION WHEN ... END: what the body changed is taken back, and the handlers are branches of IF.
void ProcedureBinder::bind_handlers(const syntax::Block& block, Statements& out) {
  const ir::SourceLocation where = block.handlers[0].where;
  Statement attempt = make_statement(StatementKind::kTry, where);
  Handler handler;
  handler.sqlstate = attempt.sqlstate_variable = names_.declare_hidden("sqlstate", kTextOfError);
  handler.message = attempt.message_variable = names_.declare_hidden("sqlerrm", kTextOfError);
  Statements body;
  bind_statements(block.statements, body);
  for (Statement& each : body) attempt.body.push_back(std::move(each));
  const Handler* const outer = std::exchange(handler_, &handler);
  names_.open_block();
  names_.declare_alias({"sqlstate", where}, handler.sqlstate);
  names_.declare_alias({"sqlerrm", where}, handler.message);
  Statements branches;
  Statements* into = &branches;
  for (const syntax::ExceptionHandler& each : block.handlers) {
    Statement choice = make_statement(StatementKind::kIf, each.where);
    choice.expr = handles(each, handler.sqlstate);
    Statements handled;
    names_.open_block();
    bind_statements(each.statements, handled);
    names_.close_block();
    for (Statement& statement : handled) choice.body.push_back(std::move(statement));
    into->push_back(std::move(choice));
    into = &into->back().else_body;
  }
  Statement again = make_statement(StatementKind::kRaise, where);
  again.sqlstate_variable = handler.sqlstate;
  again.message = "%";
  again.args.push_back(nodes::make_variable(handler.message, kTextOfError, where));
  into->push_back(std::move(again));
  names_.close_block();
  handler_ = outer;
  for (Statement& each : branches) attempt.else_body.push_back(std::move(each));
  if (procedure_.by_chance.empty()) procedure_.by_chance = reason_of_try(attempt);
  out.push_back(std::move(attempt));
}

ir::Expr ProcedureBinder::handles(const syntax::ExceptionHandler& handler, VariableId sqlstate) {
  const auto text = [&](std::string of) {
    ir::Expr constant = nodes::make(ir::ExprKind::kConstant, kTextOfError, handler.where);
    strings_.push_back(std::move(of));
    constant.constant = Value::of_text(strings_.back());
    return constant;
  };
  const auto compare = [&](ir::Op op, ir::Expr left, std::string right) {
    return nodes::make_binary(op, nodes::kBoolean, std::move(left), text(std::move(right)), handler.where);
  };
  const ir::Expr state = nodes::make_variable(sqlstate, kTextOfError, handler.where);
  std::vector<ir::Expr> conditions;
  if (handler.sqlstates.empty()) {
    // OTHERS leaves out what a cancelled query and a failed assertion raise.
    conditions.push_back(compare(ir::Op::kNotEqual, state, "57014"));
    conditions.push_back(compare(ir::Op::kNotEqual, state, "P0004"));
    return ir::join(ir::Op::kAnd, conditions);
  }
  for (const std::string& code : handler.sqlstates) {
    constexpr size_t kClass = 2;
    if (!code.ends_with("000")) {
      conditions.push_back(compare(ir::Op::kEqual, state, code));
      continue;
    }
    // A whole class.
    ir::Expr prefix = nodes::make(ir::ExprKind::kFunction, kTextOfError, handler.where);
    prefix.function = ir::Function::kLeft;
    prefix.args.push_back(state);
    ir::Expr length = nodes::make(ir::ExprKind::kConstant, nodes::kInt, handler.where);
    length.constant = Value::of_int(kClass);
    prefix.args.push_back(std::move(length));
    conditions.push_back(compare(ir::Op::kEqual, std::move(prefix), code.substr(0, kClass)));
  }
  return ir::join(ir::Op::kOr, conditions);
}

// FOREACH x IN ARRAY a: a loop over the places of a copy of the array.
void ProcedureBinder::bind_for_each(const syntax::Statement& statement, Statements& out) {
  const syntax::Expr& of = *statement.expr;
  const ir::SourceLocation where = statement.where;
  const Declared* declared =
      of.kind == syntax::ExprKind::kReference && of.qualifier.empty() ? names_.find(of.text) : nullptr;
  if (declared == nullptr || !declared->variable.valid() || !names_.type_of(declared->variable).is_array) {
    refuse_as(sqlstate::kNotSupported, of.where,
              "FOREACH runs over a variable that is an array; assign this to one first");
  }
  const Type type = names_.type_of(declared->variable);
  const VariableId copy = names_.declare_hidden(of.text + " in FOREACH", type);
  Statement assign = make_statement(StatementKind::kArrayAssign, where);
  assign.variable = copy;
  assign.source_array = declared->variable;
  const auto count = [&] {
    ir::Expr cardinality = nodes::make(ir::ExprKind::kFunction, nodes::kInt, where);
    cardinality.function = ir::Function::kCardinality;
    cardinality.variable = copy;
    return cardinality;
  };
  Statement null =
      nodes::make_raise_if(nodes::make_unary(ir::Op::kIsNull, nodes::kBoolean, count(), where),
                           sqlstate::kNullNotAllowed, "FOREACH expression must not be null", where);
  out.push_back(std::move(assign));
  out.push_back(std::move(null));
  Statement loop = make_statement(StatementKind::kForRange, where);
  const auto number = [&](int64_t value) {
    ir::Expr constant = nodes::make(ir::ExprKind::kConstant, nodes::kInt, where);
    constant.constant = Value::of_int(value);
    return constant;
  };
  loop.variable = names_.declare_hidden("place in " + of.text, nodes::kInt);
  loop.expr = number(1);
  loop.limit = count();
  ir::Expr element = nodes::make(ir::ExprKind::kArrayElement, type.element(), where);
  element.variable = copy;
  element.args.push_back(nodes::make_variable(loop.variable, nodes::kInt, where));
  const VariableId target = assignable(statement.target);
  Statements body;
  body.push_back(make_assign(target, convert_for_variable(names_, target, std::move(element)), where));
  bind_loop_body(statement, body);
  for (Statement& each : body) loop.body.push_back(std::move(each));
  out.push_back(std::move(loop));
}

std::string reason_of_try(const ir::Statement& attempt) {
  return fmt::format(
      "line {}: an EXCEPTION block takes back what its statements changed, which replay in parts does not",
      attempt.where.line);
}

}  // namespace mneme
