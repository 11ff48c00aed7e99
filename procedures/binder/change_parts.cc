#include "procedures/binder/change_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "procedures/binder/change_binder.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/schema_binder.h"
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

const TableDefinition& find_table(const Catalog& catalog, const syntax::Name& name) {
  const TableDefinition* table = catalog.find_table(name.text);
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

// Makes `value IN (SELECT ... FOR UPDATE ...)`, which must hold, a join with the query's distinct rows: those
// that it has locked are then looked up, and no others are read.
void join_locking_queries(syntax::Expr& condition, std::vector<syntax::FromItem>& from) {
  if (condition.kind == syntax::ExprKind::kBinary && condition.op == ir::Op::kAnd) {
    for (syntax::Expr& arg : condition.args) join_locking_queries(arg, from);
    return;
  }
  const bool is_of_one = condition.kind == syntax::ExprKind::kInQuery && !condition.negated &&
                         condition.args.size() == 1 && condition.args[0].kind != syntax::ExprKind::kRow;
  if (!is_of_one || !condition.query->for_update || condition.query->first.select == std::nullopt ||
      condition.query->first.select->items.size() != 1 || condition.query->first.select->items[0].star)
    return;
  const ir::SourceLocation where = condition.where;
  // No name of a user's holds a blank.
  const syntax::Name rows{"locked rows " + std::to_string(from.size()), where};
  const syntax::Name row{"locked row", where};
  syntax::FromItem locked;
  locked.kind = syntax::FromItem::Kind::kQuery;
  locked.where = where;
  locked.alias = rows;
  locked.column_aliases.push_back(row);
  locked.query = condition.query;
  auto distinct = std::make_shared<syntax::Query>();
  distinct->where = distinct->first.where = where;
  syntax::SelectCore& core = distinct->first.select.emplace();
  core.where = where;
  core.distinct = true;
  core.items.push_back({false, {}, syntax::reference(rows.text, row.text, where), {}});
  core.from.push_back(locked);
  locked.query = std::move(distinct);
  condition = syntax::make_binary(ir::Op::kEqual, std::move(condition.args[0]),
                                  syntax::reference(rows.text, row.text, where));
  from.push_back(std::move(locked));
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

}  // namespace

ChangeParts::ChangeParts(const Catalog& catalog, const syntax::Operation& operation)
    : catalog_(catalog), operation_(operation), table_(find_table(catalog, operation.tables[0].table)) {}

syntax::Query ChangeParts::rows(std::vector<std::optional<Type>>& targets, bool returns) {
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
    for (syntax::Expr& condition : conditions) join_locking_queries(condition, core.from);
    core.condition = syntax::join(ir::Op::kAnd, conditions);
  }
  return query;
}

syntax::Query ChangeParts::rows_once(std::vector<std::optional<Type>>& targets) {
  syntax::Query query = rows(targets, false);
  if (operation_.from.empty()) return query;
  syntax::SelectCore& core = *query.first.select;
  core.distinct = true;
  for (size_t i = 0; i < key_columns(); ++i) core.distinct_on.push_back(core.items[i].expr);
  return query;
}

void ChangeParts::look_beside(FunctionRef<std::vector<ResultColumn>(const syntax::Query&)> columns_of) {
  std::vector<syntax::Name> names;
  for (const syntax::FromItem& item : operation_.from) add_names(item, names);
  for (const syntax::Name& name : names) {
    syntax::Query query = with_tables();
    syntax::SelectCore& core = query.first.select.emplace();
    core.where = operation_.where;
    core.items.push_back({.star = true, .qualifier = name, .expr = {}, .alias = {}});
    core.from = tables();
    TableBeside& table = beside_.emplace_back(TableBeside{name, {}});
    for (const ResultColumn& column : columns_of(query)) {
      // Nothing can name the second of two columns of one name.
      if (std::ranges::find(table.columns, column.name, &ResultColumn::name) != table.columns.end()) continue;
      table.columns.push_back(column);
    }
  }
}

std::vector<Type> ChangeParts::types_beside() const {
  std::vector<Type> types;
  for (const TableBeside& table : beside_) {
    for (const ResultColumn& column : table.columns) types.push_back(column.type);
  }
  return types;
}

std::vector<std::optional<Type>> ChangeParts::insert_targets() const {
  std::vector<std::optional<Type>> targets;
  for (const syntax::Name& column : operation_.columns)
    targets.emplace_back(find_column(table_, column).type);
  if (operation_.columns.empty()) {
    for (const Column& column : table_.columns) targets.emplace_back(column.type);
  }
  return targets;
}

