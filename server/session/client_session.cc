#include "server/session/client_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "procedures/parser/statement_splitter.h"
#include "server/protocol/sqlstates.h"
#include "server/protocol/type_oids.h"
#include "server/session/row_writer.h"

namespace mneme {
namespace {

constexpr uint32_t kProtocol3 = 3;
constexpr uint32_t kCancelRequest = 80877102;
constexpr uint32_t kSslRequest = 80877103;
constexpr uint32_t kGssEncryptionRequest = 80877104;

// A result that a client does not read yet takes memory of the server's.
constexpr size_t kMostResultBytes = size_t{256} << 20;

// The place of a statement's error in the client's query, in characters from 1.
uint32_t position_of(ir::SourceLocation where, std::string_view text, size_t offset) {
  if (where.line == 0) return 0;
  size_t at = 0;
  for (uint32_t line = 1; line < where.line; ++line) {
    const size_t end = text.find('\n', at);
    if (end == text.npos) return 0;
    at = end + 1;
  }
  return static_cast<uint32_t>(offset + at + where.column);
}

}  // namespace

namespace {

std::shared_ptr<const SessionValues> session_values(const std::string& user, const std::string& database,
                                                    uint32_t id) {
  const Type text{.kind = TypeKind::kVarchar, .is_text = true};
  const Type integer{.kind = TypeKind::kInt};
  SessionValues values;
  values["version"] = {text, "PostgreSQL 15.0 (Mneme " MNEME_VERSION ")"};
  values["current_database"] = values["current_catalog"] = {text, database};
  for (const char* name : {"current_user", "session_user", "current_role", "user"})
    values[name] = {text, user};
  values["current_schema"] = {text, "public"};
  values["pg_backend_pid"] = {integer, std::to_string(id)};
  return std::make_shared<const SessionValues>(std::move(values));
}

}  // namespace

ClientSession::ClientSession(SessionHost& host, uint32_t id, uint32_t secret, std::string refusal)
    : host_(host), id_(id), secret_(secret), refusal_(std::move(refusal)), seat_(host) {}

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

uint64_t ClientSession::idle_in_block_ms() const {
  const std::string value = settings_.get("idle_in_transaction_session_timeout").value_or("0");
  char* unit = nullptr;
  const uint64_t number = std::strtoull(value.c_str(), &unit, 10);
  const std::string_view suffix(unit);
  return suffix == "s" ? number * 1000 : suffix == "min" ? number * 60'000 : number;
}

void ClientSession::end(std::string_view sqlstate, std::string_view message) {
  if (stage_ == Stage::kEnded) return;
  MessageWriter writer = out();
  write_report({.severity = Severity::kFatal, .sqlstate = sqlstate, .message = message}, writer);
  stage_ = Stage::kEnded;
  seat_.give_back();
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
        if (step == Step::kEnds) return step;
        continue;
      }
      done = handle(**next);
      if (done == Done::kYes || done == Done::kFailed) frames_.take();
    }
    if (done == Done::kRetry || done == Done::kWork) {
      if (take_cancel()) {
        StatementResult cancelled =
            StatementResult::failure(sqlstate::kQueryCanceled, "canceling statement due to user request");
        report(cancelled);
        seat_.is_taken() ? seat_.session().fail_block() : void();
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

ClientSession::Step ClientSession::start_session(ByteSpan body) {
  WireReader in(body);
  const uint32_t code = in.u32();
  if (code == kSslRequest || code == kGssEncryptionRequest) {
    out().u8('N');
    return Step::kWaits;
  }
  if (code == kCancelRequest) {
    const uint32_t session = in.u32();
    const uint32_t secret = in.u32();
    if (in.is_done()) host_.cancel(session, secret);
    stage_ = Stage::kEnded;
    return Step::kEnds;
  }
  if (code >> 16 != kProtocol3) {
    return refuse(
        sqlstate::kNotSupported,
        fmt::format("unsupported frontend protocol {}.{}: server supports 3.0", code >> 16, code & 0xffff));
  }
  std::string user;
  std::string database;
  std::vector<std::string> unknown;  // options of the protocol
  while (in.remaining() > 1) {
    const std::string_view name = in.text();
    const std::string value(in.text());
    if (in.bad()) break;
    if (name == "user") {
      user = value;
    } else if (name == "database") {
      database = value;
    } else if (name == "replication") {
      if (value != "false" && value != "off" && value != "no" && value != "0")
        return refuse(sqlstate::kNotSupported, "replication connections are not supported");
    } else if (name.starts_with("_pq_.")) {
      unknown.emplace_back(name);
    } else if (name == "options") {
      // -c name=value, or --name=value; blanks between, which a backslash makes part of the value.
      std::vector<std::string> words(1);
      for (size_t i = 0; i < value.size(); ++i) {
        if (value[i] == '\\' && i + 1 < value.size()) {
          words.back().push_back(value[++i]);
        } else if (value[i] == ' ') {
          words.emplace_back();
        } else {
          words.back().push_back(value[i]);
        }
      }
      for (size_t i = 0; i < words.size(); ++i) {
        std::string word = words[i];
        if (word.empty()) continue;
        if (word == "-c" && i + 1 < words.size()) {
          word = words[++i];
        } else if (word.starts_with("-c") || word.starts_with("--")) {
          word.erase(0, 2);
        }
        const size_t equal = word.find('=');
        if (equal == word.npos)
          return refuse(sqlstate::kProtocolViolation,
                        fmt::format("invalid command-line argument for server process: {}", word));
        const StatementResult set = settings_.start_with(word.substr(0, equal), word.substr(equal + 1));
        if (!set.ok()) return refuse(set.sqlstate, set.message);
      }
    } else {
      const StatementResult set = settings_.start_with(name, value);
      if (!set.ok()) return refuse(set.sqlstate, set.message);
    }
  }
  if (in.bad() || in.u8() != 0 || !in.is_done())
    return refuse(sqlstate::kProtocolViolation,
                  "invalid startup packet layout: expected terminator as last byte");
  if (user.empty())
    return refuse(sqlstate::kInvalidAuthorization, "no PostgreSQL user name specified in startup packet");
  if (!refusal_.empty()) return refuse(sqlstate::kTooManyConnections, refusal_);
  settings_.start_with("session_authorization", user);
  values_ = session_values(user, database.empty() ? user : database, id_);
  MessageWriter writer = out();
  if ((code & 0xffff) != 0 || !unknown.empty()) {
    writer.begin('v');  // NegotiateProtocolVersion
    writer.i32(kProtocol3 << 16);
    writer.i32(static_cast<int64_t>(unknown.size()));
    for (const std::string& name : unknown) writer.text(name);
    writer.end();
  }
  writer.begin('R');  // AuthenticationOk
  writer.i32(0);
  writer.end();
  report_settings();
  writer.begin('K');
  writer.i32(id_);
  writer.i32(secret_);
  writer.end();
  write_ready('I');
  stage_ = Stage::kOpen;
  frames_.expect_messages();
  frames_.trust();
  return Step::kWaits;
}

void ClientSession::write_ready(char state) {
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
  MessageWriter writer = out();
  const size_t mark = replies_.mark();
  write_report({.sqlstate = failure.sqlstate,
                .message = message,
                .position = position_of(failure.where, text, offset)},
               writer);
  if (failure.lsn) replies_.hold(mark, *failure.lsn);
}

void ClientSession::report_notices(const StatementResult& result) {
  MessageWriter writer = out();
  if (!result.warning.empty()) {
    write_report({.severity = Severity::kWarning, .sqlstate = "25001", .message = result.warning}, writer);
  }
  for (std::string_view rest = result.notice; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    write_report({.severity = Severity::kNotice, .sqlstate = "00000", .message = rest.substr(0, end)},
                 writer);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::vector<ClientSession::Query::Part> ClientSession::split(std::string_view text) {
  const std::string lines = std::string(text) + "\n";
  std::vector<Query::Part> parts;
  StatementSplitter splitter;
  splitter.add(lines);
  size_t from = 0;
  const auto add = [&](const StatementSplitter::Statement& statement) {
    const size_t offset = lines.find(statement.text, from);
    from = offset + statement.text.size();
    if (statement.text != ";") parts.push_back({statement.text, offset});
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
      query_.emplace();
      query_->parts = split(text);
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

// Simple query

ClientSession::Done ClientSession::run_query() {
  if (query_->parts.empty()) {
    MessageWriter writer = out();
    write_bare('I', writer);
  }
  while (query_->next < query_->parts.size()) {
    const Done done = run_part(query_->parts[query_->next]);
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
    const Ran ended = end_implicit_block();
    if (!ended.result.ok()) report(ended.result);
  }
  report_settings();
  write_ready(state());
  query_.reset();
}

ClientSession::Done ClientSession::run_part(Query::Part& part) {
  if (part.named == nullptr) {
    StatementResult failure;
    Result<std::shared_ptr<Named>> named = name_statement(part.text, {}, failure);
    if (!named) {
      if (seat_.is_taken()) seat_.session().fail_block();
      report(failure, part.text, part.offset);
      return Done::kFailed;
    }
    part.named = *std::move(named);
  }
  Named& named = *part.named;
  const bool alone = query_->parts.size() == 1;
  const auto fail = [&](const StatementResult& failure) {
    report(failure, part.text, part.offset);
    return Done::kFailed;
  };
  if (const auto* copy = std::get_if<CopyStatement>(&named.statement.what); copy != nullptr) {
    Ran ran = copy->is_in ? begin_copy_in(*copy, false) : copy_out(*copy);
    if (ran.done != Done::kYes) return ran.done;
    return ran.result.ok() ? Done::kYes : fail(ran.result);
  }
  // Bound first, so that the rows' columns are told before the rows.
  if (named.prepared != nullptr) {
    Ran prepared = prepare(named);
    if (prepared.done != Done::kYes) return prepared.done;
    if (!prepared.result.ok()) return fail(prepared.result);
    if (!parameters_of(named).empty())
      return fail(StatementResult::failure(sqlstate::kUndefinedParameter, "there is no parameter $1"));
  }
  const size_t mark = replies_.mark();
  MessageWriter writer = out();
  const auto columns = columns_of(named);
  if (!columns.empty()) write_row_description(columns, {}, writer);
  std::vector<std::byte> rows;
  RowWriter sink({}, rows);
  Ran ran = run(named, {}, {}, sink, alone);
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

// Extended query

Result<std::shared_ptr<ClientSession::Named>> ClientSession::name_statement(std::string_view text,
                                                                            std::vector<Type> given,
                                                                            StatementResult& failure) {
  ReadStatement read = read_statement(text);
  if (!read.statement) {
    failure = std::move(read.failure);
    return invalid_argument("{}", failure.message);
  }
  auto named = std::make_shared<Named>();
  named->statement = *std::move(read.statement);
  if (const syntax::Command* command = named->statement.command(); command != nullptr) {
    named->prepared = std::make_unique<PreparedStatement>(
        std::get<std::shared_ptr<const syntax::Command>>(named->statement.what), std::move(given), values_);
  } else if (const auto* set = std::get_if<SetStatement>(&named->statement.what);
             set != nullptr && set->kind == SetStatement::Kind::kShow) {
    if (set->name == "all") {
      named->columns = {{"name", {.kind = TypeKind::kVarchar, .is_text = true}},
                        {"setting", {.kind = TypeKind::kVarchar, .is_text = true}},
                        {"description", {.kind = TypeKind::kVarchar, .is_text = true}}};
    } else {
      named->columns = {{set->name, {.kind = TypeKind::kVarchar, .is_text = true}}};
    }
  }
  return named;
}

std::span<const ResultColumn> ClientSession::columns_of(const Named& named) const {
  if (named.prepared == nullptr) return named.columns;
  return named.prepared->bound() == nullptr ? std::span<const ResultColumn>()
                                            : named.prepared->bound()->columns();
}

std::span<const Type> ClientSession::parameters_of(const Named& named) const {
  if (named.prepared == nullptr || named.prepared->bound() == nullptr) return {};
  return named.prepared->bound()->parameters();
}

ClientSession::Ran ClientSession::prepare(Named& named) {
  if (named.prepared == nullptr) return {};
  if (!seat_.take()) return {Done::kRetry};
  std::optional<StatementResult> prepared = seat_.session().prepare(*named.prepared);
  if (!prepared) return {Done::kRetry};
  return {Done::kYes, *std::move(prepared)};
}

ClientSession::Done ClientSession::parse(ByteSpan body) {
  WireReader in(body);
  const std::string name(in.text());
  const std::string_view text = in.text();
  const int count = in.i16();
  std::vector<Type> given;
  for (int i = 0; i < count; ++i) {
    const std::optional<Type> type = type_of_oid(in.u32());
    if (!type && !in.bad()) {
      report(StatementResult::failure(sqlstate::kNotSupported,
                                      fmt::format("the type of parameter ${} is not supported", i + 1)));
      return Done::kFailed;
    }
    given.push_back(type.value_or(Type()));
  }
  if (!in.is_done()) return protocol_error("invalid message format");
  const std::vector<Query::Part> parts = split(text);
  StatementResult failure;
  if (parts.size() > 1) {
    failure = StatementResult::failure(sqlstate::kSyntaxError,
                                       "cannot insert multiple commands into a prepared statement");
  } else if (!name.empty() && statements_.contains(name)) {
    failure = StatementResult::failure(sqlstate::kDuplicateStatement,
                                       fmt::format("prepared statement \"{}\" already exists", name));
  }
  const Query::Part part = parts.empty() ? Query::Part() : parts[0];
  std::shared_ptr<Named> named;
  if (failure.ok()) {
    Result<std::shared_ptr<Named>> made = name_statement(part.text, std::move(given), failure);
    if (made) {
      named = *std::move(made);
      Ran prepared = prepare(*named);
      if (prepared.done != Done::kYes) return prepared.done;
      failure = std::move(prepared.result);
    }
  }
  if (!failure.ok()) {
    if (seat_.is_taken()) seat_.session().fail_block();
    report(failure, part.text, part.offset);
    return Done::kFailed;
  }
  statements_[name] = std::move(named);
  MessageWriter writer = out();
  write_bare('1', writer);
  return Done::kYes;
}

ClientSession::Done ClientSession::bind(ByteSpan body) {
  WireReader in(body);
  const std::string portal_name(in.text());
  const std::string_view name = in.text();
  const auto read_formats = [&] {
    std::vector<ValueFormat> formats;
    const int count = in.i16();
    for (int i = 0; i < count; ++i)
      formats.push_back(in.i16() == 1 ? ValueFormat::kBinary : ValueFormat::kText);
    return formats;
  };
  const std::vector<ValueFormat> formats = read_formats();
  const auto fail = [&](std::string_view sqlstate, std::string message) {
    if (seat_.is_taken()) seat_.session().fail_block();
    report(StatementResult::failure(std::string(sqlstate), std::move(message)));
    return Done::kFailed;
  };
  const auto found = statements_.find(name);
  if (found == statements_.end()) {
    if (in.bad()) return protocol_error("invalid message format");
    return fail(sqlstate::kUndefinedStatement,
                name.empty() ? "unnamed prepared statement does not exist"
                             : fmt::format("prepared statement \"{}\" does not exist", name));
  }
  auto portal = std::make_shared<Portal>();
  portal->named = found->second;
  const std::span<const Type> types = parameters_of(*portal->named);
  const int count = in.i16();
  if (!in.bad() && static_cast<size_t>(count) != types.size()) {
    return fail(sqlstate::kProtocolViolation,
                fmt::format("bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
                            count, name, types.size()));
  }
  if (formats.size() > 1 && formats.size() != types.size()) {
    return fail(
        sqlstate::kProtocolViolation,
        fmt::format("bind message has {} parameter formats but {} parameters", formats.size(), types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const int32_t length = in.i32();
    Argument& value = portal->parameters.emplace_back();
    uint8_t& scale = portal->scales.emplace_back(types[i].scale);
    if (length == -1) continue;
    const ByteSpan bytes = in.bytes(static_cast<uint32_t>(length));
    if (in.bad()) break;
    SqlError error;
    if (!read_value(types[i], bytes, format_of(formats, i), portal->arena, value, scale, error))
      return fail(error.sqlstate, std::string(error.message));
  }
  portal->formats = read_formats();
  if (!in.is_done()) return protocol_error("invalid message format");
  const auto columns = columns_of(*portal->named);
  if (portal->formats.size() > 1 && portal->formats.size() != columns.size()) {
    return fail(sqlstate::kProtocolViolation,
                fmt::format("bind message has {} result formats but query has {} columns",
                            portal->formats.size(), columns.size()));
  }
  if (!portal_name.empty() && portals_.contains(portal_name))
    return fail(sqlstate::kDuplicateCursor, fmt::format("cursor \"{}\" already exists", portal_name));
  portals_[portal_name] = std::move(portal);
  MessageWriter writer = out();
  write_bare('2', writer);
  return Done::kYes;
}

ClientSession::Done ClientSession::describe(ByteSpan body) {
  WireReader in(body);
  const char kind = static_cast<char>(in.u8());
  const std::string_view name = in.text();
  if (!in.is_done() || (kind != 'S' && kind != 'P')) return protocol_error("invalid DESCRIBE message");
  MessageWriter writer = out();
  const auto describe_rows = [&](Named& named, std::span<const ValueFormat> formats) {
    const auto columns = columns_of(named);
    if (columns.empty()) {
      write_bare('n', writer);
    } else {
      write_row_description(columns, formats, writer);
    }
    return Done::kYes;
  };
  if (kind == 'S') {
    const auto found = statements_.find(name);
    if (found != statements_.end()) {
      // The schema may have changed since.
      Ran prepared = prepare(*found->second);
      if (prepared.done != Done::kYes) return prepared.done;
      if (!prepared.result.ok()) {
        report(prepared.result, found->second->statement.text);
        return Done::kFailed;
      }
      write_parameter_description(parameters_of(*found->second), writer);
      return describe_rows(*found->second, {});
    }
    report(StatementResult::failure(sqlstate::kUndefinedStatement,
                                    fmt::format("prepared statement \"{}\" does not exist", name)));
    return Done::kFailed;
  }
  const auto found = portals_.find(name);
  if (found != portals_.end()) return describe_rows(*found->second->named, found->second->formats);
  report(StatementResult::failure(sqlstate::kUndefinedCursor,
                                  fmt::format("portal \"{}\" does not exist", name)));
  return Done::kFailed;
}

ClientSession::Done ClientSession::execute(ByteSpan body) {
  WireReader in(body);
  const std::string_view name = in.text();
  const int32_t most = in.i32();
  if (!in.is_done()) return protocol_error("invalid message format");
  const auto found = portals_.find(name);
  if (found == portals_.end()) {
    if (seat_.is_taken()) seat_.session().fail_block();
    report(StatementResult::failure(sqlstate::kUndefinedCursor,
                                    fmt::format("portal \"{}\" does not exist", name)));
    return Done::kFailed;
  }
  const std::shared_ptr<Portal> kept =
      found->second;  // a COMMIT ends the portals of its block, this one among them
  Portal& portal = *kept;
  if (!portal.has_run) {
    const Done done = run_portal(portal);
    if (done != Done::kYes || copy_in_) return done;
  }
  hand_out(portal, most);
  return Done::kYes;
}

ClientSession::Done ClientSession::run_portal(Portal& portal) {
  Named& named = *portal.named;
  if (named.statement.is_empty()) {
    MessageWriter writer = out();
    write_bare('I', writer);
    portal.has_run = true;
    return Done::kYes;
  }
  const FrameReader::Request request = frames_.request();
  const bool alone = request.executes == 1 && request.has_sync;
  const size_t mark = replies_.mark();
  Ran ran;
  if (const auto* copy = std::get_if<CopyStatement>(&named.statement.what); copy != nullptr) {
    ran = copy->is_in ? begin_copy_in(*copy, true) : copy_out(*copy);
    if (ran.done == Done::kYes && ran.result.ok()) return portal.has_run = true, Done::kYes;
  } else {
    RowWriter sink(portal.formats, portal.rows);
    ran = run(named, portal.parameters, portal.scales, sink, alone);
  }
  if (ran.done != Done::kYes) {
    portal.rows.clear();
    return ran.done;
  }
  if (!ran.result.ok()) {
    report(ran.result, named.statement.text);
    return Done::kFailed;
  }
  portal.has_run = true;
  portal.tag = ran.result.tag;
  report_notices(ran.result);
  if (ran.result.lsn) replies_.hold(mark, *ran.result.lsn);
  return Done::kYes;
}

void ClientSession::hand_out(Portal& portal, int32_t most) {
  if (portal.named->statement.is_empty() ||
      std::holds_alternative<CopyStatement>(portal.named->statement.what))
    return;
  const ByteSpan rest = ByteSpan(portal.rows).subspan(portal.at);
  size_t count = 0;
  size_t end = 0;
  while (end < rest.size() && (most <= 0 || count < static_cast<size_t>(most))) {
    end += 1 + from_big_endian<uint32_t>(rest.data() + end + 1);
    ++count;
  }
  MessageWriter writer = out();
  writer.bytes(rest.first(end));
  portal.at += end;
  const bool is_limited = most > 0 && count == static_cast<size_t>(most);
  if (is_limited && portal.at < portal.rows.size()) return write_bare('s', writer);
  // Of a SELECT the tag counts what this Execute has given, as PostgreSQL has it.
  const bool is_select = portal.tag.starts_with("SELECT");
  write_command_complete(is_select ? fmt::format("SELECT {}", count) : portal.tag, writer);
}

ClientSession::Done ClientSession::close(ByteSpan body) {
  WireReader in(body);
  const char kind = static_cast<char>(in.u8());
  const std::string_view name = in.text();
  if (!in.is_done() || (kind != 'S' && kind != 'P')) return protocol_error("invalid CLOSE message");
  if (kind == 'S') {
    if (const auto found = statements_.find(name); found != statements_.end()) statements_.erase(found);
  } else if (const auto found = portals_.find(name); found != portals_.end()) {
    portals_.erase(found);
  }
  MessageWriter writer = out();
  write_bare('3', writer);
  return Done::kYes;
}

ClientSession::Done ClientSession::sync() {
  if (is_implicit_) {
    const size_t mark = replies_.mark();
    const Ran ended = end_implicit_block();
    if (ended.done != Done::kYes) return ended.done;
    if (!ended.result.ok()) report(ended.result);
    if (ended.result.lsn) replies_.hold(mark, *ended.result.lsn);
  }
  skips_to_sync_ = false;
  if (seat_.block() == SqlSession::Block::kNone) portals_.clear();
  report_settings();
  write_ready(state());
  return Done::kYes;
}

}  // namespace mneme
