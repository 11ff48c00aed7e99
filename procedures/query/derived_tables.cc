// SelectBinder's derived tables that need no rows of their own: a query or a view in FROM that only selects
// columns and rows of its tables is bound into the frame of the SELECT around it. Conditions on its columns
// reach the tables' indexes then, and what nobody asks for is not computed, also where it would fail.
//
// Columns     each is a slot without a step, which stands for an expression: names, types, GROUP BY and
//             ORDER BY see a column as of any table. use_slots() puts the expression in its place once all is
//             bound.
// Which       no groups, DISTINCT, windows, rows from functions in the select list, LIMIT or ORDER BY;
//             nothing that gives another value when it is asked again; not LATERAL. Not beside an outer join,
//             whose NULLs take the place of columns and not of what they are computed from; not around a FULL
//             JOIN.
// Size        an expression may be named many times. So a derived table of derived tables has plain columns
//             alone, and one of tables expressions of kMostExpressionParts parts together.
// Source      PostgreSQL 15, src/backend/optimizer/README ("Pulling up subqueries"), for what it does.
#include <algorithm>
#include <utility>

#include "procedures/ir/ir_walk.h"
#include "procedures/query/select_binder.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;
using syntax::FromItem;

namespace {

constexpr size_t kMostExpressionParts = 64;
constexpr size_t kMostDepth = 16;        // of derived tables in each other
constexpr size_t kMostStepsBefore = 32;  // in the FROM around them

// Functions that are no part of the provider and give another value each time.
constexpr std::string_view kVolatile[] = {"nextval", "currval", "setval", "lastval", "gen_random_uuid"};

size_t count_parts(const syntax::Expr& expr) {
  size_t count = 1;
  for (const syntax::Expr& arg : expr.args) count += count_parts(arg);
  return count;
}

bool is_plain_column(const syntax::SelectItem& item) {
  return item.star || item.expr.kind == syntax::ExprKind::kReference;
}

}  // namespace

// Whether the value may be computed where it is asked for, as often as it is.
bool SelectBinder::is_movable(const syntax::Expr& expr) const {
  using Kind = syntax::ExprKind;
  if (expr.query || expr.kind == Kind::kDefault || expr.kind == Kind::kNamed) return false;
  if (expr.kind == Kind::kCall) {
    const std::string& name = expr.text;
    if (expr.window || expr.filter || expr.order || expr.star || expr.distinct || is_aggregate(name) ||
        is_window_function(name) || is_set_function(name) || !is_own_function(name) ||
        std::ranges::find(kVolatile, name) != std::end(kVolatile) || !expr.qualifier.empty())
      return false;
    if (binder_.provider_ != nullptr) {
      const auto provided = binder_.provider_->find_function(name, expr.args.size());
      if (provided && provided->is_volatile) return false;
    }
  }
  return std::ranges::all_of(expr.args, [&](const syntax::Expr& arg) { return is_movable(arg); });
}

// Whether the FROM item, as a part of a derived table, may stand in the FROM around that.
bool SelectBinder::is_flat_item(const FromItem& item, bool& has_derived) const {
  if (item.kind == FromItem::Kind::kQuery) has_derived = true;
  if (item.kind == FromItem::Kind::kTable && binder_.provider_ != nullptr) {
    if (binder_.provider_->find_view(item.schema, item.name.text)) has_derived = true;
    const auto provided = binder_.provider_->find(item.schema, item.name.text);
    if (provided && binder_.provider_->is_always_empty(*provided)) return false;
  }
  if (item.kind != FromItem::Kind::kJoins) return true;
  const auto is_flat_join = [&](const FromItem::Join& join) {
    return join.kind != syntax::JoinKind::kFull && is_flat_item(join.item, has_derived);
  };
  return is_flat_item(item.first[0], has_derived) && std::ranges::all_of(item.joins, is_flat_join);
}

bool SelectBinder::is_flat(const syntax::Query& query) const {
  if (!query.with.empty() || !query.more.empty() || !query.order.empty() || query.limit || query.offset ||
      query.for_update || !query.first.select)
    return false;
  const syntax::SelectCore& core = *query.first.select;
  if (core.distinct || !core.distinct_on.empty() || core.has_group || !core.grouping_sets.empty() ||
      core.having || !core.windows.empty() || core.from.empty() || core.items.empty())
    return false;
  bool has_derived = false;
  for (const FromItem& item : core.from) {
    if (!is_flat_item(item, has_derived)) return false;
  }
  if (has_derived) return std::ranges::all_of(core.items, is_plain_column);
  size_t parts = 0;
  for (const syntax::SelectItem& item : core.items) {
    if (item.star) continue;
    if (!is_movable(item.expr)) return false;
    if (!is_plain_column(item)) parts += count_parts(item.expr);
  }
  return parts <= kMostExpressionParts;
}

