#include "procedures/ir/expression_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;

namespace {

std::string_view op_text(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSubtract:
      return "-";
    case Op::kMultiply:
      return "*";
    case Op::kDivide:
      return "/";
    case Op::kModulo:
      return "%";
    case Op::kEqual:
      return "=";
    case Op::kNotEqual:
      return "<>";
    case Op::kLess:
      return "<";
    case Op::kLessEqual:
      return "<=";
    case Op::kGreater:
      return ">";
    case Op::kGreaterEqual:
      return ">=";
    case Op::kIsDistinct:
      return "is distinct from";
    case Op::kIsNotDistinct:
      return "is not distinct from";
    case Op::kAnd:
      return "and";
    case Op::kOr:
      return "or";
    case Op::kConcat:
      return "||";
    case Op::kIsNull:
      return "is null";
    case Op::kIsNotNull:
      return "is not null";
    case Op::kIsTrue:
      return "is true";
    case Op::kIsNotTrue:
      return "is not true";
    case Op::kIsFalse:
      return "is false";
    case Op::kIsNotFalse:
      return "is not false";
    case Op::kNegate:
      return "-";
    case Op::kNot:
      return "not";
    case Op::kNone:
      break;
  }
  CHECK(false && "no such operator");
  return "";
}

std::string_view function_text(Function function) {
  switch (function) {
    case Function::kCoalesce:
      return "coalesce";
    case Function::kNullIf:
      return "nullif";
    case Function::kGreatest:
      return "greatest";
    case Function::kLeast:
      return "least";
    case Function::kAbs:
      return "abs";
    case Function::kSign:
      return "sign";
    case Function::kFloor:
      return "floor";
    case Function::kCeil:
      return "ceil";
    case Function::kRound:
      return "round";
    case Function::kTrunc:
      return "trunc";
    case Function::kMod:
      return "mod";
    case Function::kSqrt:
      return "sqrt";
    case Function::kPower:
      return "power";
    case Function::kLength:
      return "length";
    case Function::kLower:
      return "lower";
    case Function::kUpper:
      return "upper";
    case Function::kSubstring:
      return "substring";
    case Function::kLeft:
      return "left";
    case Function::kRight:
      return "right";
    case Function::kTrim:
      return "btrim";
    case Function::kLtrim:
      return "ltrim";
    case Function::kRtrim:
      return "rtrim";
    case Function::kLpad:
      return "lpad";
    case Function::kRpad:
      return "rpad";
    case Function::kReplace:
      return "replace";
    case Function::kPosition:
      return "strpos";
    case Function::kRepeat:
      return "repeat";
    case Function::kReverse:
      return "reverse";
    case Function::kInitcap:
      return "initcap";
    case Function::kSplitPart:
      return "split_part";
    case Function::kTranslate:
      return "translate";
    case Function::kStartsWith:
      return "starts_with";
    case Function::kAscii:
      return "ascii";
    case Function::kChr:
      return "chr";
    case Function::kToHex:
      return "to_hex";
    case Function::kExp:
      return "exp";
    case Function::kLn:
      return "ln";
    case Function::kLog:
      return "log";
    case Function::kOctetLength:
      return "octet_length";
    case Function::kBitLength:
      return "bit_length";
    case Function::kExtract:
      return "extract";
    case Function::kTruncateTime:
      return "date_trunc";
    case Function::kAddInterval:
      return "add_interval";
    case Function::kMoveTime:
      return "move_time";
    case Function::kTimeDifference:
      return "time_difference";
    case Function::kAge:
      return "age";
    case Function::kMultiplyInterval:
      return "multiply_interval";
    case Function::kDivideInterval:
      return "divide_interval";
    case Function::kJustifyDays:
      return "justify_days";
    case Function::kJustifyHours:
      return "justify_hours";
    case Function::kJustifyInterval:
      return "justify_interval";
    case Function::kMakeInterval:
      return "make_interval";
    case Function::kMatches:
      return "matches";
    case Function::kLike:
      return "like";
    case Function::kRandomUuid:
      return "gen_random_uuid";
    case Function::kNextValue:
      return "nextval";
    case Function::kCurrentValue:
      return "currval";
    case Function::kLastValue:
      return "lastval";
    case Function::kSetValue:
      return "setval";
    case Function::kConcatFunction:
      return "concat";
    case Function::kCardinality:
      return "cardinality";
    case Function::kArrayText:
      return "array";
    case Function::kNone:
      break;
  }
  CHECK(false && "no such function");
  return "";
}

