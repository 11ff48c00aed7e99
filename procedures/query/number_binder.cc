// SelectBinder's functions of numeric: those that PostgreSQL has of numeric and of double precision by the
// same name.
#include <algorithm>
#include <array>
#include <utility>

#include "procedures/binder/expression_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"

namespace mneme::query {

using ir::Expr;

namespace {

struct NumericFunction {
  std::string_view name;
  size_t arguments;
  const char* provided;
};
constexpr std::array kNumericFunctions = {
    NumericFunction{"sqrt", 1, "mneme_numeric_sqrt"},   NumericFunction{"exp", 1, "mneme_numeric_exp"},
    NumericFunction{"ln", 1, "mneme_numeric_ln"},       NumericFunction{"log", 1, "mneme_numeric_log"},
    NumericFunction{"log10", 1, "mneme_numeric_log"},   NumericFunction{"log", 2, "mneme_numeric_log"},
    NumericFunction{"power", 2, "mneme_numeric_power"}, NumericFunction{"pow", 2, "mneme_numeric_power"},
    NumericFunction{"gcd", 2, "mneme_numeric_gcd"},     NumericFunction{"lcm", 2, "mneme_numeric_lcm"}};

bool is_numeric(const Expr& arg) {
  return arg.type.is_exact() && !arg.type.is_integer();
}

// Whether PostgreSQL takes the function of numeric for these arguments: one is numeric, and the others may
// be. The logarithm to a base has no other.
bool takes_numeric(const NumericFunction& function, std::span<const Expr> args) {
  const auto may_be = [](const Expr& arg) { return is_unknown(arg) || arg.type.is_exact(); };
  const bool is_only = function.name == "log" && function.arguments == 2;
  return std::ranges::all_of(args, may_be) && (is_only || std::ranges::any_of(args, is_numeric));
}

}  // namespace

std::optional<Expr> SelectBinder::bind_numeric_call(const syntax::Expr& call, ExpressionBinder& binder) {
  if (binder_.provider_ == nullptr || call.star || call.distinct) return std::nullopt;
  const auto* const found = std::ranges::find_if(kNumericFunctions, [&](const NumericFunction& each) {
    return each.name == call.text && each.arguments == call.args.size();
  });
  if (found == kNumericFunctions.end()) return std::nullopt;
  std::vector<Expr> args;
  for (const syntax::Expr& arg : call.args) args.push_back(binder.bind(arg));
  // The operator |/ is of doubles alone.
  const bool is_root = call.text == "sqrt" && !call.column_name.empty();
  if (is_root && is_numeric(args[0])) {
    args[0] = convert_explicitly(std::move(args[0]), Type{.kind = TypeKind::kDouble});
    return bind_function(call.text, std::move(args), call.where, true);
  }
  if (!takes_numeric(*found, args)) return std::nullopt;
  for (Expr& arg : args) {
    arg =
        is_unknown(arg) ? convert_explicitly(std::move(arg), kDecimalType) : with_own_digits(std::move(arg));
  }
  if (std::string_view(found->provided) == "mneme_numeric_log" && args.size() == 1) {
    Expr base = args[0];
    base.kind = ir::ExprKind::kConstant;
    base.args.clear();
    base.constant = Value::of_decimal(10, 0);
    args.insert(args.begin(), std::move(base));
  }
  return call_provided(found->provided, std::move(args), call.where);
}

}  // namespace mneme::query
