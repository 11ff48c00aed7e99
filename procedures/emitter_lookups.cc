#include "procedures/emitter_lookups.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "procedures/emitter_access.h"
#include "procedures/ir_walk.h"

namespace mneme {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;
using ir::Operation;
using ir::Statement;
using ir::StatementKind;

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

// What generated code evaluates in line, without memory of its own; over the columns of a row besides, where there is
// one at hand.
bool is_inline(const Expr& expr, bool over_row = false) {
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
        is_inline &= e.op != Op::kConcat && e.type.kind != TypeKind::kDouble;
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

// Whether keys are made of such values without the KeyCodec.
bool has_key_words(const Expr& expr) {
  return rep_of(expr.type) != Rep::kDouble && rep_of(expr.type) != Rep::kNone;
}

using Variables = std::set<uint32_t>;

// How many rounds there are, and what is read from rows for a later one to tell what else to look up.
struct LookupRounds {
  uint32_t count = 0;
  Variables peeked;
};

class LookupsEmitter {
 public:
  // `rounds`: nullptr where they are still to be found out.
  LookupsEmitter(const Schema& schema, const ir::Procedure& procedure, uint32_t round,
                 const LookupRounds* rounds)
      : scope_(schema, procedure),
        text_(scope_.text),
        expressions_(scope_),
        access_(scope_),
        round_(round),
        rounds_(rounds),
        known_(procedure.variables.size()) {
    for (const ir::Parameter& parameter : procedure.parameters)
      known_[parameter.variable.value].state = State::kKnown;
    if (procedure.call_time.valid()) known_[procedure.call_time.value].state = State::kKnown;
    collect_assigned(procedure.body, procedure, assigned_);
    text_.leave_by({"return ", "count"});
  }

  std::string emit(const std::string& name);
  // After emit().
  LookupRounds rounds() const;

 private:
  // kSometimes: where the flag known_NAME is set.
  enum class State : uint8_t { kUnknown, kSometimes, kKnown };
  struct Knowledge {
    State state = State::kUnknown;
    uint32_t round = 0;  // the first in which it is known
  };

  std::string declarations();
  void emit_block(std::span<const Statement> statements);
  void emit(const Statement& statement);
  void emit_assign(const Statement& statement);
  void emit_if(const Statement& statement);
  void emit_for_range(const Statement& statement);
  void emit_operation(const Statement& statement);
  void emit_insert(const Operation& operation);
  // The variables that the operation sets, as far as the first row that it finds tells what to.
  Variables peekable(const Operation& operation, uint32_t round) const;
  bool is_peekable(const Operation& operation, const Expr& expr, uint32_t round, bool of_old_row) const;
  void emit_peek(const Operation& operation, std::span<const Expr* const> values, uint32_t round,
                 const Variables& peeked);
  void write_row(const Operation& operation, const Variables& peeked, const std::string& image);
  // False: it is named already.
  bool write_lookup(const Operation& operation, IndexId index, std::span<const Expr* const> values,
                    const std::string& parts, bool is_watched = false);
  void write_place(const Operation& operation, IndexId index, std::span<const Expr* const> values);
  void write_entry(const Operation& operation, IndexId index, std::span<const Expr* const> values,
                   const std::string& parts, bool is_place, bool is_watched);

  bool can_evaluate(const Expr& expr) const;
  // The first round in which the expressions, and the way to the statement at hand, are known.
  uint32_t round_of(std::span<const Expr* const> exprs) const;
  uint32_t round_of(const Expr& expr) const;
  bool is_sometimes(const Expr& expr) const;
  // Whether it has one value from the procedure's beginning to its end.
  bool is_constant(const Expr& expr) const;
  // Something that is looked up depends on them.
  void note_use(std::span<const Expr* const> exprs);
  // Opens a block for what rests on the expressions' variables.
  void open_if_known(std::span<const Expr* const> exprs);
  void learn(uint32_t variable, Knowledge knowledge);
  void forget(std::span<const Statement> statements);
  // Makes the branch at hand agree with the other on what is known after both.
  void settle(const std::vector<Knowledge>& mine, const std::vector<Knowledge>& others);
  std::string flag(uint32_t variable) {
    flags_.insert(variable);
    return "known_" + identifier_of(scope_.procedure.variables[variable].name) + fmt::format("_{}", variable);
  }

  UnitScope scope_;
  FunctionText& text_;
  ExpressionEmitter expressions_;
  AccessEmitter access_;
  const uint32_t round_;
  const LookupRounds* const rounds_;
  uint32_t way_round_ = 0;  // the first in which the way to the statement at hand is known
  uint32_t loops_ = 0;      // around the statement at hand
  size_t lookups_ = 0;      // statements that look something up, in whatever round
  std::array<size_t, Prefetcher::kMaxRounds> named_in_round_{};  // at most; in a loop, each counts as two
  std::vector<Knowledge> known_;
  std::map<uint32_t, Variables> sources_;  // by variable: what it was assigned from
  Variables used_;
  Variables flags_;
  // Look-ups that have been named on every way to the statement at hand, and all look-ups' parts, which are put in last.
  struct Named {
    std::string what;
    size_t parts;
  };
  std::vector<Named> named_;
  std::vector<std::string> parts_;
  // Where inserts will go. Loops insert in one place mostly, so these come before all else.
  std::set<std::string> named_places_;
  std::vector<FunctionText::Part> places_;
  Variables assigned_;  // the variables that the procedure sets anywhere
};

std::string LookupsEmitter::emit(const std::string& name) {
  const FunctionText::Part rows = text_.apart([&] { emit_block(scope_.procedure.body); });
  for (const FunctionText::Part& place : places_) text_.put(place);
  text_.put(rows);
  std::string body = text_.joined();
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::string placeholder = fmt::format("\1{}\1", i);
    if (const size_t at = body.find(placeholder); at != std::string::npos)
      body.replace(at, placeholder.size(), parts_[i]);
  }
  return fmt::format(
             "\nsize_t lookups_{}_{}(const Schema& schema, std::span<const Argument> arguments, RowPeeks& "
             "peeks, "
             "std::span<RowLookup> lookups) {{\n  size_t count = 0;\n",
             name, round_) +
         declarations() + "  {\n" + body + "  }\n  return count;\n}\n";
}

std::string LookupsEmitter::declarations() {
  std::string text;
  const ir::Procedure& procedure = scope_.procedure;
  for (uint32_t i = 0; i < scope_.variables.size(); ++i) {
    if (!scope_.used[i]) continue;
    const Type& type = procedure.variables[i].type;
    std::string argument;
    for (size_t k = 0; k < procedure.parameters.size(); ++k) {
      if (procedure.parameters[k].variable.value == i) argument = fmt::format("arguments[{}]", k);
    }
    if (procedure.call_time.valid() && procedure.call_time.value == i) argument = "arguments.back()";
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

// A round of one look-up overlaps nothing: whoever runs the procedure waits as long as the prefetcher would.
LookupRounds LookupsEmitter::rounds() const {
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

bool LookupsEmitter::can_evaluate(const Expr& expr) const {
  if (!is_inline(expr)) return false;
  bool known = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) known &= known_[e.variable.value].state != State::kUnknown;
  });
  return known;
}

uint32_t LookupsEmitter::round_of(const Expr& expr) const {
  uint32_t round = way_round_;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) round = std::max(round, known_[e.variable.value].round);
  });
  return round;
}

