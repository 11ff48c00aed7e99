#include "procedures/values/expression.h"

#include <optional>

#include "procedures/times/interval.h"
#include "procedures/times/time_functions.h"
#include "procedures/values/arithmetic.h"
#include "procedures/values/array_form.h"
#include "procedures/values/array_text.h"
#include "procedures/values/cast.h"
#include "procedures/values/comparison.h"
#include "procedures/values/text_functions.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;

// The most arguments of a function that takes a fixed number.
constexpr size_t kMaxArguments = 7;

Value of_order(Op op, std::strong_ordering order) {
  switch (op) {
    case Op::kEqual:
      return Value::of_bool(order == 0);
    case Op::kNotEqual:
      return Value::of_bool(order != 0);
    case Op::kLess:
      return Value::of_bool(order < 0);
    case Op::kLessEqual:
      return Value::of_bool(order <= 0);
    case Op::kGreater:
      return Value::of_bool(order > 0);
    case Op::kGreaterEqual:
      return Value::of_bool(order >= 0);
    default:
      CHECK(false && "a comparison");
      return {};
  }
}

// a || b || c is a chain to the left; its parts are put together once.
bool evaluate_concatenation(const Expr& expr, EvaluationContext& context, Value& result) {
  size_t count = 1;
  const Expr* first = &expr;
  for (; first->kind == ExprKind::kBinary && first->op == Op::kConcat; first = &first->args[0]) ++count;
  const std::span<std::string_view> parts = context.arena.make_array<std::string_view>(count);
  bool null = false;
  const Expr* node = &expr;
  for (size_t i = count; i-- > 0; node = &node->args[0]) {
    const Expr& part = i == 0 ? *first : node->args[1];
    DCHECK(part.type.is_string() || part.type.kind == TypeKind::kNull);
    Value value;
    if (!evaluate(part, context, value)) return false;
    null |= value.is_null();
    if (!value.is_null()) parts[i] = value.as_text();
    if (i == 0) break;
  }
  if (null) {
    result = Value::null();
    return true;
  }
  return concatenate(parts, context.arena, result, context.error);
}

// apply_...: the value of a node whose first argument's value is `result`, which it takes the place of.

bool apply_logic(const Expr& expr, EvaluationContext& context, Value& result) {
  const bool decisive = expr.op == Op::kOr;
  if (!result.is_null() && result.as_bool() == decisive) return true;
  const bool left_null = result.is_null();
  if (!evaluate(expr.args[1], context, result)) return false;
  const bool decided = !result.is_null() && result.as_bool() == decisive;
  if (left_null && !decided) result = Value::null();
  return true;
}

bool apply_binary(const Expr& expr, EvaluationContext& context, Value& result) {
  const Op op = expr.op;
  if (op == Op::kAnd || op == Op::kOr) return apply_logic(expr, context, result);
  const Value a = result;
  Value b;
  if (!evaluate(expr.args[1], context, b)) return false;
  const TypeKind kind = a.is_null() ? expr.args[1].type.kind : expr.args[0].type.kind;

  if (op == Op::kIsDistinct || op == Op::kIsNotDistinct) {
    const bool distinct =
        a.is_null() || b.is_null() ? a.is_null() != b.is_null() : compare_values(kind, a, b) != 0;
    result = Value::of_bool(distinct == (op == Op::kIsDistinct));
    return true;
  }
  if (a.is_null() || b.is_null()) {
    result = Value::null();
    return true;
  }
  if (op >= Op::kEqual && op <= Op::kGreaterEqual) {
    result = of_order(op, compare_values(kind, a, b));
    return true;
  }
  return apply_arithmetic(op, expr.type, a, b, context.arena, result, context.error);
}

bool apply_unary(const Expr& expr, EvaluationContext& context, Value& result) {
  const Value a = result;
  switch (expr.op) {
    case Op::kIsNull:
    case Op::kIsNotNull:
      result = Value::of_bool(a.is_null() == (expr.op == Op::kIsNull));
      return true;
    case Op::kIsTrue:
    case Op::kIsNotTrue:
      result = Value::of_bool((!a.is_null() && a.as_bool()) == (expr.op == Op::kIsTrue));
      return true;
    case Op::kIsFalse:
    case Op::kIsNotFalse:
      result = Value::of_bool((!a.is_null() && !a.as_bool()) == (expr.op == Op::kIsFalse));
      return true;
    default:
      break;
  }
  if (a.is_null()) {
    result = Value::null();
    return true;
  }
  if (expr.op == Op::kNot) {
    result = Value::of_bool(!a.as_bool());
    return true;
  }
  CHECK(expr.op == Op::kNegate);
  return negate(expr.type, a, context.arena, result, context.error);
}

bool apply_cast(const Expr& expr, EvaluationContext& context, Value& result) {
  if (result.is_null()) return true;
  const Value value = result;
  return cast_value(expr.args[0].type, expr.type, too_long_of(expr), value, context.arena, result,
                    context.error);
}

