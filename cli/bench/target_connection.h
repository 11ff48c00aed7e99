// TargetConnection: a session with a server that speaks PostgreSQL's protocol, through libpq.
//
// Flow        parse_target() -> TargetConnection::open() -> execute(), copy_in(), prepare(), call() ...
// Invariants  a password is never in a text that comes from here: not in Target::shown, not in an error.
//             target_connection.cc alone includes libpq's header.
// Session     each is set to UTF8, ISO dates, UTC and full digits, so that equal values have equal text.
// Errors      an Error names the target, the statement's purpose, and has the server's message and SQLSTATE.
// Threads     one owner a connection.
// Source      PostgreSQL 15 documentation, chapter 34 (libpq).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"

namespace mneme {

struct Target {
  std::string conninfo;  // as given, with its password if it has one
  std::string shown;     // a URL of what was given, without passwords
};

// Reads postgresql://... or libpq's KEYWORD=VALUE form. Fails with kInvalidArgument, without the text: what
// can't be read may hold a password.
Result<Target> parse_target(const std::string& text);

// The server at the other end, as it describes itself.
struct ServerDescription {
  std::string version;  // the parameter server_version
  std::string host;     // the address or the directory of the socket
  std::string port;
  std::string database;
  std::string user;
  bool is_local = false;  // a Unix socket or a loopback address
};

// What the server answered to a call or a statement.
struct CallReply {
  std::string sqlstate;  // empty: it succeeded, or the connection is lost
  std::string message;
  bool is_lost = false;  // the connection is; the call may have been committed or not
  bool has_row = false;
  std::vector<std::optional<std::string>> row;  // the one row, of a call its INOUT parameters; nothing: NULL

  bool ok() const { return sqlstate.empty() && !is_lost; }
};

using TextRow = std::vector<std::optional<std::string>>;

class TargetConnection {
 public:
  static Result<std::unique_ptr<TargetConnection>> open(const Target& target);
  ~TargetConnection();
  TargetConnection(const TargetConnection&) = delete;
  TargetConnection& operator=(const TargetConnection&) = delete;

  const Target& target() const { return target_; }
  ServerDescription describe() const;

  // `purpose` is what the statement is for, in the error: "create the schema". An error with a place in the
  // text names its line.
  Result<void> execute(const std::string& sql, std::string_view purpose);
  // All rows, at once.
  Result<std::vector<TextRow>> query(const std::string& sql, std::string_view purpose);

  // Inserts lines of COPY's text format (copy_text.h), each with its end.
  Result<void> copy_in(const std::string& table, std::string_view lines);
  // Visits each line of the table, without its end, in any order; memory is bounded.
  Result<void> copy_out(const std::string& table, FunctionRef<void(std::string_view line)> visit);

  // Begins a query whose rows next_row() returns one by one, with bounded memory. It must be read to its end
  // or closed before the next statement.
  Result<void> begin_rows(const std::string& sql, std::string_view purpose);
  // Returns false after the last row.
  Result<bool> next_row(TextRow& row);
  void close_rows();

  Result<void> prepare(const std::string& name, const std::string& statement);
  // The reply is valid until the next call.
  const CallReply& call(const std::string& name, std::span<const std::optional<std::string>> arguments);
  // The same of a statement by its text.
  const CallReply& ask(const std::string& sql);

 private:
  struct Handle;  // PGconn

  TargetConnection(Target target, std::unique_ptr<Handle> handle);
  Error error_of(std::string_view purpose, const std::string& sql, const void* answer) const;
  const CallReply& reply_of(const void* answer);

  const Target target_;
  std::unique_ptr<Handle> handle_;
  CallReply reply_;
  std::vector<const char*> texts_;
};

}  // namespace mneme