std::string print_numeric(int128 value, uint32_t scale) {
  const bool negative = value < 0;
  std::string digits;
  for (int128 rest = negative ? -value : value; rest != 0 || digits.size() <= scale; rest /= 10) {
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  if (scale > 0) digits.insert(scale, 1, '.');
  if (negative) digits.push_back('-');
  std::ranges::reverse(digits);
  return digits;
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

// A computed numeric's scale shows too.
std::string type_text(const Type& type) {
  const bool computed = type.kind == TypeKind::kNumeric && type.precision == 0;
  return computed ? fmt::format("numeric(*,{})", type.scale) : to_string(type);
}

}  // namespace

std::string ExpressionPrinter::variable(VariableId id) const {
  const std::string& name = procedure_.variables[id.value].name;
  return std::ranges::count(procedure_.variables, name, &ir::Variable::name) > 1
             ? fmt::format("{}#{}", name, id.value)
             : name;
}

std::string ExpressionPrinter::constant(const Expr& expr) const {
  if (expr.constant.is_null()) return fmt::format("null::{}", type_text(expr.type));
  switch (expr.type.kind) {
    case TypeKind::kBoolean:
      return expr.constant.as_bool() ? "true" : "false";
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
      return fmt::format("{}", expr.constant.as_int());
    case TypeKind::kBigInt:
      return fmt::format("{}::bigint", expr.constant.as_int());
    case TypeKind::kNumeric:
      return print_numeric(expr.constant.as_numeric(), expr.type.scale);
    case TypeKind::kDouble:
      return fmt::format("{}::double precision", expr.constant.as_double());
    case TypeKind::kReal:
      return fmt::format("{}::real", static_cast<float>(expr.constant.as_double()));
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return quoted(expr.constant.as_text());
    case TypeKind::kTimestamp:
      return fmt::format("{}::timestamp{}", expr.constant.as_int(), expr.type.is_zoned ? "tz" : "");
    case TypeKind::kTime:
      return fmt::format("{}::time", expr.constant.as_int());
    case TypeKind::kEnum:
      return fmt::format("{}::{}", expr.constant.as_int(), to_string(expr.type));
    case TypeKind::kDate:
      return fmt::format("{}::date", expr.constant.as_int());
    case TypeKind::kInterval: {
      // Months, days and microseconds, as they are packed.
      const int128 parts = expr.constant.as_interval();
      return fmt::format("({}, {}, {})::interval", static_cast<int32_t>(parts >> 96),
                         static_cast<int32_t>(parts >> 64), static_cast<int64_t>(parts));
    }
    case TypeKind::kDecimal:
      return print_numeric(expr.constant.as_numeric(), expr.constant.digits()) + "::numeric";
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a bound constant has a type");
  return "";
}

std::string ExpressionPrinter::column(const Expr& expr) const {
  CHECK(operation_ != nullptr);
  const TableDefinition& table = catalog_.table(operation_->access[expr.source].table);
  const std::string& name = table.column(expr.column).name;
  return operation_->access.size() > 1 ? fmt::format("{}.{}", expr.source == 0 ? "outer" : "inner", name)
                                       : name;
}

std::string ExpressionPrinter::aggregate(const Expr& expr) const {
  CHECK(operation_ != nullptr);
  const ir::Aggregate& aggregate = operation_->aggregates[expr.aggregate];
  if (aggregate.kind == ir::Aggregate::Kind::kCountRows) return "count(*)";
  const std::string_view name = aggregate.kind == ir::Aggregate::Kind::kCount ? "count"
                                : aggregate.kind == ir::Aggregate::Kind::kSum ? "sum"
                                : aggregate.kind == ir::Aggregate::Kind::kMin ? "min"
                                                                              : "max";
  return fmt::format("{}({}{})", name, aggregate.distinct ? "distinct " : "", (*this)(*aggregate.argument));
}

std::string ExpressionPrinter::unary(const Expr& expr) const {
  const std::string arg = (*this)(expr.args[0]);
  switch (expr.op) {
    case Op::kNegate:
      return fmt::format("-{}", arg);
    case Op::kNot:
      return fmt::format("not {}", arg);
    default:
      return fmt::format("({} {})", arg, op_text(expr.op));
  }
}

// A chain of AND or OR is printed as if it were a tree to the left, whatever its shape is.
std::string ExpressionPrinter::binary(const Expr& expr) const {
  const bool is_logic = expr.op == Op::kAnd || expr.op == Op::kOr;
  std::string text;
  size_t operators = 0;
  const auto add = [&](const auto& self, const Expr& node) -> void {
    for (size_t i = 0; i < node.args.size(); ++i) {
      const Expr& arg = node.args[i];
      if (is_logic && arg.joined && arg.kind == ExprKind::kBinary && arg.op == expr.op) {
        self(self, arg);
      } else if (text.empty()) {
        text = (*this)(arg);
      } else {
        text += fmt::format(" {} {})", op_text(expr.op), (*this)(arg));
        ++operators;
      }
    }
  };
  add(add, expr);
  return std::string(operators, '(') + text;
}

std::string ExpressionPrinter::cases(const Expr& expr) const {
  std::string text = "case";
  for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
    text += fmt::format(" when {} then {}", (*this)(expr.args[i]), (*this)(expr.args[i + 1]));
  }
  return text + fmt::format(" else {} end", (*this)(expr.args.back()));
}

std::string ExpressionPrinter::list(const std::vector<Expr>& exprs, size_t first) const {
  std::string text;
  for (size_t i = first; i < exprs.size(); ++i) text += (i == first ? "" : ", ") + (*this)(exprs[i]);
  return text;
}

std::string ExpressionPrinter::operator()(const Expr& expr) const {
  switch (expr.kind) {
    case ExprKind::kConstant:
      return constant(expr);
    case ExprKind::kVariable:
      return variable(expr.variable);
    case ExprKind::kColumn:
      return column(expr);
    case ExprKind::kAggregate:
      return aggregate(expr);
    case ExprKind::kUnary:
      return unary(expr);
    case ExprKind::kBinary:
      return binary(expr);
    case ExprKind::kCase:
      return cases(expr);
    case ExprKind::kFunction:
      if (expr.function == Function::kCardinality || expr.function == Function::kArrayText)
        return fmt::format("{}({})", function_text(expr.function), variable(expr.variable));
      return fmt::format("{}({})", function_text(expr.function), list(expr.args, 0));
    case ExprKind::kCast:
      return fmt::format("{}{}({})", expr.explicit_cast ? "cut " : "", type_text(expr.type),
                         (*this)(expr.args[0]));
    case ExprKind::kArrayElement:
      return fmt::format("{}[{}]", variable(expr.variable), (*this)(expr.args[0]));
    case ExprKind::kInArray:
      return fmt::format("({} = any {})", (*this)(expr.args[0]), variable(expr.variable));
    case ExprKind::kInList:
      return fmt::format("({} in ({}))", (*this)(expr.args[0]), list(expr.args, 1));
    case ExprKind::kQuery:
      return fmt::format("query {}({})", expr.query, list(expr.args, 0));
  }
  CHECK(false && "no such expression");
  return "";
}

}  // namespace mneme
