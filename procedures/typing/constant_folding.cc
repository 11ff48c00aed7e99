#include "procedures/typing/constant_folding.h"

#include <algorithm>
#include <span>

#include "base/memory/arena.h"
#include "engine/schema/array_form.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/values/expression.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;

namespace {

constexpr Type kTruth{.kind = TypeKind::kBoolean};

bool is_known(const Expr& expr) {
  return expr.kind == ExprKind::kConstant;
}

bool is_known_null(const Expr& expr) {
  return is_known(expr) && expr.constant.is_null();
}

bool is_truth(const Expr& expr, bool value) {
  return is_known(expr) && !expr.constant.is_null() && expr.constant.as_bool() == value;
}

void set_constant(Expr& expr, const Value& value) {
  Expr constant;
  constant.type = expr.type;
  constant.where = expr.where;
  constant.text_varies = expr.text_varies;
  constant.constant = value;
  expr = std::move(constant);
}

// `part` takes the place of the expression that it is within.
void replace_by_part(Expr& expr, Expr part) {
  part.joined = expr.joined && part.op == expr.op;
  part.text_varies |= expr.text_varies;
  // All parts together decide whether the whole is text or varchar, and a conversion of the whole whether a
  // time has a zone; the part that is left must not.
  const TypeKind kind = part.type.kind;
  if (kind == expr.type.kind && (kind == TypeKind::kVarchar || kind == TypeKind::kTimestamp))
    part.type = expr.type;
  expr = std::move(part);
}

// These of its arguments are left of the expression; one alone takes its place.
void keep(Expr& expr, std::span<Expr* const> kept) {
  NodeList<Expr> args;
  for (Expr* arg : kept) args.push_back(std::move(*arg));
  if (args.size() == 1) {
    replace_by_part(expr, Expr(std::move(args[0])));
  } else {
    expr.args = std::move(args);
  }
}

// Whether the node is NULL as soon as one of its arguments is.
bool is_strict(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kCast:
      return true;
    case ExprKind::kUnary:
      return expr.op == Op::kNegate || expr.op == Op::kNot;
    case ExprKind::kBinary:
      return expr.op != Op::kIsDistinct && expr.op != Op::kIsNotDistinct;
    case ExprKind::kFunction:
      switch (expr.function) {
        case Function::kNullIf:
        case Function::kGreatest:
        case Function::kLeast:
        case Function::kConcatFunction:
        case Function::kCardinality:
        case Function::kArrayText:
          return false;
        default:
          return true;
      }
    default:
      return false;
  }
}

// Whether PostgreSQL takes the node for immutable: the text of a timestamp or an interval depends on its
// settings, and so does concat()'s.
bool is_immutable(const Expr& expr) {
  if (expr.kind == ExprKind::kCast) {
    const Type& from = expr.args[0].type;
    const auto has_style = [](const Type& type) {
      return type.is_time() || type.kind == TypeKind::kInterval || type.kind == TypeKind::kTime;
    };
    return !(has_style(from) && expr.type.is_string()) && !(from.is_string() && has_style(expr.type));
  }
  return expr.function != Function::kConcatFunction;
}

Expr is_null_test(Expr part) {
  Expr test;
  test.kind = ExprKind::kUnary;
  test.op = Op::kIsNull;
  test.type = kTruth;
  test.where = part.where;
  test.args.push_back(std::move(part));
  return test;
}

// Whether no value of the type makes the implicit cast raise.
bool always_fits(const Type& from, const Type& to) {
  if (from.is_string() && to.is_string()) return to.length == 0 && !is_array_form(to);
  if (!from.is_number() || to.precision != 0) return false;
  if (from.kind != TypeKind::kNumeric) return to.is_number() && from.kind <= to.kind;
  if (to.kind != TypeKind::kNumeric) return to.is_floating();
  return from.precision != 0 && to.scale >= from.scale &&
         from.precision + to.scale - from.scale <= kMaxNumericPrecision;
}

}  // namespace

bool has_column(const Expr& expr) {
  return expr.kind == ExprKind::kColumn || std::ranges::any_of(expr.args, has_column);
}

