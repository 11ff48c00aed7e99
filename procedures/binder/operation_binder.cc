#include "procedures/binder/operation_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/access_path.h"
#include "procedures/binder/evaluation_cost.h"
#include "procedures/binder/row_order.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/column_names.h"
#include "procedures/parser/parser.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;

namespace {

constexpr Type kBigInt{.kind = TypeKind::kBigInt};

// Casts around casts, from the outside.
size_t count_casts(const Expr& expr) {
  return expr.kind == ExprKind::kCast ? 1 + count_casts(expr.args[0]) : 0;
}

// Whether outputs are evaluated for rows that no variable gets.
bool finds_rows_not_taken(const ir::Operation& operation, bool is_loop) {
  if (operation.kind == ir::OperationKind::kInsert) return false;
  const bool at_most_one = std::ranges::all_of(operation.access, [](const ir::TableAccess& access) {
    return access.path.kind == ir::AccessPath::Kind::kPoint &&
           std::ranges::all_of(access.path.equalities, [](const auto& equality) {
             return !equality.array.valid() && equality.values.size() == 1;
           });
  });
  const bool is_one = !operation.aggregates.empty() && operation.groups.empty();
  if (at_most_one || is_one) return false;
  return is_loop || operation.strict || operation.kind != ir::OperationKind::kSelect ||
         !operation.order_is_path_order;
}

void mark_all_columns_written(const TableDefinition& table, ir::Operation& operation) {
  for (uint32_t i = 0; i < table.columns.size(); ++i) operation.columns_written.push_back(ColumnId{i});
}

template <typename Id>
void sort_unique(std::vector<Id>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

bool has_primary_keys(const Catalog& catalog, const std::vector<TableId>& tables) {
  return std::ranges::all_of(tables, [&](TableId id) { return catalog.table(id).primary_key.has_value(); });
}

// The columns that an access reads: its index's, and those that expressions name.
void set_columns_read(const Catalog& catalog, ir::Operation& operation) {
  ir::for_each_expression(operation, [&](const Expr& whole) {
    ir::walk(whole, [&](const Expr& part) {
      if (part.kind == ExprKind::kColumn) operation.access[part.source].columns_read.push_back(part.column);
    });
  });
  for (ir::TableAccess& access : operation.access) {
    if (access.path.index.valid()) {
      const auto& key = catalog.index(access.path.index).columns;
      access.columns_read.insert(access.columns_read.end(), key.begin(), key.end());
    }
    sort_unique(access.columns_read);
  }
}

void set_uses(ir::Operation& operation) {
  ir::for_each_expression(operation, [&](const Expr& whole) {
    ir::walk(whole, [&](const Expr& part) {
      if (part.variable.valid()) operation.uses.push_back(part.variable);
    });
  });
  for (const ir::TableAccess& access : operation.access) {
    for (const auto& equality : access.path.equalities) {
      if (equality.array.valid()) operation.uses.push_back(equality.array);
    }
  }
  sort_unique(operation.uses);
}

}  // namespace

void note_names(const Catalog& catalog, ir::Operation& operation) {
  for (ir::TableAccess& access : operation.access) access.columns_read.clear();
  operation.uses.clear();
  operation.defines.clear();
  set_columns_read(catalog, operation);
  set_uses(operation);
  for (const ir::Output& output : operation.outputs) {
    if (output.into.valid()) operation.defines.push_back(output.into);
  }
  if (operation.found.valid()) operation.defines.push_back(operation.found);
  if (operation.row_count.valid()) operation.defines.push_back(operation.row_count);
  sort_unique(operation.defines);
}

OperationId OperationBinder::bind(const syntax::Operation& from, Use use,
                                  const std::vector<syntax::Target>& targets) {
  sources_.clear();
  tables_.clear();
  items_.clear();
  ir::Operation to;
  to.id = OperationId{static_cast<uint32_t>(procedure_.operations.size())};
  to.kind = from.kind;
  to.where = from.where;
  to.text = from.text;
  to.strict = from.strict;
  switch (from.kind) {
    case ir::OperationKind::kSelect:
      bind_select(from, use, to);
      break;
    case ir::OperationKind::kInsert:
      bind_insert(from, to);
      break;
    case ir::OperationKind::kUpdate:
      bind_update(from, to);
      break;
    case ir::OperationKind::kDelete:
      bind_delete(from, to);
      break;
  }
  // Before outputs are cast to variables: PL/pgSQL does that, and no part of the statement.
  fold_constants(to);
  if (use == Use::kUser) {
    keep_outputs_for_user(to);
  } else if (use != Use::kPerform) {
    set_outputs(targets, use == Use::kForLoop, to);
  }
  finish(to);
  to.for_update =
      from.for_update || to.kind == ir::OperationKind::kUpdate || to.kind == ir::OperationKind::kDelete;
  to.keeps_rows = from.for_update.has_value() && to.kind == ir::OperationKind::kSelect;
  procedure_.writes |= to.kind != ir::OperationKind::kSelect;
  if (procedure_.by_chance.empty() && !to.by_chance.empty())
    procedure_.by_chance = fmt::format("line {}: {}", to.where.line, to.by_chance);
  procedure_.operations.push_back(std::move(to));
  return procedure_.operations.back().id;
}

void OperationBinder::note_names(ir::Operation& operation) const {
  mneme::note_names(catalog_, operation);
}

std::optional<Expr> OperationBinder::take_raising() {
  std::optional<Expr> gate = std::exchange(gate_, std::nullopt);
  std::optional<Expr> raising = folder_.take_raising();
  return raising ? std::move(raising) : std::move(gate);
}

std::vector<std::string> OperationBinder::output_names() const {
  std::vector<std::string> names;
  for (const Item& item : items_) names.push_back(item.name);
  return names;
}

void OperationBinder::add_source(const syntax::TableReference& reference) {
  const TableDefinition* table = catalog_.find_table(reference.table.text);
  if (!table) {
    refuse_as(sqlstate::kUndefinedTable, reference.table.where,
              "there is no table {}; a file creates a table before it is used", reference.table.text);
  }
  if (sources_.size() == 2) {
    refuse_as(sqlstate::kNotSupported, reference.table.where,
              "a third table in one SELECT is not supported; join two, and use a FOR loop for more");
  }
  const syntax::Name& name = reference.alias.empty() ? reference.table : reference.alias;
  for (const RowSource& source : sources_) {
    if (source.name == name.text)
      refuse(name.where, "two tables are named {}; give one another name with AS", name.text);
  }
  sources_.push_back({name.text, table, static_cast<uint8_t>(sources_.size())});
  tables_.push_back(table->id);
}

std::vector<Expr> OperationBinder::bind_conditions(const syntax::Operation& from) {
  ExpressionBinder binder(names_, strings_, sources_);
  std::vector<Expr> parts;
  for (const syntax::Expr& condition : from.conditions) {
    Expr bound = binder.bind_condition(condition);
    folder_.fold(bound);
    split_conjunction(std::move(bound), parts);
  }
  // NOT IN has become more of them.
  for (Expr& part : parts) folder_.fold(part);
  folder_.fold_conjunction(parts);
  std::vector<Expr> gates;
  std::ranges::copy_if(parts, std::back_inserter(gates),
                       [](const Expr& part) { return can_raise(part) && !has_column(part); });
  if (!gates.empty()) gate_ = join_by_cost(std::move(gates));
  return parts;
}

void OperationBinder::bind_items(const std::vector<syntax::SelectItem>& items, ExpressionBinder& binder) {
  for (const syntax::SelectItem& item : items) {
    if (!item.star) {
      items_.push_back({column_name_of(item), binder.bind_value(item.expr)});
      continue;
    }
    bool any = false;
    for (const RowSource& source : sources_) {
      if (!item.qualifier.empty() && !names_source(item.qualifier.text, source.name)) continue;
      any = true;
      for (const Column& column : source.table->columns) {
        items_.push_back(
            {column.name, *find_column({&source, 1}, source.name, column.name, item.expr.where)});
      }
    }
    if (!any)
      refuse_as(sqlstate::kUndefinedTable, item.expr.where, "{} is no table of this statement",
                item.qualifier.text);
  }
}

void OperationBinder::bind_select_of_no_table(const syntax::Operation& from, ir::Operation& to) {
  if (!from.conditions.empty() || !from.order.empty() || from.limit || from.offset || from.for_update) {
    refuse_as(
        sqlstate::kNotSupported, from.where,
        "a SELECT without FROM gives one row, and conditions, an order and limits on it are not supported");
  }
  ExpressionBinder binder(names_, strings_, sources_);
  bind_items(from.items, binder);
  for (Item& item : items_) to.outputs.push_back({std::move(item.expr), {}});
  to.order_is_path_order = true;
}

void OperationBinder::bind_select(const syntax::Operation& from, Use use, ir::Operation& to) {
  if (from.tables.empty() && use == Use::kUser) return bind_select_of_no_table(from, to);
  if (from.tables.empty()) {
    refuse_as(sqlstate::kNotSupported, from.where,
              "a FOR loop over a SELECT without FROM has one row; use variable := expression");
  }
  for (const syntax::TableReference& table : from.tables) add_source(table);
  ExpressionBinder binder(names_, strings_, sources_);
  binder.accept_aggregates(to.aggregates);
  bind_items(from.items, binder);
  const bool grouped = from.distinct || !from.groups.empty();
  const bool aggregated = !to.aggregates.empty() && !grouped;
  if (from.having && !grouped) {
    refuse_as(sqlstate::kNotSupported, from.having->where,
              "HAVING without GROUP BY is not supported; test the aggregate with IF after SELECT ... INTO");
  }
  if (grouped) {
    if (use == Use::kPerform)
      refuse_as(sqlstate::kNotSupported, from.where,
                "PERFORM of groups does no more than PERFORM of their rows; leave GROUP BY and DISTINCT out");
    bind_groups(from, binder, to);
  } else {
    ExpressionBinder plain(names_, strings_, sources_);
    bind_order(from, plain, to);
  }
  ExpressionBinder variables_only(names_, strings_);
  const auto bind_count = [&](const syntax::Expr& count, std::string_view what) {
    Expr bound = variables_only.bind(count);
    if (!is_unknown(bound) && !bound.type.is_integer()) {
      refuse(count.where, "{} is a whole number, and this is a {}", what, to_string(bound.type));
    }
    return convert_for_assignment(std::move(bound), kBigInt, what);
  };
  if (from.limit) to.limit = bind_count(*from.limit, "LIMIT");
  if (from.offset) to.offset = bind_count(*from.offset, "OFFSET");

  if (aggregated) {
    if (!to.order.empty() || to.limit || to.offset) {
      refuse_as(sqlstate::kNotSupported, from.where,
                "an aggregate gives one row: ORDER BY, LIMIT and OFFSET have no meaning; leave them out");
    }
    if (from.for_update)
      refuse_as(sqlstate::kNotSupported, *from.for_update,
                "PostgreSQL does not allow FOR UPDATE with aggregates; leave it out");
    if (use == Use::kPerform) {
      refuse_as(sqlstate::kNotSupported, from.where, "PERFORM of an aggregate does nothing; leave it out");
    }
    for (const Item& item : items_) {
      ir::walk(item.expr, [&](const Expr& part) {
        if (part.kind == ExprKind::kColumn) {
          refuse_as(sqlstate::kGrouping, part.where,
                    "column \"{}.{}\" must appear in the GROUP BY clause or be used in an aggregate function",
                    sources_[part.source].name, sources_[part.source].table->column(part.column).name);
        }
      });
    }
    // The arguments are in `aggregates`, where an exchange of the tables finds them.
  }
  for (Item& item : items_) to.outputs.push_back({std::move(item.expr), {}});
  if (use == Use::kPerform) {
    for (const ir::Output& output : to.outputs) {
      if (output.expr.kind != ExprKind::kColumn && output.expr.kind != ExprKind::kConstant) {
        refuse_as(sqlstate::kNotSupported, output.expr.where,
                  "PERFORM drops this value; write PERFORM 1 FROM ...");
      }
    }
    to.outputs.clear();
    to.order.clear();
  }
  choose_access(catalog_, tables_, bind_conditions(from), to);

  if (grouped) {
    if (use != Use::kUser) note_sums_by_chance(catalog_, to);
    if (use != Use::kUser) note_groups_by_chance(catalog_, to);
  } else if (aggregated) {
    to.order_is_path_order = true;
    if (use != Use::kUser) note_sums_by_chance(catalog_, to);
    stop_at_first_row_for_extreme(catalog_, to);
  } else if (use == Use::kPerform) {
    to.order_is_path_order = true;  // only whether there is a row is asked: the first one answers
    if (!to.limit) {
      syntax::Expr one;
      one.kind = syntax::ExprKind::kInteger;
      one.text = "1";
      one.where = from.where;
      to.limit = variables_only.bind_for(one, kBigInt, "LIMIT");
    }
  } else if (to.strict && !to.limit && !to.offset) {
    to.order.clear();  // one row, or an error
    to.order_is_path_order = true;
  } else if (use == Use::kUser && !has_primary_keys(catalog_, tables_)) {
    to.order_is_path_order = to.order.empty();  // what the user left open stays open
  } else {
    set_row_order(catalog_, to);
  }
}

void OperationBinder::bind_columns_of_insert(const syntax::Operation& from, const TableDefinition& table,
                                             ir::Operation& to) {
  std::vector<const syntax::Expr*> given(table.columns.size(), nullptr);
  // Without a list the values are those of the table's first columns.
  const size_t count = from.columns.empty() ? from.values.size() : from.columns.size();
  if (from.values.size() != count && !from.gives_defaults) {
    refuse(from.where, "INSERT names {} columns and gives {} values", count, from.values.size());
  }
  if (count > table.columns.size()) {
    refuse(from.values[table.columns.size()].where, "INSERT has more expressions than target columns");
  }
  for (size_t i = 0; i < count && !from.gives_defaults; ++i) {
    size_t at = i;
    if (!from.columns.empty()) {
      const auto column = table.find_column(from.columns[i].text);
      if (!column)
        refuse_showing(
            fmt::format("column \"{}\" of relation \"{}\" does not exist", from.columns[i].text, table.name),
            sqlstate::kUndefinedColumn, from.columns[i].where, "table {} has no column {}", table.name,
            from.columns[i].text);
      at = column->value;
    }
    if (given[at])
      refuse_showing(fmt::format("column \"{}\" specified more than once", from.columns[i].text), "42701",
                     from.columns[i].where, "column {} is named twice", from.columns[i].text);
    given[at] = &from.values[i];
  }
  ExpressionBinder binder(names_, strings_);
  for (size_t i = 0; i < given.size(); ++i) {
    const Column& column = table.columns[i];
    const bool is_ignored = from.ignores_identities && column.identity != Identity::kNone;
    const bool is_given = given[i] != nullptr && given[i]->kind != syntax::ExprKind::kDefault && !is_ignored;
    if (is_given) check_not_generated(column, given[i]->where, from.gives_identities);
    to.values.push_back(is_given ? binder.bind_for(*given[i], column.type, column.name)
                                 : bind_initial(column, from.where));
  }
}

void check_not_generated(const Column& column, ir::SourceLocation where, bool gives_identities) {
  const bool is_identity = column.identity == Identity::kAlways && !gives_identities;
  if (!is_identity && !column.is_generated()) return;
  refuse_as(sqlstate::kGeneratedAlways, where, "cannot insert a non-DEFAULT value into column \"{}\"",
            column.name);
}

Expr OperationBinder::bind_initial(const Column& column, ir::SourceLocation where) {
  ExpressionBinder binder(names_, strings_);
  syntax::Expr value;  // NULL
  if (!column.initial.empty()) value = parse_expression(column.initial);
  value.where = where;
  return binder.bind_for(value, column.type, column.name);
}

void OperationBinder::bind_insert(const syntax::Operation& from, ir::Operation& to) {
  add_source(from.tables[0]);
  const TableDefinition& table = *sources_[0].table;
  bind_columns_of_insert(from, table, to);
  to.access.push_back({table.id, {}, {}, {}});
  mark_all_columns_written(table, to);
  ExpressionBinder binder(names_, strings_, sources_);
  bind_items(from.items, binder);
  for (Item& item : items_) to.outputs.push_back({std::move(item.expr), {}});
}

void OperationBinder::bind_update(const syntax::Operation& from, ir::Operation& to) {
  add_source(from.tables[0]);
  const TableDefinition& table = *sources_[0].table;
  ExpressionBinder binder(names_, strings_, sources_);
  for (size_t i = 0; i < from.columns.size(); ++i) {
    const auto column = table.find_column(from.columns[i].text);
    if (!column)
      refuse_showing(
          fmt::format("column \"{}\" of relation \"{}\" does not exist", from.columns[i].text, table.name),
          sqlstate::kUndefinedColumn, from.columns[i].where, "table {} has no column {}", table.name,
          from.columns[i].text);
    if (std::ranges::find(to.columns_written, *column) != to.columns_written.end()) {
      refuse(from.columns[i].where, "column {} is set twice", from.columns[i].text);
    }
    const Column& definition = table.column(*column);
    const bool is_default = from.values[i].kind == syntax::ExprKind::kDefault;
    const bool is_identity = definition.identity == Identity::kAlways && !from.gives_identities;
    if (!is_default && is_identity) {
      refuse_as(sqlstate::kGeneratedAlways, from.columns[i].where,
                "column \"{}\" can only be updated to DEFAULT", definition.name);
    }
    to.assignments.push_back(
        {*column, is_default ? bind_initial(definition, from.values[i].where)
                             : binder.bind_for(from.values[i], definition.type, definition.name)});
    to.columns_written.push_back(*column);
  }
  sort_unique(to.columns_written);
  bind_items(from.items, binder);
  for (Item& item : items_) to.outputs.push_back({std::move(item.expr), {}});
  choose_access(catalog_, tables_, bind_conditions(from), to);
  to.order_is_path_order = true;
}

void OperationBinder::bind_delete(const syntax::Operation& from, ir::Operation& to) {
  add_source(from.tables[0]);
  mark_all_columns_written(*sources_[0].table, to);
  ExpressionBinder binder(names_, strings_, sources_);
  bind_items(from.items, binder);
  for (Item& item : items_) to.outputs.push_back({std::move(item.expr), {}});
  choose_access(catalog_, tables_, bind_conditions(from), to);
  to.order_is_path_order = true;
}

VariableId OperationBinder::writable(const syntax::Target& target) const {
  const Declared& declared = names_.get(target.name);
  if (declared.constant)
    refuse(target.name.where, "{} is a CONSTANT and can't be assigned to", target.name.text);
  if (declared.record) {
    if (target.field.empty())
      refuse(target.name.where, "a record takes all columns; it can't stand in a list");
    return names_.field(*declared.record, target.field.text, target.field.where);
  }
  if (!target.field.empty())
    refuse(target.field.where, "{} is no record and has no fields", target.name.text);
  if (names_.type_of(declared.variable).is_array) {
    refuse_as(sqlstate::kNotSupported, target.name.where,
              "the array {} can't take a column; use array_append() with a plain variable", target.name.text);
  }
  return declared.variable;
}

void OperationBinder::set_outputs(const std::vector<syntax::Target>& targets, bool is_loop,
                                  ir::Operation& to) {
  if (targets.empty()) {
    if (to.kind == ir::OperationKind::kSelect) {
      refuse(to.where, "a SELECT without INTO has nowhere to put its result; add INTO, or use PERFORM");
    }
    return;
  }
  if (targets.size() == 1 && targets[0].field.empty()) {
    const Declared& declared = names_.get(targets[0].name);
    if (declared.record) {
      std::vector<std::string> names;
      std::vector<Type> types;
      for (size_t i = 0; i < to.outputs.size(); ++i) {
        if (items_[i].name.empty()) {
          refuse(to.outputs[i].expr.where, "this column of record {} has no name; give it one with AS",
                 targets[0].name.text);
        }
        names.push_back(items_[i].name);
        types.push_back(to.outputs[i].expr.type);
      }
      const std::vector<VariableId> fields =
          names_.fill_record(declared, names, types, targets[0].name.where);
      for (size_t i = 0; i < fields.size(); ++i) {
        to.outputs[i].into = fields[i];
        if (to.outputs[i].expr.text_varies) names_.note_text_varies(fields[i]);
      }
      return;
    }
  }
  if (targets.size() != to.outputs.size()) {
    refuse(targets[0].name.where, "{} values go to {} variables; name as many variables as values",
           to.outputs.size(), targets.size());
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    const VariableId variable = writable(targets[i]);
    for (size_t j = 0; j < i; ++j) {
      if (to.outputs[j].into == variable)
        refuse(targets[i].name.where, "{} is named twice", targets[i].name.text);
    }
    ir::Output& output = to.outputs[i];
    const size_t own_casts = count_casts(output.expr);
    output.expr = convert_for_variable(names_, variable, std::move(output.expr));
    output.into = variable;
    output.cast_when_taken = finds_rows_not_taken(to, is_loop) && count_casts(output.expr) > own_casts;
  }
}

void OperationBinder::keep_outputs_for_user(ir::Operation& to) {
  for (size_t i = 0; i < to.outputs.size(); ++i) {
    // No name of the user's holds a blank.
    const syntax::Name name{fmt::format("column {}", i + 1), to.where};
    require_certain_text(to.outputs[i].expr, "this column");
    to.outputs[i].into = names_.declare(name, to.outputs[i].expr.type, false, false);
  }
}

void OperationBinder::fold_constants(ir::Operation& to) {
  ir::for_each_expression_beside_access(to, [&](Expr& expr) { folder_.fold(expr); });
  // An aggregate that no output needs any longer is not computed.
  std::vector<bool> needed(to.aggregates.size());
  const auto need = [&](const Expr& whole) {
    ir::walk(whole, [&](const Expr& part) {
      if (part.kind == ExprKind::kAggregate) needed[part.aggregate] = true;
    });
  };
  for (const ir::Output& output : to.outputs) need(output.expr);
  if (to.having) need(*to.having);
  for (const ir::OrderKey& key : to.order) need(key.expr);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) continue;
    to.aggregates[i] = {ir::Aggregate::Kind::kCountRows, false, std::nullopt, kBigInt};
    to.first_row_decides = false;
  }
}

void OperationBinder::finish(ir::Operation& to) {
  for (const ir::TableAccess& access : to.access) {
    if (access.path.index.valid() && access.path.kind == ir::AccessPath::Kind::kRange) {
      ordered_.push_back(access.path.index);
    }
  }
  note_names(to);
}

}  // namespace mneme
