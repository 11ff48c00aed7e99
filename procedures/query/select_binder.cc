#include "procedures/query/select_binder.h"

#include <algorithm>
#include <utility>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/column_names.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"
#include "procedures/values/type_oids.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;
using syntax::Query;

namespace {

bool is_bare_name(const syntax::Expr& expr) {
  return expr.kind == syntax::ExprKind::kReference && expr.qualifier.empty();
}

// Returns the number that stands for a column of the result, as it is written: a minus belongs to it.
std::optional<std::string> written_position(const syntax::Expr& expr) {
  constexpr size_t kMostDigits = 10;
  const bool is_negative = expr.kind == syntax::ExprKind::kUnary && expr.op == ir::Op::kNegate;
  const syntax::Expr& number = is_negative ? expr.args[0] : expr;
  if (number.kind != syntax::ExprKind::kInteger || number.text.size() > kMostDigits) return std::nullopt;
  const std::string text = (is_negative ? "-" : "") + number.text;
  return std::stoll(text) == static_cast<int32_t>(std::stoll(text)) ? std::optional(text) : std::nullopt;
}

// The literals that are no position, and order nothing.
bool is_other_constant(const syntax::Expr& expr) {
  switch (expr.kind) {
    case syntax::ExprKind::kInteger:
      return !written_position(expr);
    case syntax::ExprKind::kUnary: {
      const syntax::ExprKind kind = expr.args[0].kind;
      const bool is_number = kind == syntax::ExprKind::kInteger || kind == syntax::ExprKind::kDecimal;
      return expr.op == ir::Op::kNegate && is_number && !written_position(expr);
    }
    case syntax::ExprKind::kNull:
    case syntax::ExprKind::kBoolean:
    case syntax::ExprKind::kDecimal:
    case syntax::ExprKind::kString:
      return true;
    default:
      return false;
  }
}

}  // namespace

namespace {

// What must hold for rows to compare so, a column at a time, from the left. The two sides of each column are
// of one type.
std::vector<Expr> compare_sides(ir::Op op, std::span<const std::pair<Expr, Expr>> sides,
                                ir::SourceLocation where) {
  const auto compare = [&](ir::Op each, const std::pair<Expr, Expr>& side) {
    return nodes::make_binary(each, kTruthType, side.first, side.second, where);
  };
  std::vector<Expr> parts;
  if (op == ir::Op::kEqual || op == ir::Op::kNotEqual) {
    for (const auto& side : sides) parts.push_back(compare(op, side));
    if (op == ir::Op::kEqual || parts.size() == 1) return parts;
    Expr any = ir::join(ir::Op::kOr, parts);
    parts.clear();
    parts.push_back(std::move(any));
    return parts;
  }
  const ir::Op strict = op == ir::Op::kLessEqual      ? ir::Op::kLess
                        : op == ir::Op::kGreaterEqual ? ir::Op::kGreater
                                                      : op;
  Expr result = compare(op, sides.back());
  for (size_t i = sides.size() - 1; i-- > 0;) {
    Expr both = nodes::make_binary(ir::Op::kAnd, kTruthType, compare(ir::Op::kEqual, sides[i]),
                                   std::move(result), where);
    result = nodes::make_binary(ir::Op::kOr, kTruthType, compare(strict, sides[i]), std::move(both), where);
  }
  parts.push_back(std::move(result));
  return parts;
}

}  // namespace

Expr SelectBinder::bind(const syntax::Expr& expr) {
  return ExpressionBinder(binder_.names_, binder_.strings_, this).bind(expr);
}

Expr SelectBinder::bind_value(const syntax::Expr& expr) {
  return resolve_as_text(bind(expr));
}

