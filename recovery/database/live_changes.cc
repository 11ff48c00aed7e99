// A DO block with changes of the schema: its statements run one after the other, as a client's would in a
// block.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "recovery/database/live_session.h"

namespace mneme {

namespace {

// "42000" is the whole class 42, as in ExceptionHandler.
bool catches(const syntax::ChangeHandler& handler, const std::string& sqlstate) {
  return handler.sqlstates.empty() || std::ranges::any_of(handler.sqlstates, [&](const std::string& each) {
           return each == sqlstate || (each.ends_with("000") && sqlstate.starts_with(each.substr(0, 2)));
         });
}

class ChangeRun {
 public:
  ChangeRun(LiveSession& session, StopRequest* stop) : session_(session), stop_(stop) {}

  StatementResult run(const syntax::ChangeBlock& block);
  // What the statements have said, in order.
  Notices take_notices() { return std::move(notices_); }
  const std::string& warning() const { return warning_; }

 private:
  StatementResult run(const std::vector<syntax::ChangeStep>& steps);
  StatementResult run(const syntax::ChangeStep& step);
  StatementResult run(const std::string& text);

  LiveSession& session_;
  StopRequest* const stop_;
  Notices notices_;
  std::string warning_;  // the last one
};

StatementResult ChangeRun::run(const std::string& text) {
  StatementResult result = session_.run(text, stop_);
  notices_.insert(notices_.end(), result.raised.begin(), result.raised.end());
  if (!result.warning.empty()) warning_ = result.warning;
  // The place in the step's text is none in the block's.
  const std::string place = fmt::format("line {}:{}: ", result.where.line, result.where.column);
  if (result.where.line != 0 && result.message.starts_with(place)) result.message.erase(0, place.size());
  result.where = {};
  return result;
}

StatementResult ChangeRun::run(const syntax::ChangeStep& step) {
  if (step.block) return run(*step.block);
  if (step.branches.empty()) return run(step.text);
  for (const auto& [condition, steps] : step.branches) {
    StatementResult holds = run("SELECT (" + condition + ") IS TRUE");
    if (!holds.ok()) return holds;
    if (holds.rows.at(0).at(0) == "t") return run(steps);
  }
  return {};
}

StatementResult ChangeRun::run(const std::vector<syntax::ChangeStep>& steps) {
  for (const syntax::ChangeStep& step : steps) {
    StatementResult result = run(step);
    if (!result.ok()) return result;
  }
  return {};
}

// A failure fails the session's block. Where the block has changed no rows, another one takes its place.
StatementResult ChangeRun::run(const syntax::ChangeBlock& block) {
  StatementResult failed = run(block.steps);
  if (failed.ok() || session_.has_changed_rows()) return failed;
  const auto handler = std::ranges::find_if(
      block.handlers, [&](const syntax::ChangeHandler& each) { return catches(each, failed.sqlstate); });
  if (handler == block.handlers.end()) return failed;
  for (const char* const again : {"ROLLBACK", "BEGIN"}) {
    StatementResult result = session_.run(again);
    if (!result.ok()) return result;
  }
  return run(handler->steps);
}

}  // namespace

StatementResult LiveSession::run_changes(const syntax::ChangeBlock& changes, StopRequest* stop) {
  if (block() == SqlSession::Block::kFailed) return SqlSession::in_failed_block();
  const bool is_alone = block() == SqlSession::Block::kNone;
  if (is_alone) {
    StatementResult begun = run("BEGIN");
    if (!begun.ok()) return begun;
  }
  ChangeRun steps(*this, stop);
  StatementResult result = steps.run(changes);
  if (!result.ok()) fail_block();
  if (is_alone) {
    StatementResult ended = run(result.ok() ? "COMMIT" : "ROLLBACK");
    if (result.ok() && !ended.ok()) return ended;
  }
  result.raised = steps.take_notices();
  if (!result.ok()) return result;
  result.tag = "DO";
  if (!is_alone) result.warning = steps.warning();
  return result;
}

}  // namespace mneme