syntax::Query ChangeParts::rows_of_values() const {
  syntax::Query query = with_tables();
  query.first.where = operation_.where;
  query.first.rows.push_back(operation_.values);
  for (const std::vector<syntax::Expr>& row : operation_.more_rows) query.first.rows.push_back(row);
  for (std::vector<syntax::Expr>& row : query.first.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const Column* column = given_column(i);
      if (row[i].kind != syntax::ExprKind::kDefault && !is_ignored(column)) {
        if (column != nullptr) check_not_generated(*column, row[i].where, operation_.gives_identities);
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

syntax::Query ChangeParts::rows_of_query() const {
  syntax::Query query = *operation_.query;
  for (size_t i = 0; i < table_.columns.size() && !operation_.gives_identities; ++i) {
    const Column* const column = given_column(i);
    if (column != nullptr && !is_ignored(column) && !column->is_generated())
      check_not_generated(*column, operation_.where, false);
  }
  query.with.insert(query.with.begin(), operation_.with.begin(), operation_.with.end());
  query.recursive |= operation_.recursive;
  return query;
}

std::vector<size_t> ChangeParts::conflict_columns() const {
  std::vector<size_t> places;
  for (const ColumnId column : columns_of_conflict(catalog_, table_, *operation_.on_conflict)) {
    size_t place = 0;
    const size_t end = operation_.columns.empty() ? table_.columns.size() : operation_.columns.size();
    while (place < end && given_column(place) != &table_.column(column)) ++place;
    if (place == end) return {};
    places.push_back(place);
  }
  return places;
}

syntax::Operation ChangeParts::insert_each(size_t columns) const {
  syntax::Operation each = operation_;
  each.gives_identities = true;
  each.query.reset();
  each.values.clear();
  each.more_rows.clear();
  each.with.clear();
  for (size_t i = 0; i < columns; ++i) {
    each.values.push_back(parameter(i + 1, operation_.where));
    if (const Column* const column = given_column(i); column != nullptr && column->is_generated()) {
      if (operation_.query) check_not_generated(*column, operation_.where, true);
      each.values.back().kind = syntax::ExprKind::kDefault;
    }
    // The rows of VALUES have the columns' own values already.
    if (operation_.query && is_ignored(given_column(i))) each.values.back().kind = syntax::ExprKind::kDefault;
  }
  each.ignores_identities = false;
  return each;
}

syntax::Operation ChangeParts::change_each() const {
  for (size_t i = 0; i < operation_.columns.size(); ++i) {
    const Column& column = find_column(table_, operation_.columns[i]);
    const bool is_made = column.identity == Identity::kAlways || column.is_generated();
    if (is_made && operation_.values[i].kind != syntax::ExprKind::kDefault) {
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
    each.conditions.push_back(
        syntax::make_binary(equal, syntax::reference(name.text, table_.column(column).name, operation_.where),
                            parameter(++number, operation_.where)));
  }
  for (syntax::Expr& value : each.values) {
    if (value.kind != syntax::ExprKind::kDefault) value = parameter(++number, value.where);
  }
  return each;
}

syntax::Query ChangeParts::returned(size_t first) const {
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

std::vector<Type> ChangeParts::types_of_columns() const {
  std::vector<Type> types;
  for (const Column& column : table_.columns) types.push_back(column.type);
  return types;
}

void ChangeParts::return_all(syntax::Operation& each) const {
  each.items.clear();
  each.items.push_back({.star = true, .qualifier = {}, .expr = {}, .alias = {}});
}

syntax::Operation ChangeParts::erase_each() const {
  syntax::Operation erase = change_each();
  erase.kind = ir::OperationKind::kDelete;
  erase.columns.clear();
  erase.values.clear();
  erase.items.clear();
  return erase;
}

syntax::Operation ChangeParts::insert_changed() const {
  syntax::Operation insert = change_each();
  insert.kind = ir::OperationKind::kInsert;
  insert.conditions.clear();
  insert.columns.clear();
  insert.values.clear();
  for (size_t i = 0; i < table_.columns.size(); ++i) {
    insert.columns.push_back({table_.columns[i].name, operation_.where});
    insert.values.push_back(parameter(i + 1, operation_.where));
    if (table_.columns[i].is_generated()) insert.values.back().kind = syntax::ExprKind::kDefault;
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

namespace {

// Whether the value is another one each time that it is computed.
bool differs_each_time(const syntax::Expr& expr) {
  constexpr std::string_view kFunctions[] = {"nextval", "setval", "gen_random_uuid", "random",
                                             "clock_timestamp"};
  if (expr.kind == syntax::ExprKind::kCall &&
      std::ranges::find(kFunctions, expr.text) != std::end(kFunctions))
    return true;
  return std::ranges::any_of(expr.args, differs_each_time);
}

// The value as the column will hold it.
syntax::Expr stored_value(const Column& column, const syntax::Expr& value, const Column& generated) {
  syntax::Expr cast = parse_expression(fmt::format("CAST(NULL AS {})", to_string(column.type)));
  if (value.kind != syntax::ExprKind::kDefault) {
    cast.args[0] = value;
  } else if (!column.initial.empty()) {
    cast.args[0] = parse_expression(column.initial);
  }
  if (differs_each_time(cast.args[0])) {
    refuse_as(
        sqlstate::kNotSupported, value.where,
        "column {} is generated from {}, whose new value would be computed twice, and differ; compute it "
        "before the UPDATE",
        generated.name, column.name);
  }
  return cast;
}

}  // namespace

syntax::Operation with_generated(const TableDefinition& table, const syntax::Operation& change) {
  syntax::Operation update = change;
  update.columns.clear();
  update.values.clear();
  std::vector<const Column*> wanted;  // by DEFAULT
  for (size_t i = 0; i < change.columns.size(); ++i) {
    const std::optional<ColumnId> column = table.find_column(change.columns[i].text);
    if (!column || !table.column(*column).is_generated()) {
      update.columns.push_back(change.columns[i]);
      update.values.push_back(change.values[i]);
      continue;
    }
    if (change.values[i].kind != syntax::ExprKind::kDefault) {
      refuse_as(sqlstate::kGeneratedAlways, change.columns[i].where,
                "column \"{}\" can only be updated to DEFAULT", change.columns[i].text);
    }
    wanted.push_back(&table.column(*column));
  }
  const std::string& name =
      change.tables[0].alias.empty() ? change.tables[0].table.text : change.tables[0].alias.text;
  const size_t set = update.columns.size();
  for (const Column& generated : table.columns) {
    if (!generated.is_generated()) continue;
    bool is_changed = std::ranges::find(wanted, &generated) != wanted.end();
    for (size_t i = 0; i < set; ++i) is_changed |= names_column(generated.generated, update.columns[i].text);
    if (!is_changed) continue;
    const auto put_values = [&](auto&& self, syntax::Expr& expr) -> void {
      expr.where = change.where;
      if (expr.kind != syntax::ExprKind::kReference) {
        for (syntax::Expr& arg : expr.args) self(self, arg);
        return;
      }
      const auto column =
          std::ranges::find(update.columns.begin(), update.columns.begin() + static_cast<ptrdiff_t>(set),
                            expr.text, &syntax::Name::text);
      const auto i = static_cast<size_t>(column - update.columns.begin());
      if (i == set) {
        expr.qualifier = name;
      } else {
        expr = stored_value(table.column(*table.find_column(expr.text)), update.values[i], generated);
      }
    };
    syntax::Expr value = parse_expression(generated.generated);
    put_values(put_values, value);
    update.columns.push_back({generated.name, change.where});
    update.values.push_back(std::move(value));
  }
  return update;
}

bool ChangeParts::is_ignored(const Column* column) const {
  return operation_.ignores_identities && column != nullptr && column->identity != Identity::kNone;
}

std::vector<syntax::FromItem> ChangeParts::tables() const {
  std::vector<syntax::FromItem> items(1);
  items[0].where = operation_.tables[0].table.where;
  items[0].name = operation_.tables[0].table;
  items[0].alias = operation_.tables[0].alias;
  items.insert(items.end(), operation_.from.begin(), operation_.from.end());
  return items;
}

template <typename Columns>
syntax::FromItem ChangeParts::row_of(const syntax::Name& name, const Columns& columns, size_t& number) const {
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

const syntax::Name& ChangeParts::target_name() const {
  return operation_.tables[0].alias.empty() ? operation_.tables[0].table : operation_.tables[0].alias;
}

std::vector<ColumnId> ChangeParts::key() const {
  if (table_.primary_key) return catalog_.index(*table_.primary_key).columns;
  std::vector<ColumnId> all;
  for (uint32_t i = 0; i < table_.columns.size(); ++i) all.push_back(ColumnId{i});
  return all;
}

void ChangeParts::refuse_unnamed_rows() const {
  const bool is_unique =
      std::ranges::any_of(table_.indexes, [&](IndexId index) { return catalog_.index(index).unique; });
  if (!is_unique) return;
  refuse_as(sqlstate::kNotSupported, operation_.where,
            "table {} has a unique key and no primary key, by which an UPDATE that reads other tables finds "
            "its rows; give it one",
            table_.name);
}

syntax::Query ChangeParts::with_tables() const {
  syntax::Query query;
  query.where = operation_.where;
  query.text = operation_.text;
  query.with = operation_.with;
  query.recursive = operation_.recursive;
  return query;
}

const Column* ChangeParts::given_column(size_t i) const {
  if (!operation_.columns.empty())
    return i < operation_.columns.size() ? &find_column(table_, operation_.columns[i]) : nullptr;
  return i < table_.columns.size() ? &table_.columns[i] : nullptr;
}

}  // namespace mneme
