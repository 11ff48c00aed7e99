#include "procedures/native/emitter_lookup_walk.h"

#include <algorithm>
#include <utility>

#include "procedures/ir/ir_walk.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;
using ir::Operation;
using ir::Statement;
using ir::StatementKind;

namespace {

// The variables that statements set, whatever way they go.
void collect_assigned(std::span<const Statement> statements, const ir::Procedure& procedure,
                      std::set<uint32_t>& assigned) {
  for (const Statement& statement : statements) {
    if (statement.variable.valid()) assigned.insert(statement.variable.value);
    if (statement.found.valid()) assigned.insert(statement.found.value);
    if (statement.operation.valid()) {
      const Operation& operation = procedure.operations[statement.operation.value];
      for (const VariableId id : operation.defines) assigned.insert(id.value);
    }
    collect_assigned(statement.body, procedure, assigned);
    collect_assigned(statement.else_body, procedure, assigned);
  }
}

}  // namespace

bool is_inline(const Expr& expr, bool over_row) {
  bool is_inline = true;
  ir::walk(expr, [&](const Expr& e) {
    switch (e.kind) {
      case ExprKind::kColumn:
        is_inline &= over_row && e.source == 0;
        break;
      case ExprKind::kAggregate:
        is_inline = false;
        break;
      case ExprKind::kBinary:
        is_inline &= e.op != Op::kConcat && !e.type.is_floating();
        break;
      case ExprKind::kFunction:
        is_inline &= e.function == Function::kCoalesce || e.function == Function::kNullIf ||
                     e.function == Function::kGreatest || e.function == Function::kLeast ||
                     e.function == Function::kCardinality;
        break;
      case ExprKind::kCast:
        is_inline &= (e.type.is_exact() && e.args[0].type.is_exact()) || e.type == e.args[0].type;
        break;
      default:
        break;
    }
  });
  return is_inline;
}

bool has_key_words(const Expr& expr) {
  return rep_of(expr.type) != Rep::kDouble && rep_of(expr.type) != Rep::kNone;
}

LookupWalk::LookupWalk(const Schema& schema, const NativeUnit& unit, uint32_t round,
                       const LookupRounds* rounds)
    : scope_(schema, unit),
      body_(unit.body.statements),
      text_(scope_.text),
      expressions_(scope_),
      access_(scope_),
      round_(round),
      rounds_(rounds),
      known_(unit.procedure->variables.size()) {
  const ir::Procedure& procedure = *unit.procedure;
  for (const ir::Parameter& parameter : procedure.parameters)
    known_[parameter.variable.value].state = State::kKnown;
  if (procedure.call_time.valid()) known_[procedure.call_time.value].state = State::kKnown;
  collect_assigned(body_, procedure, assigned_);
  text_.leave_by({"return ", "count"});
}

std::string LookupWalk::emit(const std::string& name) {
  const FunctionText::Part rows = text_.apart([&] { emit_block(body_); });
  for (const FunctionText::Part& place : places_) text_.put(place);
  text_.put(rows);
  const std::string body = text_.joined();
  return fmt::format(
             "\nsize_t lookups_{}_{}(const LookupRequest& request, std::span<RowLookup> lookups) {{\n"
             "  size_t count = 0;\n",
             name, round_) +
         declarations() + "  {\n" + body + "  }\n  return count;\n}\n";
}

std::string LookupWalk::declarations() {
  std::string text;
  const ir::Procedure& procedure = scope_.procedure;
  for (uint32_t i = 0; i < scope_.variables.size(); ++i) {
    if (!scope_.used[i]) continue;
    const Type& type = procedure.variables[i].type;
    std::string argument;
    for (size_t k = 0; k < procedure.parameters.size(); ++k) {
      if (procedure.parameters[k].variable.value == i) argument = fmt::format("request.arguments[{}]", k);
    }
    if (procedure.call_time.valid() && procedure.call_time.value == i) argument = "request.arguments.back()";
    if (type.is_array) {
      text += fmt::format("  const Array {}({});\n", scope_.variables[i], argument);
    } else if (!argument.empty()) {
      text +=
          fmt::format("  auto {} = {};\n", scope_.variables[i], unboxed(rep_of(type), argument + ".scalar"));
    } else {
      text += fmt::format("  Nullable<{}> {};\n", type_of(rep_of(type)), scope_.variables[i]);
    }
  }
  for (const uint32_t variable : flags_) text += fmt::format("  bool {} = false;\n", flag(variable));
  return text;
}

// A round of one look-up overlaps nothing: the procedure itself would wait as long as the prefetcher.
LookupRounds LookupWalk::rounds() const {
  LookupRounds rounds{static_cast<uint32_t>(named_in_round_.size()), used_};
  while (rounds.count > 0 && named_in_round_[rounds.count - 1] < 2) --rounds.count;
  std::vector<uint32_t> open(used_.begin(), used_.end());
  while (!open.empty()) {
    const auto sources = sources_.find(open.back());
    open.pop_back();
    if (sources == sources_.end()) continue;
    for (const uint32_t source : sources->second) {
      if (rounds.peeked.insert(source).second) open.push_back(source);
    }
  }
  return rounds;
}