bool SelectBinder::bind_derived_table(const FromItem& item, FromPlan& plan, Conditions& conditions) {
  if (outer_joins_ > 0 || binder_.depth_ >= kMostDepth || plan.steps.size() >= kMostStepsBefore) return false;
  if (item.kind == FromItem::Kind::kQuery)
    return !item.lateral && is_flat(*item.query) && bind_flat(item, *item.query, nullptr, plan, conditions);
  const bool is_known = item.kind != FromItem::Kind::kTable || binder_.provider_ == nullptr ||
                        (item.schema.empty() && binder_.find_common_table(item.name.text) != nullptr);
  if (is_known) return false;
  const auto view = binder_.provider_->find_view(item.schema, item.name.text);
  if (!view || !locks_.empty()) return false;
  // It sees nothing of the statement around it.
  const std::vector<QueryBinder::CommonTable> all = std::exchange(binder_.common_tables_, {});
  const bool is_bound = is_flat(*view->query) && bind_flat(item, *view->query, &*view, plan, conditions);
  binder_.common_tables_ = all;
  return is_bound;
}

bool SelectBinder::bind_flat(const FromItem& item, const syntax::Query& query,
                             const ProvidedTables::View* view, FromPlan& plan, Conditions& conditions) {
  const syntax::SelectCore& core = *query.first.select;
  const size_t queries = binder_.bound_.subqueries.size();
  RowScope scope(binder_.names_, view != nullptr ? nullptr : &scope_, false);
  SelectBinder inner(binder_, scope);
  // It fills slots of this frame.
  const auto exchange_frames = [&] {
    std::swap(inner.select_, select_);
    std::swap(inner.origins_, origins_);
    std::swap(inner.wanted_, wanted_);
    std::swap(inner.derived_, derived_);
  };
  exchange_frames();
  ++binder_.depth_;
  scope.set_owner(&inner);
  Conditions own;
  for (const FromItem& each : core.from) inner.bind_from_item(each, plan, own);
  if (core.condition) {
    inner.clause_ = "WHERE";
    inner.bind_condition(*core.condition, own);
  }
  inner.clause_ = "";
  inner.bind_items(core, false);
  --binder_.depth_;
  std::vector<Expr> outputs = std::exchange(inner.select_->outputs, {});
  // A query that is not LATERAL runs with what is around this one, and takes nothing of its own from there.
  CHECK(scope.captured().empty());
  for (Expr& output : outputs) inner.put_derived(output);
  for (Expr& condition : own) {
    inner.put_derived(condition);
    conditions.push_back(std::move(condition));
  }
  exchange_frames();
  reads_working_rows_ |= inner.reads_working_rows_;
  flat_queries_ |= binder_.bound_.subqueries.size() != queries;

  FromStep step;
  step.name = (item.alias.empty() ? item.name : item.alias).text;
  step.slots.begin = select_->width;
  std::vector<Column> columns = std::move(inner.columns_);
  for (size_t i = 0; view != nullptr && i < columns.size(); ++i) {
    // A view's columns are its own, and in no catalog.
    columns[i].origin.reset();
    if (i < view->columns.size()) columns[i].name = view->columns[i];
  }
  add_columns(item, step, columns);
  select_->width += step.slots.count;
  derived_.resize(step.slots.begin);
  for (Expr& output : outputs) derived_.emplace_back(std::move(output));
  return true;
}

void SelectBinder::put_derived(Expr& expr) const {
  ir::walk(expr, [&](Expr& part) {
    if (part.kind != ExprKind::kColumn || part.source != 0 || part.column.value >= derived_.size() ||
        !derived_[part.column.value])
      return;
    const ir::SourceLocation where = part.where;
    part = *derived_[part.column.value];
    part.where = where;
  });
}

void SelectBinder::use_slots(Expr& expr) {
  put_derived(expr);
  ir::walk(expr, [&](const Expr& part) {
    if (part.kind != ExprKind::kColumn || part.source != 0) return;
    if (wanted_.size() <= part.column.value) wanted_.resize(part.column.value + 1);
    wanted_[part.column.value] = true;
  });
}

}  // namespace mneme::query
