// What a DELETE or a changed key asks of the rows that refer to it: ON DELETE and ON UPDATE. What the values
// of one row ask: generated columns, conditions, and keys that are unique among some rows.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "procedures/binder/change_binder.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/schema_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/typing/constant_folding.h"

namespace mneme {

namespace {

// Returns whether the value has the type of what it is assigned to, and none of its own.
bool is_quoted_or_null(const syntax::Expr& value) {
  return value.kind == syntax::ExprKind::kNull || value.kind == syntax::ExprKind::kString;
}

}  // namespace

using ir::Statement;
using ir::StatementKind;

std::vector<ChangeBinder::Reference> ChangeBinder::references_to(const TableDefinition& table,
                                                                 const Columns* changed) const {
  std::vector<Reference> references;
  for (const TableDefinition& other : catalog_.tables()) {
    for (const ForeignKey& key : other.foreign_keys) {
      if (key.referenced == table.id && (changed == nullptr || shares(key.referenced_columns, *changed)))
        references.push_back({&other, &key});
    }
  }
  return references;
}

void ChangeBinder::follow_delete(const TableDefinition& table, const Reference& reference,
                                 ir::SourceLocation where, Statements& out) {
  const ForeignKey& key = *reference.key;
  const std::vector<std::string> old = names_of(table, key.referenced_columns, old_name);
  switch (key.on_delete) {
    case ForeignKeyAction::kNoAction:
    case ForeignKeyAction::kRestrict:
      return expect_no_reference(table, reference, where, out);
    case ForeignKeyAction::kCascade:
      return perform_unseen(rows_of(ir::OperationKind::kDelete, *reference.table, key.columns, old, where),
                            out);
    case ForeignKeyAction::kSetNull:
    case ForeignKeyAction::kSetDefault:
      break;
  }
  syntax::Operation update = rows_of(ir::OperationKind::kUpdate, *reference.table, key.columns, old, where);
  for (const ColumnId column : key.columns) {
    update.columns.push_back({reference.table->column(column).name, where});
    syntax::Expr& value = update.values.emplace_back();
    value.where = where;
    if (key.on_delete == ForeignKeyAction::kSetDefault) value.kind = syntax::ExprKind::kDefault;
  }
  perform_unseen(update, out);
}

void ChangeBinder::expect_no_reference(const TableDefinition& table, const Reference& reference,
                                       ir::SourceLocation where, Statements& out) {
  const ForeignKey& key = *reference.key;
  const VariableId found =
      probe(*reference.table, key.columns, names_of(table, key.referenced_columns, old_name), where, out);
  out.push_back(nodes::make_raise_if(
      variable(found, where), sqlstate::kForeignKey,
      fmt::format("update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
                  table.name, key.name, reference.table->name),
      where));
  add_detail(out.back(), fmt::format("Key ({})=(", listed(table, key.referenced_columns)),
             names_of(table, key.referenced_columns, old_name),
             fmt::format(") is still referenced from table \"{}\".", reference.table->name), false);
}

// The rows that refer to a key are looked at before it changes: FOR old, new IN SELECT ... LOOP.
void ChangeBinder::follow_key_changes(const TableDefinition& table, const syntax::Operation& change,
                                      const std::vector<Reference>& references, Statements& out) {
  syntax::Operation rows = change;
  rows.kind = ir::OperationKind::kSelect;
  rows.text = "rows that refer to what changes in: " + change.text;
  rows.for_update = change.where;
  rows.items.clear();
  rows.into.clear();
  rows.columns.clear();
  rows.values.clear();
  const std::string& name =
      (change.tables[0].alias.empty() ? change.tables[0].table : change.tables[0].alias).text;
  Columns keys;
  for (const Reference& each : references) {
    for (const ColumnId column : each.key->referenced_columns) {
      if (std::ranges::find(keys, column) == keys.end()) keys.push_back(column);
    }
  }
  std::vector<syntax::Target> targets;
  Statements body;
  names_.open_block();
  for (const ColumnId column : keys) {
    const Column& definition = table.column(column);
    const auto set = std::ranges::find(change.columns, definition.name, &syntax::Name::text);
    syntax::Expr former = syntax::reference(name, definition.name, change.where);
    syntax::Expr value = former;
    if (set != change.columns.end()) {
      value = change.values[static_cast<size_t>(set - change.columns.begin())];
      if (value.kind == syntax::ExprKind::kDefault) {
        refuse_as(sqlstate::kNotSupported, value.where,
                  "a key that foreign keys refer to is not set to its DEFAULT here; write the value");
      }
    }
    const auto select = [&](const std::string& variable, syntax::Expr item) {
      rows.items.push_back({false, {}, std::move(item), {}});
      targets.push_back({{variable, change.where}, {}});
    };
    for (const std::string& each : {old_name(definition), new_name(definition)})
      declare(each, definition.type, change.where);
    select(old_name(definition), std::move(former));
    if (is_quoted_or_null(value)) {
      ExpressionBinder binder(names_, strings_);
      body.push_back(nodes::make_assign(variable_named(new_name(definition)),
                                        binder.bind_for(value, definition.type, definition.name),
                                        change.where));
    } else {
      select(new_name(definition), std::move(value));
    }
  }
  const VariableId seen = names_.declare_hidden("a key has changed", nodes::kBoolean);
  out.push_back(nodes::make_assign(seen, nodes::make_boolean(false, change.where), change.where));
  Statement loop = nodes::make_statement(StatementKind::kForQuery, change.where);
  loop.operation = operations_.bind(rows, OperationBinder::Use::kForLoop, targets);
  if (std::optional<ir::Expr> raising = operations_.take_raising())
    out.push_back(make_raising(std::move(*raising)));
  loop.found = names_.declare_hidden("found", nodes::kBoolean);
  for (const Reference& each : references) follow_key_change(table, each, seen, change.where, body);
  for (Statement& each : body) loop.body.push_back(std::move(each));
  names_.close_block();
  out.push_back(std::move(loop));
}

void ChangeBinder::follow_key_change(const TableDefinition& table, const Reference& each, VariableId seen,
                                     ir::SourceLocation where, Statements& out) {
  const ForeignKey& key = *each.key;
  std::vector<ir::Expr> differ;
  ExpressionBinder binder(names_, strings_);
  for (const ColumnId column : key.referenced_columns) {
    const Column& definition = table.column(column);
    differ.push_back(binder.bind_condition(
        syntax::make_binary(definition.nullable ? ir::Op::kIsDistinct : ir::Op::kNotEqual,
                            syntax::reference("", old_name(definition), where),
                            syntax::reference("", new_name(definition), where))));
  }
  Statement choice = nodes::make_statement(StatementKind::kIf, where);
  choice.expr = ir::join(ir::Op::kOr, differ);
  const std::vector<std::string> old = names_of(table, key.referenced_columns, old_name);
  Statements body;
  if (key.on_update == ForeignKeyAction::kNoAction || key.on_update == ForeignKeyAction::kRestrict) {
    expect_no_reference(table, each, where, body);
  } else {
    // One row's new key may be another's old one: then the rows that refer to it would move twice.
    body.push_back(nodes::make_raise_if(
        variable(seen, where), sqlstate::kNotSupported,
        fmt::format("an UPDATE of several keys of table {}, which foreign key {} follows, is "
                    "not supported: update one row at a time",
                    table.name, key.name),
        where));
    body.push_back(nodes::make_assign(seen, nodes::make_boolean(true, where), where));
    syntax::Operation update = rows_of(ir::OperationKind::kUpdate, *each.table, key.columns, old, where);
    for (size_t i = 0; i < key.columns.size(); ++i) {
      update.columns.push_back({each.table->column(key.columns[i]).name, where});
      syntax::Expr value;
      value.where = where;
      if (key.on_update == ForeignKeyAction::kCascade)
        value = syntax::reference("", new_name(table.column(key.referenced_columns[i])), where);
      if (key.on_update == ForeignKeyAction::kSetDefault) value.kind = syntax::ExprKind::kDefault;
      update.values.push_back(std::move(value));
    }
    // Its own foreign key is the one that is followed: the new key is there once the statement is done.
    Statement statement = nodes::make_statement(StatementKind::kOperation, where);
    statement.operation = operations_.bind(update, OperationBinder::Use::kInto, {});
    procedure_.operations[statement.operation.value].found = names_.declare_hidden("found", nodes::kBoolean);
    note_names(catalog_, procedure_.operations[statement.operation.value]);
    body.push_back(std::move(statement));
  }
  for (Statement& statement : body) choice.body.push_back(std::move(statement));
  out.push_back(std::move(choice));
}

bool ChangeBinder::has_rules(const TableDefinition& table) const {
  return !table.checks.empty() || !table.foreign_keys.empty() ||
         std::ranges::any_of(table.columns, &Column::is_generated) ||
         std::ranges::any_of(table.indexes, [&](IndexId id) { return catalog_.index(id).unique_in_part; });
}

ir::Expr ChangeBinder::over_new_row(const TableDefinition& table, const std::string& condition,
                                    ir::SourceLocation where) {
  // A column's name means the column, whatever the procedure's variables are named.
  ir::Procedure alone;
  Names names(catalog_, alone);
  names.open_block();
  const RowSource source{table.name, &table, 0};
  ir::Expr bound =
      ExpressionBinder(names, strings_, {&source, 1}).bind_condition(parse_expression(condition));
  ir::walk(bound, [&](ir::Expr& part) {
    if (part.kind == ir::ExprKind::kColumn) {
      part = variable(variable_named(new_name(table.column(part.column))), where);
    } else if (part.kind == ir::ExprKind::kVariable) {
      part.variable = names_.call_time();  // the only one there is
    }
    part.where = where;
  });
  ConstantFolder(strings_).fold_alone(bound);
  return bound;
}

void ChangeBinder::generate(const TableDefinition& table, const Column& column, ir::SourceLocation where,
                            Statements& out) {
  ir::Expr value = bind_generated(table, column, catalog_, strings_);
  ir::walk(value, [&](ir::Expr& part) {
    if (part.kind == ir::ExprKind::kColumn)
      part = variable(variable_named(new_name(table.column(part.column))), where);
    part.where = where;
  });
  const VariableId kept = variable_named(new_name(column));
  if (value.text_varies) names_.note_text_varies(kept);
  out.push_back(nodes::make_assign(kept, std::move(value), where));
}

ChangeBinder::Columns ChangeBinder::columns_of_rule(const TableDefinition&,
                                                    const IndexDefinition& index) const {
  Columns columns = index.columns;
  for (const ColumnId column : columns_of_predicate(index, catalog_)) columns.push_back(column);
  return columns;
}

// The index's rows whose key is the new row's. `without_row`: others than the row itself.
syntax::Operation ChangeBinder::rows_in_part(const TableDefinition& table, const IndexDefinition& index,
                                             bool without_row, ir::SourceLocation where) const {
  syntax::Operation rows = rows_of(ir::OperationKind::kSelect, table, index.columns,
                                   names_of(table, index.columns, new_name), where);
  rows.conditions.push_back(qualified(parse_expression(index.predicate), table.name, table));
  if (!without_row) return rows;
  const Columns& key = catalog_.index(*table.primary_key).columns;
  std::vector<syntax::Expr> same =
      rows_of(ir::OperationKind::kSelect, table, key, names_of(table, key, new_name), where).conditions;
  syntax::Expr other = syntax::make_expression(syntax::ExprKind::kUnary, where);
  other.op = ir::Op::kNot;
  other.args.push_back(syntax::join(ir::Op::kAnd, same));
  rows.conditions.push_back(std::move(other));
  return rows;
}

void ChangeBinder::expect_unique(const TableDefinition& table, const IndexDefinition& index, bool is_there,
                                 ir::SourceLocation where, Statements& out) {
  Statement choice = nodes::make_statement(StatementKind::kIf, where);
  choice.expr = over_new_row(table, index.predicate, where);
  Statements looks;
  const VariableId found = probe(rows_in_part(table, index, is_there, where), looks);
  looks.push_back(nodes::make_raise_if(
      variable(found, where), sqlstate::kUnique,
      fmt::format("duplicate key value violates unique constraint \"{}\"", index.name), where));
  add_detail(looks.back(), fmt::format("Key ({})=(", listed(table, index.columns)),
             names_of(table, index.columns, new_name), ") already exists.", false);
  for (Statement& each : looks) choice.body.push_back(std::move(each));
  out.push_back(std::move(choice));
}

// Whether a row stands in the way of the new one.
ir::Expr ChangeBinder::probe_arbiter(const TableDefinition& table, const Arbiter& arbiter,
                                     ir::SourceLocation where, Statements& out) {
  if (arbiter.partial == nullptr) {
    return variable(probe(table, arbiter.columns, names_of(table, arbiter.columns, new_name), where, out),
                    where);
  }
  std::vector<ir::Expr> both;
  both.push_back(over_new_row(table, arbiter.partial->predicate, where));
  both.push_back(variable(probe(rows_in_part(table, *arbiter.partial, false, where), out), where));
  return ir::join(ir::Op::kAnd, both);
}

}  // namespace mneme
