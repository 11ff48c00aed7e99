#include "recovery/database/live_session.h"

#include <fmt/format.h>

#include "recovery/database/schema_change.h"

namespace mneme {

LiveSession::LiveSession(WorkingDatabase& working, WorkerId worker, uint32_t change_threads,
                         std::optional<std::chrono::milliseconds> lock_timeout)
    : working_(working), worker_(worker), change_threads_(change_threads), lock_timeout_(lock_timeout) {}

LiveSession::~LiveSession() {
  session_.reset();
  leave();
}

// False: it would wait for this thread's own block.
bool LiveSession::enter() {
  if (is_inside_) {
    working_.schema_latch().go_on(worker_);
    return true;
  }
  if (working_.schema_latch().enter(worker_) != SchemaLatch::Entered::kInside) return false;
  is_inside_ = true;
  if (session_ && version_ == working_.schema_version()) return true;
  session_ = std::make_unique<SqlSession>(working_.program(), working_.database(), worker_);
  version_ = working_.schema_version();
  return true;
}

void LiveSession::leave() {
  if (!is_inside_ || block() != SqlSession::Block::kNone) return;
  is_inside_ = false;
  working_.schema_latch().leave(worker_);
}

StatementResult LiveSession::run(const std::string& text) {
  const ParsedStatement parsed = parse_statement(text);
  if (parsed.command && parsed.command->changes_schema()) return change(*parsed.command, text);
  struct Leave {  // also where an exception ends the statement
    LiveSession& session;
    ~Leave() { session.leave(); }
  } leave{*this};
  if (!enter()) {
    return StatementResult::failure(sqlstate::kDeadlock,
                                    "a change of the schema waits for the transaction block that this thread "
                                    "has open on another connection, and this "
                                    "statement would wait for that change: end the block, and try again");
  }
  StatementResult result;
  if (parsed.command) {
    result = session_->run(*parsed.command);
  } else {
    session_->fail_block();
    result = parsed.failure;
  }
  return result;
}

StatementResult LiveSession::change(const syntax::Command& command, const std::string& text) {
  if (block() == SqlSession::Block::kNone)
    return change_schema(working_, command, text, change_threads_, lock_timeout_);
  session_->fail_block();
  return StatementResult::failure(
      sqlstate::kActiveTransaction,
      fmt::format("{} cannot run inside a transaction block", tag_of_change(command)));
}

}  // namespace mneme
