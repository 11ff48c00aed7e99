#include "procedures/query/bound_change.h"

#include <algorithm>
#include <string>
#include <utility>

#include "procedures/binder/change_binder.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"

namespace mneme {

namespace {

syntax::Expr parameter(size_t number, ir::SourceLocation where) {
  syntax::Expr expr;
  expr.kind = syntax::ExprKind::kParameter;
  expr.text = std::to_string(number);
  expr.where = where;
  return expr;
}

const TableDefinition& find_table(const Program& program, const syntax::Name& name) {
  const TableDefinition* table = program.catalog.find_table(name.text);
  if (table == nullptr)
    refuse_as(sqlstate::kUndefinedTable, name.where, "relation \"{}\" does not exist", name.text);
  return *table;
}

const Column& find_column(const TableDefinition& table, const syntax::Name& name) {
  const auto column = table.find_column(name.text);
  if (!column) {
    refuse_as(sqlstate::kUndefinedColumn, name.where, "column \"{}\" of relation \"{}\" does not exist",
              name.text, table.name);
  }
  return table.column(*column);
}

// The new values, and what is returned, are outputs of the SELECT that finds the rows; these clauses have no
// function of several rows.
void refuse_functions_of_rows(const syntax::Expr& value, std::string_view clause) {
  if (value.window)
    refuse_as(sqlstate::kWindowing, value.where, "window functions are not allowed in {}", clause);
  if (value.kind == syntax::ExprKind::kCall && is_aggregate(value.text))
    refuse_as(sqlstate::kGrouping, value.where, "aggregate functions are not allowed in {}", clause);
  for (const syntax::Expr& arg : value.args) refuse_functions_of_rows(arg, clause);
}

// The names that the statement has for the tables of an item of FROM.
void add_names(const syntax::FromItem& item, std::vector<syntax::Name>& names) {
  if (item.kind != syntax::FromItem::Kind::kJoins || !item.alias.empty()) {
    names.push_back(item.alias.empty() ? item.name : item.alias);
    return;
  }
  for (const syntax::FromItem& first : item.first) add_names(first, names);
  for (const syntax::FromItem::Join& join : item.joins) add_names(join.item, names);
}

// A table beside the changed one, of whose columns RETURNING may speak.
struct TableBeside {
  syntax::Name name;
  std::vector<ResultColumn> columns;
};

class ChangeParts {
 public:
  ChangeParts(const Program& program, const syntax::Operation& operation)
      : program_(program), operation_(operation), table_(find_table(program, operation.tables[0].table)) {}

  // What each change needs, and the type that it is stored with; nothing: its own.
  // `returns`: behind them, what the statement returns.
  syntax::Query rows(std::vector<std::optional<Type>>& targets, bool returns) {
    syntax::Query query = with_tables();
    syntax::SelectCore& core = query.first.select.emplace();
    core.where = operation_.where;
    const syntax::Name& name = target_name();
    if (!table_.primary_key && operation_.kind == ir::OperationKind::kUpdate) refuse_unnamed_rows();
    for (const ColumnId column : key()) {
      core.items.push_back(
          {false, {}, syntax::reference(name.text, table_.column(column).name, operation_.where), {}});
      targets.emplace_back();
    }
    for (size_t i = 0; i < operation_.columns.size(); ++i) {
      const Column& column = find_column(table_, operation_.columns[i]);
      if (operation_.values[i].kind == syntax::ExprKind::kDefault) continue;
      refuse_functions_of_rows(operation_.values[i], "UPDATE");
      core.items.push_back({false, {}, operation_.values[i], {}});
      targets.emplace_back(column.type);
    }
    for (const syntax::SelectItem& item : operation_.items) {
      if (!returns) break;
      refuse_functions_of_rows(item.expr, "RETURNING");
      core.items.push_back(item);
    }
    for (const TableBeside& table : beside_) {
      for (const ResultColumn& column : table.columns) {
        core.items.push_back(
            {false, {}, syntax::reference(table.name.text, column.name, operation_.where), {}});
        targets.emplace_back();
      }
    }
    core.from = tables();
    if (!operation_.conditions.empty()) {
      std::vector<syntax::Expr> conditions = operation_.conditions;
      core.condition = syntax::join(ir::Op::kAnd, conditions);
    }
    return query;
  }

