#include "procedures/binder/expression_binder.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/check.h"
#include "engine/schema/array_form.h"
#include "engine/schema/qualified_name.h"
#include "engine/schema/text_form.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"
#include "procedures/values/type_oids.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Op;
using nodes::kBoolean;
using nodes::kInt;
using nodes::make;
using nodes::make_binary;
using nodes::make_unary;

namespace {

// The digits as an integer; nothing beyond 38 of them.
std::optional<int128> read_digits(std::string_view digits) {
  while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
  if (digits.size() > kMaxNumericPrecision) return std::nullopt;
  int128 value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

Expr require_boolean(Expr expr, std::string_view what) {
  if (is_unknown(expr) && expr.constant.is_null()) expr.type = kBoolean;
  if (is_unknown(expr) && expr.kind == ExprKind::kConstant) return resolve_literal(std::move(expr), kBoolean);
  if (is_unknown(expr) || expr.type.kind != TypeKind::kBoolean) {
    refuse_as(sqlstate::kDatatypeMismatch, expr.where, "{} is not true or false; compare it with something",
              what);
  }
  return expr;
}

}  // namespace

Expr ExpressionBinder::bind_value(const syntax::Expr& expr) {
  return resolve_as_text(bind(expr));
}

Expr ExpressionBinder::bind_condition(const syntax::Expr& expr) {
  return require_boolean(bind(expr), "the condition");
}

Expr ExpressionBinder::bind_for(const syntax::Expr& expr, const Type& target, std::string_view what) {
  if (is_array_form(target) && query_ == nullptr) {
    if (std::optional<Expr> array = bind_array_for(expr, target, what)) return *std::move(array);
  }
  return convert_for_assignment(bind(expr), target, what);
}

Expr ExpressionBinder::bind(const syntax::Expr& expr) {
  names_.count_expression(expr.where);
  switch (expr.kind) {
    case syntax::ExprKind::kNull:
    case syntax::ExprKind::kBoolean:
    case syntax::ExprKind::kInteger:
    case syntax::ExprKind::kDecimal:
    case syntax::ExprKind::kString:
    case syntax::ExprKind::kTimestamp:
      return bind_literal(expr);
    case syntax::ExprKind::kEmptyArray:
      refuse_as(query_ == nullptr ? sqlstate::kNotSupported : sqlstate::kIndeterminateType, expr.where,
                "cannot determine type of empty array: write its type, as ARRAY[]::int[]");
    case syntax::ExprKind::kReference:
      return bind_reference(expr);
    case syntax::ExprKind::kParameter:
      return bind_parameter(expr);
    case syntax::ExprKind::kDefault:
      refuse(expr.where, "DEFAULT is not allowed in this context");
    case syntax::ExprKind::kUnary:
      return bind_unary(expr);
    case syntax::ExprKind::kBinary:
      return bind_binary(expr);
    case syntax::ExprKind::kCase:
      return bind_case(expr);
    case syntax::ExprKind::kCall:
      return bind_call(expr);
    case syntax::ExprKind::kCast:
      if (expr.args[0].kind == syntax::ExprKind::kEmptyArray && expr.type.is_array) {
        syntax::Expr written = expr;
        written.args[0].kind = syntax::ExprKind::kString;
        written.args[0].text = "{}";
        return bind_cast(written);
      }
      return bind_cast(expr);
    case syntax::ExprKind::kSubscript:
      return bind_subscript(expr);
    case syntax::ExprKind::kInList:
      return bind_in_list(expr);
    case syntax::ExprKind::kAny:
      return bind_any(expr);
    case syntax::ExprKind::kBetween:
      return bind_between(expr);
    case syntax::ExprKind::kLike:
    case syntax::ExprKind::kMatches:
      return bind_like(expr);
    case syntax::ExprKind::kArray:
      if (query_ != nullptr) return query_->bind_array(expr, *this);
      refuse_as(sqlstate::kNotSupported, expr.where,
                "an array of values is supported in queries, behind = ANY and as an argument of CALL alone");
    case syntax::ExprKind::kField:
    case syntax::ExprKind::kBits:
      if (query_ != nullptr) return query_->bind_array(expr, *this);
      refuse_as(sqlstate::kNotSupported, expr.where, "{} supported in queries alone",
                expr.kind == syntax::ExprKind::kField ? "a field of a composite value is"
                                                      : "operators on bits and on json are");
    case syntax::ExprKind::kNamed:
      refuse_as(sqlstate::kUndefinedFunction, expr.where,
                "no function here has a parameter named {}; write the arguments in their order", expr.text);
    case syntax::ExprKind::kRow:
      if (query_ != nullptr) return query_->bind_array(expr, *this);
      refuse_as(sqlstate::kNotSupported, expr.where,
                "a row of values is supported in comparisons with another one and before IN alone");
    case syntax::ExprKind::kScalarQuery:
    case syntax::ExprKind::kExists:
    case syntax::ExprKind::kInQuery:
    case syntax::ExprKind::kAnyQuery:
    case syntax::ExprKind::kAllQuery:
    case syntax::ExprKind::kArrayQuery:
    case syntax::ExprKind::kRowQuery:
      if (query_ != nullptr) return query_->bind_query(expr);
      if (expr.kind == syntax::ExprKind::kExists) {
        refuse_as(sqlstate::kNotSupported, expr.where,
                  "EXISTS and subqueries are not supported; use PERFORM 1 FROM ... WHERE ..., then IF FOUND");
      }
      refuse_as(sqlstate::kNotSupported, expr.query->where,
                "subqueries are not supported; use SELECT ... INTO a variable first, and the variable here");
  }
  CHECK(false && "no such expression");
  return {};
}

Expr ExpressionBinder::bind_literal(const syntax::Expr& expr) {
  Expr literal = make(ExprKind::kConstant, Type{}, expr.where);
  switch (expr.kind) {
    case syntax::ExprKind::kBoolean:
      literal.type = kBoolean;
      literal.constant = Value::of_bool(expr.text == "true");
      return literal;
    case syntax::ExprKind::kTimestamp:
      if (!expr.text.empty() && is_ascii_letter(expr.text[0])) {
        syntax::Expr cast = syntax::make_expression(syntax::ExprKind::kCast, expr.where);
        cast.type.base = "timestamp";
        cast.type.where = expr.where;
        cast.args.push_back(expr);
        cast.args[0].kind = syntax::ExprKind::kString;
        return bind_cast(cast);
      }
      [[fallthrough]];
    case syntax::ExprKind::kString:
      strings_.push_back(expr.text);
      literal.constant = Value::of_text(strings_.back());
      if (expr.kind == syntax::ExprKind::kString) return literal;
      return convert_explicitly(std::move(literal), Type{.kind = TypeKind::kTimestamp});
    case syntax::ExprKind::kInteger:
    case syntax::ExprKind::kDecimal:
      return bind_decimal(expr);
    default:
      return literal;
  }
}

Expr ExpressionBinder::bind_decimal(const syntax::Expr& expr) {
  const size_t point = expr.text.find('.');
  std::string digits = expr.text;
  if (point != std::string::npos) digits.erase(point, 1);
  const std::optional<int128> value = read_digits(digits);
  const size_t scale = point == std::string::npos ? 0 : expr.text.size() - point - 1;
  if (!value || scale > kMaxNumericPrecision) {
    refuse_as(sqlstate::kNotSupported, expr.where, "the number {} has more than {} digits", expr.text,
              kMaxNumericPrecision);
  }
  Expr literal = make(ExprKind::kConstant, kInt, expr.where);
  if (expr.kind == syntax::ExprKind::kInteger && *value <= std::numeric_limits<int64_t>::max()) {
    if (*value > std::numeric_limits<int32_t>::max()) literal.type.kind = TypeKind::kBigInt;
    literal.constant = Value::of_int(static_cast<int64_t>(*value));
    return literal;
  }
  literal.type = numeric_type(static_cast<uint32_t>(scale));
  literal.constant = Value::of_numeric(*value);
  return literal;
}

Expr ExpressionBinder::bind_reference(const syntax::Expr& expr) {
  const std::string& name = expr.text;
  std::optional<Expr> column;
  const bool is_source = std::ranges::any_of(
      sources_, [&](const RowSource& source) { return names_source(expr.qualifier, source.name); });
  if (query_ != nullptr) {
    column = query_->find_column(expr.qualifier, name, expr.where);
    const Declared* declared = column && expr.qualifier.empty() ? names_.find(name) : nullptr;
    if (declared != nullptr && !declared->value) {
      refuse_as(sqlstate::kAmbiguousColumn, expr.where,
                "{} is a variable and a column; rename the variable, or qualify the column", name);
    }
    if (column) return *std::move(column);
  } else if (expr.qualifier.empty() || is_source) {
    column = find_column(sources_, expr.qualifier, name, expr.where);
  }
  if (column && expr.qualifier.empty() && (names_.find(name) || name == "found")) {
    refuse_as(sqlstate::kAmbiguousColumn, expr.where,
              "{} is a variable and a column of {}; rename the variable, or qualify the column", name,
              sources_[column->source].name);
  }
  if (column) return *std::move(column);

  if (expr.qualifier.empty() && names_.find(name) == nullptr) {
    if (std::optional<Expr> value = bind_session_value(expr)) return *std::move(value);
  }
  Expr reference = make(ExprKind::kVariable, Type{}, expr.where);
  if (!expr.qualifier.empty()) {
    const Declared* record = names_.find(expr.qualifier);
    if (query_ != nullptr && (record == nullptr || record->record == nullptr)) {
      refuse_as(sqlstate::kUndefinedTable, expr.where, "missing FROM-clause entry for table \"{}\"",
                expr.qualifier);
    }
    if (!record || !record->record) {
      refuse_as(sqlstate::kUndefinedTable, expr.where,
                "{} is no table of this statement and no record; there is no {}.{}", expr.qualifier,
                expr.qualifier, name);
    }
    reference.variable = names_.field(*record->record, name, expr.where);
  } else if (const Declared* declared = names_.find(name)) {
    if (declared->value) {
      // What a function's body says more than once is there more than once.
      ir::walk(*declared->value, [&](const Expr&) { names_.count_expression(expr.where); });
      return *declared->value;
    }
    if (declared->record) refuse(expr.where, "{} is a record; use one of its fields, as {}.name", name, name);
    reference.variable = declared->variable;
  } else if (name == "found") {
    reference.variable = names_.found();
  } else if (name == "localtimestamp" || name == "current_timestamp" || name == "current_date" ||
             name == "localtime") {
    reference.variable = names_.call_time();
  } else if (name.starts_with("current_") || name.starts_with("local")) {
    refuse_as(sqlstate::kNotSupported, expr.where, "{} is not supported: {}", name, kTimeAdvice);
  } else if (query_ != nullptr) {
    refuse_as(sqlstate::kUndefinedColumn, expr.where, "column \"{}\" does not exist", name);
  } else if (sources_.empty()) {
    refuse_as(sqlstate::kUndefinedColumn, expr.where,
              "there is no variable {}; declare it in DECLARE or as a parameter", name);
  } else if (std::ranges::any_of(sources_,
                                 [&](const RowSource& source) { return names_source(name, source.name); })) {
    refuse_as(sqlstate::kNotSupported, expr.where, "the whole row of table {} is supported in queries alone",
              name);
  } else {
    refuse_as(sqlstate::kUndefinedColumn, expr.where, "there is no column and no variable {}", name);
  }
  reference.type = names_.type_of(reference.variable);
  if (expr.qualifier.empty() && name == "current_date")
    return convert(std::move(reference), Type{.kind = TypeKind::kDate});
  if (expr.qualifier.empty() && name == "localtime")
    return convert(std::move(reference), Type{.kind = TypeKind::kTime});
  if (expr.qualifier.empty() && name == "current_timestamp") reference.type.is_zoned = true;
  reference.text_varies = names_.text_varies(reference.variable);
  if (reference.type.is_array && query_ != nullptr) return text_of_array(reference.variable, expr.where);
  if (reference.type.is_array) {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "the array {} can't be used as a value; use {}[i], cardinality({}) or = ANY ({})", name, name,
              name, name);
  }
  return reference;
}

