// ProcedureBinder's statements that are operations: SELECT, PERFORM, INSERT, UPDATE and DELETE, in the form
// that procedures have, or, where they can't say it, as a query of any form; and expressions that are such
// queries.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "procedures/binder/any_query_binder.h"
#include "procedures/binder/change_parts.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/plain_query.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;
using nodes::make_statement;

namespace {

// Binds a statement in the form that procedures have; where that is refused for its form, as a query. A
// refusal of the query counts, unless that is for its form, too: then the first one says more.
template <typename Own, typename Query>
auto own_form_or_query(Own&& own, Query&& query) {
  try {
    return own();
  } catch (const SourceError& error) {
    if (!may_be_of_queries(error)) throw;
    try {
      return query();
    } catch (const SourceError& other) {
      if (may_be_of_queries(other)) throw error;
      throw;
    }
  }
}

// Whether it gives one row of values, and nothing else.
bool is_values(const syntax::Operation& select) {
  return select.tables.empty() && !select.items.empty() && select.conditions.empty() &&
         select.groups.empty() && !select.having && select.order.empty() && !select.limit && !select.offset &&
         std::ranges::none_of(select.items, &syntax::SelectItem::star);
}

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

bool asks_for_row_count(const syntax::Block& block);

bool asks_for_row_count(const std::vector<syntax::Statement>& statements) {
  return std::ranges::any_of(statements, [](const syntax::Statement& statement) {
    const bool here = statement.kind == syntax::StatementKind::kDiagnostics &&
                      std::ranges::find(statement.words, "row_count") != statement.words.end();
    return here || asks_for_row_count(statement.body) ||
           std::ranges::any_of(
               statement.branches,
               [](const syntax::Branch& branch) { return asks_for_row_count(branch.statements); }) ||
           (statement.block != nullptr && asks_for_row_count(*statement.block));
  });
}

bool asks_for_row_count(const syntax::Block& block) {
  return asks_for_row_count(block.statements) ||
         std::ranges::any_of(block.handlers, [](const syntax::ExceptionHandler& handler) {
           return asks_for_row_count(handler.statements);
         });
}

// counter := counter + by.
Statement increase(VariableId counter, ir::Expr by, ir::SourceLocation where) {
  constexpr Type kCount{.kind = TypeKind::kBigInt};
  ir::Expr before = nodes::make_variable(counter, kCount, where);
  return nodes::make_assign(
      counter, nodes::make_binary(ir::Op::kAdd, kCount, std::move(before), std::move(by), where), where);
}

}  // namespace

ProcedureBinder::Bound ProcedureBinder::bind_operation_into(const syntax::Operation& operation,
                                                            OperationBinder::Use use,
                                                            const std::vector<syntax::Target>& targets,
                                                            Statements& out) {
  const bool may_be_any = operation.kind == ir::OperationKind::kSelect && operation.query;
  if (may_be_any && operation.items.empty()) return bind_any_into(operation, use, targets);
  const auto own = [&] {
    Bound bound{operations_.bind(operation, use, targets), {}};
    if (std::optional<ir::Expr> raising = operations_.take_raising())
      out.push_back(make_raising(std::move(*raising)));
    return bound;
  };
  if (!may_be_any) return own();
  return own_form_or_query(own, [&] {
    (void)operations_.take_raising();
    return bind_any_into(operation, use, targets);
  });
}

void ProcedureBinder::bind_operation(const syntax::Statement& statement, Statements& out) {
  const syntax::Operation& written = *statement.operation;
  if (written.kind != ir::OperationKind::kSelect) return bind_change(statement, out);
  const bool perform = statement.kind == syntax::StatementKind::kPerform;
  if (is_values(written) && !goes_into_record(written)) return bind_values(statement, out);
  if (const VariableId array = array_that_takes(written); array.valid()) {
    syntax::Expr value = syntax::make_expression(syntax::ExprKind::kScalarQuery, statement.where);
    value.query = written.query;
    fill_array(array, std::move(value), statement.where, out);
    out.push_back(
        nodes::make_assign(VariableId(), nodes::make_boolean(true, statement.where), statement.where));
    return;
  }
  if (perform && !written.tables.empty()) uncounted_ = statement.where;
  Statement operation = make_statement(StatementKind::kOperation, statement.where);
  Bound bound = bind_operation_into(
      written, perform ? OperationBinder::Use::kPerform : OperationBinder::Use::kInto, written.into, out);
  operation.operation = bound.id;
  out.push_back(std::move(operation));
  std::ranges::move(bound.taken, std::back_inserter(out));
}