uint32_t LookupsEmitter::round_of(std::span<const Expr* const> exprs) const {
  uint32_t round = way_round_;
  for (const Expr* expr : exprs) round = std::max(round, round_of(*expr));
  return round;
}

bool LookupsEmitter::is_sometimes(const Expr& expr) const {
  bool sometimes = false;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) sometimes |= known_[e.variable.value].state == State::kSometimes;
  });
  return sometimes;
}

bool LookupsEmitter::is_constant(const Expr& expr) const {
  bool constant = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) constant &= !assigned_.contains(e.variable.value);
  });
  return constant;
}

void LookupsEmitter::note_use(std::span<const Expr* const> exprs) {
  for (const Expr* expr : exprs) {
    ir::walk(*expr, [&](const Expr& e) {
      if (e.variable.valid()) used_.insert(e.variable.value);
    });
  }
}

void LookupsEmitter::open_if_known(std::span<const Expr* const> exprs) {
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

void LookupsEmitter::learn(uint32_t variable, Knowledge knowledge) {
  known_[variable] = knowledge;
  // Keys made of it are others from here on.
  std::erase_if(named_, [&](const Named& named) {
    return named.what.find(scope_.variables[variable]) != std::string::npos;
  });
}

void LookupsEmitter::forget(std::span<const Statement> statements) {
  Variables assigned;
  collect_assigned(statements, scope_.procedure, assigned);
  for (const uint32_t variable : assigned) learn(variable, {});
}

void LookupsEmitter::settle(const std::vector<Knowledge>& mine, const std::vector<Knowledge>& others) {
  for (uint32_t i = 0; i < mine.size(); ++i) {
    if (mine[i].state == others[i].state) continue;
    if (mine[i].state != State::kSometimes) text_.line("{} = {};", flag(i), mine[i].state == State::kKnown);
  }
}

// ---- statements ----

void LookupsEmitter::emit_block(std::span<const Statement> statements) {
  for (const Statement& statement : statements) emit(statement);
}

void LookupsEmitter::emit(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kAssign:
      return emit_assign(statement);
    case StatementKind::kIf:
      return emit_if(statement);
    case StatementKind::kForRange:
      return emit_for_range(statement);
    case StatementKind::kReturn:
    case StatementKind::kRaise:
      return text_.line("return count;");
    case StatementKind::kOperation:
    case StatementKind::kForQuery:
      return emit_operation(statement);
    case StatementKind::kExit:
    case StatementKind::kContinue: {
      // Of a loop further out, or where it is not known whether: the loop goes on, and names a row too many.
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
      return forget({&statement, 1});
  }
}

void LookupsEmitter::emit_assign(const Statement& statement) {
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

void LookupsEmitter::emit_if(const Statement& statement) {
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

void LookupsEmitter::emit_for_range(const Statement& statement) {
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
  ++loops_;
  const FunctionText::Part body = text_.apart([&] { emit_block(statement.body); });
  --loops_;
  named_.resize(std::min(named, named_.size()));
  const uint32_t way_round = std::exchange(way_round_, way_before);
  if (lookups_ > lookups) note_use(exprs);
  const bool names_or_peeks = std::ranges::any_of(body.lines, [](const auto& line) {
    return line.text.starts_with("lookups[") || line.text.find("peeks.peek(") != std::string::npos;
  });
  if (names_or_peeks && way_round <= round_) {
    open_if_known(exprs);
    const Operand from = expressions_.keep(expressions_.emit(*statement.expr));
    const Operand to = expressions_.keep(expressions_.emit(*statement.limit));
    Operand step{"1L", "false", Rep::kInt};
    if (statement.step) step = expressions_.keep(expressions_.emit(*statement.step));
    text_.line("if ({} || {} || {} || {} <= 0) return count;", from.null, to.null, step.null, step.value);
    const std::string number = text_.new_name("i");
    // More iterations than there is room for name nothing.
    text_.open(
        "for (int64_t {0} = {1}, left = static_cast<int64_t>(lookups.size()); left > 0 && {0} {2} {3}; {0} "
        "{4} "
        "{5}, --left)",
        number, from.value, statement.reverse ? ">=" : "<=", to.value,
        statement.reverse ? "-=" : "+=", step.value);
    text_.line("{} = {{{}, false}};", scope_.variable(statement.variable), number);
    text_.put(body);
    text_.close();
    text_.close();
  }
  forget({&statement, 1});
}

// ---- operations ----

void LookupsEmitter::emit_operation(const Statement& statement) {
  const Operation& operation = scope_.procedure.operations[statement.operation.value];
  const ir::TableAccess& access = operation.access[0];
  if (operation.kind == ir::OperationKind::kInsert) {
    emit_insert(operation);
    return forget({&statement, 1});
  }
  std::vector<const Expr*> values;
  for (const ir::AccessPath::Equality& equality : access.path.equalities) {
    if (equality.values.empty() || !can_evaluate(equality.values[0])) break;
    values.push_back(&equality.values[0]);
  }
  // Of a range the first row is named: it must be clear which one that is.
  const bool whole = values.size() == access.path.equalities.size();
  if (!access_.is_plain(access) || values.empty() || !whole || access.path.lower || operation.path_backward)
    return forget({&statement, 1});

  const uint32_t round = round_of(values);
  const auto may_decide = [&](const Expr& expr) {
    return can_evaluate(expr) && !is_sometimes(expr) && round_of(expr) <= round;
  };
  std::string parts;
  const FunctionText::Part choice = text_.apart([&] { parts = access_.parts(operation, 0, may_decide); });
  if (round == round_) text_.put(choice);
  Variables peeked;
  if (statement.kind == StatementKind::kOperation) peeked = peekable(operation, round);
  if (!write_lookup(operation, access.path.index, values, parts, !peeked.empty())) peeked.clear();
  if (!peeked.empty() && round < round_) emit_peek(operation, values, round, peeked);
  forget({&statement, 1});
  for (const uint32_t variable : peeked) learn(variable, {State::kKnown, round + 1});
}

Variables LookupsEmitter::peekable(const Operation& operation, uint32_t round) const {
  const ir::TableAccess& access = operation.access[0];
  const bool first_row_decides = access.path.kind == ir::AccessPath::Kind::kPoint ||
                                 (operation.kind == ir::OperationKind::kSelect && !access.filter &&
                                  operation.order_is_path_order && !operation.offset);
  const size_t rounds = rounds_ != nullptr ? rounds_->count : Prefetcher::kMaxRounds;
  if (round + 1 >= rounds || operation.access.size() > 1 || !operation.aggregates.empty() ||
      !first_row_decides)
    return {};
  Variables variables;
  const auto add = [&](VariableId variable) {
    if (rounds_ == nullptr || rounds_->peeked.contains(variable.value)) variables.insert(variable.value);
  };
  for (const ir::Output& output : operation.outputs) {
    if (output.into.valid() && is_peekable(operation, output.expr, round, /*of_old_row=*/false))
      add(output.into);
  }
  if (operation.found.valid()) add(operation.found);
  return variables;
}

bool LookupsEmitter::is_peekable(const Operation& operation, const Expr& expr, uint32_t round,
                                 bool of_old_row) const {
  if (!is_inline(expr, /*over_row=*/true) || !has_key_words(expr)) return false;
  bool peekable = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) {
      const Knowledge& known = known_[e.variable.value];
      peekable &= known.state == State::kKnown && known.round <= round + 1;
    }
    if (e.kind != ExprKind::kColumn || of_old_row) return;
    for (const ir::Assignment& assignment : operation.assignments) {
      if (assignment.column == e.column)
        peekable = peekable && is_peekable(operation, assignment.value, round, /*of_old_row=*/true);
    }
  });
  return peekable;
}

