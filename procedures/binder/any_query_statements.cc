// ProcedureBinder's queries of any form: what a procedure's own SELECT, expressions and changes can't say.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "procedures/binder/any_query_binder.h"
#include "procedures/binder/change_parts.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/conversion.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;
using nodes::make_statement;

namespace {

constexpr const char* kByChance =
    "the analysis does not follow what a query of this form, or its functions, read";

syntax::Operation select_of(syntax::Query query, const syntax::SourceLocation& where, std::string text) {
  syntax::Operation select;
  select.kind = ir::OperationKind::kSelect;
  select.where = where;
  select.text = std::move(text);
  select.query = std::make_shared<const syntax::Query>(std::move(query));
  return select;
}

// No name of the user's holds a blank.
std::string name_of_column(const std::string& row, size_t number) {
  return fmt::format("{} column {}", row, number);
}

// Puts the columns of the row in the places of the parameters.
void name_columns(syntax::Expr& expr, const std::string& row) {
  if (expr.kind == syntax::ExprKind::kParameter)
    expr = syntax::reference("", name_of_column(row, std::stoul(expr.text)), expr.where);
  for (syntax::Expr& arg : expr.args) name_columns(arg, row);
}

}  // namespace

OperationId ProcedureBinder::bind_any(const syntax::Operation& from,
                                      const std::vector<std::optional<Type>>* targets, IntoVariables into) {
  BoundAnyQuery bound = bind_any_query(catalog_, names_, strings_, *from.query, targets);
  const std::vector<VariableId> variables = into(bound);
  ir::Operation to;
  to.id = OperationId{static_cast<uint32_t>(procedure_.operations.size())};
  to.where = from.where;
  to.text = from.text;
  to.strict = from.strict;
  to.order_is_path_order = true;
  to.by_chance = kByChance;
  to.any_query = std::move(bound.query);
  for (size_t i = 0; i < variables.size(); ++i) {
    ir::Output& output = to.outputs.emplace_back();
    output.expr = nodes::make(ir::ExprKind::kConstant, bound.types[i], from.where);
    output.into = variables[i];
  }
  to.uses = std::move(bound.uses);
  to.defines = variables;
  std::ranges::sort(to.defines);
  if (procedure_.by_chance.empty())
    procedure_.by_chance = fmt::format("line {}: {}", to.where.line, to.by_chance);
  procedure_.operations.push_back(std::move(to));
  return procedure_.operations.back().id;
}

ProcedureBinder::Bound ProcedureBinder::bind_any_into(const syntax::Operation& from, OperationBinder::Use use,
                                                      const std::vector<syntax::Target>& targets) {
  Bound bound;
  if (use == OperationBinder::Use::kPerform) {
    bound.id = bind_any(from, nullptr, [](const BoundAnyQuery&) { return std::vector<VariableId>(); });
    return bound;
  }
  if (targets.empty())
    refuse(from.where, "a SELECT without INTO has nowhere to put its result; add INTO, or use PERFORM");
  const syntax::Target& first = targets[0];
  const bool is_record =
      targets.size() == 1 && first.field.empty() && names_.get(first.name).record != nullptr;
  bound.id = bind_any(from, nullptr, [&](const BoundAnyQuery& query) {
    if (is_record)
      return names_.fill_record(names_.get(first.name), query.names, query.types, first.name.where);
    if (targets.size() != query.types.size()) {
      refuse(first.name.where, "{} values go to {} variables; name as many variables as values",
             query.types.size(), targets.size());
    }
    std::vector<VariableId> found;
    std::vector<VariableId> named;
    for (size_t i = 0; i < targets.size(); ++i) {
      const VariableId target = assignable(targets[i]);
      if (names_.type_of(target).is_array)
        refuse_as(sqlstate::kNotSupported, targets[i].name.where, "an array can't take a column");
      if (std::ranges::find(named, target) != named.end())
        refuse(targets[i].name.where, "{} is named twice", targets[i].name.text);
      named.push_back(target);
      found.push_back(names_.declare_hidden(name_of_column("found", i + 1), query.types[i]));
      ir::Expr value = nodes::make_variable(found.back(), query.types[i], targets[i].name.where);
      bound.taken.push_back(nodes::make_assign(
          target, folded(convert_for_variable(names_, target, std::move(value))), from.where));
    }
    return found;
  });
  return bound;
}

