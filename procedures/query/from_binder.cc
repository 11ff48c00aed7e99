// SelectBinder's FROM: tables and joins, the order in which they are taken, and how each finds its rows.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "procedures/binder/access_path.h"
#include "procedures/binder/evaluation_cost.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;
using syntax::FromItem;
using syntax::JoinKind;

namespace {

constexpr size_t kMostTables = 512;  // of one statement, with those of its views
constexpr size_t kMostSteps = 64;    // of one FROM

// Calls visit for each slot that the expression names.
template <typename Visit>
void for_each_slot(const Expr& expr, Visit&& visit) {
  ir::walk(expr, [&](const Expr& part) {
    if (part.kind == ExprKind::kColumn && part.source == 0) visit(part.column.value);
  });
}

bool names_no_slot(const Expr& expr) {
  bool none = true;
  for_each_slot(expr, [&](uint32_t) { none = false; });
  return none;
}

bool names_only(const Expr& expr, const Slots& slots) {
  bool only = true;
  for_each_slot(expr, [&](uint32_t each) { only &= each >= slots.begin && each < slots.end(); });
  return only;
}

bool names_none_of(const Expr& expr, const Slots& slots) {
  bool none = true;
  for_each_slot(expr, [&](uint32_t each) { none &= each < slots.begin || each >= slots.end(); });
  return none;
}

bool has_query(const Expr& expr) {
  bool any = false;
  ir::walk(expr, [&](const Expr& part) { any |= part.kind == ExprKind::kQuery; });
  return any;
}

// The step's own slots become its table's columns.
Expr as_table_columns(Expr expr, const Slots& slots) {
  ir::walk(expr, [&](Expr& part) {
    if (part.kind != ExprKind::kColumn || part.source != 0) return;
    if (part.column.value < slots.begin || part.column.value >= slots.end()) return;
    part.source = 1;
    part.column = ColumnId{part.column.value - slots.begin};
  });
  return expr;
}

void add_condition(std::optional<Expr>& to, std::vector<Expr> conditions) {
  if (conditions.empty()) return;
  if (to) conditions.insert(conditions.begin(), *std::move(to));
  to = join_by_cost(std::move(conditions));
}

// The two sides of an equality, the second of which names the step's slots alone, and the first none of them.
std::optional<std::pair<Expr, Expr>> hash_keys(const Expr& condition, const Slots& slots) {
  if (condition.kind != ExprKind::kBinary || condition.op != ir::Op::kEqual || has_query(condition))
    return std::nullopt;
  for (const size_t side : {0, 1}) {
    const Expr& inner = condition.args[side];
    const Expr& outer = condition.args[1 - side];
    if (names_no_slot(inner) || names_no_slot(outer)) continue;
    if (names_only(inner, slots) && names_none_of(outer, slots)) return std::pair(outer, inner);
  }
  return std::nullopt;
}

void append_steps(FromPlan& to, FromPlan from) {
  for (FromStep& step : from.steps) to.steps.push_back(std::move(step));
}

Slots slots_of(const FromPlan& plan) {
  Slots slots = plan.steps[0].slots;
  uint32_t end = slots.end();
  for (const FromStep& step : plan.steps) {
    slots.begin = std::min(slots.begin, step.slots.begin);
    end = std::max(end, step.slots.end());
  }
  slots.count = end - slots.begin;
  return slots;
}

}  // namespace

void SelectBinder::bind_condition(const syntax::Expr& expr, Conditions& conditions) {
  ExpressionBinder binder(binder_.names_, binder_.strings_, this);
  Conditions parts;
  split_conjunction(binder_.finish(binder.bind_condition(expr)), parts);
  for (Expr& part : parts) binder_.folder_.fold(part);
  binder_.folder_.fold_conjunction(parts);
  for (Expr& part : parts) conditions.push_back(std::move(part));
}

void SelectBinder::bind_from_item(const FromItem& item, FromPlan& plan, Conditions& conditions) {
  if (item.kind == FromItem::Kind::kJoins) return bind_joins(item, plan, conditions);
  bind_relation(item, plan, conditions);
}

