// Extended query: Parse, Bind, Describe, Execute, Close, Sync.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "procedures/values/type_oids.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"
#include "server/session/client_tokens.h"
#include "server/session/row_writer.h"

namespace mneme {

namespace {

// Blanks the parameter in a list of arguments, and a comma beside it. pgjdbc writes one of type void for
// each OUT parameter of a function, and PostgreSQL takes no notice of those.
bool blank_argument(std::string& text, int number) {
  const std::string name = fmt::format("${}", number);
  size_t begin = text.find(name);
  while (begin != text.npos && begin + name.size() < text.size() && is_ascii_digit(text[begin + name.size()]))
    begin = text.find(name, begin + 1);
  if (begin == text.npos) return false;
  const size_t before = text.find_last_not_of(" \n", begin - 1);
  const size_t after = text.find_first_not_of(" \n", begin + name.size());
  if (before == text.npos || after == text.npos || (text[before] != ',' && text[before] != '(')) return false;
  if (text[after] != ',' && text[after] != ')') return false;
  std::fill_n(text.begin() + static_cast<ptrdiff_t>(begin), name.size(), ' ');
  if (text[before] == ',') {
    text[before] = ' ';
  } else if (text[after] == ',') {
    text[after] = ' ';
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<ClientSession::Named>> ClientSession::name_statement(std::string_view text,
                                                                            std::vector<Type> given,
                                                                            StatementResult& failure) {
  if (const size_t bad = invalid_utf8(text); bad != text.npos) {
    failure = StatementResult::failure(sqlstate::kNotInRepertoire, invalid_utf8_message(text, bad));
    return invalid_argument("{}", failure.message);
  }
  ReadStatement read = read_statement(text);
  if (!read.statement) {
    failure = std::move(read.failure);
    return invalid_argument("{}", failure.message);
  }
  auto named = std::make_shared<Named>();
  named->statement = *std::move(read.statement);
  constexpr std::string_view kNotify = "pg_notify";
  named->may_notify = !std::ranges::search(text, kNotify, {}, ascii_lower).empty();
  const auto* cursor = std::get_if<CursorStatement>(&named->statement.what);
  const auto* advisory = std::get_if<AdvisoryStatement>(&named->statement.what);
  const ClientStatement& bound = cursor != nullptr && cursor->query       ? *cursor->query
                                 : advisory != nullptr && advisory->query ? *advisory->query
                                                                          : named->statement;
  if (advisory != nullptr) named->columns = {{advisory->column, advisory->result()}};
  if (bound.command() != nullptr) {
    named->prepared = std::make_unique<PreparedStatement>(
        std::get<std::shared_ptr<const syntax::Command>>(bound.what), std::move(given), values_);
    if (named->statement.explain) named->columns = explained_columns();
  } else if (const auto* set = std::get_if<SetStatement>(&named->statement.what);
             set != nullptr &&
             (set->kind == SetStatement::Kind::kShow || set->kind == SetStatement::Kind::kSetConfig)) {
    if (set->kind == SetStatement::Kind::kSetConfig) {
      named->columns = {{set->column, {.kind = TypeKind::kVarchar, .is_text = true}}};
    } else if (set->name == "all") {
      named->columns = {{"name", {.kind = TypeKind::kVarchar, .is_text = true}},
                        {"setting", {.kind = TypeKind::kVarchar, .is_text = true}},
                        {"description", {.kind = TypeKind::kVarchar, .is_text = true}}};
    } else {
      named->columns = {{Settings::shown_name(set->name), {.kind = TypeKind::kVarchar, .is_text = true}}};
    }
  }
  return named;
}

std::span<const ResultColumn> ClientSession::columns_of(const Named& named) const {
  // DECLARE binds a query, and gives no rows.
  if (named.prepared == nullptr || named.statement.command() == nullptr || named.statement.explain)
    return named.columns;
  return named.prepared->bound() == nullptr ? std::span<const ResultColumn>()
                                            : named.prepared->bound()->columns();
}

bool ClientSession::gives_rows(const Named& named) const {
  if (!columns_of(named).empty()) return true;
  return named.prepared != nullptr && named.statement.command() != nullptr &&
         named.prepared->bound() != nullptr && named.prepared->bound()->gives_rows();
}

std::span<const Type> ClientSession::parameters_of(const Named& named) const {
  if (named.prepared == nullptr || named.prepared->bound() == nullptr) return {};
  return named.prepared->bound()->parameters();
}

ClientSession::Ran ClientSession::prepare(Named& named) {
  if (named.prepared == nullptr) return learn_columns(named);
  // What it is bound to may be still to come.
  if (waits_for_log()) return {Done::kRetry};
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
  std::vector<int> voids;
  for (int i = 0; i < count; ++i) {
    const uint32_t oid = in.u32();
    const std::optional<Type> type = type_of_oid(oid);
    if (oid == kVoidOid) voids.push_back(i + 1);
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
  Query::Part part = parts.empty() ? Query::Part() : parts[0];
  if (!Tokens(part.text).take_word("call")) {
    for (const int number : voids) {
      // It is NULL, of whatever type, and nothing looks at it.
      if (blank_argument(part.text, number))
        given[number - 1] = {.kind = TypeKind::kVarchar, .is_text = true};
    }
    // Each element of a numeric[] has digits of its own; a procedure's has those of the parameter.
    for (Type& type : given) {
      if (type.is_array && type.kind == TypeKind::kNumeric) type.kind = TypeKind::kDecimal;
    }
  }
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
    if (columns.empty() && !gives_rows(named)) {
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
  if (const auto columns = columns_of_cursor(name)) {
    write_row_description(*columns, {}, writer);
    return Done::kYes;
  }
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
  if (found == portals_.end() && columns_of_cursor(name)) return execute_cursor(name, most);
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
    if (ran.done == Done::kYes && seat_.is_taken()) seat_.session().fail_block();
  } else {
    RowWriter sink(portal.formats, portal.rows);
    ran = run(named, portal.parameters, portal.scales, sink, alone);
    if (sink.is_too_large()) ran.result = too_large();
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
  // As in PostgreSQL, which has not looked yet whether there are more.
  if (most > 0 && count == static_cast<size_t>(most)) return write_bare('s', writer);
  // The tag counts the rows that this Execute has given, as PostgreSQL's does.
  const size_t number = portal.tag.rfind(' ') + 1;
  const bool has_count = !portal.named->columns.empty() || gives_rows(*portal.named);
  if (has_count && number > 0 && is_ascii_digit(portal.tag[number])) {
    write_command_complete(fmt::format("{}{}", portal.tag.substr(0, number), count), writer);
  } else {
    write_command_complete(portal.tag, writer);
  }
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
  } else if (const auto cursor = cursors_.find(name); cursor != cursors_.end()) {
    cursors_.erase(cursor);
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
