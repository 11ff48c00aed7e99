#include "procedures/binder/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/memory/arena.h"
#include "base/utf8.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/values/decimal.h"
#include "procedures/values/type_oids.h"
#include "procedures/values/value_text.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;

namespace {

constexpr Type kDoubleType{.kind = TypeKind::kDouble};
constexpr Type kTimestampType{.kind = TypeKind::kTimestamp};

int number_rank(const Type& type) {
  switch (type.kind) {
    case TypeKind::kSmallInt:
      return 1;
    case TypeKind::kInt:
      return 2;
    case TypeKind::kBigInt:
      return 3;
    case TypeKind::kNumeric:
    case TypeKind::kDecimal:
      return 4;
    case TypeKind::kReal:
      return 5;
    case TypeKind::kDouble:
      return 6;
    default:
      return 0;
  }
}

constexpr int128 power_of_ten(uint32_t exponent) {
  int128 power = 1;
  for (uint32_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// A constant that takes another type without being changed needs no cast at run time. Anything else, rounding
// and errors included, is left to the cast.
bool fold(Expr& expr, const Type& target) {
  if (expr.kind != ExprKind::kConstant) return false;
  if (expr.constant.is_null()) {
    expr.type = target;
    return true;
  }
  if (expr.type.is_string() && target.is_string()) {
    std::string_view text = expr.constant.as_text();
    if (target.kind == TypeKind::kChar) text = text.substr(0, text.find_last_not_of(' ') + 1);
    if (target.length != 0 && count_characters(text) > target.length) return false;
    expr.constant = Value::of_text(text);
    expr.type = target;
    return true;
  }
  if (expr.type.kind == TypeKind::kNumeric && target.kind == TypeKind::kNumeric && target.precision == 0 &&
      target.scale >= expr.type.scale) {
    const int128 limit = power_of_ten(kMaxNumericPrecision - (target.scale - expr.type.scale));
    const int128 value = expr.constant.as_numeric();
    if (value >= limit || value <= -limit) return false;
    expr.constant = Value::of_numeric(value * power_of_ten(target.scale - expr.type.scale));
    expr.type = target;
    return true;
  }
  if (!expr.type.is_integer()) return false;
  const int64_t value = expr.constant.as_int();
  switch (target.kind) {
    case TypeKind::kSmallInt:
      if (value != static_cast<int16_t>(value)) return false;
      break;
    case TypeKind::kInt:
      if (value != static_cast<int32_t>(value)) return false;
      break;
    case TypeKind::kBigInt:
      break;
    case TypeKind::kNumeric: {
      const uint32_t whole_digits =
          (target.precision == 0 ? kMaxNumericPrecision : target.precision) - target.scale;
      if (whole_digits < 19 && (value < 0 || value >= power_of_ten(whole_digits))) return false;
      expr.constant = Value::of_numeric(value * power_of_ten(target.scale));
      break;
    }
    default:
      return false;
  }
  expr.type = target;
  return true;
}

Type unbounded(Type type) {
  type.precision = 0;
  type.length = 0;
  return type;
}

Expr make_cast(Expr expr, const Type& target, bool is_explicit) {
  Expr cast;
  cast.kind = ExprKind::kCast;
  cast.type = target;
  cast.where = expr.where;
  cast.explicit_cast = is_explicit;
  cast.args.push_back(std::move(expr));
  return cast;
}

bool is_decimal(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == text.npos ? "" : text.substr(point + 1);
  const auto digits = [](std::string_view part) {
    return std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  };
  return !(whole.empty() && fraction.empty()) && digits(whole) && digits(fraction);
}

// Returns the digits after the point: two for the literal '1.50'.
uint32_t written_digits(std::string_view text) {
  const size_t point = text.find('.');
  return point == text.npos ? 0 : static_cast<uint32_t>(text.size() - point - 1);
}

// An unknown literal becomes a value of the type.
Expr resolve(Expr expr, const Type& target) {
  if (target.kind == TypeKind::kNull) return resolve_as_text(std::move(expr));
  if (expr.constant.is_null()) {
    expr.type = target;
    return expr;
  }
  Type wanted = target;
  if (target.kind == TypeKind::kNumeric && target.precision == 0) {
    const std::string_view text = expr.constant.as_text();
    if (!is_decimal(text)) refuse(expr.where, "'{}' is not a number", text);
    wanted = numeric_type(written_digits(text));
    wanted.scale = std::max(wanted.scale, target.scale);
  }
  if (wanted.is_string()) {
    expr.type = text_type();
    return convert(std::move(expr), wanted);
  }
  Arena arena;
  SqlError error;
  const std::string_view text = expr.constant.as_text();
  const bool is_read = parse_value(wanted, text, arena, expr.constant, error);
  if (!is_read && wanted.kind == TypeKind::kDecimal && error.sqlstate == sqlstate::kOutOfRange) {
    refuse_as(sqlstate::kNotSupported, expr.where, "the number '{}' has more than {} digits", text,
              kMaxNumericPrecision);
  }
  if (!is_read) throw SourceError{expr.where, std::string(error.message), error.sqlstate};
  expr.type = wanted;
  return expr;
}

bool is_string_like(const Expr& expr) {
  return expr.type.is_string() || is_unknown(expr);
}

std::string_view symbol_of(ir::Op op) {
  switch (op) {
    case ir::Op::kAdd:
      return "+";
    case ir::Op::kSubtract:
      return "-";
    case ir::Op::kMultiply:
      return "*";
    case ir::Op::kDivide:
      return "/";
    case ir::Op::kModulo:
      return "%";
    case ir::Op::kNotEqual:
      return "<>";
    case ir::Op::kLess:
      return "<";
    case ir::Op::kLessEqual:
      return "<=";
    case ir::Op::kGreater:
      return ">";
    case ir::Op::kGreaterEqual:
      return ">=";
    default:
      return "=";
  }
}

[[noreturn]] void refuse_pair(ir::SourceLocation where, const Type& left, ir::Op op, const Type& right) {
  throw SourceError{
      where,
      fmt::format("{} and {} do not meet without a cast; write CAST(... AS type) on one side",
                  to_string(left), to_string(right)),
      sqlstate::kUndefinedFunction,
      "No operator matches the given name and argument types. You might need to add explicit type casts.",
      fmt::format("operator does not exist: {} {} {}", message_name(left), symbol_of(op),
                  message_name(right))};
}

void widen_numbers(Expr& left, Expr& right, bool same_scale, ir::SourceLocation where, ir::Op op) {
  if (number_rank(left.type) == 0 || number_rank(right.type) == 0)
    refuse_pair(where, left.type, op, right.type);
  const bool are_reals = left.type.kind == TypeKind::kReal && right.type.kind == TypeKind::kReal;
  if (!are_reals && (left.type.is_floating() || right.type.is_floating())) {
    left = convert(std::move(left), kDoubleType);
    right = convert(std::move(right), kDoubleType);
    return;
  }
  const bool own_digits = left.type.kind == TypeKind::kDecimal || right.type.kind == TypeKind::kDecimal;
  const Type& wider = own_digits && left.type.is_exact() && right.type.is_exact() ? kDecimalType
                      : number_rank(left.type) >= number_rank(right.type)         ? left.type
                                                                                  : right.type;
  if (wider.kind != TypeKind::kNumeric) {
    const Type target = wider;
    left = convert(std::move(left), target);
    right = convert(std::move(right), target);
    return;
  }
  const auto scale = [](const Type& type) -> uint8_t {
    return type.kind == TypeKind::kNumeric ? type.scale : 0;
  };
  const uint8_t most = std::max(scale(left.type), scale(right.type));
  const auto align = [&](Expr& expr) {
    if (expr.type.kind != TypeKind::kNumeric || (same_scale && expr.type.scale != most)) {
      const Type type = numeric_type(same_scale ? most : scale(expr.type));
      expr = convert(std::move(expr), type);
    }
  };
  align(left);
  align(right);
}

}  // namespace

std::string message_name(const Type& type) {
  const Type element = type.elements != TypeKind::kNull ? element_of(type) : type;
  const bool is_array = type.is_array || type.elements != TypeKind::kNull;
  const bool has_zone = element.kind == TypeKind::kTimestamp || element.kind == TypeKind::kTime;
  return std::string(type_name(element)) + (has_zone && !element.is_zoned ? " without time zone" : "") +
         (is_array ? "[]" : "");
}

Type numeric_type(uint32_t scale) {
  Type type;
  type.kind = TypeKind::kNumeric;
  type.scale = static_cast<uint8_t>(scale);
  return type;
}

Type text_type() {
  Type type;
  type.kind = TypeKind::kVarchar;
  type.is_text = true;
  return type;
}

Type array_type_of(const Type& element) {
  Type array = text_type();
  array.elements = element.kind == TypeKind::kSmallInt ? TypeKind::kInt : element.kind;
  array.is_zoned = element.is_zoned;
  if (is_name(element)) array.precision = element.precision;
  if (element == kOidType) array.precision = kOidArrayPrecision;
  return array;
}

bool has_same_elements(const Type& a, const Type& b) {
  const auto group = [](TypeKind kind) {
    return kind == TypeKind::kSmallInt  ? TypeKind::kInt
           : kind == TypeKind::kChar    ? TypeKind::kVarchar
           : kind == TypeKind::kDecimal ? TypeKind::kNumeric
                                        : kind;
  };
  return group(a.elements) == group(b.elements) && a.is_zoned == b.is_zoned;
}

Type element_of(const Type& array) {
  switch (array.elements) {
    case TypeKind::kNull:
    case TypeKind::kVarchar:
    case TypeKind::kChar:
      return text_type();
    case TypeKind::kNumeric:
    case TypeKind::kDecimal:
      return kDecimalType;
    default:
      return Type{.kind = array.elements, .is_zoned = array.is_zoned};
  }
}

bool is_time_of_day_pair(const Type& from, const Type& to) {
  if (to.kind == TypeKind::kTime)
    return from.kind == TypeKind::kTimestamp || from.kind == TypeKind::kInterval;
  return from.kind == TypeKind::kTime && to.kind == TypeKind::kInterval;
}

bool is_unknown(const Expr& expr) {
  return (expr.kind == ExprKind::kConstant || expr.kind == ExprKind::kVariable) &&
         expr.type.kind == TypeKind::kNull;
}

Expr convert(Expr expr, const Type& target) {
  const Type& from = expr.type;
  if (from.kind == target.kind) {
    switch (target.kind) {
      case TypeKind::kNumeric:
        if (from.scale == target.scale &&
            (target.precision == 0 || (from.precision != 0 && from.precision <= target.precision))) {
          return expr;
        }
        break;
      case TypeKind::kChar:
      case TypeKind::kVarchar:
        if (target.length == 0 || (from.length != 0 && from.length <= target.length)) return expr;
        break;
      case TypeKind::kTimestamp:
        if (target.precision != 0 && from.precision != target.precision) break;
        expr.type.is_zoned = target.is_zoned;
        return expr;
      case TypeKind::kInterval:
      case TypeKind::kTime:
        if (target.precision != 0 && from.precision != target.precision) break;
        return expr;
      default:
        return expr;
    }
  }
  if (fold(expr, target)) return expr;
  return make_cast(std::move(expr), target, false);
}

Expr convert_for_assignment(Expr expr, const Type& target, std::string_view what) {
  // The stored value has the target's digits or blanks, in PostgreSQL too.
  if (target.precision != 0 || target.length != 0) expr.text_varies = false;
  if (is_unknown(expr)) return resolve(std::move(expr), target);
  const Type& from = expr.type;
  const bool are_akin = (from.is_number() && target.is_number()) || (from.is_time() && target.is_time()) ||
                        is_time_of_day_pair(from, target);
  if (!are_akin && from.kind != target.kind && !target.is_string()) {
    throw SourceError{
        expr.where,
        fmt::format(
            "{} is of type {}; a value of type {} is not assigned to it without a cast, CAST(... AS {})",
            what, to_string(target), to_string(from), to_string(target)),
        sqlstate::kDatatypeMismatch, "You will need to rewrite or cast the expression.",
        fmt::format("column \"{}\" is of type {} but expression is of type {}", what, message_name(target),
                    message_name(from))};
  }
  if (target.is_string() && !from.is_string()) return convert(convert_to_text(std::move(expr)), target);
  return convert(std::move(expr), target);
}

Expr convert_explicitly(Expr expr, const Type& target) {
  if (is_unknown(expr) && (expr.constant.is_null() || !target.is_string()))
    return resolve(std::move(expr), target);
  expr = resolve_as_text(std::move(expr));
  const Type& from = expr.type;
  if (target.is_string()) {
    if (!from.is_string()) expr = convert_to_text(std::move(expr));
    // To the same kind, but of another name: varchar meets char(n) as char, text does not.
    if (target.kind == TypeKind::kVarchar && expr.type.kind == TypeKind::kVarchar)
      expr.type.is_text = target.is_text;
    expr.type.elements = target.elements;
    expr.type.is_zoned = target.is_zoned;
    expr.type.precision = target.precision;
    Expr cast = convert(std::move(expr), target);
    // A char(n) is cut, or filled up with blanks.
    if (cast.type.kind == TypeKind::kChar && cast.type.length < target.length)
      cast = make_cast(std::move(cast), target, false);
    if (cast.kind == ExprKind::kCast && target.length != 0) cast.explicit_cast = true;
    cast.text_varies = false;
    return cast;
  }
  const bool possible = from.kind == target.kind || from.is_string() ||
                        (from.is_time() && target.is_time()) || (from.is_number() && target.is_number()) ||
                        is_time_of_day_pair(from, target) ||
                        (from.kind == TypeKind::kBoolean && target.kind == TypeKind::kInt) ||
                        (from.kind == TypeKind::kInt && target.kind == TypeKind::kBoolean);
  if (!possible) {
    refuse_as(sqlstate::kCannotCoerce, expr.where, "PostgreSQL has no cast from {} to {}", to_string(from),
              to_string(target));
  }
  expr.text_varies = false;
  return convert(std::move(expr), target);
}

Expr resolve_as_text(Expr expr) {
  if (is_unknown(expr)) expr.type = text_type();
  return expr;
}

Expr convert_to_text(Expr expr) {
  if (is_unknown(expr)) return resolve_as_text(std::move(expr));
  if (expr.type.kind == TypeKind::kVarchar) return expr;
  if (expr.type.kind == TypeKind::kNumeric && expr.type.precision == 0) {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "the text of a computed numeric is not supported: how many zeros it ends in depends on how it "
              "came about; "
              "write CAST(... AS numeric(p,s)) first");
  }
  if (expr.type.kind == TypeKind::kNumeric) require_certain_text(expr, "this text");
  return make_cast(std::move(expr), text_type(), false);
}

Expr convert_to_output(Expr expr, std::string_view what) {
  const ir::SourceLocation where = expr.where;
  const Type type = expr.type;
  if (is_unknown(expr) || (type.kind != TypeKind::kChar && type.kind != TypeKind::kBoolean))
    return convert_to_text(std::move(expr));
  if (type.kind == TypeKind::kChar && (type.length == 0 || expr.text_varies)) {
    refuse_as(
        sqlstate::kNotSupported, where,
        "{}() of a char(n) whose n depends on the value is not supported; cast it to text, or to char(n)",
        what);
  }
  // The first letter of true and of false, or the blanks that fill a char(n) and are not kept.
  const bool is_truth = type.kind == TypeKind::kBoolean;
  Expr width = nodes::make(ExprKind::kConstant, nodes::kInt, where);
  width.constant = Value::of_int(is_truth ? 1 : static_cast<int64_t>(type.length));
  std::vector<Expr> args;
  args.push_back(convert_to_text(std::move(expr)));
  args.push_back(std::move(width));
  return nodes::make_call(is_truth ? ir::Function::kLeft : ir::Function::kRpad, text_type(), std::move(args),
                          where);
}

Expr with_own_digits(Expr expr) {
  if (!expr.type.is_exact()) return expr;
  expr.text_varies = false;
  return convert(std::move(expr), kDecimalType);
}

Expr with_own_digits_if_numeric(Expr expr) {
  return expr.type.kind == TypeKind::kNumeric ? with_own_digits(std::move(expr)) : std::move(expr);
}

void unify_for_comparison(Expr& left, Expr& right, ir::SourceLocation where, ir::Op op) {
  if (is_unknown(left) && is_unknown(right)) {
    left = resolve_as_text(std::move(left));
    right = resolve_as_text(std::move(right));
    return;
  }
  if (is_unknown(left)) left = resolve(std::move(left), unbounded(right.type));
  if (is_unknown(right)) right = resolve(std::move(right), unbounded(left.type));
  if (is_string_like(left) && is_string_like(right)) {
    const bool are_arrays = left.type.elements != TypeKind::kNull && right.type.elements != TypeKind::kNull;
    if (are_arrays && !has_same_elements(left.type, right.type)) {
      refuse_as(sqlstate::kUndefinedFunction, where, "operator does not exist: {}[] = {}[]",
                to_string(element_of(left.type)), to_string(element_of(right.type)));
    }
    // A char(n) meets text as text, whose trailing blanks count, and anything else as char, where they don't.
    const bool any_char = left.type.kind == TypeKind::kChar || right.type.kind == TypeKind::kChar;
    const bool any_text = left.type.is_text || right.type.is_text;
    Type target = text_type();
    if (any_char && !any_text) target = Type{.kind = TypeKind::kChar};
    left = convert(std::move(left), target);
    right = convert(std::move(right), target);
    return;
  }
  if (left.type.kind == right.type.kind && !left.type.is_number()) return;
  if (is_time_of_day_pair(left.type, right.type) && right.type.kind == TypeKind::kInterval) {
    left = convert(std::move(left), right.type);
    return;
  }
  if (is_time_of_day_pair(right.type, left.type) && left.type.kind == TypeKind::kInterval) {
    right = convert(std::move(right), left.type);
    return;
  }
  if (left.type.is_time() && right.type.is_time()) {
    left = convert(std::move(left), kTimestampType);
    right = convert(std::move(right), kTimestampType);
    return;
  }
  widen_numbers(left, right, true, where, op);
}

void unify_for_arithmetic(Expr& left, Expr& right, bool same_scale, ir::SourceLocation where, ir::Op op) {
  if (is_unknown(left) && is_unknown(right)) {
    refuse(where,
           "an operator between two quoted strings or NULLs has no type; write numbers without quotes");
  }
  // A factor keeps the digits that it is written with.
  const auto as_the_other = [&](const Type& other) {
    Type type = unbounded(other);
    if (!same_scale && type.kind == TypeKind::kNumeric) type.scale = 0;
    return type;
  };
  if (is_unknown(left)) left = resolve(std::move(left), as_the_other(right.type));
  if (is_unknown(right)) right = resolve(std::move(right), as_the_other(left.type));
  widen_numbers(left, right, same_scale, where, op);
}

Digits decimals_of(const Expr& number) {
  if (is_unknown(number))
    return {number.constant.is_null() ? 0 : written_digits(number.constant.as_text()),
            number.constant.is_null()};
  if (number.type.kind != TypeKind::kNumeric) return {};
  return {number.type.scale, number.text_varies};
}

bool has_most_digits(const Digits& left, const Digits& right, uint32_t scale) {
  return (left.count == scale && !left.vary) || (right.count == scale && !right.vary);
}

void require_certain_text(const Expr& expr, std::string_view what) {
  if (!expr.text_varies) return;
  if (expr.type.kind == TypeKind::kChar) {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "with how many blanks PostgreSQL fills up {} depends on the value at hand; write CAST(... AS "
              "char(n)) for n characters",
              what);
  }
  refuse_as(
      sqlstate::kNotSupported, expr.where,
      "how many digits after the point PostgreSQL gives {} depends on the value at hand; write CAST(... "
      "AS numeric(p,s)) for s "
      "of them",
      what);
}