std::optional<Expr> ExpressionBinder::bind_session_value(const syntax::Expr& expr) {
  const SessionValue* value = names_.session_value(expr.text);
  if (value == nullptr) return std::nullopt;
  Expr literal = make(ExprKind::kConstant, Type{}, expr.where);
  strings_.push_back(value->text);
  literal.constant = Value::of_text(strings_.back());
  return convert_explicitly(std::move(literal), value->type);
}

Expr ExpressionBinder::bind_parameter(const syntax::Expr& expr) {
  // A routine's parameters have names, too.
  if (names_.find("$" + expr.text)) return bind_reference(syntax::reference("", "$" + expr.text, expr.where));
  if (query_ != nullptr) {
    if (std::optional<Expr> given = query_->find_column("", "$" + expr.text, expr.where))
      return *std::move(given);
  }
  Expr parameter = make(ExprKind::kVariable, Type{}, expr.where);
  parameter.variable = names_.parameter(expr);
  parameter.type = names_.type_of(parameter.variable);
  if (parameter.type.is_array && query_ == nullptr)
    refuse_as(sqlstate::kNotSupported, expr.where, "an array is used as = ANY (${}) only", expr.text);
  if (parameter.type.is_array) return text_of_array(parameter.variable, expr.where);
  return parameter;
}

