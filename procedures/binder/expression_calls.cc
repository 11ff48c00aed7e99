// ExpressionBinder's calls. It binds aggregates here, and functions with rules of their own. Other calls go
// to the query's binder, to the called routine, or to the functions (function_binder.cc).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/schema/array_form.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/array_text.h"
#include "procedures/values/type_oids.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using nodes::kInt;
using nodes::make;

namespace {

// A transaction has one time, that at which it began.
bool is_call_time(const syntax::Expr& expr) {
  return expr.args.empty() && !expr.star &&
         (expr.text == "now" || expr.text == "transaction_timestamp" || expr.text == "statement_timestamp");
}

// CURRENT_TIMESTAMP(3): so many digits of a second.
bool is_rounded_time(const syntax::Expr& expr) {
  return (expr.text == "current_timestamp" || expr.text == "localtimestamp") && expr.args.size() == 1 &&
         expr.args[0].kind == syntax::ExprKind::kInteger && expr.args[0].text.size() == 1;
}

}  // namespace

bool is_aggregate(std::string_view function) {
  return function == "count" || function == "sum" || function == "min" || function == "max" ||
         function == "avg";
}

// date(x) casts x to date. A type casts in this way if its name is no keyword.
static std::optional<syntax::Expr> cast_by_name(const syntax::Expr& call) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "bool", "bytea", "date",  "float4", "float8", "int2",       "int4",
      "int8", "json",  "jsonb", "text",   "uuid",   "timestamptz"};
  if (call.args.size() != 1 || std::ranges::find(kNames, call.text) == kNames.end()) return std::nullopt;
  syntax::Expr cast = syntax::make_expression(syntax::ExprKind::kCast, call.where);
  cast.type.base = call.text;
  cast.type.where = call.where;
  cast.args.push_back(call.args[0]);
  return cast;
}

// They depend on their argument's type alone, but for the bounds of enum_range(), which are constants here.
Expr ExpressionBinder::bind_enum_function(const syntax::Expr& expr) {
  std::vector<Expr> args;
  for (const syntax::Expr& each : expr.args) args.push_back(bind(each));
  const auto is_enum = [](const Expr& arg) { return arg.type.kind == TypeKind::kEnum; };
  const auto typed = std::ranges::find_if(args, is_enum);
  const size_t most = expr.text == "enum_range" ? 2 : 1;
  if (typed == args.end() || args.size() > most) {
    refuse_as(sqlstate::kUndefinedFunction, expr.where, "function {}({}) does not exist", expr.text,
              args.empty() ? "" : message_name(args[0].type));
  }
  const Type type = typed->type;
  const std::vector<EnumLabel>& labels = enum_definition(type).labels;
  if (expr.text != "enum_range") {
    Expr value = make(ExprKind::kConstant, type, expr.where);
    if (!labels.empty())
      value.constant = Value::of_int((expr.text == "enum_first" ? labels.front() : labels.back()).position);
    return value;
  }
  std::vector<const Value*> bounds(2, nullptr);
  for (size_t i = 0; i < args.size() && args.size() == 2; ++i) {
    if (is_unknown(args[i])) args[i] = resolve_literal(std::move(args[i]), type);
    if (args[i].kind != ExprKind::kConstant || !(args[i].type == type)) {
      refuse_as(sqlstate::kNotSupported, args[i].where,
                "the bounds of enum_range() are constants here; compare the labels of enum_range() to them");
    }
    if (!args[i].constant.is_null()) bounds[i] = &args[i].constant;
  }
  fmt::memory_buffer text;
  text.push_back('{');
  for (const EnumLabel& label : labels) {
    if (bounds[0] != nullptr && label.position < bounds[0]->as_int()) continue;
    if (bounds[1] != nullptr && label.position > bounds[1]->as_int()) continue;
    if (text.size() > 1) text.push_back(',');
    append_array_element(label.text, text);
  }
  text.push_back('}');
  Expr value = make(ExprKind::kConstant, array_type_of(type), expr.where);
  value.constant = Value::of_text(strings_.emplace_back(fmt::to_string(text)));
  return value;
}

