#include "procedures/session/bound_statement.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "procedures/ir/source_error.h"
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
    if (command_->operation->kind == ir::OperationKind::kSelect) return bind_query_of_any_form(program);
    return bind_change_of_any_form(program);
  }
  CHECK(command_->kind == syntax::Command::Kind::kCall);
  call_ = bind_call(program, *command_, parameters_);
  const ir::Procedure& callee = program.procedure(call_->callee);
  columns_.clear();
  for (const ir::Parameter& parameter : callee.parameters) {
    const ir::Variable& variable = callee.variables[parameter.variable.value];
    if (parameter.inout) columns_.push_back({variable.name, variable.type});
  }
}

void BoundStatement::bind_query_of_any_form(const Program& program) {
  query_.reset();
  select_.reset();
  const std::vector<Type> given = parameters_;
  if (const std::optional<syntax::Operation> plain = plain_select(*command_->operation)) {
    try {
      query_ = bind_query(program, *plain, parameters_, session_.get());
      columns_ = query_->columns;
      return;
    } catch (const SourceError&) {
      // Its rows may be locked by it alone, and it says best why not.
      if (plain->for_update) throw;
      parameters_ = given;
    }
  }
  select_ = bind_select(program, *command_->operation->query, parameters_, session_.get(), system_.get());
  columns_ = select_->columns;
}

void BoundStatement::bind_change_of_any_form(const Program& program) {
  query_.reset();
  change_.reset();
  const syntax::Operation& operation = *command_->operation;
  if (const syntax::Name& name = operation.tables[0].table; program.find_view(name.text) != nullptr) {
    refuse_as(sqlstate::kNotSupported, name.where, "\"{}\" is a view, which is read only; change its tables",
              name.text);
  }
  const std::vector<Type> given = parameters_;
  const bool may_change_twice = operation.on_conflict && operation.on_conflict->updates &&
                                (operation.query || !operation.more_rows.empty());
  if (!operation.query && operation.from.empty() && !may_change_twice) {
    try {
      query_ = bind_query(program, operation, parameters_, session_.get());
      columns_ = query_->columns;
      return;
    } catch (const SourceError& error) {
      const bool may_be_query = operation.kind != ir::OperationKind::kInsert && error.sqlstate != nullptr &&
                                std::string_view(error.sqlstate) == sqlstate::kNotSupported;
      if (!may_be_query) throw;
      parameters_ = given;
    }
  }
  change_ = bind_change(program, operation, parameters_, session_.get(), system_.get());
  columns_ = change_->each.columns;
}

void BoundStatement::fit_digits(const Program& program, std::span<const uint8_t> scales) {
  bool fits = true;
  for (size_t i = 0; i < scales.size(); ++i) {
    if (parameters_[i].kind != TypeKind::kNumeric || scales[i] <= parameters_[i].scale) continue;
    parameters_[i].scale = scales[i];
    fits = false;
  }
  if (!fits) bind(program);
}

}  // namespace mneme