// The array that INTO names alone, of a query of any form.
VariableId ProcedureBinder::array_that_takes(const syntax::Operation& select) const {
  if (!select.query || select.into.size() != 1 || !select.into[0].field.empty()) return {};
  const Declared& target = names_.get(select.into[0].name);
  const bool is_array = target.variable.valid() && names_.type_of(target.variable).is_array;
  return is_array ? assignable(select.into[0]) : VariableId();
}

bool ProcedureBinder::goes_into_record(const syntax::Operation& select) const {
  return select.into.size() == 1 && select.into[0].field.empty() &&
         names_.get(select.into[0].name).record != nullptr;
}

// A change that procedures can't say is one of the rows that a query finds.
void ProcedureBinder::bind_change(const syntax::Statement& statement, Statements& out) {
  const syntax::Operation& change = *statement.operation;
  if (!change.with.empty() || !change.from.empty() || (change.query && !plain_select(change, true)))
    return bind_change_of_query(statement, out);
  const size_t statements = out.size();
  const size_t operations = procedure_.operations.size();
  const bool writes = procedure_.writes;
  const std::string by_chance = procedure_.by_chance;
  own_form_or_query(
      [&] { change.query ? bind_insert_of_query(statement, out) : bind_plain_change(statement, out); },
      [&] {
        (void)operations_.take_raising();
        out.resize(statements);
        procedure_.operations.resize(operations);
        procedure_.writes = writes;
        procedure_.by_chance = by_chance;
        bind_change_of_query(statement, out);
      });
}

void ProcedureBinder::bind_plain_change(const syntax::Statement& statement, Statements& out) {
  const syntax::Operation& written = *statement.operation;
  const bool perform = statement.kind == syntax::StatementKind::kPerform;
  const auto bound = [&](const syntax::Operation& from, Statements& before) {
    Statement operation = make_statement(StatementKind::kOperation, statement.where);
    operation.operation =
        bind_operation_into(from, perform ? OperationBinder::Use::kPerform : OperationBinder::Use::kInto,
                            from.into, before)
            .id;
    return operation;
  };
  if (const auto& conflict = written.on_conflict;
      conflict && conflict->updates && !written.more_rows.empty()) {
    refuse_as(sqlstate::kNotSupported, conflict->where,
              "ON CONFLICT DO UPDATE of several rows is not supported; write an INSERT for each");
  }
  const VariableId sum = written.more_rows.empty() ? VariableId() : begin_sum(statement.where, out);
  Statements references;
  Statements* const behind = written.more_rows.empty() ? nullptr : &references;
  // What ON CONFLICT leaves out has no operation that counts.
  if (written.on_conflict) reset_count(statement.where, out);
  changes_.bind(without_calls(written, out), bound, out, behind);
  add_count(sum, statement.where, out);
  for (const std::vector<syntax::Expr>& row : written.more_rows) {
    if (!written.into.empty()) {
      refuse_as(sqlstate::kNotSupported, statement.where,
                "RETURNING INTO takes one row, and this INSERT makes several; write an INSERT for each");
    }
    if (written.on_conflict) reset_count(statement.where, out);
    changes_.bind(without_calls(written.with_row(row), out), bound, out, behind);
    add_count(sum, statement.where, out);
  }
  end_sum(sum, statement.where, out);
  std::ranges::move(references, std::back_inserter(out));
}

