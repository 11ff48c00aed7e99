// SelectBinder's aggregates: which there are, and the calls of them.
#include <algorithm>
#include <array>
#include <utility>

#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"
#include "procedures/values/type_oids.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;

namespace {

// The aggregates, and the kind of each.
constexpr std::array<std::pair<std::string_view, Aggregate::Kind>, 35> kAggregates = {{
    {"count", Aggregate::Kind::kCount},
    {"sum", Aggregate::Kind::kSum},
    {"avg", Aggregate::Kind::kAverage},
    {"min", Aggregate::Kind::kMin},
    {"max", Aggregate::Kind::kMax},
    {"bool_and", Aggregate::Kind::kEvery},
    {"every", Aggregate::Kind::kEvery},
    {"bool_or", Aggregate::Kind::kAny},
    {"string_agg", Aggregate::Kind::kConcatenation},
    {"array_agg", Aggregate::Kind::kArray},
    {"bit_and", Aggregate::Kind::kBitAnd},
    {"bit_or", Aggregate::Kind::kBitOr},
    {"bit_xor", Aggregate::Kind::kBitXor},
    {"variance", Aggregate::Kind::kVariance},
    {"var_samp", Aggregate::Kind::kVariance},
    {"var_pop", Aggregate::Kind::kPopulationVariance},
    {"stddev", Aggregate::Kind::kDeviation},
    {"stddev_samp", Aggregate::Kind::kDeviation},
    {"stddev_pop", Aggregate::Kind::kPopulationDeviation},
    {"percentile_cont", Aggregate::Kind::kPercentile},
    {"percentile_disc", Aggregate::Kind::kPercentileDisc},
    {"mode", Aggregate::Kind::kMode},
    {"grouping", Aggregate::Kind::kGrouping},
    {"corr", Aggregate::Kind::kRegression},
    {"covar_pop", Aggregate::Kind::kRegression},
    {"covar_samp", Aggregate::Kind::kRegression},
    {"regr_avgx", Aggregate::Kind::kRegression},
    {"regr_avgy", Aggregate::Kind::kRegression},
    {"regr_count", Aggregate::Kind::kRegression},
    {"regr_intercept", Aggregate::Kind::kRegression},
    {"regr_r2", Aggregate::Kind::kRegression},
    {"regr_slope", Aggregate::Kind::kRegression},
    {"regr_sxx", Aggregate::Kind::kRegression},
    {"regr_sxy", Aggregate::Kind::kRegression},
    {"regr_syy", Aggregate::Kind::kRegression},
}};

Aggregate::Regression regression_named(std::string_view name) {
  using Regression = Aggregate::Regression;
  constexpr std::pair<std::string_view, Regression> kRegressions[] = {
      {"corr", Regression::kCorrelation},
      {"covar_pop", Regression::kCovariance},
      {"covar_samp", Regression::kSampleCovariance},
      {"regr_avgx", Regression::kAverageX},
      {"regr_avgy", Regression::kAverageY},
      {"regr_count", Regression::kCount},
      {"regr_intercept", Regression::kIntercept},
      {"regr_r2", Regression::kFit},
      {"regr_slope", Regression::kSlope},
      {"regr_sxx", Regression::kSumXX},
      {"regr_sxy", Regression::kSumXY},
      {"regr_syy", Regression::kSumYY}};
  const auto* const found =
      std::ranges::find(kRegressions, name, &std::pair<std::string_view, Regression>::first);
  return found == std::end(kRegressions) ? Regression::kNone : found->second;
}

Type type_of_aggregate(Aggregate::Kind kind, const Type& argument, const syntax::Expr& call) {
  const auto undefined = [&] {
    refuse_as(sqlstate::kUndefinedFunction, call.where, "function {}({}) does not exist", call.text,
              to_string(argument));
  };
  switch (kind) {
    case Aggregate::Kind::kCountRows:
    case Aggregate::Kind::kCount:
      return kCountType;
    case Aggregate::Kind::kSum:
    case Aggregate::Kind::kAverage:
      if (argument.kind == TypeKind::kInterval) return Type{.kind = TypeKind::kInterval};
      if (!argument.is_number()) undefined();
      if (argument.is_floating())
        return kind == Aggregate::Kind::kSum ? argument : Type{.kind = TypeKind::kDouble};
      if (kind == Aggregate::Kind::kAverage || argument.kind == TypeKind::kBigInt || !argument.is_integer())
        return kDecimalType;
      return kCountType;
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax:
      if (argument.kind == TypeKind::kBoolean || has_read_form(argument) || is_record(argument)) undefined();
      if (argument.elements != TypeKind::kNull && has_read_form(element_of(argument))) undefined();
      if (argument.elements != TypeKind::kNull) return without_modifiers(argument);
      if (argument.kind == TypeKind::kTimestamp)
        return Type{.kind = TypeKind::kTimestamp, .is_zoned = argument.is_zoned};
      if (argument.kind == TypeKind::kInterval) return Type{.kind = TypeKind::kInterval};
      if (argument.kind == TypeKind::kTime) return Type{.kind = TypeKind::kTime};
      return argument.kind == TypeKind::kVarchar ? text_type() : argument;
    case Aggregate::Kind::kEvery:
    case Aggregate::Kind::kAny:
      if (argument.kind != TypeKind::kBoolean) undefined();
      return kTruthType;
    case Aggregate::Kind::kConcatenation:
      break;
    case Aggregate::Kind::kBitAnd:
    case Aggregate::Kind::kBitOr:
    case Aggregate::Kind::kBitXor:
      if (!argument.is_integer()) undefined();
      return argument;
    case Aggregate::Kind::kVariance:
    case Aggregate::Kind::kPopulationVariance:
    case Aggregate::Kind::kDeviation:
    case Aggregate::Kind::kPopulationDeviation:
      if (!argument.is_number()) undefined();
      return argument.is_floating() ? Type{.kind = TypeKind::kDouble} : kDecimalType;
    case Aggregate::Kind::kPercentile:
      if (argument.kind == TypeKind::kInterval) {
        refuse_as(sqlstate::kNotSupported, call.where,
                  "{}() of intervals is not supported; take that of extract(epoch FROM ...)", call.text);
      }
      if (!argument.is_number()) undefined();
      return Type{.kind = TypeKind::kDouble};
    case Aggregate::Kind::kPercentileDisc:
    case Aggregate::Kind::kMode:
      return argument.kind == TypeKind::kVarchar ? text_type() : argument;
    case Aggregate::Kind::kGrouping:
      return Type{.kind = TypeKind::kInt};
    case Aggregate::Kind::kRegression:
      return call.text == "regr_count" ? kCountType : Type{.kind = TypeKind::kDouble};
    case Aggregate::Kind::kArray:
      if (argument.elements != TypeKind::kNull)
        refuse_as(sqlstate::kNotSupported, call.where, "arrays of several dimensions are not supported");
      if (is_record(argument))
        refuse_as(sqlstate::kNotSupported, call.where, "arrays of records are not supported; use json_agg()");
      return array_type_of(argument);
  }
  if (is_form(argument, TextForm::kBytea))
    refuse_as(sqlstate::kNotSupported, call.where, "string_agg() of bytea is not supported");
  if (!argument.is_string() || has_read_form(argument) || is_record(argument)) undefined();
  return text_type();
}

}  // namespace

