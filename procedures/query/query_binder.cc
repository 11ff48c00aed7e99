#include "procedures/query/query_binder.h"

#include <algorithm>
#include <utility>

#include "procedures/binder/expression_binder.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/column_names.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;
using syntax::Query;

namespace {

constexpr size_t kMostNested = 32;
constexpr size_t kMostParts = 256;  // of UNION, and tables of all FROMs
constexpr Type kCount{.kind = TypeKind::kBigInt};

// Names of VALUES, and of a query without tables.
class NoColumns final : public QueryNames {
 public:
  // `clause`: where the expression stands, for errors.
  NoColumns(SelectBinder& queries, RowScope& scope, std::string_view clause)
      : queries_(queries), scope_(scope), clause_(clause) {}

  std::optional<Expr> find_column(const std::string& qualifier, const std::string& text,
                                  ir::SourceLocation where) override {
    return scope_.find_outside(qualifier, text, where);
  }
  bool is_aggregate(const std::string& function) const override { return queries_.is_aggregate(function); }
  Expr bind_aggregate(const syntax::Expr& call) override {
    refuse_as(sqlstate::kGrouping, call.where, "aggregate functions are not allowed in {}", clause_);
  }
  Expr bind_window(const syntax::Expr& call) override {
    refuse_as(sqlstate::kWindowing, call.where, "window functions are not allowed in {}", clause_);
  }
  Expr bind_query(const syntax::Expr& expr) override { return queries_.bind_query(expr); }
  std::optional<Expr> bind_catalog_call(const syntax::Expr& call, ExpressionBinder& binder) override {
    refuse_sets(call, clause_);
    return queries_.bind_catalog_call(call, binder);
  }
  std::optional<Expr> bind_routine_call(const syntax::Expr& call, const syntax::Procedure& routine,
                                        std::span<const syntax::Expr* const> given,
                                        ExpressionBinder& binder) override {
    return queries_.bind_routine_call(call, routine, given, binder);
  }
  Expr bind_array(const syntax::Expr& expr, ExpressionBinder& binder) override {
    return queries_.bind_array(expr, binder);
  }
  std::optional<Expr> bind_form_call(const std::string& name, std::vector<Expr>& args,
                                     ir::SourceLocation where) override {
    return queries_.bind_form_call(name, args, where);
  }
  Expr concat_arrays(Expr left, Expr right, ir::SourceLocation where) override {
    return queries_.concat_arrays(std::move(left), std::move(right), where);
  }
  std::optional<Expr> bind_catalog_cast(const syntax::Expr& cast, ExpressionBinder& binder) override {
    return queries_.bind_catalog_cast(cast, binder);
  }

 private:
  SelectBinder& queries_;
  RowScope& scope_;
  std::string_view clause_;
};

}  // namespace

// A char(n) that meets another length, or a literal, would keep its own blanks in PostgreSQL.
static void require_one_length(const Type& type, bool text_varies, ir::SourceLocation where,
                               std::string_view what) {
  if (type.kind != TypeKind::kChar || !text_varies) return;
  refuse_as(sqlstate::kNotSupported, where,
            "{} of char(n) and another length is not supported: each value would keep its own blanks; cast "
            "them to one "
            "type, as CAST(... AS char(n)) or AS text",
            what);
}

BoundQueries QueryBinder::bind(const Query& query, const std::vector<std::optional<Type>>* targets) {
  bound_.recursions = static_cast<uint32_t>(given_.size());
  bound_.plan = bind_query(query, nullptr, false, nullptr, targets != nullptr);
  if (targets != nullptr) convert_columns(*targets, query.where);
  return std::move(bound_);
}