void SelectBinder::bind_relation(const FromItem& item, FromPlan& plan, Conditions& conditions) {
  if (++binder_.tables_ > kMostTables || plan.steps.size() >= kMostSteps) {
    refuse_as(sqlstate::kTooComplex, item.where,
              "more than {} tables in one FROM, or {} in one statement, are not supported", kMostSteps,
              kMostTables);
  }
  const syntax::Name& name = item.alias.empty() ? item.name : item.alias;
  // Tables of two schemas may have one name.
  const bool is_plain = item.alias.empty() && item.kind == FromItem::Kind::kTable;
  if (is_plain ? scope_.has_exactly(name.text) : scope_.has_source(name.text))
    refuse_as(sqlstate::kDuplicateAlias, item.where, "table name \"{}\" specified more than once", name.text);
  if (item.kind != FromItem::Kind::kTable) check_locked_item(item);
  if (bind_derived_table(item, plan, conditions)) return;
  FromStep step;
  step.name = name.text;
  step.slots.begin = select_->width;
  const auto bind_as_query = [&](const syntax::Query& query, RowScope* outer, bool sees_beside) {
    step.source = FromStep::Source::kQuery;
    std::vector<std::pair<VariableId, Expr>> captured;
    step.query = binder_.bind_query(query, outer, sees_beside, &captured);
    step.inputs = std::move(captured);
    step.is_lateral = !step.inputs.empty();
    for (auto& input : step.inputs) use_slots(input.second);
    add_columns(item, step, step.query->columns);
  };
  switch (item.kind) {
    case FromItem::Kind::kTable: {
      const auto* common = item.schema.empty() ? binder_.find_common_table(item.name.text) : nullptr;
      if (common == nullptr) {
        if (const std::optional<syntax::Query> sequence = query_of_sequence(item)) {
          binder_.reads_sequences_ = true;
          bind_as_query(*sequence, nullptr, false);
          binder_.reads_sequences_ = false;
        } else if (!bind_view(item, step)) {
          bind_table(item, step);
        }
        break;
      }
      if (const auto* open = binder_.find_open_recursion(*common)) {
        step.source = FromStep::Source::kWorking;
        step.recursion = open->number;
        reads_working_rows_ = true;
        add_columns(item, step, open->columns);
        break;
      }
      const std::vector<syntax::Name>& names = common->table->columns;
      if (common->table->change) {
        step.source = FromStep::Source::kWorking;
        step.recursion = binder_.read_given(*common->table, item.where);
        add_columns(item, step, binder_.given_[step.recursion].columns);
      } else {
        step.source = FromStep::Source::kQuery;
        QueryBinder::ReadTable read = binder_.bind_common_table(*common, scope_);
        step.query = std::move(read.plan);
        step.inputs = std::move(read.inputs);
        step.is_lateral = !step.inputs.empty();
        for (auto& input : step.inputs) use_slots(input.second);
        add_columns(item, step, step.query->columns);
      }
      if (names.size() > step.slots.count)
        refuse(names.back().where, "table \"{}\" has {} columns available but {} columns specified",
               item.name.text, step.slots.count, names.size());
      for (size_t i = item.column_aliases.size(); i < names.size(); ++i)
        scope_.entries()[scope_.entries().size() - step.slots.count + i].name = names[i].text;
      break;
    }
    case FromItem::Kind::kQuery:
      bind_as_query(*item.query, &scope_, item.lateral);
      break;
    case FromItem::Kind::kFunction:
      if (bind_rows_of_routine(item, step)) break;
      if (const std::optional<syntax::Query> query = query_of_function(item)) {
        bind_as_query(*query, &scope_, true);
      } else {
        bind_function_table(item, step);
      }
      break;
    case FromItem::Kind::kJoins:
      break;
  }
  select_->width += step.slots.count;
  plan.steps.push_back(std::move(step));
}

// A sequence has one row in FROM, also before a number is drawn and its row is written.
std::optional<syntax::Query> SelectBinder::query_of_sequence(const FromItem& item) const {
  const bool is_public = item.schema.empty() || item.schema == "public";
  const TableDefinition* table = is_public ? binder_.catalog_.find_table(item.name.text) : nullptr;
  if (table == nullptr || !is_sequence(*table) || binder_.reads_sequences_) return std::nullopt;
  return *parse_command(fmt::format("SELECT coalesce(max(last_value), {}::bigint) AS last_value, "
                                    "coalesce(max(log_cnt), 0::bigint) AS log_cnt, "
                                    "coalesce(bool_or(is_called), false) AS is_called FROM {}",
                                    table->sequence.start, written_name(table->name)))
              .operation->query;
}

