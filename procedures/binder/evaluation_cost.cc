#include "procedures/binder/evaluation_cost.h"

#include <algorithm>
#include <tuple>

#include "procedures/typing/constant_folding.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;

namespace {

// Half of what the planner charges for the call of an operator or a function. An element of IN's array costs
// as much.
constexpr size_t kHalf = 1;
constexpr size_t kOperator = 2 * kHalf;
constexpr size_t kQueryCost = 1000 * kOperator;
constexpr size_t kElementsOfUnknownArray = 10;

// Integers of different widths meet in operators of their own, without a cast.
bool takes_any_integers(const Expr& expr) {
  return expr.kind == ExprKind::kInList || (expr.kind == ExprKind::kBinary && expr.op != Op::kModulo);
}

size_t cast_cost(const Expr& cast, const Expr* parent) {
  const Type& from = cast.args[0].type;
  const Type& to = cast.type;
  const size_t fitting = to.length != 0 || to.precision != 0 ? kOperator : 0;
  if (from.kind == to.kind) return fitting;
  if (from.is_integer() && to.is_integer() && parent != nullptr && takes_any_integers(*parent)) return 0;
  if (from.is_string() && to.is_string()) return fitting + (from.kind == TypeKind::kChar ? kOperator : 0);
  const bool is_through_text = (from.is_string() || to.is_string()) && from.kind != TypeKind::kBoolean;
  return fitting + (is_through_text ? 2 * kOperator : kOperator);
}

size_t own_cost(const Expr& expr, const Expr* parent) {
  switch (expr.kind) {
    case ExprKind::kUnary:
      return expr.op == Op::kNegate ? kOperator : 0;
    case ExprKind::kBinary:
      return expr.op == Op::kAnd || expr.op == Op::kOr ? 0 : kOperator;
    case ExprKind::kFunction:
      return expr.function == Function::kCoalesce ? 0 : kOperator;
    case ExprKind::kCast:
      return cast_cost(expr, parent);
    case ExprKind::kQuery:
      return kQueryCost;
    case ExprKind::kInArray:
      return kElementsOfUnknownArray * kHalf;
    case ExprKind::kInList: {
      const auto with_column =
          static_cast<size_t>(std::count_if(expr.args.begin() + 1, expr.args.end(), has_column));
      const size_t in_array = expr.args.size() - 1 - with_column;
      return with_column * kOperator + in_array * (in_array >= 2 ? kHalf : kOperator);
    }
    default:
      return 0;
  }
}

size_t cost(const Expr& expr, const Expr* parent) {
  size_t sum = own_cost(expr, parent);
  for (const Expr& arg : expr.args) sum += cost(arg, &expr);
  return sum;
}

// Equalities come after other conditions of their cost, as the planner collects them into classes first.
bool is_equality(const Expr& expr) {
  return (expr.kind == ExprKind::kBinary && expr.op == Op::kEqual) ||
         (expr.kind == ExprKind::kInList && expr.args.size() == 2);
}

}  // namespace

Expr join_by_cost(std::vector<Expr> conditions) {
  // A condition without columns comes first: it is evaluated once, before any row is read.
  std::ranges::stable_sort(conditions, {}, [](const Expr& condition) {
    return std::tuple(has_column(condition), cost(condition, nullptr), is_equality(condition));
  });
  bool next_can_raise = false;
  for (size_t i = conditions.size(); i-- > 0;) {
    Expr& condition = conditions[i];
    const bool this_can_raise = can_raise(condition);
    if (next_can_raise) {
      Expr holds;
      holds.kind = ExprKind::kUnary;
      holds.op = Op::kIsTrue;
      holds.type = condition.type;
      holds.where = condition.where;
      holds.args.push_back(std::move(condition));
      condition = std::move(holds);
    }
    next_can_raise |= this_can_raise;
  }
  return ir::join(Op::kAnd, conditions);
}

}  // namespace mneme
