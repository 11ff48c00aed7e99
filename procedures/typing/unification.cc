// The type in which two operands, or the results of a construct, meet.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "engine/schema/text_form.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"
#include "procedures/values/type_oids.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;

namespace {

constexpr Type kFloating{.kind = TypeKind::kDouble};
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

Type unbounded(Type type) {
  // The precision of a string tells its form.
  if (!type.is_string()) type.precision = 0;
  type.length = 0;
  type.element_modifier = 0;
  return type;
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
    left = convert(std::move(left), kFloating);
    right = convert(std::move(right), kFloating);
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

bool any_own_digits(const std::vector<Expr*>& results) {
  return std::ranges::any_of(results,
                             [](const Expr* result) { return result->type.kind == TypeKind::kDecimal; });
}

// Strings of which one or both spell arrays: two of other elements do not meet, and an array meets text as
// text.
void unify_elements(Type& common, const Expr& result, std::string_view construct) {
  if (has_same_elements(common, result.type)) return;
  if (common.elements != TypeKind::kNull && result.type.elements != TypeKind::kNull) {
    refuse_as(sqlstate::kCannotCoerce, result.where, "{} could not convert type {}[] to {}[]", construct,
              to_string(element_of(result.type)), to_string(element_of(common)));
  }
  common.elements = TypeKind::kNull;
  common.is_zoned = false;
  common.enumeration = 0;
}

// Whether both are in one form, or neither has one.
bool meets_in_form(const Type& a, const Type& b) {
  const auto form = [](const Type& type) {
    return has_read_form(type) || is_record(type) ? text_form(type) : TextForm::kNone;
  };
  return form(a) == form(b);
}

}  // namespace

void unify_for_comparison(Expr& left, Expr& right, ir::SourceLocation where, ir::Op op) {
  if (is_unknown(left) && is_unknown(right)) {
    left = resolve_as_text(std::move(left));
    right = resolve_as_text(std::move(right));
    return;
  }
  if (is_record(left.type) || is_record(right.type)) {
    refuse_as(sqlstate::kNotSupported, where,
              "records are compared as rows of values alone; name their columns, as (a, b) = (1, 2)");
  }
  if (is_unknown(left)) left = resolve_literal(std::move(left), unbounded(right.type));
  if (is_unknown(right)) right = resolve_literal(std::move(right), unbounded(left.type));
  if (is_string_like(left) && is_string_like(right)) {
    const bool is_any_read = has_read_form(left.type) || has_read_form(right.type);
    const bool is_same_form = has_read_form(left.type) && text_form(left.type) == text_form(right.type) &&
                              right.type.elements == TypeKind::kNull;
    if ((is_any_read && !is_same_form) || is_form(left.type, TextForm::kJson))
      refuse_pair(where, left.type, op, right.type);
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
  if (is_same_kind(left.type, right.type) && !left.type.is_number()) return;
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
    refuse_as(sqlstate::kNotUnique, where,
              "an operator between two quoted strings or NULLs has no type; write numbers without quotes");
  }
  // A factor keeps the digits that it is written with.
  const auto as_the_other = [&](const Type& other) {
    Type type = unbounded(other);
    if (!same_scale && type.kind == TypeKind::kNumeric) type.scale = 0;
    return type;
  };
  if (is_unknown(left)) left = resolve_literal(std::move(left), as_the_other(right.type));
  if (is_unknown(right)) right = resolve_literal(std::move(right), as_the_other(left.type));
  widen_numbers(left, right, same_scale, where, op);
}

std::optional<Type> common_type(const Type& first, const Type& second) {
  const auto is_plain = [](const Type& type) {
    return !type.is_array && type.elements == TypeKind::kNull && !has_read_form(type);
  };
  if (!is_plain(first) || !is_plain(second)) return std::nullopt;
  if (first.is_number() && second.is_number())
    return unbounded(number_rank(first) >= number_rank(second) ? first : second);
  if (first.is_time() && second.is_time()) {
    if (first.kind == second.kind && first.is_zoned == second.is_zoned) return unbounded(first);
    return Type{.kind = TypeKind::kTimestamp, .is_zoned = first.is_zoned || second.is_zoned};
  }
  if (is_same_kind(first, second) || (first.is_string() && second.is_string())) return unbounded(first);
  return std::nullopt;
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
    } else if (common->is_string() && type.is_string() && meets_in_form(*common, type)) {
      // As PostgreSQL: the first one's type, but nothing's bound.
      common->length = common->element_modifier = 0;
      unify_elements(*common, *result, construct);
    } else if (common->is_time() && type.is_time()) {
      const bool is_zoned = common->is_zoned || type.is_zoned;
      common = Type{.kind = TypeKind::kTimestamp, .is_zoned = is_zoned};
    } else if (common->kind == type.kind &&
               (type.kind == TypeKind::kInterval || type.kind == TypeKind::kTime)) {
      common->precision = 0;
    } else if (!is_same_kind(*common, type) || common->is_string()) {
      std::string word(construct);
      std::ranges::transform(word, word.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
      if (common->is_string() && has_read_form(*common) && has_read_form(type)) {
        refuse_as(sqlstate::kCannotCoerce, result->where, "{} could not convert type {} to {}", word,
                  message_name(type), message_name(*common));
      }
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
      if (!is_null) common->element_modifier = 0;
      const uint16_t bound = common->length;
      *result = resolve_literal(std::move(*result), unbounded(*common));
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
