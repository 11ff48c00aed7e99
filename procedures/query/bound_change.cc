#include "procedures/query/bound_change.h"

#include <algorithm>
#include <string>
#include <utility>

#include "procedures/binder/change_parts.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"

namespace mneme {

namespace {

// A parameter of the statement stands behind so many columns of the rows.
void shift_parameters(syntax::Expr& expr, size_t columns) {
  if (expr.kind == syntax::ExprKind::kParameter) expr.text = std::to_string(std::stoul(expr.text) + columns);
  for (syntax::Expr& arg : expr.args) shift_parameters(arg, columns);
}

// What `each` says of the statement's parameters itself: the values that it changes come in columns.
void shift_parameters(syntax::Operation& each, size_t columns) {
  for (syntax::SelectItem& item : each.items) shift_parameters(item.expr, columns);
  if (!each.on_conflict) return;
  for (syntax::Expr& value : each.on_conflict->set_values) shift_parameters(value, columns);
  for (syntax::Expr& condition : each.on_conflict->conditions) shift_parameters(condition, columns);
}

// VALUES of one row whose values call functions that give rows is as many rows as they give.
void select_only_row(syntax::Query& values) {
  std::vector<std::vector<syntax::Expr>>& rows = values.first.rows;
  if (rows.size() != 1 || std::ranges::none_of(rows[0], query::calls_set_function)) return;
  syntax::SelectCore& core = values.first.select.emplace();
  core.where = values.first.where;
  for (syntax::Expr& value : rows[0]) core.items.emplace_back().expr = std::move(value);
  rows.clear();
}

// The rows that a change takes have arrays as their texts, which columns hold.
void keep_texts(BoundSelect& rows) {
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    if (rows.columns[i].type.is_array) rows.columns[i].type = rows.queries.plan->columns[i].type;
  }
}

bool acts(ForeignKeyAction action) {
  return action != ForeignKeyAction::kNoAction && action != ForeignKeyAction::kRestrict;
}

// Whether a change of one table may change another's rows, by what foreign keys do.
bool may_change(const Catalog& catalog, TableId changed, ir::OperationKind kind, TableId other) {
  std::vector<TableId> reached = {changed};
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == other) return true;
    for (const TableDefinition& table : catalog.tables()) {
      const bool follows = std::ranges::any_of(table.foreign_keys, [&](const ForeignKey& key) {
        const bool is_updated = i == 0 && kind == ir::OperationKind::kUpdate;
        return key.referenced == reached[i] && kind != ir::OperationKind::kInsert &&
               (acts(key.on_update) || (!is_updated && acts(key.on_delete)));
      });
      if (follows && std::ranges::find(reached, table.id) == reached.end()) reached.push_back(table.id);
    }
  }
  return false;
}

// Rows are returned once all is changed, and PostgreSQL has a query among them see the tables as they were
// before: so it reads no table that is changed. `alone`: the statement changes no other table in WITH.
std::unique_ptr<BoundSelect> bind_returned(const Program& program, const ChangeParts& change,
                                           const std::vector<Type>& parameters, const SessionValues* session,
                                           const query::ProvidedTables* provider, ir::OperationKind kind,
                                           TableId changed, bool alone) {
  std::vector<Type> types = parameters;
  for (const std::vector<Type>& columns : {change.types_of_columns(), change.types_beside()})
    types.insert(types.end(), columns.begin(), columns.end());
  const syntax::Query query = change.returned(parameters.size());
  std::unique_ptr<BoundSelect> bound = bind_select(program, query, types, session, provider);
  const query::SelectPlan& select = *bound->queries.plan->select;
  if (select.grouped)
    refuse_as(sqlstate::kGrouping, query.where, "aggregate functions are not allowed in RETURNING");
  if (!select.window_functions.empty())
    refuse_as(sqlstate::kWindowing, query.where, "window functions are not allowed in RETURNING");
  if (bound->queries.makes_rows)
    refuse_as(sqlstate::kNotSupported, query.where, "set-returning functions are not allowed in RETURNING");
  for (const TableId table : bound->queries.tables) {
    if (!alone || may_change(program.catalog, changed, kind, table)) {
      refuse_as(
          sqlstate::kNotSupported, query.where,
          "RETURNING with a query of table {}, which the statement may change, is not supported; ask for "
          "its rows in a statement of its own",
          program.catalog.table(table).name);
    }
  }
  return bound;
}

}  // namespace

