#include "cli/bench/target_connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cctype>

namespace mneme {
namespace {

struct FreeAnswer {
  void operator()(PGresult* answer) const { PQclear(answer); }
};
using ServerAnswer = std::unique_ptr<PGresult, FreeAnswer>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

constexpr const char* kConnectSeconds = "30";
// Equal values have equal text on all servers.
constexpr const char* kSessionSettings[] = {"SET client_min_messages = warning", "SET datestyle = 'ISO, MDY'",
                                            "SET intervalstyle = 'postgres'", "SET timezone = 'UTC'",
                                            "SET extra_float_digits = 1"};

bool is_secret(std::string_view keyword) {
  return keyword.find("password") != keyword.npos;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("-._~").find(c) != std::string::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

// libpq's messages end with a line's end, and may have several lines.
std::string one_line(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
  for (size_t at = 0; (at = line.find('\n', at)) != line.npos;) line.replace(at, 1, "; ");
  return line;
}

std::string field(const PGresult* answer, int code) {
  const char* const text = PQresultErrorField(answer, code);
  return text == nullptr ? "" : text;
}

// The number of the line that holds the character number `position`, from 1.
size_t line_of_character(std::string_view sql, size_t position) {
  size_t line = 1;
  size_t character = 0;
  for (const char c : sql) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80 && ++character >= position) break;
    if (c == '\n') ++line;
  }
  return line;
}

bool is_loopback(std::string_view address) {
  return address.empty() || address.starts_with('/') || address.starts_with('@') ||
         address.starts_with("127.") || address == "::1";
}

}  // namespace

struct TargetConnection::Handle {
  explicit Handle(PGconn* opened) : connection(opened) {}
  ~Handle() { PQfinish(connection); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  PGconn* const connection;
  std::string rows_sql;
  std::string rows_purpose;
};

Result<Target> parse_target(const std::string& text) {
  char* ignored = nullptr;  // may quote the password
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(text.c_str(), &ignored));
  PQfreemem(ignored);
  if (options == nullptr) {
    return invalid_argument(
        "a --target is no address of a server: write postgresql://USER@HOST:PORT/DATABASE, or "
        "'host=... port=... user=... dbname=...'; it is not repeated here as it may hold a password");
  }
  std::string user, host, port, database, others;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    const std::string_view keyword = option->keyword;
    if (option->val == nullptr || is_secret(keyword)) continue;
    const std::string value = percent_encoded(option->val);
    if (keyword == "user") {
      user = value + "@";
    } else if (keyword == "host") {
      host = value;
    } else if (keyword == "port") {
      port = ":" + value;
    } else if (keyword == "dbname") {
      database = value;
    } else {
      others += fmt::format("{}{}={}", others.empty() ? '?' : '&', keyword, value);
    }
  }
  return Target{text, fmt::format("postgresql://{}{}{}/{}{}", user, host, port, database, others)};
}

TargetConnection::TargetConnection(Target target, std::unique_ptr<Handle> handle)
    : target_(std::move(target)), handle_(std::move(handle)) {}

TargetConnection::~TargetConnection() = default;

Result<std::unique_ptr<TargetConnection>> TargetConnection::open(const Target& target) {
  // What the target says comes last, and counts.
  const char* const keywords[] = {"connect_timeout", "fallback_application_name", "client_encoding", "dbname",
                                  nullptr};
  const char* const values[] = {kConnectSeconds, "mneme bench", "UTF8", target.conninfo.c_str(), nullptr};
  auto handle = std::make_unique<Handle>(PQconnectdbParams(keywords, values, /*expand_dbname=*/1));
  if (PQstatus(handle->connection) != CONNECTION_OK) {
    return failed(
        "cannot connect to {}: {}; nothing was measured: start the server, or name another one by --target",
        target.shown, one_line(PQerrorMessage(handle->connection)));
  }
  PQsetNoticeProcessor(
      handle->connection, [](void*, const char*) {}, nullptr);
  std::unique_ptr<TargetConnection> connection(new TargetConnection(target, std::move(handle)));
  for (const char* const setting : kSessionSettings) RETURN_IF_ERROR(connection->execute(setting, setting));
  return connection;
}