void SelectBinder::add_columns(const FromItem& item, FromStep& step, const std::vector<Column>& columns) {
  step.slots.count = static_cast<uint32_t>(columns.size());
  if (item.column_aliases.size() > columns.size()) {
    refuse_as(sqlstate::kInvalidReference, item.where,
              "table \"{}\" has {} columns available but {} columns specified", step.name, columns.size(),
              item.column_aliases.size());
  }
  origins_.resize(step.slots.begin);
  for (uint32_t i = 0; i < columns.size(); ++i) {
    origins_.push_back(columns[i].origin);
    const bool renamed = i < item.column_aliases.size();
    scope_.add({step.name, renamed ? item.column_aliases[i].text : columns[i].name,
                output_column(step.slots.begin + i, columns[i].type, item.where)});
  }
}

void SelectBinder::bind_table(const FromItem& item, FromStep& step) {
  const bool is_public = item.schema.empty() || item.schema == "public";
  const TableDefinition* table = is_public ? binder_.catalog_.find_table(item.name.text) : nullptr;
  if (table != nullptr) {
    std::vector<Column> columns;
    for (uint32_t i = 0; const mneme::Column& column : table->columns)
      columns.push_back({column.name, column.type, ColumnOrigin{table->id, ColumnId{i++}}});
    step.lookup.access.resize(2);
    step.lookup.access[1].table = table->id;
    step.lookup.where = item.where;
    add_columns(item, step, columns);
    tables_.push_back({table->id, step.slots});
    std::vector<TableId>& read = binder_.bound_.tables;
    if (std::ranges::find(read, table->id) == read.end()) read.push_back(table->id);
    add_handle(item, step);
    return;
  }
  const std::optional<uint32_t> provided =
      binder_.provider_ != nullptr ? binder_.provider_->find(item.schema, item.name.text) : std::nullopt;
  if (!provided) {
    refuse_as(sqlstate::kUndefinedTable, item.where, "relation \"{}{}{}\" does not exist", item.schema,
              item.schema.empty() ? "" : ".", item.name.text);
  }
  step.source = FromStep::Source::kProvided;
  step.provided = *provided;
  const std::span<const Column> columns = binder_.provider_->columns(*provided);
  add_columns(item, step, {columns.begin(), columns.end()});
  if (!columns.empty() && columns.back().name == "tableoid") scope_.entries().back().is_system = true;
}

void SelectBinder::bind_joins(const FromItem& item, FromPlan& plan, Conditions& conditions) {
  const size_t left_entry = scope_.entries().size();
  FromPlan left;
  Conditions left_conditions;
  const bool is_outer = std::ranges::any_of(
      item.joins, [](const FromItem::Join& join) { return join.kind != JoinKind::kInner; });
  outer_joins_ += is_outer ? 1 : 0;
  bind_from_item(item.first[0], left, left_conditions);
  for (const FromItem::Join& join : item.joins) {
    const size_t right_entry = scope_.entries().size();
    FromPlan right;
    Conditions right_conditions;
    const bool hides_left = join.kind == JoinKind::kRight || join.kind == JoinKind::kFull;
    const auto reach_left = [&](bool is_out_of_reach) {
      std::vector<RowScope::Entry>& entries = scope_.entries();
      for (size_t i = left_entry; hides_left && i < right_entry; ++i)
        entries[i].is_out_of_reach = is_out_of_reach;
    };
    reach_left(true);
    bind_from_item(join.item, right, right_conditions);
    reach_left(false);
    Conditions on = join_conditions(join, left_entry, right_entry);
    for (Expr& condition : on) use_slots(condition);
    if (join.kind == JoinKind::kInner) {
      append_steps(left, std::move(right));
      for (Conditions* more : {&right_conditions, &on}) {
        for (Expr& condition : *more) left_conditions.push_back(std::move(condition));
      }
      continue;
    }
    // The side that may have no row for one of the other's is looked up as one.
    const bool left_is_optional = join.kind == JoinKind::kRight;
    FromPlan& optional_plan = left_is_optional ? left : right;
    Conditions& optional_conditions = left_is_optional ? left_conditions : right_conditions;
    for (Expr& condition : optional_conditions) use_slots(condition);
    FromStep step = optional_plan.steps.size() == 1 && optional_conditions.empty() &&
                            optional_plan.steps[0].kind == FromStep::Kind::kInner
                        ? std::move(optional_plan.steps[0])
                        : as_group(std::move(optional_plan), std::move(optional_conditions));
    if (left_is_optional) {
      left = std::move(right);
      left_conditions = std::move(right_conditions);
    }
    step.kind = join.kind == JoinKind::kFull ? FromStep::Kind::kFull : FromStep::Kind::kLeft;
    refuse_optional_rows(step);
    choose_path(step, false, std::move(on));
    left.steps.push_back(std::move(step));
    if (join.kind != JoinKind::kFull) continue;
    // Either side may have no row: what later joins ask of it is asked of the joined rows.
    for (Expr& condition : left_conditions) use_slots(condition);
    for (const FromStep& each : left.steps) refuse_optional_rows(each);
    FromStep whole = as_group(std::move(left), std::move(left_conditions));
    left = FromPlan();
    left_conditions.clear();
    left.steps.push_back(std::move(whole));
  }
  outer_joins_ -= is_outer ? 1 : 0;
  append_steps(plan, std::move(left));
  for (Expr& condition : left_conditions) conditions.push_back(std::move(condition));
}