Expr SelectBinder::bind_query(const syntax::Expr& expr) {
  Subquery subquery;
  Expr result;
  result.kind = ExprKind::kQuery;
  result.type = kTruthType;
  result.where = expr.where;
  std::vector<Expr> tested;
  if (!expr.args.empty()) {
    const bool is_row = expr.args[0].kind == syntax::ExprKind::kRow;
    for (const syntax::Expr& arg : is_row ? expr.args[0].args : expr.args) tested.push_back(bind(arg));
  }
  std::vector<std::pair<VariableId, Expr>> captured;
  subquery.plan = binder_.bind_query(*expr.query, &scope_, true, &captured);
  const std::vector<Column>& columns = subquery.plan->columns;
  const size_t wanted =
      expr.kind == syntax::ExprKind::kExists ? columns.size()
      : expr.kind == syntax::ExprKind::kScalarQuery || expr.kind == syntax::ExprKind::kArrayQuery
          ? 1
          : tested.size();
  if (columns.size() != wanted) {
    refuse(expr.where, "subquery {}",
           columns.size() > wanted
               ? (wanted == 1 && tested.empty() ? "must return only one column" : "has too many columns")
               : "has too few columns");
  }
  std::vector<std::pair<Expr, Expr>> sides;
  for (size_t i = 0; i < tested.size(); ++i) {
    Expr& value = tested[i];
    Expr left;
    left.kind = ExprKind::kVariable;
    Expr right = output_column(static_cast<uint32_t>(i), columns[i].type, expr.where);
    if (is_unknown(value)) {
      Expr other = right;
      unify_for_comparison(value, other, expr.where);
    }
    left.type = value.type;
    left.where = value.where;
    left.variable = binder_.names_.declare_hidden("tested value", value.type);
    subquery.tested.push_back(left.variable);
    unify_for_comparison(left, right, expr.where);
    sides.emplace_back(std::move(left), std::move(right));
  }
  const ir::Op op = expr.kind == syntax::ExprKind::kInQuery ? ir::Op::kEqual : expr.op;
  subquery.is_equality = tested.size() == 1 && op == ir::Op::kEqual;
  if (!tested.empty()) subquery.comparisons = compare_sides(op, sides, expr.where);
  switch (expr.kind) {
    case syntax::ExprKind::kScalarQuery:
      subquery.kind = Subquery::Kind::kScalar;
      result.type = columns[0].type;
      break;
    case syntax::ExprKind::kExists:
      subquery.kind = Subquery::Kind::kExists;
      break;
    case syntax::ExprKind::kArrayQuery:
      subquery.kind = Subquery::Kind::kArray;
      result.type = array_type_of(columns[0].type);
      if (columns[0].type.kind == TypeKind::kSmallInt) result.type.elements = TypeKind::kSmallInt;
      break;
    case syntax::ExprKind::kAllQuery:
      subquery.kind = Subquery::Kind::kAll;
      break;
    case syntax::ExprKind::kRowQuery:
      subquery.kind = Subquery::Kind::kRow;
      break;
    default:
      subquery.kind = Subquery::Kind::kAny;
  }
  for (Expr& value : tested) result.args.push_back(std::move(value));
  for (auto& [variable, value] : captured) {
    subquery.inputs.push_back(variable);
    result.args.push_back(std::move(value));
  }
  result.query = static_cast<uint32_t>(binder_.bound_.subqueries.size());
  binder_.bound_.subqueries.push_back(std::move(subquery));
  if (!expr.negated) return result;
  Expr negation;
  negation.kind = ExprKind::kUnary;
  negation.op = ir::Op::kNot;
  negation.type = kTruthType;
  negation.where = expr.where;
  negation.args.push_back(std::move(result));
  return negation;
}

