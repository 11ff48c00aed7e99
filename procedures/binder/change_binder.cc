#include "procedures/binder/change_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/change_parts.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/schema_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/typing/constant_folding.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;

namespace {

constexpr const char* kInvalidColumnReference = "42P10";

}  // namespace

void ChangeBinder::bind(const syntax::Operation& change, const Perform& perform, Statements& out,
                        Statements* references) {
  const TableDefinition* table = catalog_.find_table(change.tables[0].table.text);
  if (table == nullptr) {
    out.push_back(perform(change, out));
    return;
  }
  names_.open_block();
  switch (change.kind) {
    case ir::OperationKind::kInsert:
      bind_insert(*table, change, perform, out, references);
      break;
    case ir::OperationKind::kUpdate:
      bind_update(*table, change, perform, out);
      break;
    case ir::OperationKind::kDelete:
      bind_delete(*table, change, perform, out);
      break;
    case ir::OperationKind::kSelect:
      CHECK(false && "a SELECT changes nothing");
  }
  names_.close_block();
}

// ---- INSERT ----

void ChangeBinder::bind_insert(const TableDefinition& table, const syntax::Operation& change,
                               const Perform& perform, Statements& out, Statements* references) {
  const ir::SourceLocation where = change.where;
  const std::vector<Arbiter> arbiters =
      change.on_conflict ? find_arbiters(table, *change.on_conflict) : std::vector<Arbiter>();
  Statement insert = perform(change, out);
  if (arbiters.empty() && !has_rules(table)) {
    out.push_back(std::move(insert));
    return;
  }
  hoist_values(table, insert.operation, !arbiters.empty() || !table.checks.empty(), out);
  for (const CheckConstraint& each : table.checks) {
    check(table, each, where, out);
    add_detail(out.back(), "Failing row contains (", new_names(table), ").", true);
  }
  Statements inserts;
  for (const IndexId id : table.indexes) {
    if (catalog_.index(id).unique_in_part)
      expect_unique(table, catalog_.index(id), /*is_there=*/false, where, inserts);
  }
  inserts.push_back(std::move(insert));
  Statements& behind = references != nullptr && arbiters.empty() ? *references : inserts;
  for (const ForeignKey& key : table.foreign_keys) expect_referenced(table, key, where, behind);
  if (arbiters.empty()) {
    std::ranges::move(inserts, std::back_inserter(out));
    return;
  }
  std::vector<ir::Expr> conflicts;
  for (const Arbiter& arbiter : arbiters) conflicts.push_back(probe_arbiter(table, arbiter, where, out));
  Statement choice = nodes::make_statement(StatementKind::kIf, where);
  choice.expr = ir::join(ir::Op::kOr, conflicts);
  Statements otherwise;
  if (change.on_conflict->updates) {
    bind(update_of_conflict(table, change, arbiters[0]), perform, otherwise);
  } else if (keeps_found_) {
    otherwise.push_back(nodes::make_assign(names_.found(), nodes::make_boolean(false, where), where));
  }
  for (Statement& each : otherwise) choice.body.push_back(std::move(each));
  for (Statement& each : inserts) choice.else_body.push_back(std::move(each));
  out.push_back(std::move(choice));
}

