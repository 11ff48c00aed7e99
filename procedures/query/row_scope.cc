#include "procedures/query/row_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/values/comparison.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;

bool same_expression(const Expr& a, const Expr& b) {
  if (a.kind != b.kind || a.op != b.op || a.function != b.function || a.source != b.source ||
      !(a.type == b.type) || a.variable != b.variable || a.column != b.column || a.aggregate != b.aggregate ||
      a.query != b.query || a.args.size() != b.args.size())
    return false;
  if (a.kind == ExprKind::kConstant) {
    if (a.constant.is_null() || b.constant.is_null()) return a.constant.is_null() == b.constant.is_null();
    if (a.type.kind == TypeKind::kNull) return a.constant.as_text() == b.constant.as_text();
    return compare_values(a.type.kind, a.constant, b.constant) == 0;
  }
  return std::ranges::equal(a.args, b.args, same_expression);
}

bool RowScope::has_source(const std::string& source) const {
  return std::ranges::any_of(entries_, [&](const Entry& each) { return names_source(source, each.source); });
}

std::optional<Expr> RowScope::find(const std::string& qualifier, const std::string& name,
                                   ir::SourceLocation where) {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.name != name || (qualifier.empty() ? entry.hidden : !names_source(qualifier, entry.source)))
      continue;
    if (found != nullptr)
      refuse_as(sqlstate::kAmbiguousColumn, where, "column reference \"{}\" is ambiguous", name);
    found = &entry;
  }
  if (found != nullptr) {
    if (found->is_out_of_reach) {
      refuse_as(
          sqlstate::kInvalidReference, where,
          "invalid reference to FROM-clause entry for table \"{}\": the combining JOIN type must be INNER "
          "or LEFT for a LATERAL reference",
          found->source);
    }
    if (mentions_ != nullptr) mentions_->names_own = true;
    Expr expr = found->expr;
    expr.where = where;
    return expr;
  }
  if (!qualifier.empty() && has_source(qualifier))
    refuse_as(sqlstate::kUndefinedColumn, where, "column {}.{} does not exist", qualifier, name);
  std::optional<Expr> outside = find_outside(qualifier, name, where);
  if (mentions_ != nullptr && outside && outside->kind == ExprKind::kVariable &&
      is_captured(outside->variable))
    mentions_->outer.push_back(outside->variable);
  return outside;
}

std::optional<Expr> RowScope::find_outside(const std::string& qualifier, const std::string& name,
                                           ir::SourceLocation where) {
  if (outer_ == nullptr) return std::nullopt;
  std::optional<Expr> outside =
      sees_beside_ ? outer_->find(qualifier, name, where) : outer_->find_outside(qualifier, name, where);
  if (!outside) return outside;
  outside->where = where;
  // What the query around this one has from outside is from outside here, too: else this query would be taken
  // for one that depends on nothing. A part that sees no column of its own runs with what is around it.
  const bool is_own =
      outside->kind == ExprKind::kVariable && (!sees_beside_ || !outer_->is_captured(outside->variable));
  if (is_own) return outside;
  return capture(*std::move(outside));
}

Expr RowScope::capture(Expr outside) {
  const auto known = std::ranges::find_if(
      captured_, [&](const auto& capture) { return same_expression(capture.second, outside); });
  Expr value;
  value.kind = ExprKind::kVariable;
  value.type = outside.type;
  value.where = outside.where;
  if (known != captured_.end()) {
    value.variable = known->first;
    return value;
  }
  // No name of the user's holds a blank.
  value.variable = names_.declare_hidden("value from outside", outside.type);
  captured_.emplace_back(value.variable, std::move(outside));
  return value;
}

std::vector<size_t> RowScope::count_captured() const {
  std::vector<size_t> counts;
  for (const RowScope* scope = this; scope != nullptr; scope = scope->outer_)
    counts.push_back(scope->captured_.size());
  return counts;
}

bool RowScope::captures_any(const std::vector<VariableId>& variables) const {
  return std::ranges::any_of(captured_, [&](const auto& capture) {
    return std::ranges::find(variables, capture.first) != variables.end();
  });
}

Expr RowScope::bind_outside(const syntax::Expr& call, const std::vector<VariableId>& named,
                            const std::vector<size_t>& known) {
  RowScope* inner = this;
  while (!inner->captures_any(named)) inner = inner->outer_;
  size_t level = 0;
  for (RowScope* scope = this; scope != nullptr; scope = scope->outer_)
    scope->captured_.resize(known[level++], {VariableId{}, Expr()});
  ScopeOwner* owner = inner->outer_->owner_;
  if (owner == nullptr)
    refuse_as(sqlstate::kGrouping, call.where, "aggregate functions are not allowed here");
  Expr value = owner->bind_aggregate(call);
  // It may belong to a query further out, once its arguments are bound where they belong.
  return value.kind == ExprKind::kVariable ? value : inner->capture(std::move(value));
}

}  // namespace mneme::query