std::unique_ptr<QueryPlan> SelectBinder::bind(const syntax::SelectCore& core, const Query* ordered,
                                              bool keeps_unknown) {
  scope_.set_owner(this);
  Conditions conditions;
  FromPlan& from = select_->from;
  if (ordered != nullptr) locks_ = ordered->locks;
  for (const syntax::FromItem& item : core.from) bind_from_item(item, from, conditions);
  const size_t queries_before = binder_.bound_.subqueries.size();
  if (core.condition) {
    clause_ = "WHERE";
    const size_t depth = binder_.depth_;
    const std::vector<QueryBinder::CommonTable> common_tables = binder_.common_tables_;
    try {
      bind_condition(*core.condition, conditions);
    } catch (const SourceError&) {
      if (!has_no_rows()) throw;
      binder_.depth_ = depth;
      binder_.common_tables_ = common_tables;
      in_aggregate_ = false;
    }
  }
  clause_ = "";
  allows_aggregates_ = true;
  name_windows(core);
  allows_windows_ = true;
  // DISTINCT compares literals without a type as texts, whatever a UNION around it has beside them.
  bind_items(core, keeps_unknown && !(core.distinct && core.distinct_on.empty()));
  allows_windows_ = false;
  std::optional<Expr> having;
  if (core.having) {
    clause_ = "HAVING";
    ExpressionBinder binder(binder_.names_, binder_.strings_, this);
    having = binder_.finish(binder.bind_condition(*core.having));
  }
  allows_aggregates_ = false;
  clause_ = "GROUP BY";
  bind_groups(core);
  allows_aggregates_ = allows_windows_ = true;

  auto plan = std::make_unique<QueryPlan>();
  select_->distinct = core.distinct && core.distinct_on.empty();
  if (select_->distinct) std::ranges::for_each(select_->outputs, require_equality);
  if (!core.distinct_on.empty()) bind_distinct_on(core);
  if (ordered != nullptr) bind_sort(*ordered, *plan, core);
  select_->grouped = core.has_group || having || !select_->aggregates.empty();
  add_sets_to_from();
  if (select_->grouped) {
    bind_grouping();
    for (Expr& output : select_->outputs) group(output);
    group_sets();
    if (having) group(*having);
  }
  select_->having = std::move(having);
  if (reads_working_rows_ && !select_->aggregates.empty()) {
    refuse_as(sqlstate::kInvalidRecursion, core.where,
              "aggregate functions are not allowed in a recursive query's recursive term");
  }
  if (!locks_.empty()) {
    check_locks(core, !set_items_.empty());
    plan->locks = lock_outputs();
  }
  if (!select_->window_functions.empty()) finish_windows();
  finish_sets();
  if (!core.distinct_on.empty()) {
    // The rows that agree stand together, the first of them by ORDER BY in front.
    for (size_t i = 0; i < select_->distinct_on.size() && i < plan->sort.size(); ++i) {
      const bool leads = std::ranges::any_of(
          select_->distinct_on, [&](const SortKey& key) { return key.column == plan->sort[i].column; });
      if (!leads)
        refuse_as(sqlstate::kInvalidReference, core.where,
                  "SELECT DISTINCT ON expressions must match initial ORDER BY expressions");
    }
    for (const SortKey& key : select_->distinct_on) {
      if (std::ranges::find(plan->sort, key.column, &SortKey::column) == plan->sort.end())
        plan->sort.push_back(key);
    }
  }
  for (Expr& key : select_->keys) use_slots(key);
  if (!select_->grouped) {
    std::vector<Expr>& last = select_->sets.steps.empty() ? select_->outputs : select_->set_inputs;
    for (Expr& value : select_->window_functions.empty() ? last : select_->kept) use_slots(value);
  }
  for (Aggregate& aggregate : select_->aggregates) {
    if (aggregate.argument) use_slots(*aggregate.argument);
    if (aggregate.separator) use_slots(*aggregate.separator);
    if (aggregate.filter) use_slots(*aggregate.filter);
    for (RowOrder& key : aggregate.order) use_slots(key.expr);
  }
  for (Expr& condition : conditions) use_slots(condition);
  wanted_.resize(std::max<size_t>(wanted_.size(), select_->width));
  arrange(from, std::move(conditions));
  want_columns(from);
  from.streams = from.steps.size() == 1 && binder_.bound_.subqueries.size() == queries_before &&
                 !flat_queries_ && !draws_numbers();
  plan->columns = std::move(columns_);
  plan->select = std::move(select_);
  scope_.set_owner(nullptr);
  return plan;
}

// A number is drawn by a write, which has to wait for the end of a scan.
bool SelectBinder::draws_numbers() const {
  bool draws = false;
  const auto look_at = [&](const Expr& expr) {
    ir::walk(expr, [&](const Expr& part) {
      draws |= part.kind == ExprKind::kFunction && part.function >= ir::Function::kNextValue &&
               part.function <= ir::Function::kSetValue;
    });
  };
  std::ranges::for_each(select_->outputs, look_at);
  for (const FromStep& step : select_->sets.steps) {
    for (const FromStep::SetFunction& function : step.sets) std::ranges::for_each(function.args, look_at);
  }
  return draws;
}

// A table among those of FROM describes what there is none of: whatever is asked of it, no row comes of it.
// What then can't be bound is NULL, as it is never looked at.
bool SelectBinder::has_no_rows() const {
  return std::ranges::any_of(select_->from.steps, [&](const FromStep& step) {
    return step.source == FromStep::Source::kProvided && step.kind == FromStep::Kind::kInner &&
           binder_.provider_->is_always_empty(step.provided);
  });
}

