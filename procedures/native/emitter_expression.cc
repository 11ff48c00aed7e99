#include "procedures/native/emitter_expression.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "procedures/values/numeric.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;

namespace {

// One name, or a member of one: used twice, it costs nothing.
bool is_name(std::string_view code) {
  return std::ranges::all_of(code, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

std::string constant_literal(const Expr& expr, Rep rep) {
  const Value& value = expr.constant;
  switch (rep) {
    case Rep::kBool:
      return value.as_bool() ? "true" : "false";
    case Rep::kInt:
    case Rep::kNone:
      return value.as_int() == INT64_MIN ? "INT64_MIN" : fmt::format("{}L", value.as_int());
    case Rep::kWide: {
      const auto bits = static_cast<unsigned __int128>(value.as_numeric());
      return fmt::format("wide(0x{:x}, 0x{:x})", static_cast<uint64_t>(bits >> 64),
                         static_cast<uint64_t>(bits));
    }
    case Rep::kDouble:
      return fmt::format("double_of_bits(0x{:x} /* {} */)", std::bit_cast<uint64_t>(value.as_double()),
                         value.as_double());
    case Rep::kText:
      return literal_of(value.as_text());
  }
  return "";
}

// Names the functions that generated code calls by number.
const char* function_enumerator(Function function) {
  switch (function) {
    case Function::kAbs:
      return "kAbs";
    case Function::kSign:
      return "kSign";
    case Function::kFloor:
      return "kFloor";
    case Function::kCeil:
      return "kCeil";
    case Function::kRound:
      return "kRound";
    case Function::kTrunc:
      return "kTrunc";
    case Function::kMod:
      return "kMod";
    case Function::kSqrt:
      return "kSqrt";
    case Function::kPower:
      return "kPower";
    case Function::kLength:
      return "kLength";
    case Function::kLower:
      return "kLower";
    case Function::kUpper:
      return "kUpper";
    case Function::kSubstring:
      return "kSubstring";
    case Function::kLeft:
      return "kLeft";
    case Function::kRight:
      return "kRight";
    case Function::kTrim:
      return "kTrim";
    case Function::kLtrim:
      return "kLtrim";
    case Function::kRtrim:
      return "kRtrim";
    case Function::kLpad:
      return "kLpad";
    case Function::kRpad:
      return "kRpad";
    case Function::kReplace:
      return "kReplace";
    case Function::kPosition:
      return "kPosition";
    case Function::kRepeat:
      return "kRepeat";
    case Function::kReverse:
      return "kReverse";
    case Function::kInitcap:
      return "kInitcap";
    case Function::kSplitPart:
      return "kSplitPart";
    case Function::kTranslate:
      return "kTranslate";
    case Function::kStartsWith:
      return "kStartsWith";
    case Function::kAscii:
      return "kAscii";
    case Function::kChr:
      return "kChr";
    case Function::kToHex:
      return "kToHex";
    case Function::kExp:
      return "kExp";
    case Function::kLn:
      return "kLn";
    case Function::kLog:
      return "kLog";
    case Function::kOctetLength:
      return "kOctetLength";
    case Function::kBitLength:
      return "kBitLength";
    case Function::kExtract:
      return "kExtract";
    case Function::kTruncateTime:
      return "kTruncateTime";
    case Function::kAddInterval:
      return "kAddInterval";
    case Function::kMatches:
      return "kMatches";
    case Function::kLike:
      return "kLike";
    default:
      CHECK(false && "a function on numbers or text");
      return "";
  }
}

std::string comparison_of(Op op, Rep rep, const std::string& a, const std::string& b) {
  const char* sign = op == Op::kEqual || op == Op::kIsNotDistinct   ? "=="
                     : op == Op::kNotEqual || op == Op::kIsDistinct ? "!="
                     : op == Op::kLess                              ? "<"
                     : op == Op::kLessEqual                         ? "<="
                     : op == Op::kGreater                           ? ">"
                                                                    : ">=";
  if (rep == Rep::kDouble) return fmt::format("(compare_doubles({}, {}) {} 0)", a, b, sign);
  return fmt::format("({} {} {})", a, sign, b);
}

}  // namespace

std::string ExpressionEmitter::raise() const {
  return fmt::format("raise(run, {})", scope_.where);
}

Operand ExpressionEmitter::keep(const Operand& operand, std::string_view stem) {
  Operand kept = operand;
  const auto is_temporary = [](std::string_view code) { return is_name(code) && code.front() == 'x'; };
  if (operand.is_null() || operand.rep == Rep::kNone) return converted(operand, operand.rep);
  const std::string name = text_.new_name(stem);
  if (!is_temporary(operand.value)) {
    text_.line("const {} {} = {};", type_of(operand.rep), name, operand.value);
    kept.value = name;
  }
  if (operand.is_nullable() && !is_temporary(operand.null)) {
    text_.line("const bool {}_null = {};", name, operand.null);
    kept.null = name + "_null";
  }
  return kept;
}

Operand ExpressionEmitter::declare_nullable(Rep rep, std::string& name) {
  name = text_.new_name("x");
  text_.line("Nullable<{}> {};", type_of(rep), name);
  return {name + ".value", name + ".null", rep};
}

Operand ExpressionEmitter::emit(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kConstant: {
      const Rep rep = rep_of(expr);
      if (expr.constant.is_null()) return {fmt::format("{}{{}}", type_of(rep)), "true", rep};
      return {constant_literal(expr, rep), "false", rep};
    }
    case ExprKind::kVariable: {
      const std::string& name = scope_.variable(expr.variable);
      return {name + ".value", name + ".null", rep_of(scope_.procedure.variables[expr.variable.value].type)};
    }
    case ExprKind::kColumn:
      return emit_column(expr);
    case ExprKind::kAggregate:
      return scope_.aggregates[expr.aggregate];
    case ExprKind::kUnary:
      return emit_unary(expr);
    case ExprKind::kBinary:
      return emit_binary(expr);
    case ExprKind::kCase:
      return emit_case(expr);
    case ExprKind::kFunction:
      return emit_function(expr);
    case ExprKind::kCast:
      return emit_cast(expr);
    case ExprKind::kArrayElement:
      return emit_array_element(expr);
    case ExprKind::kInArray:
      return emit_in_array(expr);
    case ExprKind::kInList:
      return emit_in_list(expr);
    case ExprKind::kQuery:
      break;  // of sessions alone
  }
  CHECK(false && "a kind of expression");
  return {};
}

Operand ExpressionEmitter::emit_column(const Expr& expr) {
  const UnitScope::RowView& row = scope_.rows[expr.source];
  if (const auto replaced = row.columns.find(expr.column.value); replaced != row.columns.end()) {
    return replaced->second;
  }
  const TableDefinition& table = scope_.schema.catalog().table(row.table);
  const std::string column = column_name(table, expr.column);
  Operand operand{fmt::format("{}.get({})", column, row.image), "false", rep_of(expr.type)};
  if (table.column(expr.column).nullable) operand.null = fmt::format("{}.is_null({})", column, row.image);
  return operand;
}

std::string ExpressionEmitter::condition(const Expr& expr) {
  if (expr.kind == ExprKind::kBinary && (expr.op == Op::kAnd || expr.op == Op::kOr)) {
    std::string a;
    std::string b;
    const FunctionText::Part left = text_.apart([&] { a = condition(expr.args[0]); });
    const FunctionText::Part right = text_.apart([&] { b = condition(expr.args[1]); });
    if (!right.may_fail) {
      text_.put(left);
      text_.put(right);
      return fmt::format("({} {} {})", a, expr.op == Op::kAnd ? "&&" : "||", b);
    }
    if (expr.op == Op::kOr) {
      text_.put(left);
      const std::string name = text_.new_name("x");
      text_.line("bool {} = {};", name, a);
      text_.open("if (!{})", name);
      text_.put(right);
      text_.line("{} = {};", name, b);
      text_.close();
      return name;
    }
    // The right side of AND is evaluated where the left one is NULL, too: emit() sees to that.
  }
  const Operand operand = emit(expr);
  if (operand.is_null()) return "false";
  if (!operand.is_nullable()) return operand.value;
  return fmt::format("(!{} && {})", operand.null, operand.value);
}

Operand ExpressionEmitter::emit_unary(const Expr& expr) {
  const Operand a = emit(expr.args[0]);
  const auto boolean = [](std::string value) { return Operand{std::move(value), "false", Rep::kBool}; };
  switch (expr.op) {
    case Op::kIsNull:
      return boolean(a.null);
    case Op::kIsNotNull:
      return boolean(fmt::format("!{}", a.null));
    case Op::kIsTrue:
    case Op::kIsNotTrue:
    case Op::kIsFalse:
    case Op::kIsNotFalse: {
      const bool negated = expr.op == Op::kIsNotTrue || expr.op == Op::kIsNotFalse;
      const bool wanted = expr.op == Op::kIsTrue || expr.op == Op::kIsNotTrue;
      if (a.is_null()) return boolean(negated ? "true" : "false");
      return boolean(fmt::format("{}(!{} && {}{})", negated ? "!" : "", a.null, wanted ? "" : "!", a.value));
    }
    case Op::kNot:
      if (a.is_null()) return converted(a, Rep::kBool);
      return {fmt::format("!{}", a.value), a.null, Rep::kBool};
    default:
      break;
  }
  CHECK(expr.op == Op::kNegate);
  if (a.is_null()) return converted(a, rep_of(expr));
  if (expr.type.is_integer()) {
    return emit_integer_arithmetic(expr, Op::kSubtract, {"0L", "false", Rep::kInt}, a);
  }
  return {fmt::format("(-({}))", a.value), a.null, a.rep};
}

Operand ExpressionEmitter::emit_logic(const Expr& expr) {
  const Operand a = converted(keep(emit(expr.args[0])), Rep::kBool);
  Operand b;
  const FunctionText::Part part = text_.apart([&] { b = converted(keep(emit(expr.args[1])), Rep::kBool); });
  const bool is_and = expr.op == Op::kAnd;
  const std::string value = fmt::format("({} {} {})", a.value, is_and ? "&&" : "||", b.value);
  // NULL unless one side decides.
  const char* decisive = is_and ? "!" : "";
  const auto decides = [&](const Operand& side) {
    return fmt::format("(!{} && {}{})", side.null, decisive, side.value);
  };
  const std::string null =
      a.is_nullable() || b.is_nullable()
          ? fmt::format("({} && !{} && !{})", null_of_any(a.null, b.null), decides(a), decides(b))
          : "false";
  if (!part.may_fail) {
    text_.put(part);
    return {value, null, Rep::kBool};
  }
  std::string name;
  const Operand result = declare_nullable(Rep::kBool, name);
  text_.open("if ({})", decides(a));
  text_.line("{} = {{{}, false}};", name, is_and ? "false" : "true");
  text_.otherwise();
  text_.put(part);
  text_.line("{} = {{{}, {}}};", name, value, null);
  text_.close();
  return result;
}

Operand ExpressionEmitter::emit_comparison(const Expr& expr, const Operand& a, const Operand& b) {
  const std::string null = null_of_any(a.null, b.null);
  const bool distinct = expr.op == Op::kIsDistinct || expr.op == Op::kIsNotDistinct;
  if (!distinct) {
    if (null == "true") return {"false", "true", Rep::kBool};
    return {comparison_of(expr.op, a.rep, a.value, b.value), null, Rep::kBool};
  }
  const char* sign = expr.op == Op::kIsDistinct ? "!=" : "==";
  if (null == "true") return {fmt::format("({} {} {})", a.null, sign, b.null), "false", Rep::kBool};
  const std::string compared = comparison_of(expr.op, a.rep, a.value, b.value);
  if (null == "false") return {compared, "false", Rep::kBool};
  return {fmt::format("({} ? {} {} {} : {})", null, a.null, sign, b.null, compared), "false", Rep::kBool};
}

Operand ExpressionEmitter::emit_binary(const Expr& expr) {
  const Op op = expr.op;
  if (op == Op::kAnd || op == Op::kOr) return emit_logic(expr);
  if (op == Op::kConcat) return emit_concatenation(expr);
  const Operand a = emit(expr.args[0]);
  const Operand b = emit(expr.args[1]);
  if (op >= Op::kEqual && op <= Op::kIsNotDistinct) return emit_comparison(expr, a, b);
  if (a.is_null() || b.is_null()) return converted({"", "true", Rep::kNone}, rep_of(expr));
  return emit_arithmetic(expr, op, a, b);
}

// The parts of a chain to the left, put together once; evaluated from the right, as the interpreter does.
Operand ExpressionEmitter::emit_concatenation(const Expr& expr) {
  std::vector<const Expr*> parts;
  const Expr* node = &expr;
  for (; node->kind == ExprKind::kBinary && node->op == Op::kConcat; node = &node->args[0]) {
    parts.push_back(&node->args[1]);
  }
  parts.push_back(node);
  std::string null = "false";
  std::string list;
  for (const Expr* part : parts) {
    const Operand operand = converted(emit(*part), Rep::kText);
    null = null_of_any(null, operand.null);
    list = operand.value + (list.empty() ? "" : ", ") + list;
  }
  if (null == "true") return converted({"", "true", Rep::kNone}, Rep::kText);
  const std::string result = text_.new_name("x");
  return emit_call(
      expr, null, result,
      fmt::format("concatenate(std::initializer_list<std::string_view>{{{}}}, *run.arena, {}, *run.error)",
                  list, result));
}

Operand ExpressionEmitter::emit_call(const Expr& expr, const std::string& null, const std::string& result,
                                     const std::string& call) {
  text_.line("Value {};", result);
  text_.fail_if(null == "false" ? "!" + call : fmt::format("!{} && !{}", null, call), raise());
  const Rep rep = rep_of(expr);
  const std::string name = text_.new_name("x");
  text_.line("const auto {} = {};", name, unboxed(rep, result));
  return {name + ".value", null == "false" ? "false" : name + ".null", rep};
}

Operand ExpressionEmitter::emit_case(const Expr& expr) {
  std::string name;
  const Rep rep = rep_of(expr);
  const Operand result = declare_nullable(rep, name);
  const auto set = [&](const Expr& value) {
    const Operand operand = converted(emit(value), rep);
    if (!operand.is_null()) text_.line("{} = {{{}, {}}};", name, operand.value, operand.null);
  };
  // A few branches stand in each other's else; many, one after the other, as no compiler reads any number of
  // blocks in each other.
  constexpr size_t kMostInside = 32;
  size_t inside = 0;
  size_t i = 0;
  for (; i + 1 < expr.args.size() && inside < kMostInside; i += 2, ++inside) {
    text_.open("if ({})", condition(expr.args[i]));
    set(expr.args[i + 1]);
    text_.otherwise();
  }
  if (i + 1 == expr.args.size()) {
    set(expr.args[i]);
  } else {
    const std::string decided = text_.new_name("decided");
    text_.line("bool {} = false;", decided);
    for (; i + 1 < expr.args.size(); i += 2) {
      text_.open("if (!{})", decided);
      text_.open("if ({})", condition(expr.args[i]));
      text_.line("{} = true;", decided);
      set(expr.args[i + 1]);
      text_.close();
      text_.close();
    }
    text_.open("if (!{})", decided);
    set(expr.args[i]);
    text_.close();
  }
  for (; inside > 0; --inside) text_.close();
  return result;
}

Operand ExpressionEmitter::emit_coalesce(const Expr& expr) {
  std::string name;
  const Rep rep = rep_of(expr);
  const Operand result = declare_nullable(rep, name);
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (i > 0) text_.open("if ({}.null)", name);
    const Operand operand = converted(emit(expr.args[i]), rep);
    if (!operand.is_null()) text_.line("{} = {{{}, {}}};", name, operand.value, operand.null);
    if (i > 0) text_.close();
    if (!operand.is_nullable()) break;
  }
  return result;
}