void LookupsEmitter::emit_peek(const Operation& operation, std::span<const Expr* const> values,
                               uint32_t round, const Variables& peeked) {
  // Under the condition under which the row was named.
  open_if_known(values);
  std::vector<Operand> operands;
  for (const Expr* value : values) operands.push_back(access_.emit_key_value(*value));
  const std::string condition = access_.key_condition(operation.access[0].path.index, operands);
  text_.open("if ({})", condition.empty() ? "true" : condition);
  const std::string image = text_.new_name("image");
  text_.line("std::byte {}[{}];", image, scope_.schema.layout(operation.access[0].table).image_bytes());
  ImageParts parts;
  const auto add = [&](const Expr& expr) { parts |= access_.parts_of_columns(operation, 0, expr); };
  for (const ir::Output& output : operation.outputs) {
    if (peeked.contains(output.into.value)) add(output.expr);
  }
  for (const ir::Assignment& assignment : operation.assignments) add(assignment.value);
  text_.open("if (peeks.peek({}, ImageParts(0x{:x}ul), {}))", round, parts.bits(), image);
  write_row(operation, peeked, image);
  text_.otherwise();
  for (const uint32_t variable : peeked) {
    const bool is_found = operation.found.valid() && operation.found.value == variable;
    text_.line("{} = {{{{}}, {}}};", scope_.variable(VariableId{variable}), !is_found);
  }
  text_.close();
  text_.close();
  text_.close();
}