void SelectBinder::bind_items(const syntax::SelectCore& core, bool keeps_unknown) {
  const auto add = [&](std::string name, Expr value) {
    const bool is_slot = value.kind == ExprKind::kColumn && value.column.value < origins_.size();
    columns_.push_back({name.empty() ? "?column?" : std::move(name), value.type,
                        is_slot ? origins_[value.column.value] : std::nullopt});
    select_->outputs.push_back(std::move(value));
  };
  for (const syntax::SelectItem& item : core.items) {
    if (!item.star) {
      Expr value;
      const size_t depth = binder_.depth_;
      const size_t aggregates = select_->aggregates.size();
      const size_t windows = select_->window_functions.size();
      const std::vector<QueryBinder::CommonTable> common_tables = binder_.common_tables_;
      try {
        value = bind_item(item.expr);
      } catch (const SourceError&) {
        if (!has_no_rows()) throw;
        value = Expr();
        value.where = item.expr.where;
        binder_.depth_ = depth;
        binder_.common_tables_ = common_tables;
        select_->aggregates.resize(aggregates);
        forget_windows(windows);
        in_aggregate_ = in_window_ = allows_sets_ = false;
      }
      if (!keeps_unknown) value = resolve_as_text(std::move(value));
      require_certain_text(value, "this column");
      add(column_name_of(item), binder_.finish(std::move(value)));
      continue;
    }
    if (scope_.entries().empty()) refuse(item.expr.where, "SELECT * with no tables specified is not valid");
    bool any = false;
    for (const RowScope::Entry& entry : scope_.entries()) {
      if (entry.is_system ||
          (item.qualifier.empty() ? entry.hidden : !names_source(item.qualifier.text, entry.source)))
        continue;
      any = true;
      add(entry.name, entry.expr);
    }
    if (!any && !scope_.has_source(item.qualifier.text))
      refuse_as(sqlstate::kUndefinedTable, item.expr.where, "missing FROM-clause entry for table \"{}\"",
                item.qualifier.text);
  }
}

Expr SelectBinder::bind_group_key(const syntax::Expr& item) {
  if (is_other_constant(item)) refuse(item.where, "non-integer constant in GROUP BY");
  std::optional<Expr> key;
  if (const std::optional<std::string> written = written_position(item)) {
    const long position = std::stol(*written);
    if (position < 1 || position > static_cast<long>(columns_.size()))
      refuse_as(sqlstate::kInvalidReference, item.where, "GROUP BY position {} is not in select list",
                *written);
    key = select_->outputs[static_cast<size_t>(position - 1)];
  } else if (is_bare_name(item)) {
    key = scope_.find("", item.text, item.where);
    for (size_t i = 0; !key && i < columns_.size(); ++i) {
      if (columns_[i].name == item.text) key = select_->outputs[i];
    }
  }
  if (!key) key = binder_.finish(resolve_as_text(bind_item(item)));
  ir::walk(*key, [&](const Expr& part) {
    if (part.kind == ExprKind::kAggregate)
      refuse_as(sqlstate::kGrouping, item.where, "aggregate functions are not allowed in GROUP BY");
    if (is_window_result(part))
      refuse_as(sqlstate::kWindowing, item.where, "window functions are not allowed in GROUP BY");
  });
  require_equality(*key);
  return *std::move(key);
}

void SelectBinder::bind_groups(const syntax::SelectCore& core) {
  const bool is_only_set = core.grouping_sets.size() == 1;
  for (const std::vector<syntax::Expr>& set : core.grouping_sets) {
    std::vector<uint32_t> numbers;
    for (const syntax::Expr& item : set) {
      Expr key = bind_group_key(item);
      const auto known = std::ranges::find_if(
          select_->keys, [&](const Expr& each) { return !is_only_set && same_expression(each, key); });
      numbers.push_back(static_cast<uint32_t>(known - select_->keys.begin()));
      if (known == select_->keys.end()) select_->keys.push_back(std::move(key));
    }
    std::ranges::sort(numbers);
    numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
    const bool is_there = std::ranges::find(select_->grouping_sets, numbers) != select_->grouping_sets.end();
    if (!core.distinct_sets || !is_there) select_->grouping_sets.push_back(std::move(numbers));
  }
  if (select_->grouping_sets.size() == 1 && select_->grouping_sets[0].size() == select_->keys.size())
    select_->grouping_sets.clear();
}

// The arguments of grouping() are keys.
void SelectBinder::bind_grouping() {
  for (Aggregate& aggregate : select_->aggregates) {
    for (const Expr& argument : aggregate.grouped) {
      const auto key = std::ranges::find_if(
          select_->keys, [&](const Expr& each) { return same_expression(each, argument); });
      if (key == select_->keys.end()) {
        refuse_as(sqlstate::kGrouping, argument.where,
                  "arguments to GROUPING must be grouping expressions of the associated query level");
      }
      aggregate.grouped_keys.push_back(static_cast<uint32_t>(key - select_->keys.begin()));
    }
    aggregate.grouped.clear();
  }
}

