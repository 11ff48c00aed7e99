// PostgresServer: a PostgreSQL 15 of a test's own, and a connection to it. The independent oracle of SQL's
// meaning.
//
// The server lives in a fresh temporary directory, listens on a Unix socket in it and nowhere else, and goes
// with it. PostgreSQL refuses to run as root: started by root, it runs as the user postgres of Debian's
// package. Strings are UTF-8 and compare as COLLATE "C", as Mneme's do.
// Errors      a server that cannot be started is a Result; a statement that fails where it must not is a
//             CHECK.
#pragma once

#include <libpq-fe.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"

namespace mneme {

class PostgresServer {
 public:
  static Result<std::unique_ptr<PostgresServer>> start();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  const std::filesystem::path& directory() const { return directory_; }

 private:
  explicit PostgresServer(std::filesystem::path directory) : directory_(std::move(directory)) {}
  Result<void> run(std::string_view program, std::string_view arguments) const;

  const std::filesystem::path directory_;
};

// How a CALL ended: with its INOUT values in text (nothing: NULL), or with an error.
struct CallOutcome {
  std::string sqlstate;  // empty: it committed
  std::string message;
  std::vector<std::optional<std::string>> results;

  bool operator==(const CallOutcome&) const = default;
};

class PostgresConnection {
 public:
  // Makes the database, which the server must not have yet, and connects to it.
  PostgresConnection(const PostgresServer& server, const std::string& database);

  void execute(const std::string& sql);

  // `fill` gives its argument the rows, each as a line of COPY's text format without the line's end.
  void copy_in(const std::string& table, FunctionRef<void(FunctionRef<void(std::string_view line)>)> fill);
  std::vector<std::string> copy_out(const std::string& table);

  // `statement` is CALL name($1::type, ...), prepared on its first use.
  CallOutcome call(const std::string& statement, const std::vector<std::optional<std::string>>& arguments);

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Connection = std::unique_ptr<PGconn, Finish>;
  using Answer = std::unique_ptr<PGresult, Clear>;

  static Connection connect(const PostgresServer& server, const std::string& database);
  void require(const Answer& answer, ExecStatusType expected);

  Connection connection_;
  std::vector<std::string> prepared_;  // statement number i is named "call_i"
};

}  // namespace mneme