Operand ExpressionEmitter::emit_nullif(const Expr& expr) {
  const Operand a = keep(converted(emit(expr.args[0]), rep_of(expr.args[0])));
  const Operand b = emit(expr.args[1]);
  if (a.is_null() || b.is_null()) return converted(a, rep_of(expr));
  std::string equal = comparison_of(Op::kEqual, a.rep, a.value, b.value);
  if (b.is_nullable()) equal = fmt::format("(!{} && {})", b.null, equal);
  const Operand result{a.value, a.is_nullable() ? fmt::format("({} || {})", a.null, equal) : equal, a.rep};
  return converted(result, rep_of(expr));
}

Operand ExpressionEmitter::emit_extreme(const Expr& expr) {
  std::string name;
  const Rep rep = rep_of(expr);
  const Operand result = declare_nullable(rep, name);
  const char* keeps = expr.function == Function::kGreatest ? "keep_greatest" : "keep_least";
  for (const Expr& arg : expr.args) {
    const Operand operand = converted(emit(arg), rep);
    if (!operand.is_null()) {
      text_.line("{}<{}>({}, {}, {});", keeps, type_of(rep), name, operand.value, operand.null);
    }
  }
  return result;
}

Operand ExpressionEmitter::emit_concat_function(const Expr& expr) {
  std::string arguments;
  for (const Expr& arg : expr.args) {
    const Operand operand = emit(arg);
    if (operand.is_null()) continue;
    arguments += fmt::format("{}{{{}, {}}}", arguments.empty() ? "" : ", ", type_literal(arg.type),
                             boxed(operand, arg.type));
  }
  const std::string result = text_.new_name("x");
  return emit_call(expr, "false", result,
                   fmt::format("concatenate_printed(run, {{{}}}, {})", arguments, result));
}

