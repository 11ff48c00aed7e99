#include "procedures/session/bound_statement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/change_parts.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/column_names.h"
#include "procedures/parser/plain_query.h"

namespace mneme {

BoundStatement::BoundStatement(const Program& program, std::shared_ptr<const syntax::Command> command,
                               std::span<const Type> given, std::shared_ptr<const SessionValues> session)
    : command_(std::move(command)), session_(std::move(session)), parameters_(given.begin(), given.end()) {
  parameters_.resize(std::max<size_t>(command_->parameters, parameters_.size()));
  bind(program);
}

void BoundStatement::bind(const Program& program) {
  system_ = std::make_unique<SystemCatalog>(program, session_.get());
  if (command_->kind == syntax::Command::Kind::kOperation) {
    if (changes_in_with(*command_->operation)) return bind_with_changes(program);
    if (command_->operation->kind == ir::OperationKind::kSelect) return bind_query_of_any_form(program);
    return bind_change_of_any_form(program);
  }
  if (command_->kind == syntax::Command::Kind::kDo) {
    if (!parameters_.empty()) refuse_as("42P02", command_->where, "there is no parameter $1");
    block_ = bind_block(program, *command_);
    return;
  }
  CHECK(command_->kind == syntax::Command::Kind::kCall);
  call_ = bind_call(program, *command_, parameters_);
  const ir::Procedure& callee = program.procedure(call_->callee);
  calls_any_query_ = callee.has_any_query();
  columns_.clear();
  for (const ir::Parameter& parameter : callee.parameters) {
    const ir::Variable& variable = callee.variables[parameter.variable.value];
    if (parameter.inout) columns_.push_back({variable.name, variable.type});
  }
}

namespace {

// Whether a function or procedure of the program is called in it.
bool calls_routine(const Program& program, const syntax::Expr& expr) {
  if (expr.kind == syntax::ExprKind::kCall && !is_own_function(expr.text) &&
      program.find_procedure(expr.text) != nullptr)
    return true;
  return std::ranges::any_of(expr.args, [&](const syntax::Expr& arg) { return calls_routine(program, arg); });
}

bool callee_returns_parameter(const ir::Procedure& callee) {
  return std::ranges::any_of(callee.parameters, &ir::Parameter::inout);
}

}  // namespace

// SELECT f(...) and SELECT * FROM f(...), alone, are calls; the name of their column is in `column`.
std::optional<syntax::Command> BoundStatement::function_call(const Program& program,
                                                             const syntax::Query& query, bool& is_expression,
                                                             std::string& column) {
  if (!query.first.select || !query.with.empty() || !query.more.empty() || !query.order.empty() ||
      query.limit || query.offset || query.for_update)
    return std::nullopt;
  const syntax::SelectCore& core = *query.first.select;
  if (core.distinct || core.condition || core.has_group || core.having || !core.windows.empty() ||
      core.items.size() != 1 || core.from.size() > 1)
    return std::nullopt;
  syntax::Command call;
  call.kind = syntax::Command::Kind::kCall;
  call.calls_function = true;
  const syntax::SelectItem& item = core.items[0];
  if (core.from.empty()) {
    const syntax::Expr& expr = item.expr;
    if (item.star || expr.kind != syntax::ExprKind::kCall || expr.star || expr.distinct || expr.filter ||
        expr.order || expr.window)
      return std::nullopt;
    call.name = {expr.text, expr.where};
    call.args = expr.args;
    column = item.alias.empty() ? std::string(bare_name(expr.text)) : item.alias.text;
  } else {
    const syntax::FromItem& from = core.from[0];
    if (from.kind != syntax::FromItem::Kind::kFunction || !item.star || !item.qualifier.empty() ||
        from.lateral || from.with_ordinality || from.column_aliases.size() > 1)
      return std::nullopt;
    call.name = from.name;
    call.args = from.args;
    column = !from.column_aliases.empty() ? from.column_aliases[0].text
             : from.alias.empty()         ? std::string(bare_name(from.name.text))
                                          : from.alias.text;
  }
  const syntax::Procedure* routine =
      is_own_function(call.name.text) ? nullptr : program.find_routine(call.name.text);
  if (routine == nullptr || !routine->is_function || routine->returns_rows) return std::nullopt;
  // Only a query computes an argument that calls another function. So this call becomes a query, unless it
  // changes rows.
  const bool is_query =
      std::ranges::any_of(call.args, [&](const syntax::Expr& arg) { return calls_routine(program, arg); });
  if (is_query && !program.find_procedure(call.name.text)->writes) return std::nullopt;
  is_expression = core.from.empty() && expression_of(*routine, true).has_value();
  return call;
}

void BoundStatement::bind_function_call(const Program& program, const syntax::Command& call,
                                        std::string column) {
  const bool is_table = !command_->operation->query->first.select->from.empty();
  call_ = bind_call(program, call, parameters_);
  const ir::Procedure& callee = program.procedure(call_->callee);
  calls_any_query_ = callee.has_any_query();
  columns_.clear();
  for (const ir::Parameter& parameter : callee.parameters) {
    const ir::Variable& variable = callee.variables[parameter.variable.value];
    if (parameter.inout) columns_.push_back({variable.name, variable.type});
  }
  const bool is_row = columns_.size() > 1;
  if (is_row && !is_table) {
    refuse_as(
        sqlstate::kNotSupported, call.name.where,
        "function {} returns several values, and a value of several is not supported; write SELECT * FROM "
        "{}(...)",
        callee.name, callee.name);
  }
  // What a void function returns is an empty text to clients.
  if (columns_.empty()) columns_.push_back({"", Type{.kind = TypeKind::kVarchar, .is_text = true}});
  // An only OUT parameter names the column of SELECT * FROM f(...).
  const bool keeps_name = is_row || (is_table && !callee.has_result && callee_returns_parameter(callee));
  if (!keeps_name) columns_[0].name = std::move(column);
}

void BoundStatement::bind_query_of_any_form(const Program& program) {
  query_.reset();
  select_.reset();
  call_.reset();
  const std::vector<Type> given = parameters_;
  bool is_expression = false;
  std::string column;
  if (const auto call = function_call(program, *command_->operation->query, is_expression, column)) {
    if (!is_expression) return bind_function_call(program, *call, std::move(column));
    try {
      return bind_plain_or_select(program, given);
    } catch (const SourceError&) {
      parameters_ = given;
      query_.reset();
      select_.reset();
      return bind_function_call(program, *call, std::move(column));
    }
  }
  bind_plain_or_select(program, given);
}

namespace {

// PostgreSQL shows what 'item'::regclass identifies by its name; a query computes with its number. So the
// columns that the client sees are made text. Nothing, where there are no such.
std::optional<syntax::Query> with_names_of_objects(const syntax::Query& query) {
  const auto is_object = [](const syntax::SelectItem& item) {
    const bool is_cast = item.expr.kind == syntax::ExprKind::kCast &&
                         item.expr.type.base.starts_with("reg") && !item.expr.type.is_array;
    return is_cast || (item.expr.kind == syntax::ExprKind::kCall && item.expr.text == "to_regclass");
  };
  if (!query.more.empty() || !query.first.select || query.first.select->distinct) return std::nullopt;
  if (std::ranges::none_of(query.first.select->items, is_object)) return std::nullopt;
  syntax::Query shown = query;
  for (syntax::SelectItem& item : shown.first.select->items) {
    if (!is_object(item)) continue;
    item.alias = {column_name_of(item), item.expr.where};
    syntax::Expr text;
    text.kind = syntax::ExprKind::kCast;
    text.where = item.expr.where;
    text.type.base = "text";
    text.type.where = item.expr.where;
    text.args.push_back(std::move(item.expr));
    item.expr = std::move(text);
  }
  return shown;
}

}  // namespace

namespace {

bool reads_sequence(const Program& program, const syntax::Operation& select) {
  return std::ranges::any_of(select.tables, [&](const auto& read) {
    const TableDefinition* table = program.catalog.find_table(read.table.text);
    return table != nullptr && is_sequence(*table);
  });
}

}  // namespace

void BoundStatement::bind_plain_or_select(const Program& program, const std::vector<Type>& given) {
  const std::optional<syntax::Operation> plain = plain_select(*command_->operation);
  if (plain && !reads_sequence(program, *plain)) {
    try {
      query_ = bind_query(program, *plain, parameters_, session_.get());
      columns_ = query_->columns;
      return;
    } catch (const SourceError&) {
      parameters_ = given;
    }
  }
  shown_ = with_names_of_objects(*command_->operation->query);
  const syntax::Query& query = shown_ ? *shown_ : *command_->operation->query;
  select_ = bind_select(program, query, parameters_, session_.get(), system_.get());
  columns_ = select_->columns;
}

namespace {

void refuse_change_of_view(const Program& program, const syntax::Name& table) {
  if (program.find_view(table.text) == nullptr) return;
  refuse_as(sqlstate::kNotSupported, table.where, "\"{}\" is a view, which is read only; change its tables",
            table.text);
}

}  // namespace

void BoundStatement::bind_with_changes(const Program& program) {
  select_.reset();
  change_.reset();
  const syntax::Operation& operation = *command_->operation;
  with_ = bind_with(program, operation, parameters_, session_.get(), system_.get());
  if (operation.kind == ir::OperationKind::kSelect) {
    select_ = bind_select(program, *operation.query, parameters_, session_.get(), system_.get(), nullptr,
                          &with_->given);
    columns_ = select_->columns;
    if (operation.merges) columns_.clear();
  } else {
    refuse_change_of_view(program, operation.tables[0].table);
    change_ = bind_change(program, operation, parameters_, session_.get(), system_.get(), &with_->given);
    const std::span<const ResultColumn> columns = change_->columns();
    columns_.assign(columns.begin(), columns.end());
  }
  finish_with(program, operation, select_ ? *select_ : *change_->rows, *with_);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].kind != TypeKind::kNull) continue;
    refuse_as(sqlstate::kIndeterminateType, command_->where, "could not determine data type of parameter ${}",
              i + 1);
  }
}