uint32_t SelectBinder::output_for(const syntax::Expr& expr, const syntax::SelectCore& core,
                                  std::string_view clause) {
  if (is_other_constant(expr)) refuse(expr.where, "non-integer constant in {}", clause);
  if (const std::optional<std::string> written = written_position(expr)) {
    const long position = std::stol(*written);
    if (position < 1 || position > static_cast<long>(columns_.size()))
      refuse_as(sqlstate::kInvalidReference, expr.where, "{} position {} is not in select list", clause,
                *written);
    return static_cast<uint32_t>(position - 1);
  }
  if (is_bare_name(expr)) {
    std::optional<size_t> named;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].name != expr.text) continue;
      if (named && !same_expression(select_->outputs[*named], select_->outputs[i]))
        refuse_as(sqlstate::kAmbiguousColumn, expr.where, "{} \"{}\" is ambiguous", clause, expr.text);
      if (!named) named = i;
    }
    if (named) return static_cast<uint32_t>(*named);
  }
  Expr key = binder_.finish(resolve_as_text(bind_item(expr)));
  for (size_t i = 0; i < select_->outputs.size(); ++i) {
    if (same_expression(select_->outputs[i], key)) return static_cast<uint32_t>(i);
  }
  if (core.distinct && core.distinct_on.empty()) {
    refuse_as(sqlstate::kInvalidReference, expr.where,
              "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
  }
  select_->outputs.push_back(std::move(key));
  return static_cast<uint32_t>(select_->outputs.size() - 1);
}

// A jsonb is ordered by another text than it prints.
Expr SelectBinder::order_key(Expr value, ir::SourceLocation where) {
  if (is_unknown(value)) value = resolve_as_text(std::move(value));
  if (is_form(value.type, TextForm::kJson)) {
    refuse_as(sqlstate::kUndefinedFunction, where,
              "could not identify an ordering operator for type json; cast it to jsonb");
  }
  if (is_record(value.type)) {
    refuse_as(sqlstate::kNotSupported, where,
              "records have no order here; sort by the columns, as in ORDER BY a, b");
  }
  const bool is_array = value.type.elements != TypeKind::kNull && binder_.provider_ != nullptr;
  if (!is_array && !is_form(value.type, TextForm::kJsonb)) return value;
  if (is_array && !has_array_key(value.type))
    refuse_as(sqlstate::kNotSupported, where, "arrays of {} have no order here",
              to_string(element_of(value.type)));
  std::vector<Expr> args;
  args.push_back(std::move(value));
  return is_array ? *bind_form_call("mneme_array_key", args, where)
                  : call_provided("mneme_json_key", std::move(args), where);
}

uint32_t SelectBinder::ordered_output(uint32_t column, const syntax::SelectCore& core,
                                      ir::SourceLocation where) {
  const Expr& output = select_->outputs[column];
  Expr key = order_key(output, where);
  if (same_expression(key, output) || (core.distinct && core.distinct_on.empty())) return column;
  select_->outputs.push_back(binder_.finish(std::move(key)));
  return static_cast<uint32_t>(select_->outputs.size() - 1);
}

void require_equality(const Expr& expr) {
  const TypeKind elements = expr.type.elements;
  if (elements == TypeKind::kDecimal || elements == TypeKind::kReal || elements == TypeKind::kDouble ||
      elements == TypeKind::kInterval) {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "arrays of {} are told apart by their texts here, which say too little: unnest() them, or take "
              "their elements apart",
              to_string(element_of(expr.type)));
  }
  if (is_record(expr.type) && expr.type.scale != 0) {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "records of these columns are told apart by their texts here, which say too little; name the "
              "columns");
  }
  if (!is_form(expr.type, TextForm::kJson)) return;
  refuse_as(sqlstate::kUndefinedFunction, expr.where,
            "could not identify an equality operator for type json; cast it to jsonb");
}