Operand ExpressionEmitter::emit_function(const Expr& expr) {
  switch (expr.function) {
    case Function::kCoalesce:
      return emit_coalesce(expr);
    case Function::kGreatest:
    case Function::kLeast:
      return emit_extreme(expr);
    case Function::kNullIf:
      return emit_nullif(expr);
    case Function::kConcatFunction:
      return emit_concat_function(expr);
    case Function::kCardinality: {
      const std::string& array = scope_.variable(expr.variable);
      return {array + ".size()", array + ".null()", Rep::kInt};
    }
    default:
      return emit_called_function(expr);
  }
}

Operand ExpressionEmitter::emit_called_function(const Expr& expr) {
  std::string null = "false";
  std::string arguments;
  std::vector<Operand> operands;
  for (const Expr& arg : expr.args) operands.push_back(emit(arg));
  for (size_t i = 0; i < operands.size(); ++i) {
    null = null_of_any(null, operands[i].null);
    operands[i].null = "false";
    arguments +=
        fmt::format("{}{}", i == 0 ? "" : ", ",
                    operands[i].rep == Rep::kNone ? "Value::null()" : boxed(operands[i], expr.args[i].type));
  }
  if (null == "true") return converted({"", "true", Rep::kNone}, rep_of(expr));
  const Type& source = expr.args[0].type;
  if (expr.function == Function::kMod && source.is_exact()) {
    operands[0].null = null;
    return emit_arithmetic(expr, Op::kModulo, operands[0], operands[1]);
  }
  const std::string result = text_.new_name("x");
  const std::string values = fmt::format("std::initializer_list<Value>{{{}}}", arguments);
  const std::string function = fmt::format("ir::Function::{}", function_enumerator(expr.function));
  if (source.is_number()) {
    return emit_call(expr, null, result,
                     fmt::format("apply_number_function({}, {}, {}, {}, *run.arena, {}, *run.error)",
                                 function, type_literal(source), type_literal(expr.type), values, result));
  }
  if (source.is_time() || source.kind == TypeKind::kTime) {
    return emit_call(expr, null, result,
                     fmt::format("apply_time_function({}, {}, {}, *run.arena, {}, *run.error)", function,
                                 type_literal(source), values, result));
  }
  return emit_call(
      expr, null, result,
      fmt::format("apply_text_function({}, {}, *run.arena, {}, *run.error)", function, values, result));
}