bool is_applied(const Expr& expr) {
  return expr.kind == ExprKind::kUnary || expr.kind == ExprKind::kCast ||
         (expr.kind == ExprKind::kBinary && expr.op != Op::kConcat);
}

// Operators and casts nest to the left without end, as in a + b + c: a loop follows them there, so that a
// call is needed for a few of them together, and the deepest expression that the parser accepts fits a small
// stack.
bool evaluate_operators(const Expr& expr, EvaluationContext& context, Value& result) {
  std::array<const Expr*, 16> pending;
  size_t count = 0;
  const Expr* node = &expr;
  for (; count < pending.size() && is_applied(*node); node = &node->args[0]) pending[count++] = node;
  if (!evaluate(*node, context, result)) return false;
  while (count > 0) {
    const Expr& next = *pending[--count];
    const bool done = next.kind == ExprKind::kBinary  ? apply_binary(next, context, result)
                      : next.kind == ExprKind::kUnary ? apply_unary(next, context, result)
                                                      : apply_cast(next, context, result);
    if (!done) return false;
  }
  return true;
}

bool evaluate_case(const Expr& expr, EvaluationContext& context, Value& result) {
  size_t i = 0;
  for (; i + 1 < expr.args.size(); i += 2) {
    bool holds = false;
    if (!evaluate_condition(expr.args[i], context, holds)) return false;
    if (holds) return evaluate(expr.args[i + 1], context, result);
  }
  return evaluate(expr.args[i], context, result);
}

// = ANY and IN over values that come one at a time: true as soon as one is equal; otherwise NULL if any
// comparison was.
class Membership {
 public:
  Membership(TypeKind kind, const Value& wanted) : kind_(kind), wanted_(wanted) {}

  bool found(const Value& value) {
    if (wanted_.is_null() || value.is_null()) {
      unknown_ = true;
      return false;
    }
    return compare_values(kind_, wanted_, value) == 0;
  }
  Value not_found() const { return unknown_ ? Value::null() : Value::of_bool(false); }

 private:
  const TypeKind kind_;
  const Value wanted_;
  bool unknown_ = false;
};

bool evaluate_in_array(const Expr& expr, EvaluationContext& context, Value& result) {
  Value wanted;
  if (!evaluate(expr.args[0], context, wanted)) return false;
  const ArrayValue& array = context.arrays[expr.variable.value];
  Membership membership(expr.args[0].type.kind, wanted);
  for (const Value& element : array.elements) {
    if (membership.found(element)) {
      result = Value::of_bool(true);
      return true;
    }
  }
  result = array.null ? Value::null() : membership.not_found();
  return true;
}

bool evaluate_in_list(const Expr& expr, EvaluationContext& context, Value& result) {
  Value wanted;
  if (!evaluate(expr.args[0], context, wanted)) return false;
  Membership membership(expr.args[0].type.kind, wanted);
  bool found = false;
  for (size_t i = 1; i < expr.args.size() && (!found || i <= expr.eager_elements); ++i) {
    Value value;
    if (!evaluate(expr.args[i], context, value)) return false;
    found |= membership.found(value);
  }
  result = found ? Value::of_bool(true) : membership.not_found();
  return true;
}

bool evaluate_array_element(const Expr& expr, EvaluationContext& context, Value& result) {
  if (context.arrays[expr.variable.value].null) {
    result = Value::null();  // whatever the subscript: PostgreSQL doesn't even evaluate it
    return true;
  }
  Value subscript;
  if (!evaluate(expr.args[0], context, subscript)) return false;
  const std::span<const Value> elements = context.arrays[expr.variable.value].elements;
  const bool inside = !subscript.is_null() && subscript.as_int() >= 1 &&
                      subscript.as_int() <= static_cast<int64_t>(elements.size());
  result = inside ? elements[static_cast<size_t>(subscript.as_int() - 1)] : Value::null();
  return true;
}

bool evaluate_coalesce(const Expr& expr, EvaluationContext& context, Value& result) {
  for (const Expr& arg : expr.args) {
    if (!evaluate(arg, context, result)) return false;
    if (!result.is_null()) return true;
  }
  return true;
}

// The greatest or least of those arguments that are not NULL.
bool evaluate_extreme(const Expr& expr, EvaluationContext& context, Value& result) {
  result = Value::null();
  for (const Expr& arg : expr.args) {
    Value value;
    if (!evaluate(arg, context, value)) return false;
    if (value.is_null()) continue;
    if (!result.is_null()) {
      const std::strong_ordering order = compare_of_type(expr.type, value, result);
      if (expr.function == Function::kGreatest ? order <= 0 : order >= 0) continue;
    }
    result = value;
  }
  return true;
}

