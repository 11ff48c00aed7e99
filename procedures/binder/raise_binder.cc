// RAISE, ASSERT, GET DIAGNOSTICS and EXCEPTION: what errors and notices say, and what catches them.
#include <algorithm>
#include <utility>

#include "procedures/binder/statement_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/condition_names.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;
using nodes::make_assign;
using nodes::make_statement;

namespace {

constexpr Type kTextOfError{.kind = TypeKind::kVarchar, .is_text = true};

// The message with its percent signs doubled, so that they stand for themselves.
std::string without_placeholders(std::string_view message) {
  std::string text;
  for (const char c : message) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

syntax::Expr default_message(ir::SourceLocation where) {
  syntax::Expr literal;
  literal.kind = syntax::ExprKind::kString;
  literal.text = "assertion failed";
  literal.where = where;
  return literal;
}

}  // namespace

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
    message.args = {std::move(text), default_message(statement.where)};
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
  // A cursor that the block has opened is gone with what the block has done.
  std::vector<VariableId> were_open;
  for (const OpenCursor& cursor : cursors_) {
    were_open.push_back(names_.declare_hidden(cursor.name + " was open", nodes::kBoolean));
    out.push_back(
        make_assign(were_open.back(), nodes::make_variable(cursor.is_open, nodes::kBoolean, where), where));
  }
  Statements body;
  bind_statements(block.statements, body);
  for (Statement& each : body) attempt.body.push_back(std::move(each));
  for (size_t i = 0; i < were_open.size(); ++i) {
    ir::Expr both = nodes::make_binary(ir::Op::kAnd, nodes::kBoolean,
                                       nodes::make_variable(cursors_[i].is_open, nodes::kBoolean, where),
                                       nodes::make_variable(were_open[i], nodes::kBoolean, where), where);
    attempt.else_body.push_back(make_assign(cursors_[i].is_open, std::move(both), where));
  }
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

std::string reason_of_try(const ir::Statement& attempt) {
  return fmt::format(
      "line {}: an EXCEPTION block takes back what its statements changed, which replay in parts does not",
      attempt.where.line);
}

}  // namespace mneme