Operand ExpressionEmitter::emit_array_element(const Expr& expr) {
  // The subscript of a NULL array is not even evaluated.
  const std::string& array = scope_.variable(expr.variable);
  Operand subscript;
  const FunctionText::Part part = text_.apart([&] { subscript = converted(emit(expr.args[0]), Rep::kInt); });
  const Rep rep = rep_of(expr.type);
  if (part.may_fail) {
    std::string name;
    const Operand element = declare_nullable(rep, name);
    text_.open("if (!{}.null())", array);
    text_.put(part);
    text_.line("{} = {};", name,
               unboxed(rep, fmt::format("{}.at({}, {})", array, subscript.value, subscript.null)));
    text_.close();
    return element;
  }
  text_.put(part);
  const std::string element = unboxed(
      rep, fmt::format("{}.at({}, {})", scope_.variable(expr.variable), subscript.value, subscript.null));
  if (const auto read = scope_.elements.find(element); read != scope_.elements.end()) return read->second;
  const std::string name = text_.new_name("x");
  text_.line("const auto {} = {};", name, element);
  return {name + ".value", name + ".null", rep};
}

Operand ExpressionEmitter::emit_in_array(const Expr& expr) {
  const Operand wanted = emit(expr.args[0]);
  const std::string name = text_.new_name("x");
  text_.line("const auto {} = {}.contains({}.kind, {});", name, scope_.variable(expr.variable),
             type_literal(expr.args[0].type), boxed(wanted, expr.args[0].type));
  return {name + ".value", name + ".null", Rep::kBool};
}

