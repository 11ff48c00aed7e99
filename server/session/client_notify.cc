// LISTEN, UNLISTEN, NOTIFY and pg_notify(): what a transaction of the session asks for takes effect with its
// commit, and is forgotten with its roll-back, or with that of the savepoint behind which it was asked for.
#include "server/session/client_notify.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "procedures/values/run_errors.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"

namespace mneme {

namespace {

using NotifyVerb = NotifyStatement::Verb;

constexpr size_t kLongestName = 63;
constexpr size_t kPayloadBytes = 8000;  // a payload is shorter

[[noreturn]] void refuse_notify_at(const Tokens& tokens) {
  throw StatementResult::failure(sqlstate::kSyntaxError,
                                 tokens.at_end()
                                     ? "syntax error at end of input"
                                     : fmt::format("syntax error at or near \"{}\"", tokens.peek().text));
}

// A channel's name is an identifier: a longer one is cut.
std::string take_channel(Tokens& tokens) {
  const Token token = tokens.peek();
  const bool is_word = token.kind == Token::Kind::kWord && !token.text.empty() &&
                       !is_ascii_digit(token.text[0]) && token.text.find_first_of(".+-") == token.text.npos;
  if (!is_word && token.kind != Token::Kind::kName) refuse_notify_at(tokens);
  if (token.text.empty())
    throw StatementResult::failure(sqlstate::kSyntaxError, "zero-length delimited identifier");
  return tokens.take().text.substr(0, kLongestName);
}

}  // namespace

std::optional<NotifyStatement> read_notify(Tokens& tokens) {
  NotifyStatement statement;
  if (tokens.take_word("listen")) {
    statement.verb = NotifyVerb::kListen;
  } else if (tokens.take_word("unlisten")) {
    statement.verb = NotifyVerb::kUnlisten;
  } else if (!tokens.take_word("notify")) {
    return std::nullopt;
  }
  if (statement.verb == NotifyVerb::kUnlisten && tokens.take_mark("*")) {
    statement.verb = NotifyVerb::kUnlistenAll;
  } else {
    statement.message.channel = take_channel(tokens);
  }
  if (statement.verb == NotifyVerb::kNotify && tokens.take_mark(",")) {
    if (tokens.peek().kind != Token::Kind::kString) refuse_notify_at(tokens);
    statement.message.payload = tokens.take().text;
  }
  if (!tokens.at_end()) refuse_notify_at(tokens);
  return statement;
}

ClientSession::Ran ClientSession::run_notify(const NotifyStatement& statement, bool alone) {
  const bool notifies = statement.verb == NotifyVerb::kNotify;
  StatementResult done;
  done.tag = notifies ? "NOTIFY" : statement.verb == NotifyVerb::kListen ? "LISTEN" : "UNLISTEN";
  if (host_.is_standby() && (notifies || statement.verb == NotifyVerb::kListen)) {
    return {Done::kYes, StatementResult::failure(sqlstate::kReadOnlyTransaction,
                                                 fmt::format("cannot execute {} during recovery", done.tag))};
  }
  if (statement.message.payload.size() >= kPayloadBytes)
    return {Done::kYes, StatementResult::failure(sqlstate::kInvalidParameter, "payload string too long")};
  if (!alone) {
    Ran begun = begin_implicit_block();
    if (begun.done != Done::kYes || !begun.result.ok()) return begun;
  }
  if (notifies) {
    wish_to_notify(statement.message);
  } else {
    notices_.listens.push_back(statement);
  }
  if (seat_.block() == SqlSession::Block::kNone) {
    const Notifications::Turn turn = take_turn_to_notify();
    if (StatementResult full = no_room_to_notify(); !full.ok()) return {Done::kYes, std::move(full)};
    send_notifications(turn, std::nullopt);
  }
  return {Done::kYes, std::move(done)};
}

// Equal messages of a transaction are one.
void ClientSession::wish_to_notify(NotifyMessage message) {
  if (notices_.known.insert(message).second) notices_.messages.push_back(std::move(message));
}

Notifications::Turn ClientSession::take_turn_to_notify() {
  return notices_.messages.empty() ? Notifications::Turn() : host_.notifications().take_turn();
}

// The failure of a commit whose messages find no room.
StatementResult ClientSession::no_room_to_notify() {
  if (notices_.messages.empty() || host_.notifications().has_room(notices_.messages)) return {};
  forget_notifications();
  return StatementResult::failure("54000", "too many notifications in the NOTIFY queue");
}

void ClientSession::send_notifications(const Notifications::Turn& turn, std::optional<Lsn> lsn) {
  Notifications& hub = host_.notifications();
  for (const NotifyStatement& each : notices_.listens) {
    if (each.verb == NotifyVerb::kListen) {
      box_ = hub.listen(id_, each.message.channel);
    } else if (each.verb == NotifyVerb::kUnlisten) {
      hub.unlisten(id_, each.message.channel);
    } else {
      hub.unlisten_all(id_);
    }
  }
  if (!notices_.messages.empty()) hub.publish(turn, id_, notices_.messages, lsn);
  forget_notifications();
}

// What the block has asked for since the savepoint is forgotten.
void ClientSession::cut_notifications(size_t messages, size_t listens) {
  while (notices_.messages.size() > messages) {
    notices_.known.erase(notices_.messages.back());
    notices_.messages.pop_back();
  }
  notices_.listens.resize(std::min(notices_.listens.size(), listens));
}

// A statement by itself has committed before its messages are known here. So run_sql() gives one that names
// pg_notify() a block, which ends behind it; one that finds the function in a view notifies behind its
// commit.
StatementResult ClientSession::grant_notifications(const Named& named, StatementResult result) {
  const BoundStatement* bound = named.prepared->bound();
  if (bound == nullptr || bound->system() == nullptr) return result;
  std::vector<SystemCatalog::Notice> notices = bound->system()->take_notices();
  if (notices.empty() || !result.ok()) return result;
  for (SystemCatalog::Notice& notice : notices) {
    const char* const wrong = notice.channel.empty()                   ? "channel name cannot be empty"
                              : notice.channel.size() > kLongestName   ? "channel name too long"
                              : notice.payload.size() >= kPayloadBytes ? "payload string too long"
                                                                       : nullptr;
    if (wrong != nullptr) {
      if (seat_.is_taken()) seat_.session().fail_block();
      return StatementResult::failure(sqlstate::kInvalidParameter, wrong);
    }
    wish_to_notify({std::move(notice.channel), std::move(notice.payload)});
  }
  if (seat_.block() == SqlSession::Block::kNone) send_notifications(take_turn_to_notify(), result.lsn);
  return result;
}

bool ClientSession::deliver_notifications() {
  if (box_ == nullptr || !box_->has_any()) return false;
  MessageWriter writer = out();
  while (const std::optional<Notifications::Arrived> arrived = box_->take()) {
    const size_t mark = replies_.mark();
    write_notification(arrived->sender, arrived->message.channel, arrived->message.payload, writer);
    if (arrived->lsn) replies_.hold(mark, *arrived->lsn);
  }
  return true;
}

}  // namespace mneme