// The rows of VALUES or of a SELECT that gives each row once are converted as they are made; of other
// queries, a query around them does it.
void QueryBinder::convert_columns(const std::vector<std::optional<Type>>& targets, ir::SourceLocation where) {
  QueryPlan& plan = *bound_.plan;
  const auto convert_one = [&](Expr value, size_t i) {
    if (i >= targets.size() || !targets[i]) return resolve_as_text(std::move(value));
    return finish(convert_for_assignment(std::move(value), *targets[i], plan.columns[i].name));
  };
  const bool is_plain = plan.select && !plan.select->distinct && plan.sort.empty();
  if (is_plain || !plan.rows.empty()) {
    for (size_t i = 0; i < plan.columns.size(); ++i) {
      if (plan.select) {
        plan.select->outputs[i] = convert_one(std::move(plan.select->outputs[i]), i);
        plan.columns[i].type = plan.select->outputs[i].type;
      }
      for (std::vector<Expr>& row : plan.rows) {
        row[i] = convert_one(std::move(row[i]), i);
        plan.columns[i].type = row[i].type;
      }
    }
    return;
  }
  auto around = std::make_unique<QueryPlan>();
  around->select = std::make_unique<SelectPlan>();
  SelectPlan& select = *around->select;
  select.width = static_cast<uint32_t>(plan.columns.size());
  for (uint32_t i = 0; i < select.width; ++i) {
    const Type type = plan.columns[i].type.kind == TypeKind::kNull ? text_type() : plan.columns[i].type;
    select.outputs.push_back(convert_one(output_column(i, type, where), i));
    around->columns.push_back({plan.columns[i].name, select.outputs[i].type});
  }
  FromStep step;
  step.source = FromStep::Source::kQuery;
  step.slots = {0, select.width};
  step.query = std::move(bound_.plan);
  select.from.slots = step.slots;
  select.from.steps.push_back(std::move(step));
  bound_.plan = std::move(around);
}

Expr QueryBinder::finish(Expr expr) {
  ir::walk(expr, [&](const Expr& part) {
    if (part.kind == ExprKind::kVariable) note_(part);
  });
  folder_.fold(expr);
  if (std::optional<Expr> raising = folder_.take_raising()) bound_.raising.push_back(*std::move(raising));
  return expr;
}

const QueryBinder::CommonTable* QueryBinder::find_common_table(const std::string& name) const {
  for (size_t i = common_tables_.size(); i-- > 0;) {
    if (common_tables_[i].table->name.text == name) return &common_tables_[i];
  }
  return nullptr;
}

std::unique_ptr<QueryPlan> QueryBinder::bind_query(const Query& query, RowScope* outer, bool sees_beside,
                                                   std::vector<std::pair<VariableId, Expr>>* captured,
                                                   bool keeps_unknown) {
  if (++depth_ > kMostNested || query.more.size() > kMostParts) {
    refuse_as(sqlstate::kTooComplex, query.where,
              "more than {} queries inside of each other, or {} beside each other, are not supported",
              kMostNested, kMostParts);
  }
  if (query.for_update) {
    if (!query.more.empty()) refuse_lock(query.locks[0], "is not allowed with UNION/INTERSECT/EXCEPT");
    if (query.first.query)
      refuse_lock(query.locks[0], "behind a query in parentheses is not supported; write it inside of them");
    if (!query.first.select) refuse_lock(query.locks[0], "cannot be applied to VALUES");
    if (query.with_ties) {
      const bool skips = std::ranges::any_of(query.locks, [](const syntax::LockClause& lock) {
        return lock.wait == ir::LockWait::kSkipsLocked;
      });
      if (skips) refuse(query.where, "SKIP LOCKED and WITH TIES options cannot be used together");
      refuse_lock(query.locks[0], "is not supported with WITH TIES");
    }
    bound_.locks_rows = true;
  }
  const size_t outer_tables = common_tables_.size();
  RowScope scope(names_, outer, sees_beside);
  add_common_tables(query, scope);
  std::unique_ptr<QueryPlan> plan =
      query.more.empty() ? bind_part(query.first, scope, &query, keeps_unknown) : bind_set(query, scope);
  bind_limits(query, scope, *plan);
  if (captured != nullptr) {
    *captured = scope.captured();
  }
  check_unused_tables(outer_tables, scope);
  common_tables_.resize(outer_tables);
  --depth_;
  return plan;
}