bool evaluate_nullif(const Expr& expr, EvaluationContext& context, Value& result) {
  Value other;
  if (!evaluate(expr.args[0], context, result) || !evaluate(expr.args[1], context, other)) return false;
  if (result.is_null() || other.is_null()) return true;
  if (compare_of_type(expr.args[0].type, result, other) == 0) result = Value::null();
  return true;
}

// concat() takes arguments of any type, as their output functions print them.
bool evaluate_concat_function(const Expr& expr, EvaluationContext& context, Value& result) {
  const std::span<std::string_view> parts = context.arena.make_array<std::string_view>(expr.args.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    Value value;
    if (!evaluate(expr.args[i], context, value)) return false;
    if (value.is_null()) continue;
    fmt::memory_buffer buffer;
    print_value(expr.args[i].type, value, buffer);
    parts[i] = context.arena.copy({buffer.data(), buffer.size()});
  }
  return concatenate(parts, context.arena, result, context.error);
}

Value array_text(const ArrayValue& array, const Type& element, Arena& arena) {
  if (array.null) return Value::null();
  fmt::memory_buffer text;
  text.push_back('{');
  for (size_t i = 0; i < array.elements.size(); ++i) {
    if (i > 0) text.push_back(',');
    if (array.elements[i].is_null()) {
      text.append(std::string_view("NULL"));
      continue;
    }
    fmt::memory_buffer value;
    print_value(element, array.elements[i], value);
    append_array_element({value.data(), value.size()}, text);
  }
  text.push_back('}');
  return Value::of_text(arena.copy({text.data(), text.size()}));
}

bool evaluate_function(const Expr& expr, EvaluationContext& context, Value& result) {
  switch (expr.function) {
    case Function::kCoalesce:
      return evaluate_coalesce(expr, context, result);
    case Function::kGreatest:
    case Function::kLeast:
      return evaluate_extreme(expr, context, result);
    case Function::kNullIf:
      return evaluate_nullif(expr, context, result);
    case Function::kConcatFunction:
      return evaluate_concat_function(expr, context, result);
    case Function::kArrayText:
      result = array_text(context.arrays[expr.variable.value], expr.args[0].type, context.arena);
      return true;
    case Function::kCardinality: {
      const ArrayValue& array = context.arrays[expr.variable.value];
      result = array.null ? Value::null() : Value::of_int(static_cast<int64_t>(array.elements.size()));
      return true;
    }
    default:
      break;
  }
  CHECK(expr.args.size() <= kMaxArguments);
  std::array<Value, kMaxArguments> values;
  bool null = false;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (!evaluate(expr.args[i], context, values[i])) return false;
    null |= values[i].is_null();
  }
  if (null) {
    result = Value::null();
    return true;
  }
  const std::span<const Value> arguments(values.data(), expr.args.size());
  if (expr.function >= Function::kNextValue && expr.function <= Function::kSetValue) {
    if (context.sequences == nullptr)
      return fail(context.error, context.arena, sqlstate::kNotSupported, "no sequence is drawn from here");
    return context.sequences->apply(expr.function, TableId{static_cast<uint32_t>(arguments[0].as_int())},
                                    arguments.subspan(1), context, result);
  }
  const Type& source = expr.args[0].type;
  if (source.kind == TypeKind::kInterval || expr.function == Function::kMakeInterval)
    return apply_interval_function(expr.function, arguments, context.arena, result, context.error);
  if (source.is_time() || source.kind == TypeKind::kTime)
    return apply_time_function(expr.function, source, arguments, context.arena, result, context.error);
  return source.is_number()
             ? apply_number_function(expr.function, source, expr.type, arguments, context.arena, result,
                                     context.error)
             : apply_text_function(expr.function, arguments, context.arena, result, context.error);
}

}  // namespace

bool evaluate(const Expr& expr, EvaluationContext& context, Value& result) {
  switch (expr.kind) {
    case ExprKind::kConstant:
      result = expr.constant;
      return true;
    case ExprKind::kVariable:
      result = context.variables[expr.variable.value];
      return true;
    case ExprKind::kColumn:
      result = context.rows[expr.source].get(expr.column);
      return true;
    case ExprKind::kAggregate:
      result = context.aggregates[expr.aggregate];
      return true;
    case ExprKind::kBinary:
      if (expr.op == Op::kConcat) return evaluate_concatenation(expr, context, result);
      [[fallthrough]];
    case ExprKind::kUnary:
    case ExprKind::kCast:
      return evaluate_operators(expr, context, result);
    case ExprKind::kCase:
      return evaluate_case(expr, context, result);
    case ExprKind::kFunction:
      return evaluate_function(expr, context, result);
    case ExprKind::kArrayElement:
      return evaluate_array_element(expr, context, result);
    case ExprKind::kInArray:
      return evaluate_in_array(expr, context, result);
    case ExprKind::kInList:
      return evaluate_in_list(expr, context, result);
    case ExprKind::kQuery:
      return context.queries->evaluate(expr, context, result);
  }
  CHECK(false && "a kind of expression");
  return false;
}

}  // namespace mneme
