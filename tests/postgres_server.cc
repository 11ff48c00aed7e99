#include "tests/postgres_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/check.h"

namespace mneme {
namespace {

constexpr std::string_view kPrograms = "/usr/lib/postgresql/15/bin";
constexpr std::string_view kUser = "mneme";  // the server's superuser

bool is_root() {
  return geteuid() == 0;
}

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

Result<std::unique_ptr<PostgresServer>> PostgresServer::start() {
  if (access(fmt::format("{}/postgres", kPrograms).c_str(), X_OK) != 0) {
    return failed("there is no {}/postgres; install Debian's package postgresql-15", kPrograms);
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "mneme-postgres-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return failed("no temporary directory {} can be made", pattern);
  std::unique_ptr<PostgresServer> server(new PostgresServer(pattern));
  if (is_root() && std::system(fmt::format("chown postgres '{}'", pattern).c_str()) != 0) {
    return failed("{} cannot be given to the user postgres", pattern);
  }
  RETURN_IF_ERROR(server->run(
      "initdb", fmt::format("--username={} --auth=trust --locale=C --encoding=UTF8 --no-sync", kUser)));
  // Durability is of no interest here, and costs most of the time.
  RETURN_IF_ERROR(server->run(
      "pg_ctl",
      fmt::format("--wait --log='{}/server.log' --options=\"-k '{}' -c listen_addresses='' -c fsync=off "
                  "-c synchronous_commit=off -c full_page_writes=off\" start",
                  pattern, pattern)));
  return server;
}

PostgresServer::~PostgresServer() {
  // Fails where the server never came up, which start() has reported.
  (void)run("pg_ctl", "--mode=immediate --wait stop");
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Result<void> PostgresServer::run(std::string_view program, std::string_view arguments) const {
  const std::string output = directory_ / fmt::format("{}.out", program);
  const std::string command = fmt::format("cd / && {}{}/{} --pgdata='{}/data' {} >'{}' 2>&1",
                                          is_root() ? "runuser -u postgres -- " : "", kPrograms, program,
                                          directory_.string(), arguments, output);
  if (std::system(command.c_str()) != 0) return failed("`{}` failed: {}", command, contents(output));
  return {};
}

PostgresConnection::Connection PostgresConnection::connect(const PostgresServer& server,
                                                           const std::string& database) {
  const std::string where =
      fmt::format("host='{}' user='{}' dbname='{}'", server.directory().string(), kUser, database);
  Connection connection(PQconnectdb(where.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK)
    fmt::print(stderr, "{}\n", PQerrorMessage(connection.get()));
  CHECK(PQstatus(connection.get()) == CONNECTION_OK);
  return connection;
}

PostgresConnection::PostgresConnection(const PostgresServer& server, const std::string& database)
    : connection_(connect(server, "postgres")) {
  execute("CREATE DATABASE " + database);
  connection_ = connect(server, database);
}

void PostgresConnection::require(const Answer& answer, ExecStatusType expected) {
  if (PQresultStatus(answer.get()) != expected) fmt::print(stderr, "{}\n", PQerrorMessage(connection_.get()));
  CHECK(PQresultStatus(answer.get()) == expected);
}

void PostgresConnection::execute(const std::string& sql) {
  require(Answer(PQexec(connection_.get(), sql.c_str())), PGRES_COMMAND_OK);
}

void PostgresConnection::copy_in(const std::string& table,
                                 FunctionRef<void(FunctionRef<void(std::string_view line)>)> fill) {
  require(Answer(PQexec(connection_.get(), fmt::format("COPY {} FROM STDIN", table).c_str())), PGRES_COPY_IN);
  fill([&](std::string_view line) {
    CHECK(PQputCopyData(connection_.get(), line.data(), static_cast<int>(line.size())) == 1);
    CHECK(PQputCopyData(connection_.get(), "\n", 1) == 1);
  });
  CHECK(PQputCopyEnd(connection_.get(), nullptr) == 1);
  require(Answer(PQgetResult(connection_.get())), PGRES_COMMAND_OK);
  CHECK(PQgetResult(connection_.get()) == nullptr);
}

std::vector<std::string> PostgresConnection::copy_out(const std::string& table) {
  require(Answer(PQexec(connection_.get(), fmt::format("COPY {} TO STDOUT", table).c_str())), PGRES_COPY_OUT);
  std::vector<std::string> lines;
  char* line = nullptr;
  int length;
  while ((length = PQgetCopyData(connection_.get(), &line, /*async=*/0)) > 0) {
    lines.emplace_back(line, static_cast<size_t>(length) - 1);  // without the line's end
    PQfreemem(line);
  }
  CHECK(length == -1);
  require(Answer(PQgetResult(connection_.get())), PGRES_COMMAND_OK);
  CHECK(PQgetResult(connection_.get()) == nullptr);
  return lines;
}

CallOutcome PostgresConnection::call(const std::string& statement,
                                     const std::vector<std::optional<std::string>>& arguments) {
  const auto known = std::ranges::find(prepared_, statement);
  const std::string name = fmt::format("call_{}", known - prepared_.begin());
  if (known == prepared_.end()) {
    require(Answer(PQprepare(connection_.get(), name.c_str(), statement.c_str(), 0, nullptr)),
            PGRES_COMMAND_OK);
    prepared_.push_back(statement);
  }
  std::vector<const char*> texts;
  for (const std::optional<std::string>& argument : arguments) {
    texts.push_back(argument.has_value() ? argument->c_str() : nullptr);
  }
  const Answer answer(PQexecPrepared(connection_.get(), name.c_str(), static_cast<int>(texts.size()),
                                     texts.data(), nullptr, nullptr, /*resultFormat=*/0));
  CallOutcome outcome;
  if (PQresultStatus(answer.get()) == PGRES_FATAL_ERROR) {
    outcome.sqlstate = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
    outcome.message = PQresultErrorField(answer.get(), PG_DIAG_MESSAGE_PRIMARY);
    return outcome;
  }
  if (PQresultStatus(answer.get()) == PGRES_COMMAND_OK) return outcome;  // no INOUT parameters
  require(answer, PGRES_TUPLES_OK);
  CHECK(PQntuples(answer.get()) == 1);
  for (int column = 0; column < PQnfields(answer.get()); ++column) {
    if (PQgetisnull(answer.get(), 0, column) != 0) {
      outcome.results.emplace_back();
    } else {
      outcome.results.emplace_back(PQgetvalue(answer.get(), 0, column));
    }
  }
  return outcome;
}

}  // namespace mneme