bool can_raise(const Expr& expr) {
  bool raises = false;
  switch (expr.kind) {
    case ExprKind::kUnary:
      raises = expr.op == Op::kNegate;
      break;
    case ExprKind::kBinary:
      raises = expr.op < Op::kEqual || expr.op == Op::kConcat;
      break;
    case ExprKind::kCast:
      raises = !always_fits(expr.args[0].type, expr.type);
      break;
    case ExprKind::kFunction:
      raises = expr.function > Function::kLeast;
      break;
    case ExprKind::kQuery:
      raises = true;
      break;
    default:
      break;
  }
  return raises || std::ranges::any_of(expr.args, can_raise);
}

void ConstantFolder::fold(Expr& expr) {
  (void)fold_part(expr);
}

void ConstantFolder::fold_alone(Expr& expr) {
  if (fold_part(expr)) return;
  if (std::ranges::all_of(expr.args, is_known)) {
    raising_.reset();  // it is the part itself
    return;
  }
  // CASE WHEN (the part) IS NULL THEN NULL ELSE NULL END
  Expr null;
  null.type = expr.type;
  null.where = expr.where;
  Expr raising = null;
  raising.kind = ExprKind::kCase;
  raising.args = {*take_raising(), null, null};
  expr = std::move(raising);
}

void ConstantFolder::fold_conjunction(std::vector<Expr>& parts) {
  const auto never = std::ranges::find_if(
      parts, [](const Expr& part) { return is_known_null(part) || is_truth(part, false); });
  if (never != parts.end()) {
    // An access path or a join may need the other parts.
    Expr none = *never;
    none.constant = Value::of_bool(false);
    std::erase_if(parts, can_raise);
    parts.push_back(std::move(none));
  } else {
    std::erase_if(parts, [](const Expr& part) { return is_truth(part, true); });
  }
}

std::optional<Expr> ConstantFolder::take_raising() {
  std::optional<Expr> raising;
  if (raising_) raising = is_null_test(std::move(*raising_));
  raising_.reset();
  return raising;
}

// Each of these returns false where a part raises.

bool ConstantFolder::fold_part(Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kBinary:
      if (expr.op == Op::kAnd || expr.op == Op::kOr) return fold_logic(expr);
      return fold_generic(expr);
    case ExprKind::kCase:
      return fold_case(expr);
    case ExprKind::kFunction:
      if (expr.function == Function::kCoalesce) return fold_coalesce(expr);
      if (expr.function >= Function::kNextValue && expr.function <= Function::kSetValue) return true;
      if (expr.function == Function::kArrayText) return true;
      return fold_generic(expr);
    case ExprKind::kInList:
      return fold_in_list(expr);
    case ExprKind::kQuery:
      return std::ranges::all_of(expr.args, [&](Expr& arg) { return fold_part(arg); });
    default:
      return fold_generic(expr);
  }
}

bool ConstantFolder::fold_logic(Expr& expr) {
  const bool decisive = expr.op == Op::kOr;
  Expr& left = expr.args[0];
  Expr& right = expr.args[1];
  if (!fold_part(left)) return false;
  if (is_truth(left, decisive)) {
    set_constant(expr, Value::of_bool(decisive));
    return true;
  }
  if (!fold_part(right)) return false;
  if (is_truth(right, decisive)) {
    set_constant(expr, Value::of_bool(decisive));
  } else if (is_truth(left, !decisive) || (is_known_null(left) && is_known_null(right))) {
    replace_by_part(expr, std::move(right));
  } else if (is_truth(right, !decisive)) {
    replace_by_part(expr, std::move(left));
  }
  return true;
}

bool ConstantFolder::fold_case(Expr& expr) {
  std::vector<Expr*> kept;
  size_t i = 0;
  for (bool is_decided = false; i + 1 < expr.args.size() && !is_decided; i += 2) {
    Expr& condition = expr.args[i];
    if (!fold_part(condition)) return false;
    if (is_known_null(condition) || is_truth(condition, false)) continue;
    if (!fold_part(expr.args[i + 1])) return false;
    is_decided = is_truth(condition, true);
    if (!is_decided) kept.push_back(&condition);
    kept.push_back(&expr.args[i + 1]);
  }
  if (kept.size() % 2 == 0) {
    if (!fold_part(expr.args.back())) return false;
    kept.push_back(&expr.args.back());
  }
  keep(expr, kept);
  return true;
}