std::unique_ptr<BoundChange> bind_change(const Program& program, const syntax::Operation& operation,
                                         std::vector<Type>& parameters, const SessionValues* session,
                                         const query::ProvidedTables* provider,
                                         const std::vector<query::GivenTable>* given, bool in_with) {
  auto bound = std::make_unique<BoundChange>();
  if (operation.kind == ir::OperationKind::kUpdate)
    for (const syntax::Expr& value : operation.values) query::refuse_sets(value, "UPDATE");
  ChangeParts binder(program.catalog, operation);
  bound->table = binder.table();
  syntax::Operation each;
  if (operation.kind == ir::OperationKind::kInsert) {
    const std::vector<std::optional<Type>> targets = binder.insert_targets();
    syntax::Query rows = operation.query ? binder.rows_of_query() : binder.rows_of_values();
    if (!operation.query) select_only_row(rows);
    bound->rows = bind_select(program, rows, parameters, session, provider, &targets, given);
    if (operation.on_conflict && operation.on_conflict->updates)
      bound->conflict_columns = binder.conflict_columns();
    const size_t columns = bound->rows->columns.size();
    if (columns > targets.size()) refuse(operation.where, "INSERT has more expressions than target columns");
    if (!operation.columns.empty() && columns < targets.size())
      refuse(operation.where, "INSERT has more target columns than expressions");
    each = binder.insert_each(columns);
  } else {
    std::vector<std::optional<Type>> targets;
    const bool returns = in_with && operation.kind == ir::OperationKind::kDelete && binder.has_key();
    bound->rows =
        bind_select(program, binder.rows(targets, returns), parameters, session, provider, &targets, given);
    if (!operation.from.empty() && !operation.items.empty() && !returns) {
      binder.look_beside([&](const syntax::Query& query) {
        std::vector<Type> types = parameters;
        const auto rows = bind_select(program, query, types, session, provider, nullptr, given);
        keep_texts(*rows);
        return rows->columns;
      });
      targets.clear();
      bound->rows =
          bind_select(program, binder.rows(targets, returns), parameters, session, provider, &targets, given);
    }
    each = binder.is_by_values() ? binder.insert_changed() : binder.change_each();
    if (returns) each.items.clear();
    bound->key_columns = binder.key_columns();
    bound->returns_in_rows = returns;
  }
  keep_texts(*bound->rows);
  std::vector<Type> types;
  for (const ResultColumn& column : bound->rows->columns) types.push_back(column.type);
  const size_t beside = binder.types_beside().size();
  bound->parameters = types.size() - beside;
  if (bound->returns_in_rows) bound->parameters = bound->key_columns;
  types.resize(bound->parameters);
  if (operation.kind == ir::OperationKind::kUpdate && binder.is_by_values()) {
    // Its parameters are the first columns, which are all that it names.
    std::vector<Type> found(types.begin(), types.begin() + static_cast<ptrdiff_t>(bound->key_columns));
    bound->erase = bind_query(program, binder.erase_each(), found, session);
  }
  shift_parameters(each, types.size());
  types.insert(types.end(), parameters.begin(), parameters.end());
  bool returns_query = beside > 0;
  try {
    std::vector<Type> known = types;
    if (!returns_query) bound->each = bind_query(program, each, known, session);
  } catch (const SourceError& error) {
    if (each.items.empty() || !may_be_of_queries(error)) throw;
    returns_query = true;
  }
  bound->may_wait = operation.kind == ir::OperationKind::kInsert && each.items.empty() && !returns_query &&
                    refers_to_itself(program.catalog.table(bound->table));
  if (returns_query) {
    binder.return_all(each);
    bound->each = bind_query(program, each, types, session);
    const bool may_update = operation.on_conflict && operation.on_conflict->updates;
    bound->returned = bind_returned(program, binder, parameters, session, provider,
                                    may_update ? ir::OperationKind::kUpdate : operation.kind, bound->table,
                                    given == nullptr && !in_with);
    const auto is_array = [](const ResultColumn& column) { return column.type.is_array; };
    if (in_with && std::ranges::any_of(bound->returned->columns, is_array))
      refuse_as(sqlstate::kNotSupported, operation.where, "RETURNING of arrays in WITH is not supported");
  }
  return bound;
}

}  // namespace mneme