// A minus before a literal is a part of it in PostgreSQL: -2147483648 is an int, though 2147483648 is none.
std::optional<Expr> ExpressionBinder::bind_least_integer(const syntax::Expr& expr) {
  if (expr.op != Op::kNegate || expr.args[0].kind != syntax::ExprKind::kInteger) return std::nullopt;
  const std::optional<int128> value = read_digits(expr.args[0].text);
  for (const TypeKind kind : {TypeKind::kInt, TypeKind::kBigInt}) {
    const int64_t least =
        kind == TypeKind::kInt ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
    if (value != -int128{least}) continue;
    Expr literal = make(ExprKind::kConstant, Type{.kind = kind}, expr.where);
    literal.constant = Value::of_int(least);
    return literal;
  }
  return std::nullopt;
}

// Numbers of different digits that are results of one expression keep their own in PostgreSQL.
void ExpressionBinder::give_own_digits(const std::vector<Expr*>& results) const {
  if (query_ == nullptr) return;
  const auto is_numeric = [](const Expr* one) { return one->type.kind == TypeKind::kNumeric; };
  const auto first = std::ranges::find_if(results, is_numeric);
  if (first == results.end()) return;
  const bool is_null_free_alike = std::ranges::all_of(results, [&](const Expr* one) {
    const bool is_null = one->kind == ExprKind::kConstant && one->constant.is_null();
    return is_null || (is_numeric(one) && one->type.scale == (*first)->type.scale);
  });
  if (is_null_free_alike) return;
  for (Expr* one : results) *one = with_own_digits(std::move(*one));
}

