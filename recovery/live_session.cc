#include "recovery/live_session.h"

#include <fmt/format.h>

#include "recovery/schema_change.h"

namespace mneme {

LiveSession::LiveSession(WorkingDatabase& working, WorkerId worker, uint32_t change_threads)
    : working_(working), worker_(worker), change_threads_(change_threads) {}

LiveSession::~LiveSession() {
  session_.reset();
  leave();
}

void LiveSession::enter() {
  if (is_inside_) return;
  working_.schema_latch().enter(worker_);
  is_inside_ = true;
  if (session_ && version_ == working_.schema_version()) return;
  session_ = std::make_unique<SqlSession>(working_.program(), working_.database(), worker_);
  version_ = working_.schema_version();
}

void LiveSession::leave() {
  if (!is_inside_ || block() != SqlSession::Block::kNone) return;
  is_inside_ = false;
  working_.schema_latch().leave(worker_);
}

StatementResult LiveSession::run(const std::string& text) {
  const ParsedStatement parsed = parse_statement(text);
  if (parsed.command && parsed.command->changes_schema()) return change(*parsed.command, text);
  enter();
  StatementResult result;
  if (parsed.command) {
    result = session_->run(*parsed.command);
  } else {
    session_->fail_block();
    result = parsed.failure;
  }
  leave();
  return result;
}

StatementResult LiveSession::change(const syntax::Command& command, const std::string& text) {
  if (block() == SqlSession::Block::kNone) return change_schema(working_, command, text, change_threads_);
  session_->fail_block();
  return StatementResult::failure(
      sqlstate::kActiveTransaction,
      fmt::format("{} cannot run inside a transaction block", tag_of_change(command)));
}

}  // namespace mneme