Operand ExpressionEmitter::emit_in_list(const Expr& expr) {
  const Operand wanted = keep(emit(expr.args[0]));
  const std::string name = text_.new_name("x");
  text_.line("Nullable<bool> {}{{false, false}};", name);
  for (size_t i = 1; i < expr.args.size(); ++i) {
    const bool is_eager = i <= std::max(1u, expr.eager_elements);
    if (!is_eager) text_.open("if (!{}.value)", name);
    emit_in_list_member(expr, i, wanted, name);
    if (!is_eager) text_.close();
  }
  return {name + ".value", name + ".null", Rep::kBool};
}

// True as soon as one is equal, else NULL if any comparison was.
void ExpressionEmitter::emit_in_list_member(const Expr& expr, size_t i, const Operand& wanted,
                                            const std::string& into) {
  const Operand operand = emit(expr.args[i]);
  const std::string null = null_of_any(wanted.null, operand.null);
  if (null != "true") {
    const std::string equal = comparison_of(Op::kEqual, operand.rep, wanted.value, operand.value);
    if (null == "false") {
      text_.line("if ({}) {} = {{true, false}};", equal, into);
    } else {
      text_.line("if (!{} && {}) {} = {{true, false}};", null, equal, into);
    }
  }
  if (null == "true") {
    text_.line("{}.null = !{}.value;", into, into);
  } else if (null != "false") {
    text_.line("if ({} && !{}.value) {}.null = true;", null, into, into);
  }
}

}  // namespace mneme
