// SelectBinder's arrays, composite values and bits: what functions of the provider compute, as no procedure
// has them.
#include <array>
#include <utility>

#include "procedures/binder/conversion.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/values/decimal.h"

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

// An element of an array has this type once it is taken out of the array's text.
Type element_type(const Expr& array) {
  switch (array.type.elements) {
    case TypeKind::kNull:
    case TypeKind::kVarchar:
    case TypeKind::kChar:
      return text_type();
    case TypeKind::kNumeric:
    case TypeKind::kDecimal:
      return kDecimalType;
    default:
      return Type{.kind = array.type.elements};
  }
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
      return bind_array_value(expr);
    default:
      return bind_bits(expr, binder);
  }
}

Expr SelectBinder::bind_item(const syntax::Expr& expr) {
  const auto gives_rows = [](const syntax::Expr& each) {
    return each.kind == syntax::ExprKind::kCall && is_set_function(each.text);
  };
  if (gives_rows(expr)) return bind_set_item(expr);
  if (expr.kind == syntax::ExprKind::kField && gives_rows(expr.args[0]))
    return field_of(bind_set_item(expr.args[0]), expr);
  return bind(expr);
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
  const Type type = element_type(args[0]);
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

// ARRAY[a, b] is ARRAY(VALUES (a), (b)).
Expr SelectBinder::bind_array_value(const syntax::Expr& expr) {
  auto values = std::make_shared<syntax::Query>();
  values->where = values->first.where = expr.where;
  for (const syntax::Expr& element : expr.args) values->first.rows.push_back({element});
  syntax::Expr array;
  array.kind = syntax::ExprKind::kArrayQuery;
  array.where = expr.where;
  array.query = std::move(values);
  return bind_query(array);
}

Expr SelectBinder::bind_bits(const syntax::Expr& expr, ExpressionBinder& binder) {
  const bool shifts = expr.text == "<<" || expr.text == ">>";
  std::vector<Expr> args;
  for (const syntax::Expr& arg : expr.args) args.push_back(binder.bind(arg));
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