// An INSERT's calls come before it, as it evaluates their arguments once.
syntax::Operation ProcedureBinder::without_calls(const syntax::Operation& from, Statements& out) {
  if (from.kind != ir::OperationKind::kInsert) return from;
  syntax::Operation changed = from;
  const auto take_out = [&](syntax::Expr& expr) {
    if (queries_.has_statement_call(expr)) expr = queries_.hoist(expr, out);
  };
  for (syntax::Expr& value : changed.values) take_out(value);
  return changed;
}

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
      if (std::ranges::find(named, target) != named.end())
        refuse(targets[i].name.where, "{} is named twice", targets[i].name.text);
      named.push_back(target);
      const ir::SourceLocation where = targets[i].name.where;
      if (names_.type_of(target).is_array) {
        // The array is filled from the text that the query gives.
        const syntax::Name text{fmt::format("expression {}", ++calls_), where};
        found.push_back(names_.declare_hidden(text.text, query.types[i]));
        names_.declare_alias(text, found.back());
        fill_array(target, syntax::reference("", text.text, where), where, bound.taken);
        continue;
      }
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
  const auto bind_look = [&](syntax::Query written) {
    try {
      look.operation = bind_any(select_of(std::move(written), expr.where, "an expression"), nullptr,
                                [&](const BoundAnyQuery& bound) {
                                  const VariableId value =
                                      names_.declare_hidden(name.text, bound.types.at(0));
                                  names_.declare_alias(name, value);
                                  return std::vector<VariableId>{value};
                                });
    } catch (const SourceError& error) {
      if (!may_be_of_queries(error)) throw;
      return false;
    }
    return true;
  };
  if (!bind_look(std::move(query))) return expr;
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
    rows = parts.rows_once(targets);
  }
  const std::string row = fmt::format("row of query {}", ++calls_);
  const VariableId sum = begin_sum(statement.where, out);
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
  add_count(sum, statement.where, loop.body);
  out.push_back(std::move(loop));
  end_sum(sum, statement.where, out);
}

// ---- ROW_COUNT ----

// A change of a table with constraints is a loop over its rows: it counts the loop's rounds.
void ProcedureBinder::keep_row_count(Statements& statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    Statement& statement = statements[i];
    keep_row_count(statement.body);
    keep_row_count(statement.else_body);
    const bool is_loop = statement.kind == StatementKind::kForQuery;
    if (!is_loop && statement.kind != StatementKind::kOperation) continue;
    ir::Operation& operation = procedure_.operations[statement.operation.value];
    if (operation.found.valid() || statement.found.valid() || operation.row_count.valid()) continue;
    if (!is_loop) {
      operation.row_count = row_count_;
      operation.defines.push_back(row_count_);
      std::ranges::sort(operation.defines);
    } else if (operation.kind != ir::OperationKind::kSelect) {
      const ir::SourceLocation where = statement.where;
      statement.body.insert(statement.body.begin(), increase(row_count_, count_constant(1, where), where));
      statements.insert(statements.begin() + static_cast<ptrdiff_t>(i),
                        nodes::make_assign(row_count_, count_constant(0, where), where));
      ++i;
    }
  }
}

void ProcedureBinder::find_row_count(const syntax::Block& body) {
  if (asks_for_row_count(body))
    row_count_ = names_.declare_hidden("row_count", Type{.kind = TypeKind::kBigInt});
}

VariableId ProcedureBinder::begin_sum(ir::SourceLocation where, Statements& out) {
  if (!row_count_.valid()) return {};
  const VariableId sum = names_.declare_hidden("sum of rows", Type{.kind = TypeKind::kBigInt});
  out.push_back(nodes::make_assign(sum, count_constant(0, where), where));
  return sum;
}

void ProcedureBinder::reset_count(ir::SourceLocation where, Statements& out) {
  if (row_count_.valid()) out.push_back(nodes::make_assign(row_count_, count_constant(0, where), where));
}

void ProcedureBinder::add_count(VariableId sum, ir::SourceLocation where, Statements& out) {
  if (!sum.valid()) return;
  out.push_back(
      increase(sum, nodes::make_variable(row_count_, Type{.kind = TypeKind::kBigInt}, where), where));
}

void ProcedureBinder::end_sum(VariableId sum, ir::SourceLocation where, Statements& out) {
  if (!sum.valid()) return;
  out.push_back(nodes::make_assign(row_count_,
                                   nodes::make_variable(sum, Type{.kind = TypeKind::kBigInt}, where), where));
}

}  // namespace mneme