SelectBinder::Conditions SelectBinder::join_conditions(const FromItem::Join& join, size_t left_entry,
                                                       size_t right_entry) {
  Conditions conditions;
  if (join.on) {
    clause_ = "JOIN conditions";
    bind_condition(*join.on, conditions);
    clause_ = "FROM";
    return conditions;
  }
  std::vector<std::string> names;
  for (const syntax::Name& name : join.using_columns) names.push_back(name.text);
  if (join.natural) {
    const auto& entries = scope_.entries();
    for (size_t i = left_entry; i < right_entry; ++i) {
      const bool both =
          std::any_of(entries.begin() + static_cast<ptrdiff_t>(right_entry), entries.end(),
                      [&](const RowScope::Entry& right) {
                        return !right.hidden && !right.is_system && right.name == entries[i].name;
                      });
      if (both && !entries[i].hidden && !entries[i].is_system) names.push_back(entries[i].name);
    }
  }
  if (!names.empty()) merge_columns(names, join.kind, left_entry, right_entry, join.item.where, conditions);
  return conditions;
}

// Gives both the type that they have in common, if they are numbers or times of different types.
static void take_common_type(Expr& left, Expr& right) {
  if (left.type == right.type) return;
  const auto is_told = [](const Type& type) { return type.is_number() || type.is_time(); };
  const std::optional<Type> common = common_type(left.type, right.type);
  if (!common || !is_told(*common)) return;
  for (Expr* side : {&left, &right}) {
    if (common->is_exact() && !common->is_integer())
      *side = with_own_digits(std::move(*side));
    else if (side->type.kind != common->kind || side->type.is_zoned != common->is_zoned)
      *side = convert(std::move(*side), *common);
  }
}

// USING: one column in place of two, in front of the others.
void SelectBinder::merge_columns(const std::vector<std::string>& names, JoinKind kind, size_t left_entry,
                                 size_t right_entry, ir::SourceLocation where, Conditions& conditions) {
  std::vector<RowScope::Entry>& entries = scope_.entries();
  std::vector<RowScope::Entry> merged;
  for (const std::string& name : names) {
    const auto find = [&](size_t begin, size_t end, std::string_view side) {
      std::optional<size_t> found;
      for (size_t i = begin; i < end; ++i) {
        if (entries[i].hidden || entries[i].name != name) continue;
        if (found)
          refuse_as(sqlstate::kAmbiguousColumn, where,
                    "common column name \"{}\" appears more than once in {} table", name, side);
        found = i;
      }
      if (!found)
        refuse_as(sqlstate::kUndefinedColumn, where,
                  "column \"{}\" specified in USING clause does not exist in {} table", name, side);
      return *found;
    };
    const size_t left = find(left_entry, right_entry, "left");
    const size_t right = find(right_entry, entries.size(), "right");
    Expr a = entries[left].expr;
    Expr b = entries[right].expr;
    Expr comparison;
    comparison.kind = ExprKind::kBinary;
    comparison.op = ir::Op::kEqual;
    comparison.type = Type{.kind = TypeKind::kBoolean};
    comparison.where = where;
    unify_for_comparison(a, b, where);
    comparison.args.push_back(std::move(a));
    comparison.args.push_back(std::move(b));
    conditions.push_back(std::move(comparison));
    Expr left_value = entries[left].expr;
    Expr right_value = entries[right].expr;
    take_common_type(left_value, right_value);
    // An inner join's two columns are equal: the merged one is that which keeps its type.
    const auto is_kept = [](const Type& before, const Type& now) {
      const bool have_digits = before.is_exact() && now.is_exact() && !before.is_integer();
      return before.kind == now.kind || have_digits;
    };
    const bool is_right_kept = kind == JoinKind::kInner &&
                               !is_kept(entries[left].expr.type, left_value.type) &&
                               is_kept(entries[right].expr.type, right_value.type);
    const bool takes_right = kind == JoinKind::kRight || is_right_kept;
    RowScope::Entry entry{"", name, std::move(takes_right ? right_value : left_value)};
    if (kind == JoinKind::kFull) {
      entry.expr = bind_function("coalesce", {entries[left].expr, entries[right].expr}, where, true);
    }
    merged.push_back(std::move(entry));
    entries[left].hidden = entries[right].hidden = true;
  }
  entries.insert(entries.begin() + static_cast<ptrdiff_t>(left_entry), merged.begin(), merged.end());
}

