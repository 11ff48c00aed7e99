#include "procedures/parser/element_query.h"

#include <memory>
#include <utility>

namespace mneme {

using syntax::Expr;
using syntax::ExprKind;

namespace {

// No name of the user's holds a blank.
constexpr const char* kElements = "the elements";
constexpr const char* kElement = "each element";

Expr truth(bool value, syntax::SourceLocation where) {
  Expr constant = syntax::make_expression(ExprKind::kBoolean, where);
  constant.text = value ? "true" : "false";
  return constant;
}

Expr any_row(Expr condition) {
  const auto where = condition.where;
  return syntax::make_call("bool_or", {std::move(condition)}, where);
}

}  // namespace

// CASE WHEN array IS NOT NULL THEN (SELECT CASE WHEN bool_or(it decides) THEN the answer
//                                               WHEN bool_or(it IS NULL) THEN NULL
//                                               ELSE the other answer END
//                                   FROM unnest(array)) END
Expr compare_elements(Expr array, bool is_all, const std::function<Expr(Expr element)>& compare) {
  const auto where = array.where;
  const auto holds = [&] { return compare(syntax::reference(kElements, kElement, where)); };
  auto query = std::make_shared<syntax::Query>();
  query->where = query->first.where = where;
  syntax::SelectCore& core = query->first.select.emplace();
  core.where = where;
  syntax::FromItem& from = core.from.emplace_back();
  from.kind = syntax::FromItem::Kind::kFunction;
  from.where = where;
  from.name = {"unnest", where};
  from.args.push_back(array);
  from.alias = {kElements, where};
  from.column_aliases = {{kElement, where}};
  Expr decides = is_all ? syntax::make_unary(ir::Op::kNot, holds(), where) : holds();
  Expr answer = syntax::make_expression(ExprKind::kCase, where);
  answer.has_else = true;
  answer.args.push_back(any_row(std::move(decides)));
  answer.args.push_back(truth(!is_all, where));
  answer.args.push_back(any_row(syntax::make_unary(ir::Op::kIsNull, holds(), where)));
  answer.args.push_back(syntax::make_expression(ExprKind::kNull, where));
  answer.args.push_back(truth(is_all, where));
  core.items.push_back({false, {}, std::move(answer), {}});
  Expr of_elements = syntax::make_expression(ExprKind::kScalarQuery, where);
  of_elements.query = std::move(query);
  Expr result = syntax::make_expression(ExprKind::kCase, where);
  result.column_name = "?column?";
  result.args.push_back(syntax::make_unary(ir::Op::kIsNotNull, std::move(array), where));
  result.args.push_back(std::move(of_elements));
  return result;
}

}  // namespace mneme