  // From here on the rows have the columns of the tables beside behind all others.
  void look_beside(std::vector<Type> parameters, const SessionValues* session,
                   const query::ProvidedTables* provider, const std::vector<query::GivenTable>* given) {
    std::vector<syntax::Name> names;
    for (const syntax::FromItem& item : operation_.from) add_names(item, names);
    for (const syntax::Name& name : names) {
      syntax::Query query = with_tables();
      syntax::SelectCore& core = query.first.select.emplace();
      core.where = operation_.where;
      core.items.push_back({.star = true, .qualifier = name, .expr = {}, .alias = {}});
      core.from = tables();
      TableBeside& table = beside_.emplace_back(TableBeside{name, {}});
      const auto bound = bind_select(program_, query, parameters, session, provider, nullptr, given);
      for (const ResultColumn& column : bound->columns) {
        // Nothing can name the second of two columns of one name.
        if (std::ranges::find(table.columns, column.name, &ResultColumn::name) != table.columns.end())
          continue;
        if (column.type.is_array)
          refuse_as(sqlstate::kNotSupported, name.where,
                    "RETURNING beside a table of arrays is not supported");
        table.columns.push_back(column);
      }
    }
  }
  std::vector<Type> types_beside() const {
    std::vector<Type> types;
    for (const TableBeside& table : beside_) {
      for (const ResultColumn& column : table.columns) types.push_back(column.type);
    }
    return types;
  }

  TableId table() const { return table_.id; }
  bool has_key() const { return table_.primary_key.has_value(); }

  // The columns that INSERT gives its query's values.
  std::vector<std::optional<Type>> insert_targets() const {
    std::vector<std::optional<Type>> targets;
    for (const syntax::Name& column : operation_.columns)
      targets.emplace_back(find_column(table_, column).type);
    if (operation_.columns.empty()) {
      for (const Column& column : table_.columns) targets.emplace_back(column.type);
    }
    return targets;
  }

  // The rows of VALUES as a query. DEFAULT is the column's.
  syntax::Query rows_of_values() const {
    syntax::Query query = with_tables();
    query.first.where = operation_.where;
    query.first.rows.push_back(operation_.values);
    for (const std::vector<syntax::Expr>& row : operation_.more_rows) query.first.rows.push_back(row);
    for (std::vector<syntax::Expr>& row : query.first.rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        const Column* column = given_column(i);
        if (row[i].kind != syntax::ExprKind::kDefault && !is_ignored(column)) {
          if (column != nullptr && !operation_.gives_identities) check_not_generated(*column, row[i].where);
          continue;
        }
        const ir::SourceLocation where = row[i].where;
        row[i] = {};
        if (column != nullptr && !column->initial.empty()) row[i] = parse_expression(column->initial);
        row[i].where = where;
      }
    }
    return query;
  }

  // The query of INSERT, which sees the tables of WITH in front of it, and may have more.
  syntax::Query rows_of_query() const {
    syntax::Query query = *operation_.query;
    for (size_t i = 0; i < table_.columns.size() && !operation_.gives_identities; ++i) {
      const Column* const column = given_column(i);
      if (column != nullptr && !is_ignored(column)) check_not_generated(*column, operation_.where);
    }
    query.with.insert(query.with.begin(), operation_.with.begin(), operation_.with.end());
    query.recursive |= operation_.recursive;
    return query;
  }

  // The places of the conflict's key among the columns that are given; none where a column of it is not.
  std::vector<size_t> conflict_columns() const {
    std::vector<size_t> places;
    for (const ColumnId column : columns_of_conflict(program_.catalog, table_, *operation_.on_conflict)) {
      size_t place = 0;
      const size_t end = operation_.columns.empty() ? table_.columns.size() : operation_.columns.size();
      while (place < end && given_column(place) != &table_.column(column)) ++place;
      if (place == end) return {};
      places.push_back(place);
    }
    return places;
  }

  syntax::Operation insert_each(size_t columns) const {
    syntax::Operation each = operation_;
    each.gives_identities = true;
    each.query.reset();
    each.values.clear();
    each.more_rows.clear();
    each.with.clear();
    for (size_t i = 0; i < columns; ++i) {
      each.values.push_back(parameter(i + 1, operation_.where));
      // The rows of VALUES have the columns' own values already.
      if (operation_.query && is_ignored(given_column(i)))
        each.values.back().kind = syntax::ExprKind::kDefault;
    }
    each.ignores_identities = false;
    return each;
  }