FromStep SelectBinder::as_group(FromPlan plan, Conditions conditions) {
  FromStep step;
  step.source = FromStep::Source::kQuery;
  step.slots = slots_of(plan);
  plan.slots = step.slots;
  arrange(plan, std::move(conditions));
  step.group = std::make_unique<FromPlan>(std::move(plan));
  return step;
}

bool SelectBinder::is_volatile(const Expr& expr) const {
  bool found = false;
  ir::walk(expr, [&](const Expr& part) {
    found |= part.kind == ExprKind::kQuery && binder_.bound_.subqueries[part.query].is_volatile;
  });
  return found;
}

void SelectBinder::arrange(FromPlan& plan, Conditions conditions) {
  std::stable_partition(conditions.begin(), conditions.end(),
                        [](const Expr& each) { return !has_query(each); });
  // Conditions beside a full join are of its left side: where they don't hold, the right side's rows are
  // there.
  const bool is_full = std::ranges::any_of(
      plan.steps, [](const FromStep& step) { return step.kind == FromStep::Kind::kFull; });
  Conditions gates;
  std::erase_if(conditions, [&](Expr& condition) {
    if (is_full || !names_no_slot(condition) || is_volatile(condition)) return false;
    gates.push_back(std::move(condition));
    return true;
  });
  add_condition(plan.gate, std::move(gates));
  if (plan.steps.empty()) return;
  plan.slots = slots_of(plan);
  order_steps(plan, conditions);
  std::vector<bool> filled(select_->width);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    FromStep& step = plan.steps[i];
    std::fill_n(filled.begin() + step.slots.begin, step.slots.count, true);
    Conditions ready;
    std::erase_if(conditions, [&](Expr& condition) {
      bool known = true;
      for_each_slot(condition, [&](uint32_t each) { known &= filled[each]; });
      if (known) ready.push_back(std::move(condition));
      return known;
    });
    if (step.kind == FromStep::Kind::kInner) {
      choose_path(step, i == 0, std::move(ready));
    } else {
      add_condition(step.filter, std::move(ready));
    }
  }
  CHECK(conditions.empty());
}

