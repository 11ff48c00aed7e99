#include "procedures/session/bound_statement.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace mneme {

BoundStatement::BoundStatement(const Program& program, std::shared_ptr<const syntax::Command> command,
                               std::span<const Type> given, std::shared_ptr<const SessionValues> session)
    : command_(std::move(command)), session_(std::move(session)), parameters_(given.begin(), given.end()) {
  parameters_.resize(std::max<size_t>(command_->parameters, parameters_.size()));
  bind(program);
}

void BoundStatement::bind(const Program& program) {
  if (command_->kind == syntax::Command::Kind::kOperation) {
    query_ = bind_query(program, *command_->operation, parameters_, session_.get());
    columns_ = query_->columns;
    return;
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