Expr ExpressionBinder::bind_unary(const syntax::Expr& expr) {
  if (std::optional<Expr> literal = bind_least_integer(expr)) return *std::move(literal);
  // Two of them leave the literal as it is, 2147483648 a bigint; three are as one.
  const auto negated = [](const syntax::Expr& each) {
    return each.kind == syntax::ExprKind::kUnary && each.op == Op::kNegate ? &each.args[0] : nullptr;
  };
  const syntax::Expr* last = &expr;  // the innermost minus
  size_t count = 0;
  for (const syntax::Expr* inner = negated(expr); inner != nullptr; inner = negated(*inner)) {
    if (negated(*inner) != nullptr) last = inner;
    ++count;
  }
  if (count >= 2 && last->args[0].kind == syntax::ExprKind::kInteger)
    return bind(count % 2 == 0 ? last->args[0] : *last);
  Expr arg = bind(expr.args[0]);
  switch (expr.op) {
    case Op::kNot:
      return make_unary(Op::kNot, kBoolean, require_boolean(std::move(arg), "what NOT negates"), expr.where);
    case Op::kIsNull:
    case Op::kIsNotNull:
      if (query_ != nullptr && is_record(arg.type)) {
        std::vector<Expr> args;
        args.push_back(std::move(arg));
        return *query_->bind_form_call(
            expr.op == Op::kIsNull ? "mneme_record_is_null" : "mneme_record_has_all", args, expr.where);
      }
      return make_unary(expr.op, kBoolean, resolve_as_text(std::move(arg)), expr.where);
    case Op::kNegate: {
      const bool is_interval = arg.type.kind == TypeKind::kInterval;
      if (is_unknown(arg) || (!arg.type.is_number() && !is_interval))
        refuse_as(sqlstate::kUndefinedFunction, expr.where, "- is for numbers and intervals");
      Type type = arg.type;
      if (is_interval) type.precision = 0;
      if (type.kind == TypeKind::kNumeric) type = numeric_type(type.scale);
      const bool text_varies = arg.text_varies;
      Expr negated = make_unary(Op::kNegate, type, std::move(arg), expr.where);
      negated.text_varies = text_varies;
      return negated;
    }
    case Op::kAdd:
      if (is_unknown(arg) || !arg.type.is_number())
        refuse_as(sqlstate::kUndefinedFunction, expr.where, "+ is for numbers");
      return arg;
    default:
      return make_unary(expr.op, kBoolean, require_boolean(std::move(arg), "what IS tests"), expr.where);
  }
}