Expr ExpressionBinder::bind_call(const syntax::Expr& expr) {
  if (!expr.qualifier.empty() && !names_.find_routine(expr.text))
    refuse_as(sqlstate::kUndefinedFunction, expr.where, "function {}{}() does not exist",
              expr.qualifier == kPublicSchema ? "public." : "", expr.text);
  if (expr.window) {
    if (query_ != nullptr) return query_->bind_window(expr);
    if (names_.allows_sequences() && sources_.empty())
      refuse_as(sqlstate::kWindowing, expr.where, "window functions are not allowed here");
    refuse_as(sqlstate::kNotSupported, expr.where,
              "window functions are not supported here; use ORDER BY with LIMIT, or a FOR loop");
  }
  if (query_ != nullptr && query_->is_aggregate(expr.text)) return query_->bind_aggregate(expr);
  if (expr.filter || expr.order) {
    refuse_as(sqlstate::kNotSupported, expr.where, "FILTER and ORDER BY are not supported in {}()",
              expr.text);
  }
  if (is_aggregate(expr.text)) return bind_aggregate(expr);
  if (expr.star || expr.distinct) refuse(expr.where, "{}() takes neither * nor DISTINCT", expr.text);
  if (expr.text == "cardinality") {
    if (expr.args.size() != 1) refuse(expr.where, "cardinality() takes one array");
    if (query_ != nullptr && expr.args[0].kind != syntax::ExprKind::kParameter) {
      syntax::Expr call = expr;
      call.text = "array_cardinality";
      if (std::optional<Expr> count = query_->bind_catalog_call(call, *this)) return *std::move(count);
    }
    Expr call = make(ExprKind::kFunction, kInt, expr.where);
    call.function = ir::Function::kCardinality;
    call.variable = bind_array(expr.args[0], "cardinality()");
    return call;
  }
  if (expr.args.empty() && !expr.star) {
    if (std::optional<Expr> value = bind_session_value(expr)) return *std::move(value);
  }
  if (expr.text == "nextval" || expr.text == "currval" || expr.text == "setval" || expr.text == "lastval")
    return bind_sequence(expr);
  if (is_rounded_time(expr)) {
    syntax::Expr whole = expr;
    whole.kind = syntax::ExprKind::kReference;
    whole.args.clear();
    syntax::TypeName type;
    type.base = expr.text == "localtimestamp" ? "timestamp" : "timestamptz";
    type.modifiers = {static_cast<uint32_t>(std::stoul(expr.args[0].text))};
    type.where = expr.where;
    return convert(bind(whole), names_.read_type(type));
  }
  if (is_call_time(expr)) {
    Expr time = make(ExprKind::kVariable, Type{.kind = TypeKind::kTimestamp, .is_zoned = true}, expr.where);
    time.variable = names_.call_time();
    return time;
  }
  if (query_ != nullptr) {
    if (std::optional<Expr> call = query_->bind_catalog_call(expr, *this)) return *std::move(call);
  }
  const bool is_one_value = names_.allows_sequences() || (names_.allows_draws() && sources_.empty());
  if (query_ == nullptr && expr.text == "gen_random_uuid" && expr.args.empty() && is_one_value) {
    names_.note_draw(expr.text, false, expr.where);
    std::vector<Expr> args;
    args.push_back(make(ExprKind::kConstant, kInt, expr.where));
    args.back().constant = Value::of_int(0);
    return nodes::make_call(ir::Function::kRandomUuid, kUuidType, std::move(args), expr.where);
  }
  if (expr.text == "age" && expr.args.size() == 1) {
    std::vector<Expr> times;
    times.push_back(bind_reference(syntax::reference("", "current_date", expr.where)));
    times.push_back(bind(expr.args[0]));
    return bind_interval_function(ir::Function::kAge, expr.text, std::move(times), expr.where);
  }
  if (!is_own_function(expr.text)) {
    names_.check_recursion(expr.text, expr.where);
    if (const syntax::Procedure* routine = names_.find_routine(expr.text))
      return bind_routine(expr, *routine);
  }
  if (std::optional<syntax::Expr> cast = cast_by_name(expr)) return bind(*cast);
  if (expr.text == "enum_range" || expr.text == "enum_first" || expr.text == "enum_last")
    return bind_enum_function(expr);
  if (query_ == nullptr || is_own_function(expr.text)) check_function(expr.text, expr.where);
  std::vector<Expr> args;
  for (const syntax::Expr& arg : in_order_of_parameters(expr)) args.push_back(bind(arg));
  if (query_ != nullptr) {
    if (std::optional<Expr> form = query_->bind_form_call(expr.text, args, expr.where))
      return *std::move(form);
  }
  if (query_ != nullptr) check_query_function(expr.text, args, expr.where);
  if (query_ != nullptr && (expr.text == "coalesce" || expr.text == "greatest" || expr.text == "least")) {
    std::vector<Expr*> results;
    for (Expr& arg : args) results.push_back(&arg);
    give_own_digits(results);
  }
  return bind_function(expr.text, std::move(args), expr.where, query_ != nullptr);
}

