#include "analyzer/committed_body.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace mneme {
namespace {

using ir::Statement;
using ir::StatementKind;

bool has_jump(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kExit:
    case StatementKind::kContinue:
    case StatementKind::kReturn:
      return true;
    default:
      return std::ranges::any_of(statement.body, has_jump) ||
             std::ranges::any_of(statement.else_body, has_jump);
  }
}

// Whether running the statements surely ends in a RAISE. A jump may lead past it.
bool must_raise(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    if (statement.kind == StatementKind::kRaise && statement.level == ir::RaiseLevel::kException) return true;
    if (statement.kind == StatementKind::kIf && must_raise(statement.body) &&
        must_raise(statement.else_body)) {
      return true;
    }
    if (has_jump(statement)) return false;
  }
  return false;
}

bool catches_errors(std::span<const Statement> statements) {
  return std::ranges::any_of(statements, [](const Statement& statement) {
    return statement.kind == StatementKind::kTry || catches_errors(statement.body) ||
           catches_errors(statement.else_body);
  });
}

std::vector<Statement> committed(const std::vector<Statement>& statements) {
  std::vector<Statement> kept;
  auto splice = [&kept](std::vector<Statement> inner) { std::ranges::move(inner, std::back_inserter(kept)); };
  for (const Statement& statement : statements) {
    if (statement.kind == StatementKind::kRaise) continue;
    if (statement.kind == StatementKind::kIf) {
      // One branch cannot be taken: the other is, whatever the condition says.
      const bool not_then = must_raise(statement.body);
      const bool not_else = must_raise(statement.else_body);
      if (not_then || not_else) {
        if (!not_then) splice(committed(statement.body));
        if (!not_else) splice(committed(statement.else_body));
        continue;
      }
    }
    Statement copy = statement;
    if (must_raise(statement.body)) {
      // The loop has no iteration. FOR must still set FOUND; WHILE would only evaluate a condition that is
      // false.
      if (statement.kind == StatementKind::kWhile) continue;
      copy.body.clear();
    } else {
      copy.body = committed(statement.body);
    }
    copy.else_body = committed(statement.else_body);
    kept.push_back(std::move(copy));
  }
  return kept;
}

}  // namespace

// A call that catches errors is logged by the rows that it changed, and no part of it is replayed.
std::vector<Statement> committed_body(const ir::Procedure& procedure) {
  if (catches_errors(procedure.body)) return {};
  if (must_raise(procedure.body)) return {};
  return committed(procedure.body);
}

}  // namespace mneme