Expr ExpressionBinder::bind_binary(const syntax::Expr& expr) {
  if (expr.op == Op::kConcat) return bind_concat(expr);
  Expr left = bind(expr.args[0]);
  Expr right = bind(expr.args[1]);
  if (expr.op == Op::kSubtract && is_form(left.type, TextForm::kJsonb))
    return bind_form_operator("-", std::move(left), std::move(right), expr.where);
  switch (expr.op) {
    case Op::kAnd:
    case Op::kOr: {
      left = require_boolean(std::move(left), "the left side of AND or OR");
      right = require_boolean(std::move(right), "the right side of AND or OR");
      Expr both = make_binary(expr.op, kBoolean, std::move(left), std::move(right), expr.where);
      both.joined = expr.joined;
      return both;
    }
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo:
      break;
    default:
      return compare(expr.op, std::move(left), std::move(right), expr.where);
  }

  const auto is_time = [](const Expr& side) {
    return side.type.is_time() || side.type.kind == TypeKind::kInterval || side.type.kind == TypeKind::kTime;
  };
  if (is_time(left) || is_time(right))
    return bind_time_arithmetic(expr.op, std::move(left), std::move(right), expr.where);
  if (query_ != nullptr) {
    left = with_own_digits_if_numeric(std::move(left));
    right = with_own_digits_if_numeric(std::move(right));
  }
  const Digits left_digits = decimals_of(left);
  const Digits right_digits = decimals_of(right);
  unify_for_arithmetic(left, right, expr.op != Op::kMultiply, expr.where, expr.op);
  Type type = left.type;
  if (type.kind == TypeKind::kNumeric) {
    if (expr.op == Op::kDivide) {
      refuse_as(
          sqlstate::kNotSupported, expr.where,
          "division of numeric is not supported: how many digits PostgreSQL keeps depends on the values; "
          "cast one side "
          "to double precision");
    }
    const uint32_t scale = expr.op == Op::kMultiply ? left.type.scale + right.type.scale : left.type.scale;
    if (scale > kMaxNumericPrecision) {
      refuse(expr.where,
             "this product has {} digits after the point, and {} are possible; round() the factors first",
             scale, kMaxNumericPrecision);
    }
    type = numeric_type(scale);
  }
  if (type.is_floating() && expr.op == Op::kModulo) {
    refuse_as(sqlstate::kUndefinedFunction, expr.where, "% is not defined for {}; cast both sides to bigint",
              to_string(type));
  }
  Expr result = make_binary(expr.op, type, std::move(left), std::move(right), expr.where);
  result.text_varies = type.kind == TypeKind::kNumeric &&
                       (expr.op == Op::kMultiply ? left_digits.vary || right_digits.vary
                                                 : !has_most_digits(left_digits, right_digits, type.scale));
  return result;
}