void SelectBinder::bind_sort(const Query& ordered, QueryPlan& plan, const syntax::SelectCore& core) {
  clause_ = "ORDER BY";
  std::vector<syntax::OrderItem> items;
  for (const syntax::OrderItem& item : ordered.order) {
    // A row is ordered as its columns are, from the left.
    if (item.expr.kind == syntax::ExprKind::kRow) {
      for (const syntax::Expr& part : item.expr.args) items.emplace_back(item).expr = part;
    } else if (is_bare_name(item.expr) && names_table(item.expr.text) && !core.distinct &&
               std::ranges::none_of(columns_, [&](const Column& column) {
                 return column.name == item.expr.text && !is_record(column.type);
               })) {
      const std::string& table = item.expr.text;
      for (const auto& [name, field] : fields_of_table(table, item.expr.where))
        items.emplace_back(item).expr = syntax::reference(table, name, item.expr.where);
    } else {
      items.push_back(item);
    }
  }
  for (const syntax::OrderItem& item : items) {
    const uint32_t column = ordered_output(output_for(item.expr, core, "ORDER BY"), core, item.expr.where);
    plan.sort.push_back(
        {column, select_->outputs[column].type, item.descending, item.nulls_first.value_or(item.descending)});
  }
  if (ordered.with_ties) plan.tie_keys = plan.sort.size();
}

void SelectBinder::bind_distinct_on(const syntax::SelectCore& core) {
  for (const syntax::Expr& expr : core.distinct_on) {
    const uint32_t column = output_for(expr, core, "SELECT DISTINCT ON");
    select_->distinct_on.push_back({column, select_->outputs[column].type, false, false});
  }
}

bool SelectBinder::is_decided_by_keys(const Expr& column) {
  for (const Table& table : tables_) {
    if (column.column.value < table.slots.begin || column.column.value >= table.slots.end()) continue;
    const TableDefinition& definition = binder_.catalog_.table(table.table);
    if (!definition.primary_key) return false;
    const auto& key = binder_.catalog_.index(*definition.primary_key).columns;
    return std::ranges::all_of(key, [&](ColumnId part) {
      return std::ranges::any_of(select_->keys, [&](const Expr& known) {
        return known.kind == ExprKind::kColumn && known.column.value == table.slots.begin + part.value;
      });
    });
  }
  return false;
}

// An expression over the frame becomes one over the keys' values and the aggregates.
void SelectBinder::group(Expr& expr) {
  if (expr.kind == ExprKind::kAggregate || is_window_result(expr) || is_set_result(expr)) return;
  for (uint32_t i = 0; i < select_->keys.size(); ++i) {
    if (!same_expression(expr, select_->keys[i])) continue;
    expr = output_column(i, expr.type, expr.where);
    return;
  }
  if (expr.kind == ExprKind::kColumn) {
    if (!select_->grouping_sets.empty() || !is_decided_by_keys(expr)) {
      const auto named = std::ranges::find_if(
          scope_.entries(), [&](const RowScope::Entry& entry) { return same_expression(entry.expr, expr); });
      refuse_as(sqlstate::kGrouping, expr.where,
                "column \"{}{}{}\" must appear in the GROUP BY clause or be used in an aggregate function",
                named == scope_.entries().end() ? "" : named->source,
                named == scope_.entries().end() || named->source.empty() ? "" : ".",
                named == scope_.entries().end() ? "?" : named->name);
    }
    select_->keys.push_back(expr);
    expr = output_column(static_cast<uint32_t>(select_->keys.size() - 1), expr.type, expr.where);
    return;
  }
  for (Expr& arg : expr.args) group(arg);
}

// A view is bound as a query that sees nothing of the statement around it.
bool SelectBinder::bind_view(const syntax::FromItem& item, FromStep& step) {
  if (binder_.provider_ == nullptr) return false;
  const auto view = binder_.provider_->find_view(item.schema, item.name.text);
  if (!view) return false;
  check_locked_view(item);
  step.source = FromStep::Source::kQuery;
  const std::vector<QueryBinder::CommonTable> all = std::exchange(binder_.common_tables_, {});
  std::vector<std::pair<VariableId, ir::Expr>> captured;
  step.query = binder_.bind_query(*view->query, nullptr, false, &captured);
  CHECK(captured.empty());
  binder_.common_tables_ = all;
  // A view's columns are its own, and in no catalog.
  for (Column& column : step.query->columns) column.origin.reset();
  add_columns(item, step, step.query->columns);
  for (size_t i = item.column_aliases.size(); i < view->columns.size(); ++i)
    scope_.entries()[scope_.entries().size() - step.slots.count + i].name = view->columns[i];
  return true;
}

}  // namespace mneme::query