void ChangeBinder::hoist_values(const TableDefinition& table, OperationId id, bool looks_for_nulls,
                                Statements& out) {
  ir::Operation& insert = procedure_.operations[id.value];
  std::vector<char> may_be_null(table.columns.size());
  for (uint32_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const VariableId kept = declare(new_name(column), column.type, insert.where);
    may_be_null[i] = !column.nullable && (insert.values[i].kind != ir::ExprKind::kConstant ||
                                          insert.values[i].constant.is_null());
    if (column.is_generated()) {
      may_be_null[i] = !column.nullable;
      insert.values[i] = variable(kept, insert.where);
      continue;
    }
    const bool varies = insert.values[i].text_varies;
    out.push_back(nodes::make_assign(kept, std::move(insert.values[i]), insert.where));
    insert.values[i] = variable(kept, insert.where);
    if (varies) names_.note_text_varies(kept);
  }
  for (const Column& column : table.columns) {
    if (column.is_generated()) generate(table, column, insert.where, out);
  }
  note_names(catalog_, insert);
  for (uint32_t i = 0; looks_for_nulls && i < table.columns.size(); ++i) {
    if (may_be_null[i] == 0) continue;
    const Column& column = table.columns[i];
    out.push_back(nodes::make_raise_if(
        nodes::make_unary(ir::Op::kIsNull, nodes::kBoolean,
                          variable(variable_named(new_name(column)), insert.where), insert.where),
        sqlstate::kNotNull,
        fmt::format("null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                    column.name, table.name),
        insert.where));
    add_detail(out.back(), "Failing row contains (", new_names(table), ").", true);
  }
}

std::vector<ChangeBinder::Arbiter> ChangeBinder::find_arbiters(const TableDefinition& table,
                                                               const syntax::OnConflict& conflict) const {
  std::vector<Arbiter> arbiters;
  const auto add = [&](const IndexDefinition& index) {
    if (index.unique || index.unique_in_part)
      arbiters.push_back({index.columns, index.unique ? nullptr : &index});
  };
  if (!conflict.columns.empty() || !conflict.constraint.empty()) {
    add(index_of_conflict(catalog_, table, conflict));
    return arbiters;
  }
  for (const IndexId id : table.indexes) add(catalog_.index(id));
  return arbiters;
}

syntax::Operation ChangeBinder::update_of_conflict(const TableDefinition& table,
                                                   const syntax::Operation& insert,
                                                   const Arbiter& arbiter) const {
  const syntax::OnConflict& conflict = *insert.on_conflict;
  syntax::Operation update = rows_of(ir::OperationKind::kUpdate, table, arbiter.columns,
                                     names_of(table, arbiter.columns, new_name), conflict.where);
  update.tables = insert.tables;
  const std::string& name =
      insert.tables[0].alias.empty() ? insert.tables[0].table.text : insert.tables[0].alias.text;
  if (!insert.tables[0].alias.empty()) {
    for (syntax::Expr& condition : update.conditions) condition.args[0].qualifier = name;
  }
  if (arbiter.partial != nullptr)
    update.conditions.push_back(qualified(parse_expression(arbiter.partial->predicate), name, table));
  update.text = insert.text;
  update.columns = conflict.set_columns;
  for (const syntax::Expr& value : conflict.set_values) update.values.push_back(with_excluded(value, table));
  for (const syntax::Expr& condition : conflict.conditions)
    update.conditions.push_back(with_excluded(condition, table));
  update.items = insert.items;
  update.into = insert.into;
  update.strict = insert.strict;
  return update;
}

syntax::Expr ChangeBinder::with_excluded(syntax::Expr expr, const TableDefinition& table) {
  if (expr.kind == syntax::ExprKind::kReference) {
    const std::optional<ColumnId> column = table.find_column(expr.text);
    if (expr.qualifier == "excluded") {
      if (!column) {
        refuse_as(sqlstate::kUndefinedColumn, expr.where, "column excluded.{} does not exist", expr.text);
      }
      return syntax::reference("", new_name(table.column(*column)), expr.where);
    }
    if (expr.qualifier.empty() && column)
      refuse_as(sqlstate::kAmbiguousColumn, expr.where, "column reference \"{}\" is ambiguous", expr.text);
    return expr;
  }
  for (syntax::Expr& arg : expr.args) arg = with_excluded(std::move(arg), table);
  return expr;
}

std::vector<ColumnId> columns_of_conflict(const Catalog& catalog, const TableDefinition& table,
                                          const syntax::OnConflict& conflict) {
  return index_of_conflict(catalog, table, conflict).columns;
}

namespace {

bool is_written_alike(const syntax::Expr& a, const syntax::Expr& b) {
  return a.kind == b.kind && a.op == b.op && a.text == b.text && a.qualifier == b.qualifier &&
         a.negated == b.negated && a.type.base == b.type.base && !a.query && !b.query &&
         std::ranges::equal(a.args, b.args, is_written_alike);
}

// Whether the rows that ON CONFLICT has in mind are those of the index: it has none, or they are described by
// the same conditions, and perhaps by more.
bool is_for_rows(const IndexDefinition& index, const TableDefinition& table,
                 const std::optional<syntax::Expr>& rows) {
  if (index.unique) return true;
  if (!index.unique_in_part || !rows) return false;
  std::vector<syntax::Expr> given;
  std::vector<syntax::Expr> needed;
  const auto split = [](auto&& self, const syntax::Expr& expr, std::vector<syntax::Expr>& parts) -> void {
    if (expr.kind != syntax::ExprKind::kBinary || expr.op != ir::Op::kAnd) return parts.push_back(expr);
    for (const syntax::Expr& arg : expr.args) self(self, arg, parts);
  };
  split(split, qualified(*rows, table.name, table), given);
  split(split, qualified(parse_expression(index.predicate), table.name, table), needed);
  return std::ranges::all_of(needed, [&](const syntax::Expr& each) {
    return std::ranges::any_of(given, [&](const syntax::Expr& one) { return is_written_alike(one, each); });
  });
}

}  // namespace

const IndexDefinition& index_of_conflict(const Catalog& catalog, const TableDefinition& table,
                                         const syntax::OnConflict& conflict) {
  if (!conflict.constraint.empty()) {
    for (const IndexId id : table.indexes) {
      const IndexDefinition& index = catalog.index(id);
      if (index.unique && bare_name(index.name) == conflict.constraint.text) return index;
    }
    refuse_as(sqlstate::kUndefinedObject, conflict.constraint.where,
              "constraint \"{}\" for table \"{}\" does not exist", conflict.constraint.text, table.name);
  }
  std::vector<ColumnId> wanted;
  for (const syntax::Name& name : conflict.columns) {
    const std::optional<ColumnId> column = table.find_column(name.text);
    if (!column) refuse_as(sqlstate::kUndefinedColumn, name.where, "column \"{}\" does not exist", name.text);
    if (std::ranges::find(wanted, *column) == wanted.end()) wanted.push_back(*column);
  }
  for (const IndexId id : table.indexes) {
    const IndexDefinition& index = catalog.index(id);
    if (is_for_rows(index, table, conflict.rows) && std::ranges::is_permutation(index.columns, wanted))
      return index;
  }
  refuse_as(kInvalidColumnReference, conflict.where,
            "there is no unique or exclusion constraint matching the ON CONFLICT specification");
}

// ---- UPDATE and DELETE ----

void ChangeBinder::bind_update(const TableDefinition& table, const syntax::Operation& given,
                               const Perform& perform, Statements& out) {
  const syntax::Operation change = with_generated(table, given);
  Columns changed;
  for (const syntax::Name& name : change.columns) {
    if (const auto column = table.find_column(name.text)) changed.push_back(*column);
  }
  Columns kept;
  const auto keep = [&](const Columns& columns) {
    for (const ColumnId column : columns) {
      if (std::ranges::find(kept, column) == kept.end()) kept.push_back(column);
    }
  };
  for (const CheckConstraint& each : table.checks) {
    if (shares(each.columns, changed)) keep(each.columns);
  }
  for (const ForeignKey& key : table.foreign_keys) {
    if (shares(key.columns, changed)) keep(key.columns);
  }
  std::vector<const IndexDefinition*> unique;
  for (const IndexId id : table.indexes) {
    const IndexDefinition& index = catalog_.index(id);
    if (!index.unique_in_part || !shares(columns_of_rule(table, index), changed)) continue;
    keep(columns_of_rule(table, index));
    keep(catalog_.index(*table.primary_key).columns);
    unique.push_back(&index);
  }
  if (const auto references = references_to(table, &changed); !references.empty())
    follow_key_changes(table, change, references, out);
  Statement update = perform(change, out);
  if (kept.empty()) {
    out.push_back(std::move(update));
    return;
  }
  keep_columns(table, "new ", kept, update, out);
  Statements body;
  for (const CheckConstraint& each : table.checks) {
    if (shares(each.columns, changed)) check(table, each, change.where, body);
  }
  for (const ForeignKey& key : table.foreign_keys) {
    if (shares(key.columns, changed)) expect_referenced(table, key, change.where, body);
  }
  for (const IndexDefinition* index : unique)
    expect_unique(table, *index, /*is_there=*/true, change.where, body);
  for (Statement& each : body) update.body.push_back(std::move(each));
  out.push_back(std::move(update));
}

void ChangeBinder::bind_delete(const TableDefinition& table, const syntax::Operation& change,
                               const Perform& perform, Statements& out) {
  const std::vector<Reference> references = references_to(table, nullptr);
  Statement erase = perform(change, out);
  if (references.empty()) {
    out.push_back(std::move(erase));
    return;
  }
  Columns kept;
  for (const Reference& reference : references) {
    for (const ColumnId column : reference.key->referenced_columns) {
      if (std::ranges::find(kept, column) == kept.end()) kept.push_back(column);
    }
  }
  keep_columns(table, "old ", kept, erase, out);
  Statements body;
  for (const Reference& reference : references) follow_delete(table, reference, change.where, body);
  for (Statement& each : body) erase.body.push_back(std::move(each));
  out.push_back(std::move(erase));
}

// ---- what all of them are made of ----

std::string ChangeBinder::new_name(const Column& column) {
  return "new " + column.name;
}

std::string ChangeBinder::old_name(const Column& column) {
  return "old " + column.name;
}

std::vector<std::string> ChangeBinder::names_of(const TableDefinition& table, const Columns& columns,
                                                std::string (*name)(const Column&)) {
  std::vector<std::string> names;
  for (const ColumnId column : columns) names.push_back(name(table.column(column)));
  return names;
}

std::vector<std::string> ChangeBinder::new_names(const TableDefinition& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(new_name(column));
  return names;
}

std::string ChangeBinder::listed(const TableDefinition& table, const Columns& columns) {
  std::string text;
  for (const ColumnId column : columns) {
    if (!text.empty()) text += ", ";
    text += shown_name(table.column(column).name);
  }
  return text;
}

void ChangeBinder::add_detail(Statement& choice, const std::string& before,
                              const std::vector<std::string>& variables, const std::string& behind,
                              bool shows_nulls) {
  constexpr int64_t kMostShown = 64;
  const ir::SourceLocation where = choice.where;
  const Type text{.kind = TypeKind::kVarchar, .is_text = true};
  const auto constant = [&](std::string written) {
    ir::Expr expr = nodes::make(ir::ExprKind::kConstant, text, where);
    expr.constant = Value::of_text(strings_.emplace_back(std::move(written)));
    return expr;
  };
  const auto number = [&](int64_t value) {
    ir::Expr expr = nodes::make(ir::ExprKind::kConstant, nodes::kInt, where);
    expr.constant = Value::of_int(value);
    return expr;
  };
  const auto call = [&](ir::Function function, const Type& type, std::vector<ir::Expr> args) {
    return nodes::make_call(function, type, std::move(args), where);
  };
  const auto printed = [&](const std::string& name) {
    std::vector<ir::Expr> value;
    value.push_back(variable(variable_named(name), where));
    return call(ir::Function::kConcatFunction, text, std::move(value));
  };
  std::vector<ir::Expr> parts;
  parts.push_back(constant(before));
  for (size_t i = 0; i < variables.size(); ++i) {
    if (i > 0) parts.push_back(constant(", "));
    const Type type = names_.type_of(variable_named(variables[i]));
    const bool is_long = shows_nulls && type.is_string() && (type.length == 0 || type.length > kMostShown);
    ir::Expr value = printed(variables[i]);
    if (is_long) {
      std::vector<ir::Expr> shortened;
      shortened.push_back(std::move(value));
      shortened.push_back(number(kMostShown));
      value = call(ir::Function::kLeft, text, std::move(shortened));
    }
    if (!shows_nulls) {
      parts.push_back(std::move(value));
      continue;
    }
    ir::Expr shown = nodes::make(ir::ExprKind::kCase, text, where);
    shown.args.push_back(nodes::make_unary(ir::Op::kIsNull, nodes::kBoolean,
                                           variable(variable_named(variables[i]), where), where));
    shown.args.push_back(constant("null"));
    shown.args.push_back(std::move(value));
    parts.push_back(std::move(shown));
    if (!is_long) continue;
    std::vector<ir::Expr> whole;
    whole.push_back(printed(variables[i]));
    ir::Expr rest = nodes::make(ir::ExprKind::kCase, text, where);
    rest.args.push_back(nodes::make_binary(ir::Op::kGreater, nodes::kBoolean,
                                           call(ir::Function::kLength, nodes::kInt, std::move(whole)),
                                           number(kMostShown), where));
    rest.args.push_back(constant("..."));
    rest.args.push_back(constant(""));
    parts.push_back(std::move(rest));
  }
  parts.push_back(constant(behind));
  Statement& raise = choice.body.front();
  raise.has_detail = true;
  raise.args.push_back(call(ir::Function::kConcatFunction, text, std::move(parts)));
}

bool ChangeBinder::shares(const Columns& a, const Columns& b) {
  return std::ranges::any_of(a, [&](ColumnId column) { return std::ranges::find(b, column) != b.end(); });
}

void ChangeBinder::check(const TableDefinition& table, const CheckConstraint& check, ir::SourceLocation where,
                         Statements& out) {
  out.push_back(nodes::make_raise_if(
      nodes::make_not(over_new_row(table, check.condition, where)), sqlstate::kCheck,
      fmt::format("new row for relation \"{}\" violates check constraint \"{}\"", table.name, check.name),
      where));
}

void ChangeBinder::expect_referenced(const TableDefinition& table, const ForeignKey& key,
                                     ir::SourceLocation where, Statements& out) {
  std::vector<ir::Expr> given;
  for (const ColumnId column : key.columns) {
    const Column& definition = table.column(column);
    if (!definition.nullable) continue;
    given.push_back(nodes::make_not(nodes::make_unary(
        ir::Op::kIsNull, nodes::kBoolean, variable(variable_named(new_name(definition)), where), where)));
  }
  Statements looks;
  const VariableId found = probe(catalog_.table(key.referenced), key.referenced_columns,
                                 names_of(table, key.columns, new_name), where, looks);
  looks.push_back(nodes::make_raise_if(
      nodes::make_not(variable(found, where)), sqlstate::kForeignKey,
      fmt::format("insert or update on table \"{}\" violates foreign key constraint \"{}\"", table.name,
                  key.name),
      where));
  add_detail(looks.back(), fmt::format("Key ({})=(", listed(table, key.columns)),
             names_of(table, key.columns, new_name),
             fmt::format(") is not present in table \"{}\".", catalog_.table(key.referenced).name), false);
  if (given.empty()) {
    std::ranges::move(looks, std::back_inserter(out));
    return;
  }
  Statement choice = nodes::make_statement(StatementKind::kIf, where);
  choice.expr = ir::join(ir::Op::kAnd, given);
  for (Statement& each : looks) choice.body.push_back(std::move(each));
  out.push_back(std::move(choice));
}

void ChangeBinder::keep_columns(const TableDefinition& table, std::string_view prefix, const Columns& columns,
                                Statement& statement, Statements& out) {
  const ir::SourceLocation where = statement.where;
  ir::Operation& operation = procedure_.operations[statement.operation.value];
  const bool gives_row = !operation.outputs.empty() && statement.kind == StatementKind::kOperation;
  const RowSource source{table.name, &table, 0};
  for (const ColumnId column : columns) {
    const Column& definition = table.column(column);
    operation.outputs.push_back({*find_column({&source, 1}, table.name, definition.name, where),
                                 declare(std::string(prefix) + definition.name, definition.type, where)});
  }
  note_names(catalog_, operation);
  if (gives_row) {
    // RETURNING INTO takes one row.
    const VariableId seen = names_.declare_hidden("a row is there", nodes::kBoolean);
    out.push_back(nodes::make_assign(seen, nodes::make_boolean(false, where), where));
    statement.body.push_back(nodes::make_raise_if(variable(seen, where), sqlstate::kTooManyRows,
                                                  "query returned more than one row", where));
    statement.body.push_back(nodes::make_assign(seen, nodes::make_boolean(true, where), where));
    if (operation.strict)
      refuse_as(sqlstate::kNotSupported, where,
                "RETURNING INTO STRICT is not supported where the table's constraints look at the row; leave "
                "STRICT out, and test FOUND");
  }
  statement.kind = StatementKind::kForQuery;
}

syntax::Operation ChangeBinder::rows_of(ir::OperationKind kind, const TableDefinition& table,
                                        const Columns& columns, const std::vector<std::string>& variables,
                                        ir::SourceLocation where) const {
  syntax::Operation rows;
  rows.kind = kind;
  rows.where = where;
  rows.tables.push_back({{table.name, where}, {}});
  rows.text = "rows of " + table.name + " where";
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& column = table.column(columns[i]).name;
    rows.text += fmt::format("{} {} = {}", i == 0 ? "" : " and", column, variables[i]);
    rows.conditions.push_back(syntax::make_binary(ir::Op::kEqual,
                                                  syntax::reference(table.name, column, where),
                                                  syntax::reference("", variables[i], where)));
  }
  return rows;
}