ServerDescription TargetConnection::describe() const {
  PGconn* const connection = handle_->connection;
  const auto text = [](const char* part) { return std::string(part == nullptr ? "" : part); };
  ServerDescription server;
  server.version = text(PQparameterStatus(connection, "server_version"));
  server.host = text(PQhost(connection));
  server.port = text(PQport(connection));
  server.database = text(PQdb(connection));
  server.user = text(PQuser(connection));
  const std::string address = text(PQhostaddr(connection));
  server.is_local = is_loopback(address.empty() ? server.host : address);
  return server;
}

Error TargetConnection::error_of(std::string_view purpose, const std::string& sql, const void* answer) const {
  const auto* const result = static_cast<const PGresult*>(answer);
  const std::string sqlstate = field(result, PG_DIAG_SQLSTATE);
  if (PQstatus(handle_->connection) != CONNECTION_OK || sqlstate.empty()) {
    return failed("the connection to {} failed ({}): {}; start the server again, and repeat the command",
                  target_.shown, purpose, one_line(PQerrorMessage(handle_->connection)));
  }
  const std::string position = field(result, PG_DIAG_STATEMENT_POSITION);
  std::string place;
  if (!position.empty()) place = fmt::format(", line {}", line_of_character(sql, std::stoul(position)));
  return failed("{} refuses to {}{}: {} (SQLSTATE {})", target_.shown, purpose, place,
                field(result, PG_DIAG_MESSAGE_PRIMARY), sqlstate);
}

Result<void> TargetConnection::execute(const std::string& sql, std::string_view purpose) {
  const ServerAnswer answer(PQexec(handle_->connection, sql.c_str()));
  const ExecStatusType status = PQresultStatus(answer.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) return {};
  return error_of(purpose, sql, answer.get());
}

namespace {

void read_fields(const PGresult* answer, int row, TextRow& fields) {
  fields.resize(static_cast<size_t>(PQnfields(answer)));
  for (int column = 0; column < PQnfields(answer); ++column) {
    std::optional<std::string>& value = fields[static_cast<size_t>(column)];
    if (PQgetisnull(answer, row, column) != 0) {
      value.reset();
    } else {
      value.emplace(PQgetvalue(answer, row, column), static_cast<size_t>(PQgetlength(answer, row, column)));
    }
  }
}

}  // namespace

Result<std::vector<TextRow>> TargetConnection::query(const std::string& sql, std::string_view purpose) {
  const ServerAnswer answer(PQexec(handle_->connection, sql.c_str()));
  if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK) return error_of(purpose, sql, answer.get());
  std::vector<TextRow> rows(static_cast<size_t>(PQntuples(answer.get())));
  for (size_t row = 0; row < rows.size(); ++row) read_fields(answer.get(), static_cast<int>(row), rows[row]);
  return rows;
}

Result<void> TargetConnection::copy_in(const std::string& table, std::string_view lines) {
  PGconn* const connection = handle_->connection;
  const std::string sql = fmt::format("COPY {} FROM STDIN", table);
  const std::string purpose = fmt::format("load the table {}", table);
  const ServerAnswer begun(PQexec(connection, sql.c_str()));
  if (PQresultStatus(begun.get()) != PGRES_COPY_IN) return error_of(purpose, sql, begun.get());
  constexpr size_t kMessageBytes = 256 * 1024;
  bool is_sent = true;
  for (size_t at = 0; is_sent && at < lines.size(); at += kMessageBytes) {
    const std::string_view part = lines.substr(at, kMessageBytes);
    is_sent = PQputCopyData(connection, part.data(), static_cast<int>(part.size())) == 1;
  }
  // A server that refused a row has said so meanwhile: its answer follows.
  (void)PQputCopyEnd(connection, nullptr);
  std::optional<Error> error;
  for (ServerAnswer answer(PQgetResult(connection)); answer != nullptr;
       answer.reset(PQgetResult(connection))) {
    if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK && !error)
      error = error_of(purpose, sql, answer.get());
    if (PQstatus(connection) != CONNECTION_OK) break;
  }
  if (!error && !is_sent) error = error_of(purpose, sql, nullptr);
  if (error) return *error;
  return {};
}