// ---- what is known ----

bool LookupWalk::can_evaluate(const Expr& expr) const {
  if (!is_inline(expr)) return false;
  bool known = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) known &= known_[e.variable.value].state != State::kUnknown;
  });
  return known;
}

uint32_t LookupWalk::round_of(const Expr& expr) const {
  uint32_t round = way_round_;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) round = std::max(round, known_[e.variable.value].round);
  });
  return round;
}

uint32_t LookupWalk::round_of(std::span<const Expr* const> exprs) const {
  uint32_t round = way_round_;
  for (const Expr* expr : exprs) round = std::max(round, round_of(*expr));
  return round;
}

bool LookupWalk::is_sometimes(const Expr& expr) const {
  bool sometimes = false;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) sometimes |= known_[e.variable.value].state == State::kSometimes;
  });
  return sometimes;
}

bool LookupWalk::is_constant(const Expr& expr) const {
  bool constant = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) constant &= !assigned_.contains(e.variable.value);
  });
  return constant;
}

bool LookupWalk::is_of_loop(const Expr& expr) const {
  bool of_loop = false;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) of_loop |= loop_assigned_.contains(e.variable.value);
  });
  return of_loop;
}

void LookupWalk::note_use(std::span<const Expr* const> exprs) {
  for (const Expr* expr : exprs) {
    ir::walk(*expr, [&](const Expr& e) {
      if (e.variable.valid()) used_.insert(e.variable.value);
    });
  }
}

void LookupWalk::open_if_known(std::span<const Expr* const> exprs) {
  Variables doubtful;
  for (const Expr* expr : exprs) {
    ir::walk(*expr, [&](const Expr& e) {
      if (e.variable.valid() && known_[e.variable.value].state == State::kSometimes)
        doubtful.insert(e.variable.value);
    });
  }
  std::string condition;
  for (const uint32_t variable : doubtful) condition += (condition.empty() ? "" : " && ") + flag(variable);
  if (condition.empty()) {
    text_.open();
  } else {
    text_.open("if ({})", condition);
  }
}

void LookupWalk::learn(uint32_t variable, Knowledge knowledge) {
  known_[variable] = knowledge;
  // Keys made of it are others from here on.
  std::erase_if(named_, [&](const PlannedLookup* lookup) { return lookup->variables.contains(variable); });
}

void LookupWalk::forget(std::span<const Statement> statements) {
  Variables assigned;
  collect_assigned(statements, scope_.procedure, assigned);
  for (const uint32_t variable : assigned) learn(variable, {});
}

void LookupWalk::settle(const std::vector<Knowledge>& mine, const std::vector<Knowledge>& others) {
  for (uint32_t i = 0; i < mine.size(); ++i) {
    if (mine[i].state == others[i].state) continue;
    if (mine[i].state != State::kSometimes) text_.line("{} = {};", flag(i), mine[i].state == State::kKnown);
  }
}

// ---- statements ----

void LookupWalk::emit_block(std::span<const Statement> statements) {
  for (const Statement& statement : statements) emit(statement);
}

void LookupWalk::emit(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kAssign:
      return emit_assign(statement);
    case StatementKind::kIf:
      return emit_if(statement);
    case StatementKind::kForRange:
      return emit_for_range(statement);
    case StatementKind::kRaise:
      if (statement.level != ir::RaiseLevel::kException) return;
      return text_.line("return count;");
    case StatementKind::kReturn:
      return text_.line("return count;");
    case StatementKind::kOperation:
    case StatementKind::kForQuery:
      return emit_operation(statement);
    case StatementKind::kExit:
    case StatementKind::kContinue: {
      // An EXIT from a loop further out, or whose condition is not known yet: the loop goes on, and names a
      // row too many.
      if (statement.loop_depth > 0 || (statement.expr && !can_evaluate(*statement.expr))) return;
      const Expr* const condition = statement.expr ? &*statement.expr : nullptr;
      const std::span<const Expr* const> exprs(&condition, condition != nullptr ? 1 : 0);
      if (round_of(exprs) > round_) return;
      note_use(exprs);
      open_if_known(exprs);
      text_.line("if ({}) {};", condition != nullptr ? expressions_.condition(*condition) : "true",
                 statement.kind == StatementKind::kExit ? "break" : "continue");
      return text_.close();
    }
    case StatementKind::kArrayAppend:
    case StatementKind::kArrayAssign:
    case StatementKind::kWhile:
    case StatementKind::kTry:
      return forget({&statement, 1});
  }
}

void LookupWalk::emit_assign(const Statement& statement) {
  const uint32_t variable = statement.variable.value;
  const uint32_t round = round_of(*statement.expr);
  if (!can_evaluate(*statement.expr) || is_sometimes(*statement.expr)) return learn(variable, {});
  ir::walk(*statement.expr, [&](const Expr& e) {
    if (e.variable.valid()) sources_[variable].insert(e.variable.value);
  });
  if (round <= round_) {
    text_.open();
    const Operand value =
        converted(expressions_.emit(*statement.expr), rep_of(scope_.procedure.variables[variable].type));
    text_.line("{} = {{{}, {}}};", scope_.variable(statement.variable), value.value, value.null);
    text_.close();
  }
  learn(variable, {State::kKnown, round});
}