bool same_aggregate(const Aggregate& a, const Aggregate& b) {
  const auto same = [](const std::optional<Expr>& one, const std::optional<Expr>& other) {
    return one.has_value() == other.has_value() && (!one || same_expression(*one, *other));
  };
  return a.kind == b.kind && a.regression == b.regression && a.distinct == b.distinct && a.type == b.type &&
         same(a.argument, b.argument) && same(a.separator, b.separator) && same(a.filter, b.filter) &&
         std::ranges::equal(a.grouped, b.grouped, same_expression) &&
         std::ranges::equal(a.order, b.order, [](const RowOrder& one, const RowOrder& other) {
           return one.descending == other.descending && one.nulls_first == other.nulls_first &&
                  same_expression(one.expr, other.expr);
         });
}

bool SelectBinder::is_aggregate(const std::string& function) const {
  return std::ranges::find(kAggregates, function, &decltype(kAggregates)::value_type::first) !=
         kAggregates.end();
}

// The caller has seen to it that one may stand here.
Aggregate SelectBinder::bind_aggregate_parts(const syntax::Expr& call) {
  Aggregate aggregate;
  aggregate.kind =
      std::ranges::find(kAggregates, call.text, &decltype(kAggregates)::value_type::first)->second;
  aggregate.distinct = call.distinct;
  const bool is_percentile =
      aggregate.kind == Aggregate::Kind::kPercentile || aggregate.kind == Aggregate::Kind::kPercentileDisc;
  const bool takes_group = is_percentile || aggregate.kind == Aggregate::Kind::kMode;
  if (takes_group != call.within_group) {
    if (takes_group) {
      refuse_as(sqlstate::kUndefinedFunction, call.where,
                "WITHIN GROUP is required for ordered-set aggregate {}", call.text);
    }
    refuse_as(sqlstate::kUndefinedFunction, call.where,
              "{} is not an ordered-set aggregate, so it cannot have WITHIN GROUP", call.text);
  }
  if (takes_group) {
    bind_within_group(call, is_percentile, aggregate);
    bind_filter(call, aggregate);
    return aggregate;
  }
  const bool is_regression = aggregate.kind == Aggregate::Kind::kRegression;
  const size_t wanted = is_regression || aggregate.kind == Aggregate::Kind::kConcatenation ? 2 : 1;
  if (is_regression && call.distinct)
    refuse_as(sqlstate::kNotSupported, call.where, "{}(DISTINCT ...) is not supported", call.text);
  if (call.star) {
    if (aggregate.kind != Aggregate::Kind::kCount)
      refuse_as(sqlstate::kUndefinedFunction, call.where, "function {}() does not exist", call.text);
    aggregate.kind = Aggregate::Kind::kCountRows;
    aggregate.type = kCountType;
  } else {
    if (call.args.size() != wanted)
      refuse_as(sqlstate::kUndefinedFunction, call.where, "{}() takes {} argument{}, and here are {}",
                call.text, wanted, wanted == 1 ? "" : "s", call.args.size());
    Expr argument = bind(call.args[0]);
    if (is_regression) {
      Expr x = bind(call.args[1]);
      for (Expr* side : {&argument, &x}) {
        if (!is_unknown(*side) && !side->type.is_number()) {
          refuse_as(sqlstate::kUndefinedFunction, call.where, "function {}({}) does not exist", call.text,
                    to_string(side->type));
        }
        *side = convert_explicitly(std::move(*side), Type{.kind = TypeKind::kDouble});
      }
      aggregate.regression = regression_named(call.text);
      aggregate.separator = binder_.finish(std::move(x));
    }
    const bool is_truth =
        aggregate.kind == Aggregate::Kind::kEvery || aggregate.kind == Aggregate::Kind::kAny;
    if (is_unknown(argument) && is_truth) argument = convert_explicitly(std::move(argument), kTruthType);
    argument = resolve_as_text(std::move(argument));
    aggregate.type = type_of_aggregate(aggregate.kind, argument.type, call);
    aggregate.argument = binder_.finish(std::move(argument));
    if (wanted == 2 && !is_regression)
      aggregate.separator = binder_.finish(convert_to_text(bind(call.args[1])));
  }
  bind_filter(call, aggregate);
  if (call.order) bind_aggregate_order(*call.order, aggregate);
  const bool shows_order =
      aggregate.kind == Aggregate::Kind::kConcatenation || aggregate.kind == Aggregate::Kind::kArray;
  // PostgreSQL sorts what it takes once.
  if (aggregate.distinct && shows_order) {
    for (const RowOrder& key : aggregate.order) {
      const bool is_argument = same_expression(key.expr, *aggregate.argument) ||
                               (aggregate.separator && same_expression(key.expr, *aggregate.separator));
      if (!is_argument)
        refuse_as(sqlstate::kInvalidReference, call.where,
                  "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list");
    }
    aggregate.order.push_back({*aggregate.argument, false, false});
  }
  return aggregate;
}