// Sets the variables as the statement will, if the row is still the same by then.
void LookupsEmitter::write_row(const Operation& operation, const Variables& peeked,
                               const std::string& image) {
  UnitScope::RowView& row = scope_.rows[0];
  row = {operation.access[0].table, image, {}};
  const TableDefinition& table = scope_.schema.catalog().table(row.table);
  const auto is_returned = [&](ColumnId column) {
    return std::ranges::any_of(operation.outputs, [&](const ir::Output& output) {
      bool returned = false;
      ir::walk(output.expr,
               [&](const Expr& e) { returned |= e.kind == ExprKind::kColumn && e.column == column; });
      return returned && peeked.contains(output.into.value);
    });
  };
  std::map<uint32_t, Operand> changed;
  for (const ir::Assignment& assignment : operation.assignments) {
    if (!is_returned(assignment.column)) continue;
    const Rep rep = rep_of(table.column(assignment.column).type);
    changed[assignment.column.value] = expressions_.keep(converted(expressions_.emit(assignment.value), rep));
  }
  row.columns = std::move(changed);
  for (const ir::Output& output : operation.outputs) {
    if (!peeked.contains(output.into.value)) continue;
    const Operand value =
        converted(expressions_.emit(output.expr), rep_of(scope_.procedure.variables[output.into.value].type));
    text_.line("{} = {{{}, {}}};", scope_.variable(output.into), value.value, value.null);
  }
  if (operation.found.valid() && peeked.contains(operation.found.value))
    text_.line("{} = {{true, false}};", scope_.variable(operation.found));
  row = {};
}