void LookupWalk::emit_if(const Statement& statement) {
  if (!can_evaluate(*statement.expr)) return forget({&statement, 1});
  const Expr* const exprs[] = {&*statement.expr};
  const uint32_t way_before = std::exchange(way_round_, round_of(exprs));
  const std::vector<Knowledge> before = known_;
  const size_t named = named_.size();
  const size_t lookups = lookups_;
  const auto named_before = named_in_round_;
  const FunctionText::Part yes = text_.apart([&] { emit_block(statement.body); });
  named_.resize(std::min(named, named_.size()));
  const std::vector<Knowledge> after_yes = std::exchange(known_, before);
  const auto named_by_yes = std::exchange(named_in_round_, named_before);
  const FunctionText::Part no = text_.apart([&] { emit_block(statement.else_body); });
  named_.resize(std::min(named, named_.size()));
  const std::vector<Knowledge> after_no = std::exchange(known_, before);
  const uint32_t way_round = std::exchange(way_round_, way_before);
  for (size_t i = 0; i < named_in_round_.size(); ++i)
    named_in_round_[i] = std::max(named_in_round_[i], named_by_yes[i]);
  if (lookups_ > lookups) note_use(exprs);

  bool same = true;
  std::vector<Knowledge> after = before;
  for (uint32_t i = 0; i < after.size(); ++i) {
    after[i] = {after_yes[i].state, std::max(after_yes[i].round, after_no[i].round)};
    if (after_yes[i].state == after_no[i].state) continue;
    same = false;
    after[i] = {State::kSometimes, std::max(after[i].round, way_round)};
    ir::walk(*statement.expr, [&](const Expr& e) {
      if (e.variable.valid()) sources_[i].insert(e.variable.value);
    });
  }
  if (way_round <= round_ && !(same && yes.lines.empty() && no.lines.empty())) {
    open_if_known(exprs);
    text_.open("if ({})", expressions_.condition(*statement.expr));
    text_.put(yes);
    settle(after_yes, after_no);
    text_.otherwise();
    text_.put(no);
    settle(after_no, after_yes);
    text_.close();
    text_.close();
  }
  known_ = after;
}

void LookupWalk::emit_for_range(const Statement& statement) {
  const bool known = can_evaluate(*statement.expr) && can_evaluate(*statement.limit) &&
                     (!statement.step || can_evaluate(*statement.step));
  forget(statement.body);
  if (!known) return forget({&statement, 1});
  std::vector<const Expr*> exprs = {&*statement.expr, &*statement.limit};
  if (statement.step) exprs.push_back(&*statement.step);
  const uint32_t way_before = std::exchange(way_round_, round_of(exprs));
  learn(statement.variable.value, {State::kKnown, way_round_});
  const size_t named = named_.size();
  const size_t lookups = lookups_;
  const std::string number = text_.new_name("i");
  if (++loops_ == 1) {
    iteration_ = number + "_at";
    loop_assigned_ = {statement.variable.value};
    collect_assigned(statement.body, scope_.procedure, loop_assigned_);
  }
  const size_t written = written_;
  const FunctionText::Part body = text_.apart([&] { emit_block(statement.body); });
  if (--loops_ == 0) iteration_ = "0";
  named_.resize(std::min(named, named_.size()));
  const uint32_t way_round = std::exchange(way_round_, way_before);
  if (lookups_ > lookups) note_use(exprs);
  if (written_ > written && way_round <= round_) {
    open_if_known(exprs);
    const Operand from = expressions_.keep(expressions_.emit(*statement.expr));
    const Operand to = expressions_.keep(expressions_.emit(*statement.limit));
    Operand step{"1L", "false", Rep::kInt};
    if (statement.step) step = expressions_.keep(expressions_.emit(*statement.step));
    text_.line("if ({} || {} || {} || {} <= 0) return count;", from.null, to.null, step.null, step.value);
    // More iterations than there is room for name nothing.
    text_.line("int64_t left = static_cast<int64_t>(lookups.size());");
    text_.line("int64_t {} = {};", number, from.value);
    text_.line("uint32_t {}_at = 0;", number);
    if (scope_.marks.of(statement).iterations_apart) {
      text_.open("if (request.only_iteration)");
      text_.line("{0}_at = *request.only_iteration;", number);
      text_.line("{0} {1} {0}_at * {2};", number, statement.reverse ? "-=" : "+=", step.value);
      text_.line("left = 1;");
      text_.close();
    }
    text_.open("for (; left > 0 && {0} {1} {2}; {0} {3} {4}, ++{0}_at, --left)", number,
               statement.reverse ? ">=" : "<=", to.value, statement.reverse ? "-=" : "+=", step.value);
    text_.line("{} = {{{}, false}};", scope_.variable(statement.variable), number);
    text_.put(body);
    text_.close();
    text_.close();
  }
  forget({&statement, 1});
}

}  // namespace mneme