// The steps before the first outer join may be taken in any order: next is what finds fewest rows.
void SelectBinder::order_steps(FromPlan& plan, const Conditions& conditions) {
  const auto outer = std::ranges::find_if(plan.steps, [](const FromStep& step) {
    return step.kind != FromStep::Kind::kInner || step.is_lateral;
  });
  const auto count = static_cast<size_t>(outer - plan.steps.begin());
  std::vector<bool> filled(select_->width);
  for (size_t next = 0; next + 1 < count; ++next) {
    size_t best = next;
    int best_score = -1;
    for (size_t i = next; i < count; ++i) {
      const FromStep& step = plan.steps[i];
      Conditions known;
      bool meets = false;
      for (const Expr& condition : conditions) {
        bool all = true;
        bool own = false;
        bool others = false;
        for_each_slot(condition, [&](uint32_t each) {
          const bool is_own = each >= step.slots.begin && each < step.slots.end();
          all &= is_own || filled[each];
          own |= is_own;
          others |= !is_own;
        });
        if (!all || !own) continue;
        meets |= others && hash_keys(condition, step.slots).has_value();
        known.push_back(as_table_columns(condition, step.slots));
      }
      int score = meets ? 5 : next == 0 ? 1 : 0;
      // The rows that it has locked say which others are looked at: those of a queue's other workers are not.
      if (next == 0 && locks_rows(step)) score = 5;
      if (step.source == FromStep::Source::kTable) {
        const auto path = find_path(binder_.catalog_, step.lookup.access[1].table, 1, known);
        if (path && path->is_lookup) score = path->score;
        if (path && !path->is_lookup && !path->settled.empty() && next == 0) score = 4;
      }
      if (score > best_score) {
        best = i;
        best_score = score;
      }
    }
    std::rotate(plan.steps.begin() + static_cast<ptrdiff_t>(next),
                plan.steps.begin() + static_cast<ptrdiff_t>(best),
                plan.steps.begin() + static_cast<ptrdiff_t>(best) + 1);
    const Slots& slots = plan.steps[next].slots;
    std::fill_n(filled.begin() + slots.begin, slots.count, true);
  }
}

// How the step finds its rows, and which of them it takes: by `conditions`, which name slots of the steps
// before it and its own.
void SelectBinder::choose_path(FromStep& step, bool is_first, Conditions conditions) {
  if (step.source != FromStep::Source::kTable) {
    if (!is_first && !step.is_lateral) choose_hash(step, conditions);
    add_condition(step.match, std::move(conditions));
    return;
  }
  const TableId table = step.lookup.access[1].table;
  const auto find = [&](const Conditions& known) {
    Conditions parts;
    for (const Expr& condition : known) parts.push_back(as_table_columns(condition, step.slots));
    std::optional<TablePath> path = find_path(binder_.catalog_, table, 1, parts);
    if (!path) {
      refuse_as(
          sqlstate::kNotSupported, step.lookup.where,
          "table {} has no primary key and no index that begins with a column this query fixes or bounds; "
          "give it a primary key or such an index",
          binder_.catalog_.table(table).name);
    }
    return *std::move(path);
  };
  // Rows are read while their conditions are looked at: a query inside of one would read in between.
  const auto take = [&](TablePath path, Conditions& known) {
    step.lookup.access[1].path = std::move(path.path);
    Conditions filters;
    Conditions later;
    for (size_t i = 0; i < known.size(); ++i) {
      if (std::ranges::find(path.settled, i) != path.settled.end()) continue;
      if (has_query(known[i])) {
        later.push_back(std::move(known[i]));
      } else {
        filters.push_back(as_table_columns(std::move(known[i]), step.slots));
      }
    }
    add_condition(step.lookup.access[1].filter, std::move(filters));
    add_condition(step.match, std::move(later));
  };
  const bool whole = step.kind == FromStep::Kind::kFull;
  TablePath path = find(whole ? Conditions() : conditions);
  if (!whole && (path.is_lookup || is_first)) {
    step.is_lookup = !is_first;
    return take(std::move(path), conditions);
  }
  // Read once, by its own conditions; then each row meets those before it.
  Conditions own;
  if (!whole) {
    std::erase_if(conditions, [&](Expr& condition) {
      if (!names_only(condition, step.slots)) return false;
      own.push_back(std::move(condition));
      return true;
    });
  }
  take(find(own), own);
  choose_hash(step, conditions);
  add_condition(step.match, std::move(conditions));
}

void SelectBinder::choose_hash(FromStep& step, Conditions& conditions) {
  std::erase_if(conditions, [&](const Expr& condition) {
    auto keys = hash_keys(condition, step.slots);
    if (!keys) return false;
    step.outer_keys.push_back(std::move(keys->first));
    step.inner_keys.push_back(std::move(keys->second));
    return true;
  });
}

void SelectBinder::want_columns(FromPlan& plan) {
  for (FromStep& step : plan.steps) {
    if (step.group) want_columns(*step.group);
    if (step.source != FromStep::Source::kTable) continue;
    for (uint32_t i = 0; i < step.slots.count - (step.gives_handle ? 1 : 0); ++i) {
      if (wanted_[step.slots.begin + i]) step.columns.push_back(ColumnId{i});
    }
  }
}

}  // namespace mneme::query