void SelectBinder::bind_aggregate_order(const std::vector<syntax::OrderItem>& order, Aggregate& aggregate) {
  for (const syntax::OrderItem& item : order) {
    aggregate.order.push_back({binder_.finish(order_key(bind_value(item.expr), item.expr.where)),
                               item.descending, item.nulls_first.value_or(item.descending)});
  }
}

// percentile_cont(fraction) WITHIN GROUP (ORDER BY value), and its kind.
void SelectBinder::bind_within_group(const syntax::Expr& call, bool is_percentile, Aggregate& aggregate) {
  constexpr Type kFraction{.kind = TypeKind::kDouble};
  if (call.star || call.args.size() != (is_percentile ? 1 : 0) || call.order->size() != 1) {
    refuse_as(sqlstate::kUndefinedFunction, call.where,
              "{}() takes {}, and WITHIN GROUP one value to sort by", call.text,
              is_percentile ? "one fraction" : "no argument");
  }
  if (is_percentile) {
    const bool is_array = call.args[0].kind == syntax::ExprKind::kArray;
    if (is_array)
      refuse_as(sqlstate::kNotSupported, call.where, "{}() of several fractions is not supported", call.text);
    ExpressionBinder binder(binder_.names_, binder_.strings_, this);
    Expr fraction = binder.bind(call.args[0]);
    if (!is_unknown(fraction) && !fraction.type.is_number())
      refuse_as(sqlstate::kUndefinedFunction, call.where, "function {}({}) does not exist", call.text,
                to_string(fraction.type));
    aggregate.separator = binder_.finish(convert_explicitly(std::move(fraction), kFraction));
  }
  bind_aggregate_order(*call.order, aggregate);
  aggregate.type = type_of_aggregate(aggregate.kind, aggregate.order[0].expr.type, call);
  aggregate.argument = aggregate.order[0].expr;
  if (aggregate.kind == Aggregate::Kind::kPercentile)
    aggregate.argument = binder_.finish(convert_explicitly(*std::move(aggregate.argument), kFraction));
}

