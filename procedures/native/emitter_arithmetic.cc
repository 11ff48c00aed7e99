// The expression emitter's arithmetic and casts: inline where the statically known digits leave little to
// check, else by the interpreter's functions.

#include <algorithm>

#include "procedures/native/emitter_expression.h"
#include "procedures/values/cast.h"
#include "procedures/values/numeric.h"

namespace mneme {

using ir::Expr;
using ir::Op;

namespace {

const char* name_of(Op op) {
  switch (op) {
    case Op::kAdd:
      return "add";
    case Op::kSubtract:
      return "subtract";
    case Op::kMultiply:
      return "multiply";
    default:
      return "divide";
  }
}

const char* sign_of(Op op) {
  return op == Op::kAdd        ? "+"
         : op == Op::kSubtract ? "-"
         : op == Op::kMultiply ? "*"
         : op == Op::kDivide   ? "/"
                               : "%";
}

const char* op_enumerator(Op op) {
  switch (op) {
    case Op::kAdd:
      return "kAdd";
    case Op::kSubtract:
      return "kSubtract";
    case Op::kMultiply:
      return "kMultiply";
    case Op::kDivide:
      return "kDivide";
    default:
      return "kModulo";
  }
}

const char* too_long_literal(const Expr& cast) {
  switch (too_long_of(cast)) {
    case TooLong::kCut:
      return "TooLong::kCut";
    case TooLong::kCutBlanks:
      return "TooLong::kCutBlanks";
    case TooLong::kRefuse:
      break;
  }
  return "TooLong::kRefuse";
}

unsigned bytes_of_kind(const Type& type) {
  return type.kind == TypeKind::kSmallInt ? 2 : type.kind == TypeKind::kInt ? 4 : 8;
}

// Returns the check, made only where no operand is NULL.
std::string unless_null(const std::string& null, const std::string& check) {
  return null == "false" ? check : fmt::format("!{} && {}", null, check);
}

// A constant divisor that needs no check, neither 0 nor -1.
bool is_plain_divisor(const Expr& expr) {
  return expr.kind == ir::ExprKind::kConstant && !expr.constant.is_null() && expr.constant.as_int() > 0;
}

}  // namespace

std::string ExpressionEmitter::raise_out_of_range(const Type& type) const {
  return fmt::format("raise_out_of_range(run, {}, {})", scope_.where, kind_literal(type));
}

Operand ExpressionEmitter::emit_arithmetic(const Expr& expr, Op op, const Operand& a, const Operand& b) {
  if (expr.type.is_integer()) return emit_integer_arithmetic(expr, op, a, b);
  if (expr.type.kind == TypeKind::kNumeric) return emit_numeric_arithmetic(expr, op, a, b);
  const std::string null = null_of_any(a.null, b.null);
  const std::string name = text_.new_name("x");
  text_.line("double {} = 0;", name);
  text_.fail_if(
      unless_null(null, fmt::format("!double_arithmetic<{}>(run, ir::Op::{}, {}, {}, {})",
                                    kind_literal(expr.type), op_enumerator(op), a.value, b.value, name)),
      raise());
  return {name, null, Rep::kDouble};
}

Operand ExpressionEmitter::emit_integer_arithmetic(const Expr& expr, Op op, const Operand& a,
                                                   const Operand& b) {
  const std::string null = null_of_any(a.null, b.null);
  if (op == Op::kDivide || op == Op::kModulo) {
    if (is_plain_divisor(expr.args.back())) {
      return {fmt::format("({} {} {})", a.value, sign_of(op), b.value), null, Rep::kInt};
    }
    const Operand divisor = keep(b);
    text_.fail_if(
        unless_null(null, fmt::format("{} == 0", divisor.value)),
        fmt::format("raise_text(run, {}, sqlstate::kDivisionByZero, \"division by zero\")", scope_.where));
    const std::string name = text_.new_name("x");
    text_.line("int64_t {} = 0;", name);
    if (op == Op::kModulo) {
      text_.line("if ({} != 0) {} = remainder({}, {});", divisor.value, name, a.value, divisor.value);
    } else {
      // The value that lies under NULL may be zero, too.
      text_.fail_if(unless_null(null, fmt::format("!divide<{}>({}, {}, {})", kind_literal(expr.type), a.value,
                                                  divisor.value, name)),
                    raise_out_of_range(expr.type));
    }
    return {name, null, Rep::kInt};
  }
  const std::string name = text_.new_name("x");
  text_.line("int64_t {} = 0;", name);
  text_.fail_if(unless_null(null, fmt::format("!{}<{}>({}, {}, {})", name_of(op), kind_literal(expr.type),
                                              a.value, b.value, name)),
                raise_out_of_range(expr.type));
  return {name, null, Rep::kInt};
}

Operand ExpressionEmitter::emit_numeric_arithmetic(const Expr& expr, Op op, const Operand& a,
                                                   const Operand& b) {
  const std::string null = null_of_any(a.null, b.null);
  const Rep rep = rep_of(expr);
  if (op == Op::kModulo) {
    const Operand divisor = keep(b);
    text_.fail_if(
        unless_null(null, fmt::format("{} == 0", divisor.value)),
        fmt::format("raise_text(run, {}, sqlstate::kDivisionByZero, \"division by zero\")", scope_.where));
    const std::string name = text_.new_name("x");
    text_.line("const {} {} = {} == 0 ? 0 : static_cast<{}>({} % {});", type_of(rep), name, divisor.value,
               type_of(rep), a.value, divisor.value);
    return {name, null, rep};
  }
  const unsigned digits_a = digits_of(expr.args[0]);
  const unsigned digits_b = digits_of(expr.args[1]);
  const unsigned digits = op == Op::kMultiply ? digits_a + digits_b : std::max(digits_a, digits_b) + 1;
  if (digits <= kMaxNumericPrecision) {
    return {fmt::format("({} {} {})", converted(a, rep).value, sign_of(op), converted(b, rep).value), null,
            rep};
  }
  const std::string name = text_.new_name("x");
  text_.line("int128 {} = 0;", name);
  text_.fail_if(unless_null(null, fmt::format("!{}_wide({}, {}, {})", name_of(op), a.value, b.value, name)),
                raise_out_of_range(expr.type));
  return {name, null, Rep::kWide};
}

Operand ExpressionEmitter::emit_cast(const Expr& expr) {
  const Expr& arg = expr.args[0];
  const Type& from = arg.type;
  const Type& to = expr.type;
  const Operand a = emit(arg);
  if (a.is_null()) return converted(a.rep == Rep::kNone ? a : Operand{"", "true", Rep::kNone}, rep_of(expr));
  if (to.is_string()) return emit_cast_to_string(expr, a);
  if (from.is_string()) return emit_called_cast(expr, a);
  if (to.is_integer()) return from.is_floating() ? emit_called_cast(expr, a) : emit_cast_to_integer(expr, a);
  if (to.kind == TypeKind::kNumeric) {
    return from.is_floating() ? emit_called_cast(expr, a) : emit_cast_to_numeric(expr, a);
  }
  if (to.kind == TypeKind::kDouble) {
    if (from.is_floating()) return a;
    if (from.is_integer()) return {fmt::format("static_cast<double>({})", a.value), a.null, Rep::kDouble};
  }
  if (to.kind == TypeKind::kBoolean && a.rep == Rep::kInt) {
    return {fmt::format("({} != 0)", a.value), a.null, Rep::kBool};
  }
  const bool is_rounded =
      (to.kind == TypeKind::kTimestamp || to.kind == TypeKind::kTime) && to.precision != 0;
  if (to.kind == from.kind && to.kind != TypeKind::kNumeric && !is_rounded) return a;
  return emit_called_cast(expr, a);
}

Operand ExpressionEmitter::emit_cast_to_integer(const Expr& expr, const Operand& a) {
  const Type& from = expr.args[0].type;
  const unsigned bytes = bytes_of_kind(expr.type);
  if (from.kind == TypeKind::kBoolean) return {fmt::format("int64_t{{{}}}", a.value), a.null, Rep::kInt};
  if (from.is_integer()) {
    if (bytes_of_kind(from) <= bytes) return a;
    const Operand number = keep(a);
    text_.fail_if(unless_null(a.null, fmt::format("!fits<{}>({})", bytes, number.value)),
                  raise_out_of_range(expr.type));
    return number;
  }
  Operand number = a;
  if (from.scale > 0) number.value = fmt::format("round_away<{}>({})", from.scale, a.value);
  number.rep = from.scale > 0 ? Rep::kWide : a.rep;
  number = keep(number);
  text_.fail_if(unless_null(number.null, fmt::format("!fits<{}>({})", bytes, number.value)),
                raise_out_of_range(expr.type));
  return converted(number, Rep::kInt);
}

Operand ExpressionEmitter::emit_cast_to_numeric(const Expr& expr, const Operand& a) {
  const Expr& arg = expr.args[0];
  const Type& to = expr.type;
  const unsigned from_scale = arg.type.kind == TypeKind::kNumeric ? arg.type.scale : 0;
  const unsigned digits = digits_of(arg);
  const Rep rep = rep_of(expr);
  const std::string overflow =
      fmt::format("raise_text(run, {}, sqlstate::kOutOfRange, \"numeric field overflow\")", scope_.where);

  Operand number = a;
  unsigned most = digits;
  if (to.scale > from_scale) {
    const unsigned up = to.scale - from_scale;
    most = digits + up;
    if (most <= kNarrowNumericPrecision) {
      number.value = fmt::format("({} * kNarrowPowerOfTen<{}>)", converted(a, Rep::kInt).value, up);
      number.rep = Rep::kInt;
    } else if (most <= kMaxNumericPrecision) {
      number.value = fmt::format("({} * power_of_ten({}))", a.value, up);
      number.rep = Rep::kWide;
    } else {
      const std::string name = text_.new_name("x");
      text_.line("int128 {} = 0;", name);
      text_.fail_if(
          unless_null(a.null, fmt::format("!rescale({}, {}, {}, {})", a.value, from_scale, to.scale, name)),
          overflow);
      number = {name, a.null, Rep::kWide};
      most = kMaxNumericPrecision;
    }
  } else if (to.scale < from_scale) {
    const unsigned dropped = from_scale - to.scale;
    number = {fmt::format("round_away<{}>({})", dropped, a.value), a.null, Rep::kWide};
    most = digits <= dropped ? 1 : digits - dropped + 1;
  }
  if (to.precision != 0 && most > to.precision) {
    number = keep(number);
    text_.fail_if(unless_null(number.null, fmt::format("!has_digits({}, {})", number.value, to.precision)),
                  overflow);
  }
  return converted(number, rep);
}

Operand ExpressionEmitter::emit_cast_to_string(const Expr& expr, const Operand& a) {
  const Type& from = expr.args[0].type;
  const Type& to = expr.type;
  if (!from.is_string()) return emit_called_cast(expr, a);
  // Trailing blanks of a varchar are no part of a char.
  const bool same_blanks = to.kind == TypeKind::kVarchar || from.kind == TypeKind::kChar;
  const bool same_length = to.length == 0 || (from.length != 0 && from.length <= to.length);
  return same_blanks && same_length ? a : emit_called_cast(expr, a);
}

Operand ExpressionEmitter::emit_called_cast(const Expr& expr, const Operand& a) {
  const Type& from = expr.args[0].type;
  const Type& to = expr.type;
  const std::string result = text_.new_name("x");
  if (from.is_string() && to.is_string()) {
    return emit_call(expr, a.null, result,
                     fmt::format("fit_string({}, {}, {}, *run.arena, {}, *run.error)", type_literal(to),
                                 too_long_literal(expr), a.value, result));
  }
  Operand value = a;
  value.null = "false";
  return emit_call(expr, a.null, result,
                   fmt::format("cast_value({}, {}, {}, {}, *run.arena, {}, *run.error)", type_literal(from),
                               type_literal(to), too_long_literal(expr), boxed(value, from), result));
}

}  // namespace mneme
