// The expression emitter's ground: representations, literals, boxes and names in C++.

#include <algorithm>
#include <bit>
#include <cmath>

#include "procedures/ir/ir_walk.h"
#include "procedures/native/emitter_expression.h"
#include "procedures/values/numeric.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;

namespace {

unsigned digits_in(int128 value) {
  unsigned digits = 1;
  while (digits < kMaxNumericPrecision && !has_digits(value, digits)) ++digits;
  return digits;
}

unsigned digits_of_kind(const Type& type) {
  switch (type.kind) {
    case TypeKind::kSmallInt:
      return 5;
    case TypeKind::kInt:
      return 10;
    case TypeKind::kBigInt:
      return 19;
    default:
      return type.precision == 0 ? kMaxNumericPrecision : type.precision;
  }
}

unsigned most_digits(const std::vector<Expr>& args, size_t first, size_t step) {
  unsigned digits = 1;
  for (size_t i = first; i < args.size(); i += step) digits = std::max(digits, digits_of(args[i]));
  return digits;
}

unsigned digits_of_cast(const Expr& expr) {
  if (expr.type.precision != 0) return expr.type.precision;
  const Expr& from = expr.args[0];
  if (!from.type.is_exact()) return kMaxNumericPrecision;
  const unsigned digits = digits_of(from);
  const unsigned scale = from.type.kind == TypeKind::kNumeric ? from.type.scale : 0;
  if (expr.type.scale >= scale)
    return std::min<unsigned>(digits + expr.type.scale - scale, kMaxNumericPrecision);
  const unsigned dropped = scale - expr.type.scale;
  // Rounding up may carry into a new digit.
  return digits <= dropped ? 1 : std::min<unsigned>(digits - dropped + 1, kMaxNumericPrecision);
}

unsigned digits_of_case(const Expr& expr) {
  unsigned digits = digits_of(expr.args.back());
  for (size_t i = 1; i < expr.args.size(); i += 2) digits = std::max(digits, digits_of(expr.args[i]));
  return digits;
}

unsigned digits_of_binary(const Expr& expr) {
  const unsigned a = digits_of(expr.args[0]);
  const unsigned b = digits_of(expr.args[1]);
  switch (expr.op) {
    case Op::kAdd:
    case Op::kSubtract:
      return std::min<unsigned>(std::max(a, b) + 1, kMaxNumericPrecision);
    case Op::kMultiply:
      return std::min<unsigned>(a + b, kMaxNumericPrecision);
    case Op::kModulo:
      return std::min(a, b);
    default:
      return kMaxNumericPrecision;
  }
}

unsigned digits_of_function(const Expr& expr) {
  switch (expr.function) {
    case Function::kCoalesce:
    case Function::kGreatest:
    case Function::kLeast:
      return most_digits(expr.args, 0, 1);
    case Function::kNullIf:
    case Function::kAbs:
      return digits_of(expr.args[0]);
    default:
      return kMaxNumericPrecision;
  }
}

}  // namespace

unsigned digits_of(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kConstant:
      if (expr.constant.is_null()) return 1;
      return digits_in(expr.type.kind == TypeKind::kNumeric ? expr.constant.as_numeric()
                                                            : int128{expr.constant.as_int()});
    case ExprKind::kUnary:
      return expr.op == Op::kNegate && expr.type.kind == TypeKind::kNumeric ? digits_of(expr.args[0])
                                                                            : digits_of_kind(expr.type);
    case ExprKind::kBinary:
      return expr.type.kind == TypeKind::kNumeric ? digits_of_binary(expr) : digits_of_kind(expr.type);
    case ExprKind::kCase:
      return digits_of_case(expr);
    case ExprKind::kFunction:
      return expr.type.kind == TypeKind::kNumeric ? digits_of_function(expr) : digits_of_kind(expr.type);
    case ExprKind::kCast:
      return expr.type.kind == TypeKind::kNumeric ? digits_of_cast(expr) : digits_of_kind(expr.type);
    case ExprKind::kAggregate:
      return kMaxNumericPrecision;
    default:
      return digits_of_kind(expr.type);
  }
}

Rep rep_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return Rep::kBool;
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kEnum:
      return Rep::kInt;
    case TypeKind::kNumeric:
      return digits_of_kind(type) <= kNarrowNumericPrecision ? Rep::kInt : Rep::kWide;
    case TypeKind::kReal:
    case TypeKind::kDouble:
      return Rep::kDouble;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return Rep::kText;
    // The interpreter alone runs what computes with these (emitter.cc).
    case TypeKind::kInterval:
    case TypeKind::kDecimal:
    case TypeKind::kNull:
      break;
  }
  return Rep::kNone;
}

Rep rep_of(const Expr& expr) {
  if (expr.type.kind != TypeKind::kNumeric) return rep_of(expr.type);
  return digits_of(expr) <= kNarrowNumericPrecision ? Rep::kInt : Rep::kWide;
}

const char* type_of(Rep rep) {
  switch (rep) {
    case Rep::kNone:
    case Rep::kInt:
      return "int64_t";
    case Rep::kBool:
      return "bool";
    case Rep::kWide:
      return "int128";
    case Rep::kDouble:
      return "double";
    case Rep::kText:
      return "std::string_view";
  }
  return "";
}