bool ProcedureBinder::needs_query(const syntax::Expr& expr) {
  try {
    (void)ExpressionBinder(names_, strings_).bind(expr);
    return false;
  } catch (const SourceError& error) {
    return may_be_of_queries(error);
  }
}

syntax::Expr ProcedureBinder::query_of(const syntax::Expr& expr, Statements& out) {
  syntax::Query query;
  query.where = query.first.where = expr.where;
  syntax::SelectCore& core = query.first.select.emplace();
  core.where = expr.where;
  core.items.push_back({false, {}, expr, {}});
  const syntax::Name name{fmt::format("expression {}", ++calls_), expr.where};
  Statement look = make_statement(StatementKind::kOperation, expr.where);
  try {
    look.operation = bind_any(select_of(std::move(query), expr.where, "an expression"), nullptr,
                              [&](const BoundAnyQuery& bound) {
                                const VariableId value = names_.declare_hidden(name.text, bound.types.at(0));
                                names_.declare_alias(name, value);
                                return std::vector<VariableId>{value};
                              });
  } catch (const SourceError& error) {
    if (!may_be_of_queries(error)) throw;
    return expr;
  }
  // It sets no FOUND that a statement reads.
  ir::Operation& operation = procedure_.operations[look.operation.value];
  operation.found = names_.declare_hidden("found", nodes::kBoolean);
  operation.defines.push_back(operation.found);
  out.push_back(std::move(look));
  return syntax::reference("", name.text, expr.where);
}

void ProcedureBinder::check_change_of_query(const syntax::Operation& change) {
  const bool updates = change.on_conflict && change.on_conflict->updates;
  if (!updates && change.into.empty() && change.items.empty()) return;
  refuse_as(sqlstate::kNotSupported, change.where,
            "{} of a query's rows is not supported in a procedure; use a FOR loop over the rows",
            updates ? "ON CONFLICT DO UPDATE" : "RETURNING");
}

// FOR each row of the query LOOP the change of one row END LOOP. All rows are found before the first is
// changed.
void ProcedureBinder::bind_change_of_query(const syntax::Statement& statement, Statements& out) {
  const syntax::Operation& change = *statement.operation;
  check_change_of_query(change);
  const bool inserts = change.kind == ir::OperationKind::kInsert;
  ChangeParts parts(catalog_, change);
  std::vector<std::optional<Type>> targets;
  syntax::Query rows;
  if (inserts) {
    targets = parts.insert_targets();
    rows = change.query ? parts.rows_of_query() : parts.rows_of_values();
  } else {
    if (!parts.has_key()) {
      refuse_as(
          sqlstate::kNotSupported, change.where,
          "table {} has no primary key, by which a procedure finds again the rows that a query has found; "
          "give it one",
          change.tables[0].table.text);
    }
    rows = parts.rows(targets, false);
    if (!change.from.empty()) {
      // A row that is found more than once is changed once.
      syntax::SelectCore& core = *rows.first.select;
      core.distinct = true;
      for (size_t i = 0; i < parts.key_columns(); ++i) core.distinct_on.push_back(core.items[i].expr);
    }
  }
  const std::string row = fmt::format("row of query {}", ++calls_);
  size_t columns = 0;
  Statement loop = make_statement(StatementKind::kForQuery, statement.where);
  loop.operation = bind_any(select_of(std::move(rows), change.where, change.text), &targets,
                            [&](const BoundAnyQuery& bound) {
                              std::vector<VariableId> variables;
                              for (const Type& type : bound.types) {
                                const std::string name = name_of_column(row, ++columns);
                                variables.push_back(names_.declare_hidden(name, type));
                                names_.declare_alias({name, change.where}, variables.back());
                              }
                              return variables;
                            });
  if (inserts && columns > targets.size())
    refuse(change.where, "INSERT has more expressions than target columns");
  if (inserts && !change.columns.empty() && columns < targets.size())
    refuse(change.where, "INSERT has more target columns than expressions");
  syntax::Statement each;
  each.kind = syntax::StatementKind::kOperation;
  each.where = statement.where;
  each.operation = inserts ? parts.insert_each(columns) : parts.change_each();
  for (syntax::Expr& value : each.operation->values) name_columns(value, row);
  for (syntax::Expr& condition : each.operation->conditions) name_columns(condition, row);
  bind_plain_change(each, loop.body);
  uncounted_ = statement.where;
  out.push_back(std::move(loop));
}

}  // namespace mneme
