#include "procedures/binder/query_hoister.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "procedures/binder/constant_folding.h"
#include "procedures/binder/plain_query.h"
#include "procedures/ir/source_error.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;

namespace {

constexpr Type kYesOrNo{.kind = TypeKind::kBoolean};

Statement statement_of(StatementKind kind, ir::SourceLocation where) {
  Statement statement;
  statement.kind = kind;
  statement.where = where;
  return statement;
}

Statement assign_flag(VariableId variable, bool value, ir::SourceLocation where) {
  Statement assign = statement_of(StatementKind::kAssign, where);
  assign.variable = variable;
  assign.expr.emplace();
  assign.expr->type = kYesOrNo;
  assign.expr->constant = Value::of_bool(value);
  assign.expr->where = where;
  return assign;
}

// Returns the query as a procedure's SELECT, where it may be one.
std::optional<syntax::Operation> as_operation(const syntax::Expr& expr) {
  syntax::Operation whole;
  whole.where = expr.query->where;
  whole.text = expr.query->text;
  whole.query = expr.query;
  std::optional<syntax::Operation> plain = plain_select(whole);
  if (plain && plain->tables.empty()) return std::nullopt;
  return plain;
}

// Returns e of (SELECT e), which is that expression; nullptr where the query is another.
const syntax::Expr* only_value(const syntax::Query& query) {
  if (!query.first.select || !query.with.empty() || !query.more.empty() || !query.order.empty())
    return nullptr;
  const syntax::SelectCore& core = *query.first.select;
  const bool is_bare = core.from.empty() && !core.condition && !core.has_group && !core.having &&
                       !query.limit && !query.offset && core.items.size() == 1 && !core.items[0].star;
  return is_bare ? &core.items[0].expr : nullptr;
}

}  // namespace

bool QueryHoister::has_query(const syntax::Expr& expr) {
  return expr.query != nullptr || std::ranges::any_of(expr.args, has_query);
}

syntax::Expr QueryHoister::hoist(const syntax::Expr& expr, std::vector<Statement>& out) {
  if (expr.kind == syntax::ExprKind::kScalarQuery) {
    if (const syntax::Expr* value = only_value(*expr.query)) return hoist(*value, out);
  }
  if (expr.kind == syntax::ExprKind::kExists || expr.kind == syntax::ExprKind::kScalarQuery) {
    std::optional<syntax::Operation> query = as_operation(expr);
    if (!query) return expr;
    return expr.kind == syntax::ExprKind::kExists ? hoist_exists(expr, *std::move(query), out)
                                                  : hoist_scalar(expr, *std::move(query), out);
  }
  if (!has_query(expr)) return expr;
  syntax::Expr hoisted = expr;
  for (syntax::Expr& arg : hoisted.args) arg = hoist(arg, out);
  return hoisted;
}

syntax::Name QueryHoister::new_name(ir::SourceLocation where) {
  return {"query " + std::to_string(++queries_), where};
}

syntax::Expr QueryHoister::hoist_exists(const syntax::Expr& expr, syntax::Operation query,
                                        std::vector<Statement>& out) {
  const syntax::Name name = new_name(expr.where);
  query.items.clear();
  Statement look = statement_of(StatementKind::kOperation, expr.where);
  look.operation = operations_.bind(query, OperationBinder::Use::kPerform, {});
  if (std::optional<ir::Expr> raising = operations_.take_raising())
    out.push_back(make_raising(*std::move(raising)));
  ir::Operation& operation = procedure_.operations[look.operation.value];
  operation.found = names_.declare(name, kYesOrNo, true, false);
  operations_.note_names(operation);
  out.push_back(std::move(look));
  syntax::Expr found;
  found.kind = syntax::ExprKind::kReference;
  found.text = name.text;
  found.where = expr.where;
  return found;
}

syntax::Expr QueryHoister::hoist_scalar(const syntax::Expr& expr, syntax::Operation query,
                                        std::vector<Statement>& out) {
  if (query.items.size() != 1 || query.items[0].star)
    refuse(expr.where, "subquery must return only one column");
  const syntax::Name name = new_name(expr.where);
  names_.declare_record(name);
  query.items[0].alias = {"value", expr.where};
  const VariableId seen = names_.declare_hidden("a row is there", kYesOrNo);
  out.push_back(assign_flag(seen, false, expr.where));
  Statement loop = statement_of(StatementKind::kForQuery, expr.where);
  loop.operation = operations_.bind(query, OperationBinder::Use::kForLoop, {{name, {}}});
  if (std::optional<ir::Expr> raising = operations_.take_raising())
    out.push_back(make_raising(*std::move(raising)));
  loop.found = names_.declare_hidden("found", kYesOrNo);
  // The second row raises before its value takes the first one's place.
  Statement again = statement_of(StatementKind::kIf, expr.where);
  again.expr.emplace();
  again.expr->kind = ir::ExprKind::kVariable;
  again.expr->type = kYesOrNo;
  again.expr->variable = seen;
  again.expr->where = expr.where;
  Statement raise = statement_of(StatementKind::kRaise, expr.where);
  raise.sqlstate = sqlstate::kCardinality;
  raise.message = "more than one row returned by a subquery used as an expression";
  again.body.push_back(std::move(raise));
  loop.body.push_back(std::move(again));
  loop.body.push_back(assign_flag(seen, true, expr.where));
  out.push_back(std::move(loop));
  syntax::Expr value;
  value.kind = syntax::ExprKind::kReference;
  value.qualifier = name.text;
  value.text = "value";
  value.where = expr.where;
  return value;
}

}  // namespace mneme