static bool any_own_digits(const std::vector<Expr*>& results) {
  return std::ranges::any_of(results,
                             [](const Expr* result) { return result->type.kind == TypeKind::kDecimal; });
}

// Strings of which one or both spell arrays: two of other elements do not meet, and an array meets text as
// text.
static void unify_elements(Type& common, const Expr& result, std::string_view construct) {
  if (has_same_elements(common, result.type)) return;
  if (common.elements != TypeKind::kNull && result.type.elements != TypeKind::kNull) {
    refuse_as(sqlstate::kCannotCoerce, result.where, "{} could not convert type {}[] to {}[]", construct,
              to_string(element_of(result.type)), to_string(element_of(common)));
  }
  common.elements = TypeKind::kNull;
  common.is_zoned = false;
}

Type unify_results(const std::vector<Expr*>& results, std::string_view construct, bool& text_varies) {
  std::optional<Type> common;
  for (const Expr* result : results) {
    if (is_unknown(*result)) continue;
    const Type& type = result->type;
    if (!common || *common == type) {
      common = type;
      continue;
    }
    if (common->is_number() && type.is_number()) {
      const uint8_t scale = std::max(common->kind == TypeKind::kNumeric ? common->scale : uint8_t{0},
                                     type.kind == TypeKind::kNumeric ? type.scale : uint8_t{0});
      const Type wider = number_rank(*common) >= number_rank(type) ? *common : type;
      common = wider.kind == TypeKind::kNumeric ? numeric_type(scale) : wider;
    } else if (common->is_string() && type.is_string()) {
      // As PostgreSQL: the first one's type, but nothing's bound.
      common->length = 0;
      unify_elements(*common, *result, construct);
    } else if (common->is_time() && type.is_time()) {
      const bool is_zoned = common->is_zoned || type.is_zoned;
      common = Type{.kind = TypeKind::kTimestamp, .is_zoned = is_zoned};
    } else if (common->kind == type.kind &&
               (type.kind == TypeKind::kInterval || type.kind == TypeKind::kTime)) {
      common->precision = 0;
    } else if ((common->kind == TypeKind::kInterval && type.kind == TypeKind::kTime) ||
               (common->kind == TypeKind::kTime && type.kind == TypeKind::kInterval)) {
      common = Type{.kind = TypeKind::kInterval};
    } else if (common->kind != type.kind) {
      std::string word(construct);
      std::ranges::transform(word, word.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
      throw SourceError{result->where,
                        fmt::format("{} has results of types {} and {}, which do not meet without a cast",
                                    construct, to_string(*common), to_string(type)),
                        sqlstate::kDatatypeMismatch,
                        {},
                        fmt::format("{} types {} and {} cannot be matched", word, message_name(*common),
                                    message_name(type))};
    }
  }
  if (!common) common = text_type();
  if (common->is_exact() && any_own_digits(results)) common = kDecimalType;
  text_varies = false;
  // A quoted number may have more digits after the point than the others, and a quoted string more
  // characters: a literal has no bound, and with one among them the result has none.
  for (Expr* result : results) {
    const bool is_null = result->kind == ExprKind::kConstant && result->constant.is_null();
    const Digits digits = decimals_of(*result);
    if (is_unknown(*result)) {
      if (common->kind == TypeKind::kTimestamp || common->kind == TypeKind::kInterval ||
          common->kind == TypeKind::kTime)
        common->precision = 0;
      const uint16_t bound = common->length;
      *result = resolve(std::move(*result), unbounded(*common));
      if (common->is_string() && !is_null && result->constant.as_text().size() > bound) common->length = 0;
    }
    if (common->kind == TypeKind::kNumeric && result->type.kind == TypeKind::kNumeric &&
        result->type.scale > common->scale) {
      common = numeric_type(result->type.scale);
    }
    if (is_null) continue;
    if (common->kind == TypeKind::kNumeric) text_varies |= digits.vary || digits.count != common->scale;
  }
  if (common->kind == TypeKind::kNumeric) {
    // Again: the scale may have grown after the first.
    for (const Expr* result : results) {
      const bool is_null = result->kind == ExprKind::kConstant && result->constant.is_null();
      if (!is_null && decimals_of(*result).count != common->scale) text_varies = true;
    }
  }
  if (common->kind == TypeKind::kChar) {
    for (const Expr* result : results) {
      const bool is_constant = result->kind == ExprKind::kConstant;
      if (is_constant && result->constant.is_null()) continue;
      const size_t size = is_constant && result->type.length == 0
                              ? count_characters(result->constant.as_text())
                              : result->type.length;
      if (result->type.kind != TypeKind::kChar || result->text_varies || size != common->length || size == 0)
        text_varies = true;
    }
  }
  for (Expr* result : results) {
    if (result->kind == ExprKind::kConstant && result->constant.is_null()) {
      result->type = *common;
    } else {
      *result = convert(std::move(*result), *common);
    }
  }
  return *common;
}

}  // namespace mneme