void BoundStatement::bind_change_of_any_form(const Program& program) {
  query_.reset();
  change_.reset();
  const syntax::Operation& operation = *command_->operation;
  refuse_change_of_view(program, operation.tables[0].table);
  const TableDefinition* const table = program.catalog.find_table(operation.tables[0].table.text);
  refers_to_itself_ =
      table != nullptr && operation.kind == ir::OperationKind::kInsert && mneme::refers_to_itself(*table);
  const std::vector<Type> given = parameters_;
  const bool may_change_twice = operation.on_conflict && operation.on_conflict->updates &&
                                (operation.query || !operation.more_rows.empty());
  if (!operation.query && operation.from.empty() && operation.with.empty() && !may_change_twice) {
    try {
      query_ = bind_query(program, operation, parameters_, session_.get());
      columns_ = query_->columns;
      return;
    } catch (const SourceError& error) {
      if (operation.gives_defaults || !may_be_of_queries(error)) throw;
      parameters_ = given;
    }
  }
  change_ = bind_change(program, operation, parameters_, session_.get(), system_.get());
  const std::span<const ResultColumn> columns = change_->columns();
  columns_.assign(columns.begin(), columns.end());
}

// Whether what is printed may depend on how many digits behind the point a numeric parameter's type has.
bool BoundStatement::shows_digits() const {
  if (!query_) return select_ != nullptr || change_ != nullptr;
  const std::vector<ir::Output>& outputs = query_->procedure.operations[0].outputs;
  return std::ranges::any_of(outputs, [&](const ir::Output& output) {
    bool shows = false;
    ir::walk(output.expr, [&](const ir::Expr& part) {
      shows |= part.kind == ir::ExprKind::kVariable && part.type.kind == TypeKind::kNumeric;
    });
    return shows;
  });
}

void BoundStatement::fit_digits(const Program& program, std::span<const uint8_t> scales) {
  bool fits = true;
  for (size_t i = 0; i < scales.size(); ++i) {
    Type& type = parameters_[i];
    const bool is_number = type.kind == TypeKind::kNumeric && !type.is_array;
    if (!is_number || scales[i] == type.scale || (scales[i] < type.scale && !shows_digits())) continue;
    type.scale = scales[i];
    fits = false;
  }
  if (!fits) bind(program);
}

}  // namespace mneme