std::unique_ptr<QueryPlan> QueryBinder::bind_part(const syntax::QueryPart& part, RowScope& scope,
                                                  const Query* ordered, bool keeps_unknown) {
  const bool has_order = ordered != nullptr && !ordered->order.empty();
  if (part.select) return SelectBinder(*this, scope).bind(*part.select, ordered, keeps_unknown);
  std::unique_ptr<QueryPlan> plan;
  if (part.query) {
    // A scope of its own, whose outer columns are those of this one.
    std::vector<std::pair<VariableId, Expr>> captured;
    plan = bind_query(*part.query, &scope, false, &captured, keeps_unknown);
    const bool has_limits = plan->limit || plan->offset || !plan->sort.empty();
    if (has_limits && ordered != nullptr && (has_order || ordered->limit || ordered->offset)) {
      refuse_as(sqlstate::kNotSupported, part.where,
                "ORDER BY and LIMIT both inside of the parentheses and behind them are not supported; write "
                "SELECT * FROM (...) AS q");
    }
  } else {
    plan = bind_values(part, scope, keeps_unknown);
  }
  if (has_order) bind_order_of_columns(*ordered, *plan);
  return plan;
}

std::unique_ptr<QueryPlan> QueryBinder::bind_values(const syntax::QueryPart& part, RowScope& scope,
                                                    bool keeps_unknown) {
  SelectBinder queries(*this, scope);
  NoColumns no_columns(queries, scope, "VALUES");
  ExpressionBinder binder(names_, strings_, &no_columns);
  auto plan = std::make_unique<QueryPlan>();
  for (const std::vector<syntax::Expr>& row : part.rows) {
    std::vector<Expr>& bound = plan->rows.emplace_back();
    for (const syntax::Expr& value : row) bound.push_back(binder.bind(value));
  }
  for (size_t i = 0; i < plan->rows[0].size(); ++i) {
    std::vector<Expr*> values;
    for (std::vector<Expr>& row : plan->rows) values.push_back(&row[i]);
    Type type;
    const bool all_unknown =
        std::ranges::all_of(values, [](const Expr* value) { return is_unknown(*value); });
    if (!(keeps_unknown && all_unknown)) {
      binder.give_own_digits(values);
      bool text_varies = false;
      type = unify_results(values, "VALUES", text_varies);
      if (!keeps_unknown) require_one_length(type, text_varies, part.where, "VALUES");
    }
    for (Expr* value : values) *value = finish(std::move(*value));
    plan->columns.push_back({"column" + std::to_string(i + 1), type});
  }
  return plan;
}

// INTERSECT binds closer than UNION and EXCEPT; otherwise from the left.
std::unique_ptr<QueryPlan> QueryBinder::bind_set(const Query& query, RowScope& scope) {
  std::vector<std::unique_ptr<QueryPlan>> operands;
  std::vector<const Query::More*> waiting;
  const auto bind_operand = [&](const syntax::QueryPart& part) {
    RowScope own(names_, &scope, false);
    operands.push_back(bind_part(part, own, nullptr, true));
  };
  bind_operand(query.first);
  const auto join_last = [&] {
    std::unique_ptr<QueryPlan> right = std::move(operands.back());
    operands.pop_back();
    operands.back() = combine(std::move(operands.back()), std::move(right), *waiting.back());
    waiting.pop_back();
  };
  for (const Query::More& more : query.more) {
    const bool binds_closer = more.set == Query::Set::kIntersect;
    while (!waiting.empty() && (!binds_closer || waiting.back()->set == Query::Set::kIntersect)) join_last();
    bind_operand(more.part);
    waiting.push_back(&more);
  }
  while (!waiting.empty()) join_last();
  std::unique_ptr<QueryPlan> plan = std::move(operands.front());
  if (!query.order.empty()) bind_order_of_columns(query, *plan);
  return plan;
}

