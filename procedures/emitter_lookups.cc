#include "procedures/emitter_lookups.h"

#include <algorithm>
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

// What generated code evaluates in line, without memory of its own.
bool is_inline(const Expr& expr) {
  bool is_inline = true;
  ir::walk(expr, [&](const Expr& e) {
    switch (e.kind) {
      case ExprKind::kColumn:
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

class LookupsEmitter {
 public:
  LookupsEmitter(const Schema& schema, const ir::Procedure& procedure)
      : scope_(schema, procedure),
        text_(scope_.text),
        expressions_(scope_),
        access_(scope_),
        states_(procedure.variables.size(), State::kUnknown) {
    for (const ir::Parameter& parameter : procedure.parameters)
      states_[parameter.variable.value] = State::kKnown;
    if (procedure.call_time.valid()) states_[procedure.call_time.value] = State::kKnown;
    collect_assigned(procedure.body, procedure, assigned_);
    text_.leave_by({"return ", "count"});
  }

  std::string emit(const std::string& name);

 private:
  // kSometimes: where the flag known_NAME is set.
  enum class State : uint8_t { kUnknown, kSometimes, kKnown };

  void emit_block(std::span<const Statement> statements);
  void emit(const Statement& statement);
  void emit_assign(const Statement& statement);
  void emit_if(const Statement& statement);
  void emit_for_range(const Statement& statement);
  void emit_operation(const Operation& operation);
  void emit_insert(const Operation& operation);
  void write_lookup(const Operation& operation, IndexId index, std::span<const Expr* const> values,
                    const std::string& parts);
  void write_place(const Operation& operation, IndexId index, std::span<const Expr* const> values);
  void write_entry(const Operation& operation, IndexId index, std::span<const Expr* const> values,
                   const std::string& parts, bool is_place);

  bool can_evaluate(const Expr& expr) const;
  // Whether it has one value from the procedure's beginning to its end.
  bool is_constant(const Expr& expr) const;
  // Opens a block for what rests on the expressions' variables.
  void open_if_known(std::span<const Expr* const> exprs);
  void forget(std::span<const Statement> statements);
  // Makes the branch at hand agree with the other on what is known after both.
  void settle(const std::vector<State>& mine, const std::vector<State>& others);
  std::string flag(uint32_t variable) {
    flags_.insert(variable);
    return "known_" + identifier_of(scope_.procedure.variables[variable].name) + fmt::format("_{}", variable);
  }

  UnitScope scope_;
  FunctionText& text_;
  ExpressionEmitter expressions_;
  AccessEmitter access_;
  std::vector<State> states_;
  std::set<uint32_t> flags_;
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
  std::set<uint32_t> assigned_;  // the variables that the procedure sets anywhere
};

std::string LookupsEmitter::emit(const std::string& name) {
  const FunctionText::Part rows = text_.apart([&] { emit_block(scope_.procedure.body); });
  for (const FunctionText::Part& place : places_) text_.put(place);
  text_.put(rows);
  std::string body = text_.joined();
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::string placeholder = fmt::format("\1{}\1", i);
    body.replace(body.find(placeholder), placeholder.size(), parts_[i]);
  }
  std::string text = fmt::format(
      "\nsize_t lookups_{}(const Schema& schema, std::span<const Argument> arguments, std::span<RowLookup> "
      "lookups) "
      "{{\n  size_t count = 0;\n",
      name);
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
  return text + "  {\n" + body + "  }\n  return count;\n}\n";
}

bool LookupsEmitter::can_evaluate(const Expr& expr) const {
  if (!is_inline(expr)) return false;
  bool known = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) known &= states_[e.variable.value] != State::kUnknown;
  });
  return known;
}

bool LookupsEmitter::is_constant(const Expr& expr) const {
  bool constant = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) constant &= !assigned_.contains(e.variable.value);
  });
  return constant;
}

