#include "procedures/typing/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/memory/arena.h"
#include "base/utf8.h"
#include "engine/schema/array_form.h"
#include "engine/schema/text_form.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/values/array_form.h"
#include "procedures/values/decimal.h"
#include "procedures/values/numeric.h"
#include "procedures/values/text_forms.h"
#include "procedures/values/type_oids.h"
#include "procedures/values/value_text.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;

namespace {

// A constant that takes another type without being changed needs no cast at run time. Anything else, rounding
// and errors included, is left to the cast.
bool fold(Expr& expr, const Type& target) {
  if (expr.kind != ExprKind::kConstant) return false;
  if (expr.constant.is_null()) {
    expr.type = target;
    return true;
  }
  if (expr.type.is_string() && target.is_string()) {
    if (has_read_form(target) || is_array_form(target)) return false;
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

// Whether a string is read into the target's form, as it may have another one.
bool is_read_anew(const Type& from, const Type& target) {
  return has_read_form(target) && (text_form(from) != text_form(target) || from.elements != TypeKind::kNull);
}

// Whether PostgreSQL assigns a string of the one type to the other: any to text, json to jsonb and back.
bool is_assigned(const Type& from, const Type& target) {
  return !is_read_anew(from, target) || (is_json(from) && is_json(target));
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

// Whether the text of an array of the one's elements is the text of an array of the other's.
bool is_spelled_alike(const Type& from, const Type& to) {
  if (from.elements == to.elements) {
    return (to.element_modifier == 0 || from.element_modifier == to.element_modifier) &&
           from.is_zoned == to.is_zoned && from.enumeration == to.enumeration &&
           text_form(from) == text_form(to);
  }
  const auto width = [](TypeKind kind) {
    return kind == TypeKind::kSmallInt  ? 1
           : kind == TypeKind::kInt     ? 2
           : kind == TypeKind::kBigInt  ? 3
           : kind == TypeKind::kDecimal ? 4
                                        : 0;
  };
  return width(from.elements) != 0 && width(from.elements) < width(to.elements) && to.element_modifier == 0;
}

// A literal that is written otherwise than its form is read as the statement runs.
Expr read_form_literal(Expr expr, const Type& type) {
  Arena arena;
  SqlError error;
  Value read_value;
  std::string_view read;
  const std::string_view text = expr.constant.as_text();
  const bool is_read = is_array_form(type) ? read_array_form(type, text, arena, read_value, error)
                                           : read_form(type, text, arena, read, error);
  if (is_read && is_array_form(type)) read = read_value.as_text();
  if (!is_read) {
    SourceError failure{expr.where, std::string(error.message), error.sqlstate};
    failure.detail = error.detail;
    throw failure;
  }
  expr.type = type;
  if (read == text) return expr;
  expr.type = text_type();
  return make_cast(std::move(expr), type, true);
}

// Returns the digits after the point: two for the literal '1.50'.
uint32_t written_digits(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  return digits_after_point(text.substr(0, text.find_last_not_of(kBlanks) + 1));
}

}  // namespace

std::string message_name(const Type& type) {
  const Type element = type.elements != TypeKind::kNull ? declared_element(type) : type;
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
  // A numeric's text says how many digits it has.
  array.elements = element.kind == TypeKind::kSmallInt  ? TypeKind::kInt
                   : element.kind == TypeKind::kNumeric ? TypeKind::kDecimal
                                                        : element.kind;
  array.is_zoned = element.is_zoned;
  array.enumeration = element.enumeration;
  if (is_name(element) || has_read_form(element)) array.precision = element.precision;
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
  const auto form = [](const Type& array) { return has_read_form(element_of(array)) ? array.precision : 0; };
  return group(a.elements) == group(b.elements) && a.is_zoned == b.is_zoned &&
         a.enumeration == b.enumeration && form(a) == form(b);
}

bool has_array_key(const Type& array) {
  const TypeKind kind = array.elements;
  return kind != TypeKind::kReal && kind != TypeKind::kDouble && kind != TypeKind::kInterval &&
         kind != TypeKind::kEnum && !has_read_form(element_of(array));
}

Type element_of(const Type& array) {
  switch (array.elements) {
    case TypeKind::kNull:
    case TypeKind::kVarchar:
    case TypeKind::kChar: {
      Type element = array;
      element.elements = TypeKind::kNull;
      return has_read_form(element) ? element : text_type();
    }
    case TypeKind::kNumeric:
    case TypeKind::kDecimal:
      return kDecimalType;
    default:
      return Type{.kind = array.elements, .is_zoned = array.is_zoned, .enumeration = array.enumeration};
  }
}

bool is_same_kind(const Type& a, const Type& b) {
  return a.kind == b.kind && (a.kind != TypeKind::kEnum || a.enumeration == b.enumeration);
}

bool is_assigned_without_cast(const Type& from, const Type& to) {
  if (is_array_form(to))
    return is_array_form(from) && is_assigned_without_cast(declared_element(from), declared_element(to));
  if (is_array_form(from)) return to.is_string() && !has_read_form(to);
  const auto form = [](const Type& type) { return has_read_form(type) ? text_form(type) : TextForm::kNone; };
  if (has_read_form(to)) return form(from) == form(to) || (is_json(from) && is_json(to));
  if (to.kind == TypeKind::kEnum) return from == to;
  return from.kind == to.kind || (from.is_number() && to.is_number()) || (from.is_time() && to.is_time()) ||
         is_time_of_day_pair(from, to) || to.is_string();
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
        if (is_array_form(from) && is_array_form(target)) {
          if (is_spelled_alike(from, target)) return expr;
          break;
        }
        if (is_read_anew(from, target)) break;
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

[[noreturn]] static void refuse_assignment(const Expr& expr, const Type& target, std::string_view what) {
  throw SourceError{
      expr.where,
      fmt::format(
          "{} is of type {}; a value of type {} is not assigned to it without a cast, CAST(... AS {})", what,
          to_string(target), to_string(expr.type), to_string(target)),
      sqlstate::kDatatypeMismatch, "You will need to rewrite or cast the expression.",
      fmt::format("column \"{}\" is of type {} but expression is of type {}", what, message_name(target),
                  message_name(expr.type))};
}

Expr convert_for_assignment(Expr expr, const Type& target, std::string_view what) {
  // The stored value has the target's digits or blanks, in PostgreSQL too.
  if (target.precision != 0 || target.length != 0) expr.text_varies = false;
  if (is_unknown(expr)) return resolve_literal(std::move(expr), target);
  // A plain numeric keeps the digits that the value has.
  if (target.kind == TypeKind::kDecimal && expr.type.kind == TypeKind::kNumeric)
    require_certain_text(expr, what);
  const Type& from = expr.type;
  if (is_array_form(target)) {
    if (!is_array_form(from) || !is_assigned_without_cast(element_of(from), declared_element(target)))
      refuse_assignment(expr, target, what);
    return convert(std::move(expr), target);
  }
  const bool are_akin = (from.is_number() && target.is_number()) || (from.is_time() && target.is_time()) ||
                        is_time_of_day_pair(from, target);
  const bool has_no_cast =
      has_read_form(target) ? !is_assigned(from, target) : !is_same_kind(from, target) && !target.is_string();
  if (!are_akin && has_no_cast) refuse_assignment(expr, target, what);
  if (target.is_string() && !from.is_string()) return convert(convert_to_text(std::move(expr)), target);
  return convert(std::move(expr), target);
}

Expr convert_explicitly(Expr expr, const Type& target) {
  if (is_unknown(expr) && (expr.constant.is_null() || !target.is_string()))
    return resolve_literal(std::move(expr), target);
  expr = resolve_as_text(std::move(expr));
  const Type& from = expr.type;
  if (has_read_form(target) && is_read_anew(from, target)) {
    if (!from.is_string()) {
      refuse_as(sqlstate::kCannotCoerce, expr.where, "cannot cast type {} to {}", message_name(from),
                message_name(target));
    }
    return make_cast(std::move(expr), target, true);
  }
  if (has_read_form(from) && !has_read_form(target)) {
    const bool is_number =
        is_form(from, TextForm::kJsonb) && (target.is_number() || target.kind == TypeKind::kBoolean);
    if (!target.is_string() && !is_number) {
      refuse_as(sqlstate::kCannotCoerce, expr.where, "cannot cast type {} to {}", message_name(from),
                message_name(target));
    }
    expr = make_cast(std::move(expr), is_number ? text_type() : target, true);
    return is_number ? convert(std::move(expr), target) : expr;
  }
  if (target.is_string()) {
    if (!from.is_string()) expr = convert_to_text(std::move(expr));
    // To the same kind, but of another name: varchar meets char(n) as char, text does not.
    if (target.kind == TypeKind::kVarchar && expr.type.kind == TypeKind::kVarchar)
      expr.type.is_text = target.is_text;
    expr.type.elements = target.elements;
    expr.type.is_zoned = target.is_zoned;
    expr.type.enumeration = target.enumeration;
    expr.type.precision = target.precision;
    Expr cast = convert(std::move(expr), target);
    // A char(n) is cut, or filled up with blanks.
    if (cast.type.kind == TypeKind::kChar && cast.type.length < target.length)
      cast = make_cast(std::move(cast), target, false);
    if (cast.kind == ExprKind::kCast && target.length != 0) cast.explicit_cast = true;
    cast.text_varies = false;
    return cast;
  }
  const bool possible = is_same_kind(from, target) || from.is_string() ||
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

Expr resolve_literal(Expr expr, const Type& target) {
  if (target.kind == TypeKind::kNull) return resolve_as_text(std::move(expr));
  if (expr.constant.is_null()) {
    expr.type = target;
    return expr;
  }
  if (is_record(target)) {
    refuse_as(sqlstate::kNotSupported, expr.where, "input of anonymous composite types is not implemented");
  }
  Type wanted = target;
  if (target.kind == TypeKind::kNumeric && target.precision == 0) {
    const Expr number = resolve_literal(expr, kDecimalType);
    wanted = numeric_type(std::max(number.constant.digits(), target.scale));
  }
  if (is_array_form(wanted) && !is_vector(wanted)) return read_form_literal(std::move(expr), wanted);
  if (wanted.is_string() && !has_read_form(wanted)) {
    expr.type = text_type();
    return convert(std::move(expr), wanted);
  }
  if (has_read_form(wanted)) return read_form_literal(std::move(expr), wanted);
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

}  // namespace mneme