std::string unboxed(Rep rep, std::string_view value) {
  switch (rep) {
    case Rep::kNone:
    case Rep::kInt:
      return fmt::format("int_of({})", value);
    case Rep::kBool:
      return fmt::format("bool_of({})", value);
    case Rep::kWide:
      return fmt::format("wide_of({})", value);
    case Rep::kDouble:
      return fmt::format("double_of({})", value);
    case Rep::kText:
      return fmt::format("text_of({})", value);
  }
  return "";
}

std::string boxed(const Operand& operand, const Type& type) {
  if (operand.is_null()) return "Value::null()";
  const char* kind = type.kind == TypeKind::kBoolean   ? "bool"
                     : type.kind == TypeKind::kNumeric ? "numeric"
                     : type.is_floating()              ? "double"
                     : type.is_string()                ? "text"
                                                       : "int";
  if (!operand.is_nullable()) return fmt::format("Value::of_{}({})", kind, operand.value);
  return fmt::format("boxed_{}({}, {})", kind, operand.value, operand.null);
}

Operand converted(const Operand& operand, Rep rep) {
  if (operand.rep == rep) return operand;
  if (operand.rep == Rep::kNone || operand.is_null())
    return {fmt::format("{}{{}}", type_of(rep)), "true", rep};
  if (operand.rep == Rep::kInt && rep == Rep::kWide) {
    return {fmt::format("int128{{{}}}", operand.value), operand.null, rep};
  }
  CHECK(operand.rep == Rep::kWide && rep == Rep::kInt);
  return {fmt::format("static_cast<int64_t>({})", operand.value), operand.null, rep};
}

std::string literal_of(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      literal += '\\';
      literal += c;
    } else if (c < ' ' || c > '~' || c == '?') {
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      literal += c;
    }
  }
  return literal + "\"sv";
}

std::string identifier_of(std::string_view name) {
  std::string identifier;
  for (const char c : name) {
    // No two underscores in a row: C++ keeps such names to itself.
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                          (c == '_' && !identifier.empty() && identifier.back() != '_');
    is_plain ? identifier += c : identifier += fmt::format("Q{:02x}", static_cast<uint8_t>(c));
  }
  return identifier;
}

std::string null_of_any(const std::string& a, const std::string& b) {
  if (a == "true" || b == "true") return "true";
  if (a == "false" || a == b) return b;
  if (b == "false") return a;
  return fmt::format("({} || {})", a, b);
}

std::string column_name(const TableDefinition& table, ColumnId column) {
  return fmt::format("t_{}::c_{}", identifier_of(table.name), identifier_of(table.column(column).name));
}

const char* kind_literal(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return "TypeKind::kBoolean";
    case TypeKind::kSmallInt:
      return "TypeKind::kSmallInt";
    case TypeKind::kInt:
      return "TypeKind::kInt";
    case TypeKind::kBigInt:
      return "TypeKind::kBigInt";
    case TypeKind::kReal:
      return "TypeKind::kReal";
    case TypeKind::kDate:
      return "TypeKind::kDate";
    case TypeKind::kDouble:
      return "TypeKind::kDouble";
    case TypeKind::kChar:
      return "TypeKind::kChar";
    case TypeKind::kVarchar:
      return "TypeKind::kVarchar";
    case TypeKind::kTimestamp:
      return "TypeKind::kTimestamp";
    case TypeKind::kTime:
      return "TypeKind::kTime";
    case TypeKind::kNumeric:
      return "TypeKind::kNumeric";
    case TypeKind::kInterval:
    case TypeKind::kDecimal:
    case TypeKind::kEnum:
    case TypeKind::kNull:
      break;
  }
  return "TypeKind::kNull";
}

std::string type_literal(const Type& type) {
  if (type.kind == TypeKind::kNumeric) return fmt::format("numeric_of({}, {})", type.precision, type.scale);
  if (type.is_string()) {
    return fmt::format("string_of({}, {}{})", kind_literal(type), type.length, type.is_text ? ", true" : "");
  }
  if (type.kind == TypeKind::kTimestamp)
    return fmt::format("timestamp_of({}, {})", type.precision, type.is_zoned);
  if (type.kind == TypeKind::kTime) return fmt::format("time_of({})", type.precision);
  return fmt::format("plain_type({})", kind_literal(type));
}

bool reads_row_text(const Expr& expr) {
  if (!expr.type.is_string()) return false;
  bool reads = false;
  ir::walk(expr, [&](const Expr& e) {
    reads |= (e.kind == ExprKind::kColumn || e.kind == ExprKind::kAggregate) && e.type.is_string();
  });
  return reads;
}

UnitScope::UnitScope(const Schema& s, const NativeUnit& unit)
    : schema(s), procedure(*unit.procedure), marks(unit.body.marks), used(procedure.variables.size()) {
  for (size_t i = 0; i < procedure.variables.size(); ++i) {
    std::string name = identifier_of(procedure.variables[i].name);
    // No other names begin like v_count.
    if (name.size() < 3 || name[1] != '_') name = "v_" + name;
    if (std::ranges::find(variables, name) != variables.end()) name += fmt::format("_{}", i);
    variables.push_back(std::move(name));
  }
}

}  // namespace mneme