void LookupsEmitter::open_if_known(std::span<const Expr* const> exprs) {
  std::set<uint32_t> doubtful;
  for (const Expr* expr : exprs) {
    ir::walk(*expr, [&](const Expr& e) {
      if (e.variable.valid() && states_[e.variable.value] == State::kSometimes)
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

void LookupsEmitter::forget(std::span<const Statement> statements) {
  std::set<uint32_t> assigned;
  collect_assigned(statements, scope_.procedure, assigned);
  for (const uint32_t variable : assigned) states_[variable] = State::kUnknown;
}

void LookupsEmitter::settle(const std::vector<State>& mine, const std::vector<State>& others) {
  for (uint32_t i = 0; i < mine.size(); ++i) {
    if (mine[i] == others[i]) continue;
    if (mine[i] != State::kSometimes) text_.line("{} = {};", flag(i), mine[i] == State::kKnown);
  }
}

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
      emit_operation(scope_.procedure.operations[statement.operation.value]);
      return forget({&statement, 1});
    case StatementKind::kExit:
    case StatementKind::kContinue:
      // Of a loop further out, or where it is not known whether: the loop goes on, and names a row too many.
      if (statement.loop_depth > 0 || (statement.expr && !can_evaluate(*statement.expr))) return;
      {
        const Expr* const exprs[] = {statement.expr ? &*statement.expr : nullptr};
        open_if_known(statement.expr ? std::span<const Expr* const>(exprs) : std::span<const Expr* const>());
        text_.line("if ({}) {};", statement.expr ? expressions_.condition(*statement.expr) : "true",
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
  if (!can_evaluate(*statement.expr)) {
    states_[variable] = State::kUnknown;
    return;
  }
  bool sometimes = false;
  ir::walk(*statement.expr, [&](const Expr& e) {
    if (e.variable.valid()) sometimes |= states_[e.variable.value] == State::kSometimes;
  });
  if (sometimes) {
    states_[variable] = State::kUnknown;
    return;
  }
  text_.open();
  const Operand value =
      converted(expressions_.emit(*statement.expr), rep_of(scope_.procedure.variables[variable].type));
  text_.line("{} = {{{}, {}}};", scope_.variable(statement.variable), value.value, value.null);
  text_.close();
  states_[variable] = State::kKnown;
}

void LookupsEmitter::emit_if(const Statement& statement) {
  if (!can_evaluate(*statement.expr)) return forget({&statement, 1});
  const Expr* const exprs[] = {&*statement.expr};
  const std::vector<State> before = states_;
  const size_t named = named_.size();
  const FunctionText::Part yes = text_.apart([&] { emit_block(statement.body); });
  named_.resize(named);
  const std::vector<State> after_yes = std::exchange(states_, before);
  const FunctionText::Part no = text_.apart([&] { emit_block(statement.else_body); });
  named_.resize(named);
  const std::vector<State> after_no = std::exchange(states_, before);
  const bool same = after_yes == after_no;
  if (same && yes.lines.empty() && no.lines.empty()) {
    states_ = after_yes;
    return;
  }
  open_if_known(exprs);
  text_.open("if ({})", expressions_.condition(*statement.expr));
  text_.put(yes);
  settle(after_yes, after_no);
  text_.otherwise();
  text_.put(no);
  settle(after_no, after_yes);
  text_.close();
  text_.close();
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i] = after_yes[i] == after_no[i] ? after_yes[i] : State::kSometimes;
  }
}

void LookupsEmitter::emit_for_range(const Statement& statement) {
  const bool known = can_evaluate(*statement.expr) && can_evaluate(*statement.limit) &&
                     (!statement.step || can_evaluate(*statement.step));
  forget(statement.body);
  if (!known) return forget({&statement, 1});
  states_[statement.variable.value] = State::kKnown;
  const size_t named = named_.size();
  const FunctionText::Part body = text_.apart([&] { emit_block(statement.body); });
  named_.resize(named);
  const bool names_rows =
      std::ranges::any_of(body.lines, [](const auto& line) { return line.text.starts_with("lookups["); });
  if (names_rows) {
    std::vector<const Expr*> exprs = {&*statement.expr, &*statement.limit};
    if (statement.step) exprs.push_back(&*statement.step);
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

void LookupsEmitter::emit_operation(const Operation& operation) {
  const ir::TableAccess& access = operation.access[0];
  std::vector<const Expr*> values;
  if (operation.kind == ir::OperationKind::kInsert) return emit_insert(operation);
  if (!access_.is_plain(access)) return;
  for (const ir::AccessPath::Equality& equality : access.path.equalities) {
    if (!can_evaluate(equality.values[0])) break;
    values.push_back(&equality.values[0]);
  }
  // Of a range the first row is named: it must be clear which one that is.
  const bool whole = values.size() == access.path.equalities.size();
  if (values.empty() || !whole || access.path.lower || operation.path_backward) return;
  const auto may_decide = [&](const Expr& expr) {
    bool known = is_inline(expr);
    ir::walk(expr, [&](const Expr& e) {
      if (e.variable.valid()) known &= states_[e.variable.value] == State::kKnown;
    });
    return known;
  };
  write_lookup(operation, access.path.index, values, access_.parts(operation, 0, may_decide));
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
    if (id == table.primary_key && known.size() == index.columns.size()) {
      write_lookup(operation, id, known, "ImageParts()");
    } else if (index.ordered) {
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
    write_entry(operation, index, values, "ImageParts()", true);
  });
  if (named_places_.insert(what).second) places_.push_back(place);
}

void LookupsEmitter::write_lookup(const Operation& operation, IndexId index,
                                  std::span<const Expr* const> values, const std::string& parts) {
  if (!std::ranges::all_of(values, [](const Expr* value) { return has_key_words(*value); })) return;
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
    return;
  }
  named_.push_back({what, parts_.size()});
  // No literal in the text has such a character in it.
  const std::string placeholder = fmt::format("\1{}\1", parts_.size());
  parts_.push_back(parts);
  write_entry(operation, index, values, placeholder, false);
}

void LookupsEmitter::write_entry(const Operation& operation, IndexId index,
                                 std::span<const Expr* const> values, const std::string& parts,
                                 bool is_place) {
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
  text_.line("lookups[count++] = {{IndexId{{{}}}, {}, key, {}}};", index.value, parts, is_place);
  text_.close();
  text_.close();
}

}  // namespace

std::string emit_lookups(const Schema& schema, const NativeUnit& unit) {
  return LookupsEmitter(schema, *unit.procedure).emit(unit.name);
}

}  // namespace mneme