void SelectBinder::bind_filter(const syntax::Expr& call, Aggregate& aggregate) {
  if (!call.filter) return;
  const bool in_aggregate = std::exchange(in_aggregate_, false);
  const bool in_window = std::exchange(in_window_, false);
  const bool aggregates = std::exchange(allows_aggregates_, false);
  const bool windows = std::exchange(allows_windows_, false);
  const std::string_view clause = std::exchange(clause_, "FILTER");
  ExpressionBinder condition(binder_.names_, binder_.strings_, this);
  aggregate.filter = binder_.finish(condition.bind_condition(*call.filter));
  clause_ = clause;
  allows_windows_ = windows;
  allows_aggregates_ = aggregates;
  in_window_ = in_window;
  in_aggregate_ = in_aggregate;
}

Expr SelectBinder::bind_aggregate(const syntax::Expr& call) {
  const std::vector<size_t> captured = scope_.count_captured();
  const bool is_nested = std::exchange(in_aggregate_, true);
  RowScope::Noting noting(scope_);
  Aggregate aggregate;
  if (call.text == "grouping" && !call.star && !call.args.empty()) {
    aggregate.kind = Aggregate::Kind::kGrouping;
    aggregate.type = type_of_aggregate(aggregate.kind, Type(), call);
    for (const syntax::Expr& arg : call.args) aggregate.grouped.push_back(binder_.finish(bind_value(arg)));
  } else {
    aggregate = bind_aggregate_parts(call);
  }
  in_aggregate_ = is_nested;
  noting.add_to_around();
  // Where it names columns of queries around this one, and none of this one, SQL makes it an aggregate of the
  // innermost of those queries; also where they are folded away.
  const RowScope::Mentions& named = noting.mentions();
  if (!named.names_own && !named.outer.empty()) return scope_.bind_outside(call, named.outer, captured);
  if (is_nested) refuse_as(sqlstate::kGrouping, call.where, "aggregate function calls cannot be nested");
  if (!allows_aggregates_)
    refuse_as(sqlstate::kGrouping, call.where, "aggregate functions are not allowed in {}", clause_);
  Expr result;
  result.kind = ExprKind::kAggregate;
  result.type = aggregate.type;
  result.where = call.where;
  std::vector<Aggregate>& all = select_->aggregates;
  const auto known =
      std::ranges::find_if(all, [&](const Aggregate& each) { return same_aggregate(each, aggregate); });
  result.aggregate = static_cast<uint32_t>(known - all.begin());
  if (known == all.end()) all.push_back(std::move(aggregate));
  return result;
}

}  // namespace mneme::query
