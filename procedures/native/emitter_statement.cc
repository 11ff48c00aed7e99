#include "procedures/native/emitter_statement.h"

#include <algorithm>

namespace mneme {

using ir::Statement;
using ir::StatementKind;

std::string place_literal(ir::SourceLocation where) {
  return fmt::format("{{{}, {}}}", where.line, where.column);
}

std::string StatementEmitter::iteration() const {
  return loops_.empty() ? "0" : fmt::format("static_cast<uint32_t>({})", loops_.front().number);
}

void StatementEmitter::comment(const Statement& statement) {
  if (!statement.operation.valid()) return;
  std::string sql = scope_.procedure.operations[statement.operation.value].text;
  // A comment that ends in a backslash would continue in the next line.
  std::ranges::replace(sql, '\\', '/');
  std::ranges::replace(sql, '\n', ' ');
  const ir::OperationMode mode = scope_.marks.of(statement).mode;
  const char* treated = mode == ir::OperationMode::kRecall   ? "recalled: "
                        : mode == ir::OperationMode::kLocate ? "located: "
                        : mode == ir::OperationMode::kTell   ? "its key is told: "
                                                             : "";
  text_.line("// line {}: {}{}", statement.where.line, treated, sql);
}

void StatementEmitter::emit_block(std::span<const Statement> statements) {
  for (const Statement& statement : statements) emit(statement);
}

void StatementEmitter::emit(const Statement& statement) {
  comment(statement);
  scope_.where = place_literal(statement.where);
  switch (statement.kind) {
    case StatementKind::kAssign: {
      text_.open();
      const Rep rep = rep_of(scope_.procedure.variables[statement.variable.value].type);
      const Operand value = converted(expressions_.emit(*statement.expr), rep);
      text_.line("{} = {{{}, {}}};", scope_.variable(statement.variable), value.value, value.null);
      return text_.close();
    }
    case StatementKind::kArrayAppend: {
      text_.open();
      const Operand value = expressions_.emit(*statement.expr);
      text_.line("{}.append(*run.arena, {});", scope_.variable(statement.variable),
                 boxed(value, statement.expr->type));
      return text_.close();
    }
    case StatementKind::kArrayAssign:
      return emit_array_assign(statement);
    case StatementKind::kIf:
      return emit_if(statement);
    case StatementKind::kForRange:
      return emit_for_range(statement);
    case StatementKind::kForQuery:
      return emit_for_query(statement);
    case StatementKind::kWhile:
      return emit_while(statement);
    case StatementKind::kExit:
    case StatementKind::kContinue:
      return emit_leave(statement);
    case StatementKind::kReturn:
      returns_ = true;
      return text_.line("goto done;");
    case StatementKind::kRaise:
      return emit_raise(statement);
    case StatementKind::kTry:
      break;  // its procedure is interpreted
    case StatementKind::kOperation:
      if (const ir::OperationMode mode = scope_.marks.of(statement).mode;
          mode != ir::OperationMode::kLocate && mode != ir::OperationMode::kTell) {
        scope_.where = place_literal(scope_.procedure.operations[statement.operation.value].where);
      }
      return operations_.emit(statement, iteration());
  }
  CHECK(false && "a kind of statement");
}

void StatementEmitter::emit_array_assign(const Statement& statement) {
  if (statement.variable == statement.source_array) return;
  const std::string& array = scope_.variable(statement.variable);
  if (statement.source_array.valid()) {
    text_.line("{}.assign({});", array, scope_.variable(statement.source_array));
  } else {
    text_.line("{}.clear();", array);
  }
}

void StatementEmitter::emit_if(const Statement& statement) {
  text_.open();
  text_.open("if ({})", expressions_.condition(*statement.expr));
  emit_block(statement.body);
  if (!statement.else_body.empty()) {
    text_.otherwise();
    emit_block(statement.else_body);
  }
  text_.close();
  text_.close();
}

// ---- loops ----

void StatementEmitter::begin_loop(const Statement& statement, const std::string& number) {
  Loop loop;
  loop.found = statement.found;
  loop.number = number;
  loop.label = text_.new_name("loop");
  loops_.push_back(std::move(loop));
}

void StatementEmitter::emit_loop_body(const Statement& statement) {
  text_.fail_if("is_stopped(run)", fmt::format("end_stopped(run, {})", place_literal(statement.where)));
  // The body has a block of its own, so that a jump behind it passes no declaration.
  const FunctionText::Part body = text_.apart([&] { emit_block(statement.body); });
  if (!loops_.back().jumped_on) return text_.put(body);
  text_.open();
  text_.put(body);
  text_.close();
  text_.line("go_on_{}:;", loops_.back().label);
}

void StatementEmitter::end_loop(const std::string& found) {
  const Loop loop = loops_.back();
  loops_.pop_back();
  if (loop.jumped_out) text_.line("leave_{}:;", loop.label);
  if (loop.found.valid()) text_.line("{} = {{{}, false}};", scope_.variable(loop.found), found);
}

std::string StatementEmitter::emit_bound(const ir::Expr& expr, const char* what) {
  const Operand bound = expressions_.keep(converted(expressions_.emit(expr), Rep::kInt));
  const std::string message =
      fmt::format("raise_text(run, {}, sqlstate::kNullNotAllowed, \"{} of FOR loop cannot be null\")",
                  scope_.where, what);
  if (bound.is_nullable()) text_.fail_if(bound.null, message);
  // Held apart: the bounds stay as they are while the body runs.
  const std::string name = text_.new_name("bound");
  text_.line("const int64_t {} = {};", name, bound.value);
  return name;
}

void StatementEmitter::emit_for_range(const Statement& statement) {
  text_.open();
  const std::string from = emit_bound(*statement.expr, "lower bound");
  const std::string to = emit_bound(*statement.limit, "upper bound");
  std::string step = "1";
  if (statement.step) {
    step = emit_bound(*statement.step, "BY value");
    text_.fail_if(step + " <= 0",
                  fmt::format("raise_text(run, {}, sqlstate::kInvalidParameter, \"BY value of FOR "
                              "loop must be greater than zero\")",
                              scope_.where));
  }
  const std::string count = text_.new_name("count");
  const std::string& high = statement.reverse ? from : to;
  const std::string& low = statement.reverse ? to : from;
  text_.line("const int64_t {0} = {1} < {2} ? 0 : ({1} - {2}) / {3} + 1;", count, high, low, step);
  const std::string number = text_.new_name("i");
  begin_loop(statement, number);
  if (scope_.marks.of(statement).iterations_apart) {
    text_.line("const Iterations apart{} = iterations_apart(run, {});", number, count);
    text_.open("for (int64_t {0} = apart{0}.begin; {0} < apart{0}.end; ++{0})", number);
  } else {
    text_.open("for (int64_t {0} = 0; {0} < {1}; ++{0})", number, count);
  }
  text_.line("{} = {{{} {} {} * {}, false}};", scope_.variable(statement.variable), from,
             statement.reverse ? "-" : "+", number, step);
  emit_loop_body(statement);
  text_.close();
  end_loop(count + " > 0");
  text_.close();
}

void StatementEmitter::emit_for_query(const Statement& statement) {
  text_.open();
  scope_.where = place_literal(scope_.procedure.operations[statement.operation.value].where);
  const std::string found = operations_.emit_loop(statement, iteration(), [&](const std::string& number) {
    begin_loop(statement, number);
    emit_loop_body(statement);
  });
  end_loop(found);
  text_.close();
}

void StatementEmitter::emit_while(const Statement& statement) {
  text_.open();
  const std::string number = text_.new_name("i");
  begin_loop(statement, number);
  text_.open("for (int64_t {0} = 0;; ++{0})", number);
  const std::string condition = expressions_.condition(*statement.expr);
  if (condition != "true") text_.line("if (!({})) break;", condition);
  emit_loop_body(statement);
  text_.close();
  end_loop("true");
  text_.close();
}

void StatementEmitter::emit_leave(const Statement& statement) {
  const bool exits = statement.kind == StatementKind::kExit;
  text_.open();
  if (statement.expr) {
    text_.open("if ({})", expressions_.condition(*statement.expr));
  } else {
    text_.open();
  }
  if (statement.loop_depth == 0) {
    text_.line("{};", exits ? "break" : "continue");
  } else {
    const size_t target = loops_.size() - 1 - statement.loop_depth;
    for (size_t i = loops_.size() - 1; i > target; --i) {
      if (loops_[i].found.valid()) text_.line("{} = {{true, false}};", scope_.variable(loops_[i].found));
    }
    (exits ? loops_[target].jumped_out : loops_[target].jumped_on) = true;
    text_.line("goto {}_{};", exits ? "leave" : "go_on", loops_[target].label);
  }
  text_.close();
  text_.close();
}

void StatementEmitter::emit_raise(const Statement& statement) {
  text_.open();
  std::string arguments;
  for (const ir::Expr& arg : statement.args) {
    arguments += fmt::format("{}{{{}, {}}}", arguments.empty() ? "" : ", ", type_literal(arg.type),
                             boxed(expressions_.emit(arg), arg.type));
  }
  const std::string format =
      fmt::format("RaiseFormat{{\"{}\", {}, {}, {}}}", statement.sqlstate, literal_of(statement.message),
                  statement.has_detail, statement.has_hint);
  if (statement.level == ir::RaiseLevel::kException) {
    text_.fail_if("true",
                  fmt::format("raise_exception(run, {}, {}, {{{}}})", scope_.where, format, arguments));
  } else {
    text_.line("if (!raise_notice(run, {}, static_cast<ir::RaiseLevel>({}), {}, {{{}}})) return false;",
               scope_.where, static_cast<int>(statement.level), format, arguments);
  }
  text_.close();
}

}  // namespace mneme