Expr ExpressionBinder::bind_form_operator(const std::string& name, Expr left, Expr right,
                                          ir::SourceLocation where) {
  const Type& type = has_read_form(left.type) ? left.type : right.type;
  if (query_ == nullptr) {
    refuse_as(sqlstate::kNotSupported, where, "the operator {} of {} is supported in queries alone", name,
              to_string(type));
  }
  std::vector<Expr> args;
  args.push_back(std::move(left));
  args.push_back(std::move(right));
  std::optional<Expr> result = query_->bind_form_call(name, args, where);
  if (!result) {
    refuse_as(sqlstate::kUndefinedFunction, where, "operator does not exist: {} {} {}",
              message_name(args[0].type), name, message_name(args[1].type));
  }
  return *std::move(result);
}

Expr ExpressionBinder::bind_concat(const syntax::Expr& expr) {
  Expr left = bind(expr.args[0]);
  Expr right = bind(expr.args[1]);
  if (query_ != nullptr && (left.type.elements != TypeKind::kNull || right.type.elements != TypeKind::kNull))
    return query_->concat_arrays(std::move(left), std::move(right), expr.where);
  if (is_array_form(left.type) || is_array_form(right.type))
    refuse_as(sqlstate::kNotSupported, expr.where, "|| of arrays is supported in queries alone");
  const auto is_joined = [](const Expr& side, const Expr& other) {
    const bool is_form_of_parts =
        is_form(side.type, TextForm::kJsonb) || is_form(side.type, TextForm::kBytea);
    return is_form_of_parts && (is_unknown(other) || text_form(side.type) == text_form(other.type));
  };
  if (is_joined(left, right) || is_joined(right, left))
    return bind_form_operator("||", std::move(left), std::move(right), expr.where);
  if (query_ != nullptr) {
    left = with_own_digits_if_numeric(std::move(left));
    right = with_own_digits_if_numeric(std::move(right));
  }
  const auto is_text = [](const Expr& side) {
    return is_unknown(side) || (side.type.is_string() && !has_read_form(side.type) && !is_record(side.type));
  };
  if (!is_text(left) && !is_text(right)) {
    refuse_as(sqlstate::kUndefinedFunction, expr.where,
              "|| needs a string on one side at least; cast one side to text");
  }
  left = convert_to_text(std::move(left));
  right = convert_to_text(std::move(right));
  return make_binary(Op::kConcat, text_type(), std::move(left), std::move(right), expr.where);
}

Expr ExpressionBinder::bind_case(const syntax::Expr& expr) {
  const size_t first = expr.has_subject ? 1 : 0;
  const size_t end = expr.args.size() - (expr.has_else ? 1 : 0);
  Expr result = make(ExprKind::kCase, Type{}, expr.where);
  for (size_t i = first; i < end; i += 2) {
    // A subject that is a bare literal is text to PostgreSQL, whatever it meets.
    if (expr.has_subject) {
      Expr subject = bind_value(expr.args[0]);
      Expr wanted = bind(expr.args[i]);
      result.args.push_back(compare(Op::kEqual, std::move(subject), std::move(wanted), expr.args[i].where));
    } else {
      result.args.push_back(bind_condition(expr.args[i]));
    }
    result.args.push_back(bind(expr.args[i + 1]));
  }
  result.args.push_back(expr.has_else ? bind(expr.args.back())
                                      : make(ExprKind::kConstant, Type{}, expr.where));

  std::vector<Expr*> results = {&result.args.back()};  // PostgreSQL looks at ELSE first
  for (size_t i = 1; i < result.args.size(); i += 2) results.push_back(&result.args[i]);
  give_own_digits(results);
  result.type = unify_results(results, "CASE", result.text_varies);
  return result;
}

Expr ExpressionBinder::negate_if(bool negated, Expr expr) {
  const ir::SourceLocation where = expr.where;
  return negated ? make_unary(Op::kNot, kBoolean, std::move(expr), where) : expr;
}

Expr ExpressionBinder::bind_between(const syntax::Expr& expr) {
  const auto compare_with = [&](Op op, const syntax::Expr& bound) {
    Expr value = bind(expr.args[0]);
    Expr limit = bind(bound);
    return compare(op, std::move(value), std::move(limit), expr.where);
  };
  Expr low = compare_with(Op::kGreaterEqual, expr.args[1]);
  Expr high = compare_with(Op::kLessEqual, expr.args[2]);
  return negate_if(expr.negated,
                   make_binary(Op::kAnd, kBoolean, std::move(low), std::move(high), expr.where));
}

}  // namespace mneme
