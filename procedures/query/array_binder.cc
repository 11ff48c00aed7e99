// SelectBinder's arrays, composite values and bits: what functions of the provider compute, as no procedure
// has them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/schema/array_form.h"
#include "engine/schema/text_form.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/array_text.h"
#include "procedures/values/decimal.h"
#include "procedures/values/type_oids.h"

namespace mneme::query {

using ir::Expr;

namespace {

constexpr Type kIntegerType{.kind = TypeKind::kInt};

Expr count_constant(int64_t number, ir::SourceLocation where) {
  Expr constant;
  constant.type = kCountType;
  constant.where = where;
  constant.constant = Value::of_int(number);
  return constant;
}

int64_t bits_of(const Type& type) {
  return type.kind == TypeKind::kBigInt ? 64 : type.kind == TypeKind::kInt ? 32 : 16;
}

}  // namespace

Expr SelectBinder::bind_array(const syntax::Expr& expr, ExpressionBinder& binder) {
  CHECK(binder_.provider_ != nullptr);
  switch (expr.kind) {
    case syntax::ExprKind::kSubscript:
      return bind_subscript(expr, binder);
    case syntax::ExprKind::kField:
      return bind_field(expr, binder);
    case syntax::ExprKind::kArray:
      return std::ranges::any_of(expr.args, [&](const syntax::Expr& each) { return needs_row(each); })
                 ? bind_array_of_row(expr, binder)
                 : bind_array_value(expr);
    case syntax::ExprKind::kRow: {
      Fields fields;
      for (const syntax::Expr& arg : expr.args) fields.emplace_back("", binder.bind(arg));
      return record_of(std::move(fields), expr.where);
    }
    default:
      return bind_bits(expr, binder);
  }
}

Expr SelectBinder::bind_subscript(const syntax::Expr& expr, ExpressionBinder& binder) {
  std::vector<Expr> args;
  args.push_back(binder.bind(expr.args[0]));
  args.push_back(binder.bind(expr.args[1]));
  if (!is_unknown(args[0]) && !args[0].type.is_string()) {
    refuse_as(sqlstate::kDatatypeMismatch, expr.where,
              "cannot subscript type {} because it does not support subscripting", to_string(args[0].type));
  }
  if (!is_unknown(args[1]) && !args[1].type.is_integer())
    refuse_as(sqlstate::kDatatypeMismatch, expr.where, "array subscript must have type integer");
  // The one name, which is text here, whose characters clients ask for; they are counted from 0.
  if (expr.args[0].kind == syntax::ExprKind::kReference && expr.args[0].text == "typname")
    return call_provided("mneme_name_character", std::move(args), expr.where);
  const Type type = element_of(args[0].type);
  Expr element = call_provided("mneme_array_element", std::move(args), expr.where);
  return convert_explicitly(std::move(element), type);
}

Expr SelectBinder::bind_field(const syntax::Expr& expr, ExpressionBinder& binder) {
  // (table).column is table.column.
  const syntax::Expr& whole = expr.args[0];
  if (whole.kind == syntax::ExprKind::kReference && whole.qualifier.empty() &&
      scope_.has_source(whole.text)) {
    if (std::optional<Expr> column = scope_.find(whole.text, expr.text, expr.where))
      return *std::move(column);
  }
  if (whole.kind == syntax::ExprKind::kRow) {
    // The columns of ROW(a, b) are f1 and f2.
    for (size_t i = 0; i < whole.args.size(); ++i) {
      if (expr.text == "f" + std::to_string(i + 1)) return binder.bind(whole.args[i]);
    }
    refuse_as(sqlstate::kUndefinedColumn, expr.where, "could not identify column \"{}\" in record data type",
              expr.text);
  }
  return field_of(binder.bind(whole), expr);
}

Expr SelectBinder::field_of(Expr value, const syntax::Expr& field) {
  if (!(value.type == kExpandedType)) {
    refuse_as(sqlstate::kWrongObject, field.where,
              "column notation .{} applied to type {}, which is not a composite type", field.text,
              is_unknown(value) ? "unknown" : to_string(value.type));
  }
  if (field.text != "x" && field.text != "n") {
    refuse_as(sqlstate::kUndefinedColumn, field.where, "could not identify column \"{}\" in record data type",
              field.text);
  }
  const bool is_number = field.text == "n";
  std::vector<Expr> args;
  args.push_back(std::move(value));
  args.push_back(count_constant(is_number ? 2 : 1, field.where));
  Expr result = call_provided("mneme_field", std::move(args), field.where);
  if (is_number) result.type = kIntegerType;
  return result;
}

// Arrays are texts here. A literal is read element by element; an array of one type serves as one of a wider.
Expr SelectBinder::cast_to_array(Expr array, const syntax::Expr& cast, ExpressionBinder& binder) {
  const std::string& name = cast.type.base;
  const bool is_text = is_name_type(name) || name.starts_with("reg");
  const bool is_number = is_number_type(name);
  const bool has_own_digits =
      (name == "numeric" || name == "decimal" || name == "dec") && cast.type.modifiers.empty();
  Type element = kDecimalType;
  if (is_text) element = text_type();
  if (is_number) element = kOidType;
  if (!is_text && !is_number && !has_own_digits) {
    element = binder_.names_.read_type(cast.type);
    element.is_array = false;
  }
  if (is_unknown(array) && array.kind == ir::ExprKind::kConstant && !array.constant.is_null())
    return name.starts_with("reg") ? convert_explicitly(std::move(array), text_type())
                                   : binder.spell_array(std::move(array), element);
  const TypeKind from = array.type.elements;
  const TypeKind to = element.kind == TypeKind::kSmallInt ? TypeKind::kInt : element.kind;
  const bool is_listed = array.type.is_string() && array.type.length == 0 && from == TypeKind::kNull &&
                         (array.kind == ir::ExprKind::kColumn || array.kind == ir::ExprKind::kQuery);
  const bool is_wider = (from == TypeKind::kInt || from == TypeKind::kSmallInt) && to == TypeKind::kBigInt;
  // What PostgreSQL casts element by element, by their texts.
  const bool is_text_source = from == TypeKind::kVarchar;
  const bool is_integer_source =
      from == TypeKind::kInt || from == TypeKind::kSmallInt || from == TypeKind::kBigInt;
  // Elements that their type's modifiers may change.
  const bool is_narrow = element.length != 0 || (element.precision != 0 && element.is_number()) ||
                         element.kind == TypeKind::kSmallInt;
  const Type source = is_array_form(array.type) ? declared_element(array.type) : Type();
  const bool are_akin = (source.is_number() && element.is_number()) ||
                        (source.is_string() && !has_read_form(source) && !is_name(source));
  if (from != TypeKind::kNull && is_narrow && are_akin && !is_number && !is_vector(array.type)) {
    Expr each = nodes::make(ir::ExprKind::kCast, array_form(element), cast.where);
    each.explicit_cast = true;
    each.args.push_back(std::move(array));
    return each;
  }
  const bool is_cast_each =
      is_text_source || (is_integer_source && element.is_number() && !is_text && !is_number);
  const bool is_printed = from != TypeKind::kNull && from != TypeKind::kBoolean &&
                          (to == TypeKind::kVarchar) && element.length == 0;
  if (!is_unknown(array) && !is_listed && from != to && !is_wider && !is_printed && is_cast_each) {
    std::vector<Expr> args;
    args.push_back(std::move(array));
    args.push_back(count_constant(
        element.kind == TypeKind::kEnum ? -int64_t{element.enumeration} : int64_t{oid_of(element)},
        cast.where));
    array = call_provided("mneme_array_as", std::move(args), cast.where);
    array.type = array_type_of(element);
    return array;
  }
  if (!is_unknown(array) && !is_listed && from != to && !is_wider && !is_printed) {
    refuse_as(sqlstate::kNotSupported, cast.where,
              "this cast to {}[] is not supported; cast a literal, or the elements before they are collected",
              name);
  }
  array = convert_explicitly(std::move(array), text_type());
  array.type = array_type_of(element);
  return array;
}

// ARRAY[a, b]::type[] is ARRAY[a::type, b::type].
Expr SelectBinder::bind_array_cast(const syntax::Expr& cast, ExpressionBinder& binder) {
  syntax::Expr array = cast.args[0];
  for (syntax::Expr& element : array.args) {
    syntax::Expr each = cast;
    each.type.is_array = false;
    each.args[0] = std::move(element);
    element = std::move(each);
  }
  if (array.args.empty()) return cast_to_array(bind_array_value(array), cast, binder);
  return bind_array_value(array);
}

// Whether a part of the expression has a value in this SELECT's rows alone, and so none in VALUES.
bool SelectBinder::needs_row(const syntax::Expr& expr) const {
  if (expr.kind == syntax::ExprKind::kCall &&
      (expr.window || is_aggregate(expr.text) || is_set_function(expr.text)))
    return true;
  return std::ranges::any_of(expr.args, [&](const syntax::Expr& arg) { return needs_row(arg); });
}

// The elements are appended one by one.
Expr SelectBinder::bind_array_of_row(const syntax::Expr& expr, ExpressionBinder& binder) {
  std::vector<Expr> elements;
  for (const syntax::Expr& element : expr.args) {
    elements.push_back(with_own_digits_if_numeric(binder.bind(element)));
    if (elements.back().type.elements != TypeKind::kNull)
      refuse_as(sqlstate::kNotSupported, element.where, "arrays of several dimensions are not supported");
  }
  std::vector<Expr*> results;
  for (Expr& element : elements) results.push_back(&element);
  binder.give_own_digits(results);
  bool text_varies = false;
  const Type type = array_type_of(unify_results(results, "ARRAY", text_varies));
  Expr array = nodes::make(ExprKind::kConstant, type, expr.where);
  array.constant = Value::of_text("{}");
  for (Expr& element : elements) {
    std::vector<Expr> args;
    args.push_back(std::move(array));
    args.push_back(std::move(element));
    array = call_provided("array_append", std::move(args), expr.where);
    array.type = type;
  }
  return array;
}

// ARRAY[a, b] is ARRAY(VALUES (a), (b)).
Expr SelectBinder::bind_array_value(const syntax::Expr& expr) {
  for (const syntax::Expr& element : expr.args) {
    if (element.kind == syntax::ExprKind::kArray || element.kind == syntax::ExprKind::kArrayQuery)
      refuse_as(sqlstate::kNotSupported, element.where, "arrays of several dimensions are not supported");
  }
  auto values = std::make_shared<syntax::Query>();
  values->where = values->first.where = expr.where;
  for (const syntax::Expr& element : expr.args) values->first.rows.push_back({element});
  syntax::Expr array;
  array.kind = syntax::ExprKind::kArrayQuery;
  array.where = expr.where;
  array.query = std::move(values);
  return bind_query(array);
}

// A literal beside an array is an array's, too.
Expr SelectBinder::concat_arrays(Expr left, Expr right, ir::SourceLocation where) {
  const bool left_is_array = left.type.elements != TypeKind::kNull;
  const bool right_is_array = right.type.elements != TypeKind::kNull;
  const bool both = (left_is_array || is_unknown(left)) && (right_is_array || is_unknown(right));
  const char* function = both ? "array_cat" : left_is_array ? "array_append" : "array_prepend";
  const Type type = left_is_array ? left.type : right.type;
  const auto group = [](TypeKind kind) {
    const bool is_integer =
        kind == TypeKind::kSmallInt || kind == TypeKind::kInt || kind == TypeKind::kBigInt;
    return is_integer                   ? TypeKind::kInt
           : kind == TypeKind::kChar    ? TypeKind::kVarchar
           : kind == TypeKind::kNumeric ? TypeKind::kDecimal
                                        : kind;
  };
  for (const Expr* side : {&left, &right}) {
    if (is_unknown(*side)) continue;
    const TypeKind kind = side->type.elements != TypeKind::kNull ? side->type.elements : side->type.kind;
    // An integer's text is a numeric's text, too.
    const bool is_widened = group(kind) == TypeKind::kInt && type.elements == TypeKind::kDecimal;
    if (group(kind) == group(type.elements) || is_widened) continue;
    refuse_as(sqlstate::kUndefinedFunction, where, "operator does not exist: {} || {}", to_string(left.type),
              to_string(right.type));
  }
  std::vector<Expr> args;
  args.push_back(std::move(left));
  args.push_back(std::move(right));
  for (Expr& arg : args) {
    if (is_unknown(arg) && arg.kind == ir::ExprKind::kConstant && !arg.constant.is_null() &&
        !array_elements(arg.constant.as_text())) {
      refuse_as(sqlstate::kInvalidText, arg.where, "malformed array literal: \"{}\"", arg.constant.as_text());
    }
    if (is_unknown(arg)) arg = convert_explicitly(std::move(arg), type);
  }
  return call_provided(function, std::move(args), where);
}

Expr SelectBinder::bind_bits(const syntax::Expr& expr, ExpressionBinder& binder) {
  const bool shifts = expr.text == "<<" || expr.text == ">>";
  std::vector<Expr> args;
  for (const syntax::Expr& arg : expr.args) args.push_back(binder.bind(arg));
  if (std::optional<Expr> form = bind_form_call(expr.text, args, expr.where)) return *std::move(form);
  constexpr std::array<std::string_view, 8> kOfJson = {"->", "->>", "#>", "#>>", "#-", "?", "?|", "?&"};
  if (std::ranges::find(kOfJson, expr.text) != kOfJson.end()) {
    const auto shown = [](const Expr& arg) { return is_unknown(arg) ? "unknown" : message_name(arg.type); };
    throw SourceError{
        expr.where,
        fmt::format("operator does not exist: {} {} {}", shown(args[0]), expr.text, shown(args[1])),
        sqlstate::kUndefinedFunction,
        "No operator matches the given name and argument types. You might need to add explicit type casts."};
  }
  if (expr.text == "@>" || expr.text == "<@" || expr.text == "&&") {
    const bool is_array =
        args[0].type.elements != TypeKind::kNull || args[1].type.elements != TypeKind::kNull;
    if (!is_array)
      refuse_as(sqlstate::kUndefinedFunction, expr.where, "operator {} is for arrays alone", expr.text);
    if (expr.text == "<@") std::swap(args[0], args[1]);
    return call_provided(expr.text == "&&" ? "mneme_array_overlaps" : "mneme_array_contains", std::move(args),
                         expr.where);
  }
  const auto name_of = [](const Expr& arg) { return is_unknown(arg) ? "unknown" : to_string(arg.type); };
  const auto undefined = [&] {
    refuse_as(sqlstate::kUndefinedFunction, expr.where, "operator does not exist: {}{}{}",
              args.size() > 1 ? name_of(args[0]) + " " : "", expr.text + " ", name_of(args.back()));
  };
  if (is_unknown(args[0]) && is_unknown(args.back()))
    refuse_as("42725", expr.where, "operator is not unique: unknown {} unknown", expr.text);
  if (args.size() > 1 && is_unknown(args[1]))
    args[1] = convert_explicitly(std::move(args[1]), shifts ? kIntegerType : args[0].type);
  if (is_unknown(args[0])) args[0] = convert_explicitly(std::move(args[0]), args[1].type);
  for (const Expr& arg : args) {
    if (!arg.type.is_integer()) undefined();
  }
  if (shifts && args[1].type.kind == TypeKind::kBigInt) undefined();
  Type type = args[0].type;
  if (!shifts && args.size() > 1 && bits_of(args[1].type) > bits_of(type)) type = args[1].type;
  if (shifts) args.push_back(count_constant(bits_of(type), expr.where));
  constexpr std::array<std::pair<std::string_view, const char*>, 6> kFunctions{{{"&", "mneme_and"},
                                                                                {"|", "mneme_or"},
                                                                                {"#", "mneme_xor"},
                                                                                {"~", "mneme_not"},
                                                                                {"<<", "mneme_left"},
                                                                                {">>", "mneme_right"}}};
  for (const auto& [text, function] : kFunctions) {
    if (text != expr.text) continue;
    Expr result = call_provided(function, std::move(args), expr.where);
    result.type = type;
    return result;
  }
  CHECK(false && "a bit operator");
  return {};
}

}  // namespace mneme::query