  syntax::Operation change_each() const {
    for (size_t i = 0; i < operation_.columns.size(); ++i) {
      const Column& column = find_column(table_, operation_.columns[i]);
      if (column.identity == Identity::kAlways && operation_.values[i].kind != syntax::ExprKind::kDefault) {
        refuse_as(sqlstate::kGeneratedAlways, operation_.columns[i].where,
                  "column \"{}\" can only be updated to DEFAULT", column.name);
      }
    }
    syntax::Operation each = operation_;
    each.gives_identities = true;
    each.from.clear();
    each.with.clear();
    each.conditions.clear();
    size_t number = 0;
    const syntax::Name& name = target_name();
    const ir::Op equal = table_.primary_key ? ir::Op::kEqual : ir::Op::kIsNotDistinct;
    for (const ColumnId column : key()) {
      each.conditions.push_back(syntax::make_binary(
          equal, syntax::reference(name.text, table_.column(column).name, operation_.where),
          parameter(++number, operation_.where)));
    }
    for (syntax::Expr& value : each.values) {
      if (value.kind != syntax::ExprKind::kDefault) value = parameter(++number, value.where);
    }
    return each;
  }

  // RETURNING as a query of the columns of the changed row, and of those beside it, which are its parameters
  // behind `first` others.
  syntax::Query returned(size_t first) const {
    syntax::Query query;
    query.where = operation_.where;
    query.text = operation_.text;
    syntax::SelectCore& core = query.first.select.emplace();
    core.where = query.first.where = operation_.where;
    core.items = operation_.items;
    size_t number = first;
    core.from.push_back(row_of(target_name(), table_.columns, number));
    for (const TableBeside& table : beside_) core.from.push_back(row_of(table.name, table.columns, number));
    return query;
  }

  std::vector<Type> types_of_columns() const {
    std::vector<Type> types;
    for (const Column& column : table_.columns) types.push_back(column.type);
    return types;
  }

  // All columns of the changed row in the place of what the statement returns.
  void return_all(syntax::Operation& each) const {
    each.items.clear();
    each.items.push_back({.star = true, .qualifier = {}, .expr = {}, .alias = {}});
  }

  size_t key_columns() const { return key().size(); }

  // An UPDATE of a table without a primary key is two changes.
  bool is_by_values() const { return !table_.primary_key && operation_.kind == ir::OperationKind::kUpdate; }

  syntax::Operation erase_each() const {
    syntax::Operation erase = change_each();
    erase.kind = ir::OperationKind::kDelete;
    erase.columns.clear();
    erase.values.clear();
    erase.items.clear();
    return erase;
  }

  // The row with its new values, the others being as they were found.
  syntax::Operation insert_changed() const {
    syntax::Operation insert = change_each();
    insert.kind = ir::OperationKind::kInsert;
    insert.conditions.clear();
    insert.columns.clear();
    insert.values.clear();
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      insert.columns.push_back({table_.columns[i].name, operation_.where});
      insert.values.push_back(parameter(i + 1, operation_.where));
    }
    size_t number = table_.columns.size();
    for (size_t i = 0; i < operation_.columns.size(); ++i) {
      const ColumnId column = *table_.find_column(operation_.columns[i].text);
      const bool is_default = operation_.values[i].kind == syntax::ExprKind::kDefault;
      insert.values[column.value] =
          is_default ? operation_.values[i] : parameter(++number, operation_.values[i].where);
    }
    return insert;
  }

 private:
  // Whether OVERRIDING USER VALUE gives the column its own values.
  bool is_ignored(const Column* column) const {
    return operation_.ignores_identities && column != nullptr && column->identity != Identity::kNone;
  }

  // The changed table, and those beside it.
  std::vector<syntax::FromItem> tables() const {
    std::vector<syntax::FromItem> items(1);
    items[0].where = operation_.tables[0].table.where;
    items[0].name = operation_.tables[0].table;
    items[0].alias = operation_.tables[0].alias;
    items.insert(items.end(), operation_.from.begin(), operation_.from.end());
    return items;
  }