// Rows are mostly inserted behind all that have the same first key columns: an order behind its customer's, say.
void LookupsEmitter::emit_insert(const Operation& operation) {
  const Catalog& catalog = scope_.schema.catalog();
  const TableDefinition& table = catalog.table(operation.access[0].table);
  for (const IndexId id : table.indexes) {
    const IndexDefinition& index = catalog.index(id);
    std::vector<const Expr*> known;
    for (const ColumnId column : index.columns) {
      const Expr& value = operation.values[column.value];
      if (!can_evaluate(value) || !has_key_words(value)) break;
      known.push_back(&value);
    }
    const bool is_whole = id == table.primary_key && known.size() == index.columns.size();
    // In an ordered index the place is known before the whole key is.
    if (is_whole && (round_of(known) == 0 || !index.ordered)) {
      write_lookup(operation, id, known, "ImageParts()");
    } else if (index.ordered && round_ == 0) {
      while (!known.empty() && !is_constant(*known.back())) known.pop_back();
      if (!known.empty()) write_place(operation, id, known);
    }
  }
}

void LookupsEmitter::write_place(const Operation& operation, IndexId index,
                                 std::span<const Expr* const> values) {
  std::string what = fmt::format("{}", index.value);
  const FunctionText::Part place = text_.apart([&] {
    for (const Expr* value : values) what += ", " + expressions_.emit(*value).value;
    write_entry(operation, index, values, "ImageParts()", /*is_place=*/true, /*is_watched=*/false);
  });
  if (!named_places_.insert(what).second) return;
  places_.push_back(place);
  ++named_in_round_[0];
}

bool LookupsEmitter::write_lookup(const Operation& operation, IndexId index,
                                  std::span<const Expr* const> values, const std::string& parts,
                                  bool is_watched) {
  if (!std::ranges::all_of(values, [](const Expr* value) { return has_key_words(*value); })) return false;
  // The same row again, on the same way through the procedure: the one look-up is for all parts.
  std::string what = fmt::format("{}", index.value);
  const FunctionText::Part trial = text_.apart([&] {
    for (const Expr* value : values) what += ", " + expressions_.emit(*value).value;
  });
  const bool plain = parts.find('?') == std::string::npos;
  for (const Named& named : named_) {
    if (named.what != what || !plain) continue;
    std::string& all = parts_[named.parts];
    if (all.find(parts) == std::string::npos) all += " | " + parts;
    return false;
  }
  named_.push_back({what, parts_.size()});
  // No literal in the text has such a character in it.
  const std::string placeholder = fmt::format("\1{}\1", parts_.size());
  parts_.push_back(parts);

  const uint32_t round = round_of(values);
  ++lookups_;
  named_in_round_[round] += loops_ > 0 ? 2 : 1;
  note_use(values);
  if (round == round_) write_entry(operation, index, values, placeholder, /*is_place=*/false, is_watched);
  return true;
}

void LookupsEmitter::write_entry(const Operation& operation, IndexId index,
                                 std::span<const Expr* const> values, const std::string& parts, bool is_place,
                                 bool is_watched) {
  text_.line("// line {}: {}", operation.where.line, scope_.schema.catalog().index(index).name);
  open_if_known(values);
  std::vector<Operand> operands;
  for (const Expr* value : values) operands.push_back(access_.emit_key_value(*value));
  const std::string condition = access_.key_condition(index, operands);
  text_.open("if ({})", condition.empty() ? "true" : condition);
  text_.line("if (count == lookups.size()) return count;");
  access_.write_key(index, operands, "key");
  if (is_place) {
    const KeyShape shape = key_shape(scope_.schema.catalog(), index);
    const uint32_t known = shape.prefix_bytes(values.size());
    if (known < shape.bytes) text_.line("put_ones<{}, {}>(key);", known, shape.bytes);
  }
  if (is_watched) text_.line("peeks.watch(count);");
  text_.line("lookups[count++] = {{IndexId{{{}}}, {}, key, {}}};", index.value, parts, is_place);
  text_.close();
  text_.close();
}

}  // namespace

LookupFunctions emit_lookups(const Schema& schema, const NativeUnit& unit) {
  LookupsEmitter trial(schema, *unit.procedure, /*round=*/0, /*rounds=*/nullptr);
  trial.emit(unit.name);
  const LookupRounds rounds = trial.rounds();
  LookupFunctions functions;
  for (uint32_t round = 0; round < rounds.count; ++round) {
    LookupsEmitter emitter(schema, *unit.procedure, round, &rounds);
    functions.text += emitter.emit(unit.name);
    functions.names += fmt::format("{}lookups_{}_{}", round == 0 ? "" : ", ", unit.name, round);
  }
  return functions;
}

}  // namespace mneme