Result<void> TargetConnection::copy_out(const std::string& table,
                                        FunctionRef<void(std::string_view line)> visit) {
  PGconn* const connection = handle_->connection;
  const std::string sql = fmt::format("COPY {} TO STDOUT", table);
  const std::string purpose = fmt::format("read the table {}", table);
  const ServerAnswer begun(PQexec(connection, sql.c_str()));
  if (PQresultStatus(begun.get()) != PGRES_COPY_OUT) return error_of(purpose, sql, begun.get());
  char* line = nullptr;
  int length = 0;
  while ((length = PQgetCopyData(connection, &line, /*async=*/0)) > 0) {
    std::string_view text(line, static_cast<size_t>(length));
    if (text.ends_with('\n')) text.remove_suffix(1);
    visit(text);
    PQfreemem(line);
  }
  std::optional<Error> error;
  if (length == -2) error = error_of(purpose, sql, nullptr);
  for (ServerAnswer answer(PQgetResult(connection)); answer != nullptr;
       answer.reset(PQgetResult(connection))) {
    if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK && !error)
      error = error_of(purpose, sql, answer.get());
    if (PQstatus(connection) != CONNECTION_OK) break;
  }
  if (error) return *error;
  return {};
}

Result<void> TargetConnection::begin_rows(const std::string& sql, std::string_view purpose) {
  handle_->rows_sql = sql;
  handle_->rows_purpose = purpose;
  if (PQsendQuery(handle_->connection, sql.c_str()) != 1 || PQsetSingleRowMode(handle_->connection) != 1)
    return error_of(purpose, sql, nullptr);
  return {};
}

Result<bool> TargetConnection::next_row(TextRow& row) {
  const ServerAnswer answer(PQgetResult(handle_->connection));
  if (answer == nullptr) return false;
  switch (PQresultStatus(answer.get())) {
    case PGRES_SINGLE_TUPLE:
      read_fields(answer.get(), 0, row);
      return true;
    case PGRES_TUPLES_OK:
      close_rows();
      return false;
    default: {
      Error error = error_of(handle_->rows_purpose, handle_->rows_sql, answer.get());
      close_rows();
      return error;
    }
  }
}

void TargetConnection::close_rows() {
  while (ServerAnswer(PQgetResult(handle_->connection)) != nullptr) {
    if (PQstatus(handle_->connection) != CONNECTION_OK) return;
  }
}

Result<void> TargetConnection::prepare(const std::string& name, const std::string& statement) {
  const ServerAnswer answer(PQprepare(handle_->connection, name.c_str(), statement.c_str(), 0, nullptr));
  if (PQresultStatus(answer.get()) == PGRES_COMMAND_OK) return {};
  return error_of(fmt::format("prepare {}", statement), statement, answer.get());
}

const CallReply& TargetConnection::call(const std::string& name,
                                        std::span<const std::optional<std::string>> arguments) {
  texts_.clear();
  for (const std::optional<std::string>& argument : arguments)
    texts_.push_back(argument ? argument->c_str() : nullptr);
  const ServerAnswer answer(PQexecPrepared(handle_->connection, name.c_str(), static_cast<int>(texts_.size()),
                                           texts_.data(), nullptr, nullptr, /*resultFormat=*/0));
  return reply_of(answer.get());
}

const CallReply& TargetConnection::ask(const std::string& sql) {
  const ServerAnswer answer(PQexec(handle_->connection, sql.c_str()));
  return reply_of(answer.get());
}

const CallReply& TargetConnection::reply_of(const void* given) {
  const auto* const answer = static_cast<const PGresult*>(given);
  reply_.sqlstate.clear();
  reply_.message.clear();
  reply_.is_lost = false;
  reply_.has_row = false;
  const ExecStatusType status = PQresultStatus(answer);
  if (status == PGRES_COMMAND_OK) return reply_;  // no INOUT parameters
  if (status == PGRES_TUPLES_OK) {
    reply_.has_row = PQntuples(answer) == 1;
    if (reply_.has_row) read_fields(answer, 0, reply_.row);
    return reply_;
  }
  reply_.is_lost = PQstatus(handle_->connection) != CONNECTION_OK;
  reply_.sqlstate = field(answer, PG_DIAG_SQLSTATE);
  reply_.message = field(answer, PG_DIAG_MESSAGE_PRIMARY);
  if (reply_.message.empty()) reply_.message = one_line(PQerrorMessage(handle_->connection));
  // An answer that is neither a result nor an error of the server's has no code.
  if (!reply_.is_lost && reply_.sqlstate.empty()) reply_.sqlstate = "08P01";
  return reply_;
}

}  // namespace mneme
