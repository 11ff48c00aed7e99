#include "procedures/binder/query_hoister.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "procedures/binder/expression_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/plain_query.h"
#include "procedures/typing/constant_folding.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;

namespace {

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

const syntax::Procedure* QueryHoister::statement_function(const syntax::Expr& expr, uint32_t depth) {
  if (expr.kind != syntax::ExprKind::kCall || is_own_function(expr.text)) return nullptr;
  const syntax::Procedure* routine = names_.find_routine(expr.text);
  if (routine == nullptr || !routine->is_function) return nullptr;
  constexpr uint32_t kDeepest = 16;  // it calls itself, most likely
  if (depth > kDeepest) return routine;
  const bool takes_values = std::ranges::none_of(routine->parameters, [](const syntax::Parameter& parameter) {
    return parameter.inout || parameter.type.is_array;
  });
  const auto is_plain = [](const syntax::Expr& arg) {
    return arg.kind <= syntax::ExprKind::kTimestamp || arg.kind == syntax::ExprKind::kReference ||
           arg.kind == syntax::ExprKind::kParameter;
  };
  const std::optional<syntax::Expr> body = expression_of(*routine, false);
  const bool is_expression = body && takes_values && std::ranges::all_of(expr.args, is_plain) &&
                             !has_statement_call(*body, depth + 1);
  return is_expression ? nullptr : routine;
}

bool QueryHoister::has_statement_call(const syntax::Expr& expr, uint32_t depth) {
  return statement_function(expr, depth) != nullptr ||
         std::ranges::any_of(expr.args,
                             [&](const syntax::Expr& arg) { return has_statement_call(arg, depth); });
}

bool QueryHoister::has_statement_call(const syntax::Expr& expr) {
  return has_statement_call(expr, 0);
}

bool QueryHoister::needs_statements(const syntax::Expr& expr) {
  return has_query(expr) || has_statement_call(expr) || others_.needs_query(expr);
}

namespace {

// Whether the operator evaluates its argument number `n` in some cases alone.
bool may_leave_out(const syntax::Expr& expr, size_t n) {
  switch (expr.kind) {
    case syntax::ExprKind::kBinary:
      return n > 0 && (expr.op == ir::Op::kAnd || expr.op == ir::Op::kOr);
    case syntax::ExprKind::kCase:
      return n > (expr.has_subject ? 1U : 0U);
    case syntax::ExprKind::kInList:
    case syntax::ExprKind::kBetween:
      return n > 1;
    case syntax::ExprKind::kCall:
      return n > 0 && expr.text == "coalesce";
    default:
      return false;
  }
}

}  // namespace

syntax::Expr QueryHoister::hoist(const syntax::Expr& expr, std::vector<Statement>& out) {
  syntax::Expr hoisted = hoist_part(expr, false, out);
  return others_.needs_query(hoisted) ? others_.query_of(hoisted, out) : hoisted;
}

syntax::Expr QueryHoister::hoist_part(const syntax::Expr& expr, bool is_conditional,
                                      std::vector<Statement>& out) {
  if (const syntax::Procedure* function = statement_function(expr, 0)) {
    // The binder looks for another way.
    if (is_conditional) return expr;
    return inline_call_(expr, *function, out);
  }
  if (expr.kind == syntax::ExprKind::kScalarQuery) {
    if (const syntax::Expr* value = only_value(*expr.query)) return hoist_part(*value, is_conditional, out);
  }
  if (expr.kind == syntax::ExprKind::kExists || expr.kind == syntax::ExprKind::kScalarQuery) {
    std::optional<syntax::Operation> query = as_operation(expr);
    if (!query) return expr;
    const size_t before = out.size();
    try {
      return expr.kind == syntax::ExprKind::kExists ? hoist_exists(expr, *std::move(query), out)
                                                    : hoist_scalar(expr, *std::move(query), out);
    } catch (const SourceError& error) {
      if (!may_be_of_queries(error)) throw;
      out.resize(before);
      (void)operations_.take_raising();
      return expr;
    }
  }
  if (!has_query(expr) && !has_statement_call(expr)) return expr;
  syntax::Expr hoisted = expr;
  for (size_t i = 0; i < hoisted.args.size(); ++i)
    hoisted.args[i] = hoist_part(hoisted.args[i], is_conditional || may_leave_out(expr, i), out);
  return hoisted;
}

syntax::Name QueryHoister::new_name(ir::SourceLocation where) {
  return {"query " + std::to_string(++queries_), where};
}

syntax::Expr QueryHoister::hoist_exists(const syntax::Expr& expr, syntax::Operation query,
                                        std::vector<Statement>& out) {
  const syntax::Name name = new_name(expr.where);
  query.items.clear();
  Statement look = nodes::make_statement(StatementKind::kOperation, expr.where);
  look.operation = operations_.bind(query, OperationBinder::Use::kPerform, {});
  if (std::optional<ir::Expr> raising = operations_.take_raising())
    out.push_back(make_raising(*std::move(raising)));
  ir::Operation& operation = procedure_.operations[look.operation.value];
  operation.found = names_.declare(name, nodes::kBoolean, true, false);
  operations_.note_names(operation);
  out.push_back(std::move(look));
  return syntax::reference("", name.text, expr.where);
}

syntax::Expr QueryHoister::hoist_scalar(const syntax::Expr& expr, syntax::Operation query,
                                        std::vector<Statement>& out) {
  if (query.items.size() != 1 || query.items[0].star)
    refuse(expr.where, "subquery must return only one column");
  const syntax::Name name = new_name(expr.where);
  names_.declare_record(name);
  query.items[0].alias = {"value", expr.where};
  const VariableId seen = names_.declare_hidden("a row is there", nodes::kBoolean);
  out.push_back(nodes::make_assign(seen, nodes::make_boolean(false, expr.where), expr.where));
  Statement loop = nodes::make_statement(StatementKind::kForQuery, expr.where);
  loop.operation = operations_.bind(query, OperationBinder::Use::kForLoop, {{name, {}}});
  if (std::optional<ir::Expr> raising = operations_.take_raising())
    out.push_back(make_raising(*std::move(raising)));
  loop.found = names_.declare_hidden("found", nodes::kBoolean);
  // The second row raises before its value takes the first one's place.
  loop.body.push_back(
      nodes::make_raise_if(nodes::make_variable(seen, nodes::kBoolean, expr.where), sqlstate::kCardinality,
                           "more than one row returned by a subquery used as an expression", expr.where));
  loop.body.push_back(nodes::make_assign(seen, nodes::make_boolean(true, expr.where), expr.where));
  out.push_back(std::move(loop));
  return syntax::reference(name.text, "value", expr.where);
}

}  // namespace mneme