bool ConstantFolder::fold_coalesce(Expr& expr) {
  std::vector<Expr*> kept;
  for (Expr& arg : expr.args) {
    if (!fold_part(arg)) return false;
    if (is_known_null(arg)) continue;
    kept.push_back(&arg);
    if (is_known(arg)) break;
  }
  if (kept.empty()) kept.push_back(&expr.args[0]);
  keep(expr, kept);
  return true;
}

// PostgreSQL compares with all elements that name no column at once, as with an array, if there are two at
// least, and with the others by OR. Elements without columns come first then
// (ExpressionBinder::bind_in_list()).
bool ConstantFolder::fold_in_list(Expr& expr) {
  Expr& wanted = expr.args[0];
  if (!fold_part(wanted)) return false;
  const auto without_column =
      std::count_if(expr.args.begin() + 1, expr.args.end(), [](const Expr& arg) { return !has_column(arg); });
  const auto in_array = without_column >= 2 ? without_column : 0;
  for (size_t i = 1; i < expr.args.size(); ++i) {
    if (!fold_part(expr.args[i])) return false;
  }
  for (uint32_t i = 1; i <= static_cast<uint32_t>(in_array); ++i) {
    if (can_raise(expr.args[i])) expr.eager_elements = i;
  }
  if (is_known_null(wanted)) expr.args.erase(expr.args.begin() + 1 + in_array, expr.args.end());
  if (in_array == 0 && std::all_of(expr.args.begin() + 1, expr.args.end(), is_known_null)) {
    set_constant(expr, Value::null());
    return true;
  }
  const bool array_is_constant =
      std::all_of(expr.args.begin() + 1, expr.args.begin() + 1 + in_array, is_known);
  if (!is_known(expr.args[0]) || !array_is_constant) return true;
  // A constant that is equal decides. Without one, constants decide if there is nothing else.
  Expr constants = expr;
  std::erase_if(constants.args, [](const Expr& arg) { return !is_known(arg); });
  const bool are_all = constants.args.size() == expr.args.size();
  if (constants.args.size() == 1) return true;
  if (!evaluate_constant(constants)) return false;
  if (are_all || is_truth(constants, true)) expr = std::move(constants);
  return true;
}

bool ConstantFolder::fold_generic(Expr& expr) {
  for (Expr& arg : expr.args) {
    if (!fold_part(arg)) return false;
  }
  const bool has_arguments = !expr.args.empty();
  if (has_arguments && is_strict(expr) && std::ranges::any_of(expr.args, is_known_null)) {
    set_constant(expr, Value::null());
    return true;
  }
  if (expr.function == Function::kNullIf && std::ranges::any_of(expr.args, is_known_null)) {
    replace_by_part(expr, Expr(std::move(expr.args[0])));
    return true;
  }
  const bool is_computed = expr.kind == ExprKind::kUnary || expr.kind == ExprKind::kBinary ||
                           expr.kind == ExprKind::kCast || expr.kind == ExprKind::kFunction;
  if (!has_arguments || !is_computed || !is_immutable(expr) || !std::ranges::all_of(expr.args, is_known))
    return true;
  return evaluate_constant(expr);
}

bool ConstantFolder::evaluate_constant(Expr& expr) {
  Arena arena;
  EvaluationContext context(arena);
  Value value;
  if (!evaluate(expr, context, value)) {
    if (!raising_) raising_ = expr;
    return false;
  }
  if (value.kind() == Value::Kind::kText) {
    strings_.emplace_back(value.as_text());
    value = Value::of_text(strings_.back());
  }
  set_constant(expr, value);
  return true;
}

ir::Statement make_raising(Expr condition) {
  ir::Statement statement;
  statement.kind = ir::StatementKind::kIf;
  statement.where = condition.where;
  statement.expr = std::move(condition);
  return statement;
}

}  // namespace mneme