Expr ExpressionBinder::bind_aggregate(const syntax::Expr& expr) {
  if (!aggregates_ || in_aggregate_) {
    refuse_as(sqlstate::kGrouping, expr.where,
              "{}() is an aggregate and has its place in the select list of SELECT ... INTO only", expr.text);
  }
  if (expr.text == "avg") {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "avg() is not supported: it divides; use sum() and count(), and divide as double precision");
  }
  using Kind = ir::Aggregate::Kind;
  ir::Aggregate aggregate{Kind::kCountRows, expr.distinct, std::nullopt, Type{.kind = TypeKind::kBigInt}};
  if (expr.star) {
    if (expr.text != "count") refuse(expr.where, "{}(*) means nothing; name a column", expr.text);
  } else {
    if (expr.args.size() != 1) refuse(expr.where, "{}() takes one argument", expr.text);
    in_aggregate_ = true;
    aggregate.argument = bind_value(expr.args[0]);
    in_aggregate_ = false;
    const Type& type = aggregate.argument->type;
    aggregate.kind = expr.text == "count" ? Kind::kCount
                     : expr.text == "sum" ? Kind::kSum
                     : expr.text == "min" ? Kind::kMin
                                          : Kind::kMax;
    if (aggregate.kind == Kind::kSum) {
      const bool is_interval = type.kind == TypeKind::kInterval;
      if (!type.is_number() && !is_interval) refuse(expr.where, "sum() is for numbers and intervals");
      if (is_interval || type.kind == TypeKind::kDecimal) aggregate.type = Type{.kind = type.kind};
      if (type.kind == TypeKind::kBigInt) aggregate.type = numeric_type(0);
      if (type.kind == TypeKind::kNumeric) aggregate.type = numeric_type(type.scale);
      if (type.is_floating()) aggregate.type = type;
    } else if (aggregate.kind != Kind::kCount) {
      if (type.kind == TypeKind::kBoolean) refuse(expr.where, "{}() is not defined for boolean", expr.text);
      if (is_array_form(type))
        refuse_as(sqlstate::kNotSupported, expr.where, "{}() of arrays is supported in queries alone",
                  expr.text);
      aggregate.type = type.kind == TypeKind::kVarchar    ? text_type()
                       : type.kind == TypeKind::kInterval ? Type{.kind = TypeKind::kInterval}
                                                          : type;
    }
  }
  aggregates_->push_back(aggregate);
  Expr result = make(ExprKind::kAggregate, aggregate.type, expr.where);
  result.text_varies =
      aggregate.kind != Kind::kCount && aggregate.argument && aggregate.argument->text_varies;
  result.aggregate = static_cast<uint32_t>(aggregates_->size() - 1);
  return result;
}

}  // namespace mneme