std::unique_ptr<QueryPlan> QueryBinder::combine(std::unique_ptr<QueryPlan> left,
                                                std::unique_ptr<QueryPlan> right, const Query::More& more) {
  const std::string_view word = more.set == Query::Set::kUnion    ? "UNION"
                                : more.set == Query::Set::kExcept ? "EXCEPT"
                                                                  : "INTERSECT";
  if (left->columns.size() != right->columns.size()) {
    refuse(more.part.where, "each {} query must have the same number of columns", word);
  }
  auto plan = std::make_unique<QueryPlan>();
  plan->set = std::make_unique<SetPlan>();
  SetPlan& set = *plan->set;
  set.kind = more.set == Query::Set::kUnion    ? SetPlan::Kind::kUnion
             : more.set == Query::Set::kExcept ? SetPlan::Kind::kExcept
                                               : SetPlan::Kind::kIntersect;
  set.all = more.all;
  RowScope none(names_, nullptr, false);
  SelectBinder queries(*this, none);
  ExpressionBinder binder(names_, strings_, &queries);
  for (size_t i = 0; i < left->columns.size(); ++i) {
    // A literal that has no type yet is cast where it is read.
    const auto place = [&](QueryPlan& side) {
      const bool unknown = side.columns[i].type.kind == TypeKind::kNull;
      const bool is_literal = side.select && (side.select->outputs[i].kind == ExprKind::kConstant ||
                                              side.select->outputs[i].kind == ExprKind::kVariable);
      if (unknown && is_literal) return side.select->outputs[i];
      Expr column = output_column(static_cast<uint32_t>(i), side.columns[i].type, more.part.where);
      if (unknown) column.type = text_type();
      return column;
    };
    Expr left_value = place(*left);
    Expr right_value = place(*right);
    std::vector<Expr*> values = {&left_value, &right_value};
    binder.give_own_digits(values);
    bool text_varies = false;
    const Type type = unify_results(values, word, text_varies);
    require_one_length(type, text_varies, more.part.where, word);
    set.left_casts.push_back(finish(std::move(left_value)));
    set.right_casts.push_back(finish(std::move(right_value)));
    const bool compares = !more.all || more.set != Query::Set::kUnion;
    if (compares) require_equality(output_column(static_cast<uint32_t>(i), type, more.part.where));
    plan->columns.push_back({left->columns[i].name, type});
  }
  set.left = std::move(left);
  set.right = std::move(right);
  return plan;
}

// Binds the ORDER BY of a UNION, of VALUES or of a query in parentheses. It may name a column of the result,
// or give its number.
void QueryBinder::bind_order_of_columns(const Query& query, QueryPlan& plan) {
  for (const syntax::OrderItem& item : query.order) {
    std::optional<size_t> column;
    if (item.expr.kind == syntax::ExprKind::kInteger) {
      const long position = item.expr.text.size() > 6 ? 0 : std::stol(item.expr.text);
      if (position < 1 || position > static_cast<long>(plan.columns.size()))
        refuse_as(sqlstate::kInvalidReference, item.expr.where, "ORDER BY position {} is not in select list",
                  item.expr.text);
      column = static_cast<size_t>(position - 1);
    } else if (item.expr.kind == syntax::ExprKind::kReference && item.expr.qualifier.empty()) {
      for (size_t i = 0; i < plan.columns.size(); ++i) {
        if (plan.columns[i].name != item.expr.text) continue;
        if (column)
          refuse_as(sqlstate::kAmbiguousColumn, item.expr.where, "ORDER BY \"{}\" is ambiguous",
                    item.expr.text);
        column = i;
      }
      if (!column)
        refuse_as(sqlstate::kUndefinedColumn, item.expr.where, "column \"{}\" does not exist",
                  item.expr.text);
    } else {
      refuse_as(
          sqlstate::kNotSupported, item.expr.where,
          "ORDER BY of a UNION, INTERSECT, EXCEPT or VALUES takes the result's column names and numbers "
          "alone");
    }
    plan.sort.push_back({static_cast<uint32_t>(*column), plan.columns[*column].type, item.descending,
                         item.nulls_first.value_or(item.descending)});
  }
  if (query.with_ties) plan.tie_keys = plan.sort.size();
}

void QueryBinder::bind_limits(const Query& query, RowScope& scope, QueryPlan& plan) {
  SelectBinder queries(*this, scope);
  NoColumns no_columns(queries, scope, "LIMIT");
  ExpressionBinder binder(names_, strings_, &no_columns);
  const auto bind_count = [&](const syntax::Expr& count, std::string_view what) {
    return finish(binder.bind_for(count, kCount, what));
  };
  if (query.limit) plan.limit = bind_count(*query.limit, "LIMIT");
  if (query.offset) plan.offset = bind_count(*query.offset, "OFFSET");
}

}  // namespace mneme::query