  // A table of one row, whose columns are the parameters behind `number`.
  template <typename Columns>
  syntax::FromItem row_of(const syntax::Name& name, const Columns& columns, size_t& number) const {
    auto row = std::make_shared<syntax::Query>();
    row->where = row->first.where = operation_.where;
    std::vector<syntax::Expr>& values = row->first.rows.emplace_back();
    syntax::FromItem item;
    item.kind = syntax::FromItem::Kind::kQuery;
    item.where = operation_.where;
    item.alias = name;
    for (const auto& column : columns) {
      values.push_back(parameter(++number, operation_.where));
      item.column_aliases.push_back({column.name, operation_.where});
    }
    item.query = std::move(row);
    return item;
  }

  const syntax::Name& target_name() const {
    return operation_.tables[0].alias.empty() ? operation_.tables[0].table : operation_.tables[0].alias;
  }

  // The columns that name a row.
  std::vector<ColumnId> key() const {
    if (table_.primary_key) return program_.catalog.index(*table_.primary_key).columns;
    std::vector<ColumnId> all;
    for (uint32_t i = 0; i < table_.columns.size(); ++i) all.push_back(ColumnId{i});
    return all;
  }

  // A key is looked at row by row, and what refers to it would see the row go.
  void refuse_unnamed_rows() const {
    const bool is_unique = std::ranges::any_of(
        table_.indexes, [&](IndexId index) { return program_.catalog.index(index).unique; });
    if (!is_unique) return;
    refuse_as(
        sqlstate::kNotSupported, operation_.where,
        "table {} has a unique key and no primary key, by which an UPDATE that reads other tables finds "
        "its rows; give it one",
        table_.name);
  }

  syntax::Query with_tables() const {
    syntax::Query query;
    query.where = operation_.where;
    query.text = operation_.text;
    query.with = operation_.with;
    query.recursive = operation_.recursive;
    return query;
  }

  const Column* given_column(size_t i) const {
    if (!operation_.columns.empty())
      return i < operation_.columns.size() ? &find_column(table_, operation_.columns[i]) : nullptr;
    return i < table_.columns.size() ? &table_.columns[i] : nullptr;
  }

  const Program& program_;
  const syntax::Operation& operation_;
  const TableDefinition& table_;
  std::vector<TableBeside> beside_;
};

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

std::unique_ptr<BoundSelect> bind_returned(const Program& program, const ChangeParts& change,
                                           const std::vector<Type>& parameters, const SessionValues* session,
                                           const query::ProvidedTables* provider) {
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
  if (bound->queries.reads_tables) {
    refuse_as(
        sqlstate::kNotSupported, query.where,
        "RETURNING with a query of tables is not supported; ask for its rows in a statement of its own");
  }
  return bound;
}

}  // namespace

bool may_be_of_queries(const SourceError& error) {
  const std::string_view code = error.sqlstate == nullptr ? "" : error.sqlstate;
  return code == sqlstate::kNotSupported || code == sqlstate::kUndefinedFunction ||
         code == sqlstate::kNotUnique;
}

std::unique_ptr<BoundChange> bind_change(const Program& program, const syntax::Operation& operation,
                                         std::vector<Type>& parameters, const SessionValues* session,
                                         const query::ProvidedTables* provider,
                                         const std::vector<query::GivenTable>* given, bool in_with) {
  auto bound = std::make_unique<BoundChange>();
  ChangeParts binder(program, operation);
  bound->table = binder.table();
  syntax::Operation each;
  if (operation.kind == ir::OperationKind::kInsert) {
    const std::vector<std::optional<Type>> targets = binder.insert_targets();
    const syntax::Query rows = operation.query ? binder.rows_of_query() : binder.rows_of_values();
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
      binder.look_beside(parameters, session, provider, given);
      targets.clear();
      bound->rows =
          bind_select(program, binder.rows(targets, returns), parameters, session, provider, &targets, given);
    }
    each = binder.is_by_values() ? binder.insert_changed() : binder.change_each();
    if (returns) each.items.clear();
    bound->key_columns = binder.key_columns();
    bound->returns_in_rows = returns;
  }
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
  if (returns_query) {
    binder.return_all(each);
    bound->each = bind_query(program, each, types, session);
    bound->returned = bind_returned(program, binder, parameters, session, provider);
    const auto is_array = [](const ResultColumn& column) { return column.type.is_array; };
    if (in_with && std::ranges::any_of(bound->returned->columns, is_array))
      refuse_as(sqlstate::kNotSupported, operation.where, "RETURNING of arrays in WITH is not supported");
  }
  return bound;
}

}  // namespace mneme