VariableId ChangeBinder::probe(const TableDefinition& table, const Columns& columns,
                               const std::vector<std::string>& variables, ir::SourceLocation where,
                               Statements& out) {
  return probe(rows_of(ir::OperationKind::kSelect, table, columns, variables, where), out);
}

VariableId ChangeBinder::probe(const syntax::Operation& rows, Statements& out) {
  Statement statement = nodes::make_statement(StatementKind::kOperation, rows.where);
  statement.operation = operations_.bind(rows, OperationBinder::Use::kPerform, {});
  ir::Operation& operation = procedure_.operations[statement.operation.value];
  operation.found = names_.declare_hidden("found", nodes::kBoolean);
  const VariableId found = operation.found;
  note_names(catalog_, operation);
  out.push_back(std::move(statement));
  return found;
}

void ChangeBinder::perform_unseen(const syntax::Operation& change, Statements& out) {
  const Perform perform = [&](const syntax::Operation& operation, Statements&) {
    Statement statement = nodes::make_statement(StatementKind::kOperation, operation.where);
    statement.operation = operations_.bind(operation, OperationBinder::Use::kInto, {});
    statement.found = procedure_.operations[statement.operation.value].found =
        names_.declare_hidden("found", nodes::kBoolean);
    note_names(catalog_, procedure_.operations[statement.operation.value]);
    return statement;
  };
  bind(change, perform, out);
}

VariableId ChangeBinder::declare(const std::string& name, const Type& type, ir::SourceLocation where) {
  return names_.declare({name, where}, type, false, false);
}

ir::Expr ChangeBinder::variable(VariableId id, ir::SourceLocation where) const {
  ir::Expr expr = nodes::make(ir::ExprKind::kVariable, names_.type_of(id), where);
  expr.variable = id;
  return expr;
}

VariableId ChangeBinder::variable_named(const std::string& name) const {
  const Declared* declared = names_.find(name);
  CHECK(declared != nullptr);
  return declared->variable;
}

}  // namespace mneme
