#include "analyzer/statement_table.h"

namespace mneme {

void StatementTable::add(const std::vector<ir::Statement>& statements, StatementId parent,
                         StatementId outermost_loop) {
  for (const ir::Statement& statement : statements) {
    const StatementId id(static_cast<uint32_t>(places_.size()));
    places_.push_back({&statement, &statements, parent, outermost_loop});
    ids_.emplace(&statement, id);
    const StatementId loop_below = is_loop(statement) && !outermost_loop.valid() ? id : outermost_loop;
    add(statement.body, id, loop_below);
    add(statement.else_body, id, loop_below);
  }
}

}  // namespace mneme
