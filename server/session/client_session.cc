#include "server/session/client_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/schema/qualified_name.h"
#include "procedures/parser/statement_splitter.h"
#include "procedures/values/run_errors.h"
#include "procedures/values/type_oids.h"
#include "server/protocol/sqlstates.h"
#include "server/session/row_writer.h"
#include "server/session/violations.h"

namespace mneme {
namespace {

// The place of a statement's error in the client's query, in characters from 1. `offset` characters come
// before the statement; a SourceLocation's column counts bytes.
uint32_t position_of(ir::SourceLocation where, std::string_view text, size_t offset) {
  if (where.line == 0) return 0;
  size_t at = 0;
  for (uint32_t line = 1; line < where.line; ++line) {
    const size_t end = text.find('\n', at);
    if (end == text.npos) return 0;
    at = end + 1;
  }
  return static_cast<uint32_t>(offset + count_characters(text.substr(0, at + where.column - 1)) + 1);
}

}  // namespace

ClientSession::ClientSession(SessionHost& host, uint32_t id, uint32_t secret, ClientLink link)
    : host_(host),
      id_(id),
      secret_(secret),
      link_(std::move(link)),
      seat_(host),
      stop_(link_.stop != nullptr ? link_.stop : std::make_shared<StopRequest>()),
      activity_(link_.activity != nullptr ? link_.activity : std::make_shared<ClientActivity>()) {}

ClientSession::~ClientSession() {
  seat_.give_back();
  host_.advisory_locks().end_session(id_);
  host_.notifications().end_session(id_);
}

char ClientSession::state() const {
  switch (seat_.block()) {
    case SqlSession::Block::kNone:
      return 'I';
    case SqlSession::Block::kOpen:
      return 'T';
    case SqlSession::Block::kFailed:
      break;
  }
  return 'E';
}

void ClientSession::begin_statement() {
  constexpr uint64_t kNanosecondsAMillisecond = 1'000'000;
  const uint64_t limit = settings_.milliseconds("statement_timeout");
  follow_standby();
  conflicts_ = 0;
  alone_at_conflicts_ = kConflictsUntilAlone;
  stop_->set_deadline(limit == 0 ? 0 : monotonic_ns() + limit * kNanosecondsAMillisecond);
}

void ClientSession::follow_standby() {
  if (host_.is_standby() == settings_.is_standby()) return;
  settings_.set_standby(host_.is_standby());
  share_settings();
}

StatementResult ClientSession::stopped() const {
  host_.advisory_locks().stop_waiting(id_);
  const SqlError error = stopped_error(*stop_);
  return StatementResult::failure(error.sqlstate, std::string(error.message));
}

void ClientSession::end(std::string_view sqlstate, std::string_view message) {
  if (stage_ == Stage::kEnded) return;
  MessageWriter writer = out();
  write_report({.severity = Severity::kFatal, .sqlstate = sqlstate, .message = message}, writer);
  stage_ = Stage::kEnded;
  seat_.give_back();
  host_.advisory_locks().end_session(id_);
  host_.notifications().end_session(id_);
}

ClientSession::Step ClientSession::refuse(std::string_view sqlstate, std::string_view message) {
  end(sqlstate, message);
  return Step::kEnds;
}

ClientSession::Step ClientSession::advance(Waiting waiting) {
  waiting_ = waiting;
  struct GiveBack {
    Seat& seat;
    ~GiveBack() {
      if (seat.block() == SqlSession::Block::kNone) {
        seat.give_back();
      } else {
        seat.session().rest();
      }
    }
  } give_back{seat_};
  for (;;) {
    if (stage_ == Stage::kEnded) return Step::kEnds;
    // Nothing more is run. The loop tells the client why, if there still is one.
    if (stop_->reason() == StopRequest::Reason::kConnectionEnds) return Step::kWaits;
    Done done = Done::kYes;
    if (query_ && !copy_in_) {
      done = run_query();
    } else {
      if (!frames_.has_request()) return Step::kWaits;
      const Result<std::optional<ClientMessage>> next = frames_.next();
      if (!next) return refuse(sqlstate::kProtocolViolation, next.error().message);
      if (!*next) return Step::kWaits;
      if (stage_ == Stage::kStartup) {
        const Step step = start_session((*next)->body);
        frames_.take();
        if (step == Step::kEnds || step == Step::kTls) return step;
        continue;
      }
      if (stage_ == Stage::kAuthentication) {
        const Step step = authenticate(**next);
        frames_.take();
        if (step == Step::kEnds) return step;
        continue;
      }
      if (!is_tried_again_ && !copy_in_) {
        stop_->begin();
        begin_statement();
      }
      is_idle_ = false;
      done = handle(**next);
      if (done == Done::kYes || done == Done::kFailed) frames_.take();
    }
    is_tried_again_ = done == Done::kRetry || done == Done::kWork;
    if (is_tried_again_) {
      if (seat_.block() == SqlSession::Block::kNone) stop_->stay();
      if (is_asked_to_stop()) {
        is_tried_again_ = false;
        if (copy_in_) continue;  // its message fails the COPY
        report(stopped());
        if (seat_.is_taken()) seat_.session().fail_block();
        if (query_) {
          end_query();
        } else {
          skips_to_sync_ = true;
          frames_.take();
        }
        continue;
      }
      return done == Done::kRetry ? Step::kRetry : Step::kWork;
    }
  }
}

void ClientSession::write_ready(char state) {
  activity_->end(state);
  if (state == 'I') deliver_notifications();
  is_idle_ = true;
  MessageWriter writer = out();
  mneme::write_ready(state, writer);
}

void ClientSession::report_settings() {
  MessageWriter writer = out();
  for (const Settings::Shown& shown : settings_.take_reports())
    write_parameter_status(shown.name, shown.value, writer);
}

void ClientSession::report(const StatementResult& failure, std::string_view text, size_t offset) {
  std::string_view message = failure.message;
  // The place has a field of its own.
  const std::string place = fmt::format("line {}:{}: ", failure.where.line, failure.where.column);
  if (failure.where.line != 0 && message.starts_with(place)) message.remove_prefix(place.size());
  std::string_view hint = failure.hint;
  if (!failure.client_message.empty()) {
    if (hint.empty()) hint = message;
    message = failure.client_message;
  } else if (const size_t end = message.find("\": "); message.starts_with("syntax error at or near \"") &&
                                                      end != std::string_view::npos && hint.empty()) {
    hint = message.substr(end + 3);
    message = message.substr(0, end + 1);
  }
  if (!failure.raised.empty()) report_notices(failure);
  MessageWriter writer = out();
  const size_t mark = replies_.mark();
  const Violation violation = violation_of(failure.sqlstate, message);
  const std::string shown = shown_names(message);
  const std::string detail = shown_names(failure.detail);
  const std::string shown_hint = shown_names(hint);
  const std::string context = shown_names(failure.context);
  write_report({.sqlstate = failure.sqlstate,
                .message = shown,
                .detail = detail,
                .hint = shown_hint,
                .context = context,
                .schema = schema_of(violation.table.empty() ? violation.constraint : violation.table),
                .table = bare_name(violation.table),
                .column = violation.column,
                .constraint = bare_name(violation.constraint),
                .routine = message == kChangedResult ? "RevalidateCachedQuery" : "",
                .position = position_of(failure.where, text, offset)},
               writer);
  if (failure.lsn) replies_.hold(mark, *failure.lsn);
}

namespace {

// The least of what a client wants to read, by client_min_messages. RaiseLevel counts as Severity does.
Severity least_severity(std::string_view least) {
  if (least.starts_with("debug")) return Severity::kDebug;
  if (least == "log") return Severity::kLog;
  if (least == "warning") return Severity::kWarning;
  return least == "error" ? Severity::kError : Severity::kNotice;
}

// PostgreSQL's, of a statement that had nothing to make; others have none of their own.
std::string_view sqlstate_of_notice(std::string_view line) {
  if (!line.ends_with("already exists, skipping")) return "00000";
  if (line.starts_with("enum label ")) return "42710";
  if (line.starts_with("schema ")) return "42P06";
  return line.starts_with("column ") ? "42701" : "42P07";
}

}  // namespace

void ClientSession::report_notices(const StatementResult& result) {
  MessageWriter writer = out();
  const std::string least = settings_.get("client_min_messages").value_or("notice");
  for (const RaisedNotice& each : result.raised) {
    const auto severity = static_cast<Severity>(each.level);
    if (severity < least_severity(least) && severity != Severity::kInfo) continue;
    write_report({.severity = severity,
                  .sqlstate = each.sqlstate,
                  .message = shown_names(each.message),
                  .detail = shown_names(each.detail),
                  .hint = shown_names(each.hint)},
                 writer);
  }
  if (least == "error") return;
  if (!result.warning.empty()) {
    const bool wants_block = result.warning == "there is no transaction in progress" ||
                             result.warning.ends_with("can only be used in transaction blocks");
    write_report({.severity = Severity::kWarning,
                  .sqlstate = wants_block ? sqlstate::kNoActiveTransaction : sqlstate::kActiveTransaction,
                  .message = result.warning},
                 writer);
  }
  for (std::string_view rest = least == "warning" ? std::string_view() : result.notice; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const std::string shown = shown_names(line);
    write_report({.severity = Severity::kNotice, .sqlstate = sqlstate_of_notice(line), .message = shown},
                 writer);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::vector<ClientSession::Query::Part> ClientSession::split(std::string_view text) {
  // A text with invalid bytes is refused as a whole (name_statement()).
  if (invalid_utf8(text) != text.npos) return {{.text = std::string(text)}};
  const std::string lines = std::string(text) + "\n";
  std::vector<Query::Part> parts;
  StatementSplitter splitter;
  splitter.add(lines);
  size_t from = 0;
  size_t characters = 0;  // before `from`
  const auto add = [&](const StatementSplitter::Statement& statement) {
    const size_t begin = lines.find(statement.text, from);
    characters += count_characters(std::string_view(lines).substr(from, begin - from));
    if (statement.text != ";") parts.push_back({statement.text, characters});
    characters += count_characters(statement.text);
    from = begin + statement.text.size();
  };
  while (const auto statement = splitter.next()) add(*statement);
  if (const auto last = splitter.finish()) add(*last);
  return parts;
}

ClientSession::Done ClientSession::protocol_error(std::string_view message) {
  end(sqlstate::kProtocolViolation, message);
  return Done::kFailed;
}

ClientSession::Done ClientSession::handle(const ClientMessage& frame) {
  if (copy_in_) {
    if (is_asked_to_stop()) return fail_copy(stopped());
    switch (frame.type) {
      case 'd':
        return copy_data(frame.body);
      case 'c':
        return end_copy();
      case 'f': {
        WireReader in(frame.body);
        return fail_copy(StatementResult::failure(sqlstate::kQueryCanceled,
                                                  fmt::format("COPY from stdin failed: {}", in.text())));
      }
      case 'H':
      case 'S':
        return Done::kYes;  // as PostgreSQL, which takes no notice of them here
      default:
        return protocol_error(fmt::format("unexpected message type 0x{:02X} during COPY from stdin",
                                          static_cast<unsigned char>(frame.type)));
    }
  }
  if (skips_to_sync_ && frame.type != 'S' && frame.type != 'X') return Done::kYes;
  Done done = Done::kYes;
  switch (frame.type) {
    case 'Q': {
      WireReader in(frame.body);
      const std::string_view text = in.text();
      if (!in.is_done()) return protocol_error("invalid message format");
      query_.emplace(split(text));
      // It takes the place of what has no name.
      statements_.erase("");
      portals_.erase("");
      return Done::kYes;
    }
    case 'P':
      done = parse(frame.body);
      break;
    case 'B':
      done = bind(frame.body);
      break;
    case 'D':
      done = describe(frame.body);
      break;
    case 'E':
      done = execute(frame.body);
      break;
    case 'C':
      done = close(frame.body);
      break;
    case 'H':
      return Done::kYes;  // what there is to say leaves in any case
    case 'S':
      return sync();
    case 'X':
      stage_ = Stage::kEnded;
      seat_.give_back();
      return Done::kYes;
    case 'd':
    case 'c':
    case 'f':
      return Done::kYes;  // of a COPY that has failed
    case 'F':
      report(
          StatementResult::failure(sqlstate::kNotSupported, "the function call protocol is not supported"));
      return write_ready(state()), Done::kYes;
    default:
      return protocol_error(fmt::format("invalid frontend message type {}", static_cast<int>(frame.type)));
  }
  if (done == Done::kFailed) skips_to_sync_ = true;
  return done;
}

StatementResult ClientSession::too_large() {
  if (seat_.is_taken()) seat_.session().fail_block();
  return StatementResult::failure(
      sqlstate::kOutOfMemory,
      fmt::format(
          "the rows take more than the {} MiB that the server keeps of a result: select fewer at a time",
          kMostResultBytes >> 20));
}

// Simple query

ClientSession::Done ClientSession::run_query() {
  if (query_->parts.empty()) {
    MessageWriter writer = out();
    write_bare('I', writer);
  }
  if (query_->next == 0 && query_->parts.size() > 1 && !read_parts()) {
    end_query();
    return Done::kYes;
  }
  while (query_->next < query_->parts.size()) {
    if (!is_tried_again_) begin_statement();
    const Done done = run_part(query_->parts[query_->next]);
    is_tried_again_ = false;
    if (done == Done::kRetry || done == Done::kWork) return done;
    ++query_->next;
    if (done == Done::kFailed) break;
    if (copy_in_) return Done::kYes;  // goes on once the client has sent its rows
  }
  end_query();
  return Done::kYes;
}

void ClientSession::end_query() {
  if (is_implicit_) {
    // ReadyForQuery tells the client that its statements are committed, and so waits for their record.
    const size_t mark = replies_.mark();
    const Ran ended = end_implicit_block();
    if (!ended.result.ok()) report(ended.result);
    if (ended.result.lsn) replies_.hold(mark, *ended.result.lsn);
  }
  report_settings();
  write_ready(state());
  query_.reset();
}

bool ClientSession::read_part(Query::Part& part) {
  if (part.named != nullptr) return true;
  StatementResult failure;
  Result<std::shared_ptr<Named>> named = name_statement(part.text, {}, failure);
  if (!named) {
    if (seat_.is_taken()) seat_.session().fail_block();
    report(failure, part.text, part.offset);
    return false;
  }
  part.named = *std::move(named);
  return true;
}

bool ClientSession::read_parts() {
  return std::ranges::all_of(query_->parts, [&](Query::Part& part) { return read_part(part); });
}

ClientSession::Done ClientSession::run_part(Query::Part& part) {
  if (!read_part(part)) return Done::kFailed;
  Named& named = *part.named;
  const bool alone = query_->parts.size() == 1;
  const auto fail = [&](const StatementResult& failure) {
    report(failure, part.text, part.offset);
    return Done::kFailed;
  };
  if (const auto* copy = std::get_if<CopyStatement>(&named.statement.what); copy != nullptr) {
    Ran ran = copy->is_in ? begin_copy_in(*copy, false) : copy_out(*copy);
    if (ran.done != Done::kYes) return ran.done;
    if (ran.result.ok()) return Done::kYes;
    if (seat_.is_taken()) seat_.session().fail_block();
    return fail(ran.result);
  }
  // Bound first, so that the rows' columns are told before the rows.
  Ran prepared = prepare(named);
  if (prepared.done != Done::kYes) return prepared.done;
  if (!prepared.result.ok()) {
    if (seat_.is_taken()) seat_.session().fail_block();
    return fail(prepared.result);
  }
  if (named.prepared != nullptr) {
    if (!parameters_of(named).empty())
      return fail(StatementResult::failure(sqlstate::kUndefinedParameter, "there is no parameter $1"));
  }
  const size_t mark = replies_.mark();
  MessageWriter writer = out();
  const auto columns = columns_of(named);
  if (gives_rows(named)) write_row_description(columns, {}, writer);
  std::vector<std::byte> rows;
  RowWriter sink({}, rows);
  Ran ran = run(named, {}, {}, sink, alone);
  if (sink.is_too_large()) ran.result = too_large();
  if (ran.done != Done::kYes || !ran.result.ok()) {
    writer.take_back(mark);
    return ran.done != Done::kYes ? ran.done : fail(ran.result);
  }
  writer.bytes(rows);
  report_notices(ran.result);
  write_command_complete(ran.result.tag, writer);
  if (ran.result.lsn) replies_.hold(mark, *ran.result.lsn);
  return Done::kYes;
}

}  // namespace mneme
