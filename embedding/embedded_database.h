// EmbeddedDatabase: a database inside a program of yours: a data directory, created or recovered, and
// connections to it.
//
//     auto database = mneme::EmbeddedDatabase::open("bank", {.connections = 4});
//     auto connection = (*database)->connect();
//     connection->run("CREATE TABLE account (id INT PRIMARY KEY, balance NUMERIC(12,2) NOT NULL)");
//     connection->call("deposit", {mneme::Argument::of(mneme::Value::of_int(1)), ...});
//
// Flow        open(): the directory is created, or recovered by the default scheme -> connect() -> run(),
//             call() -> end of the connections -> end of the database
// Invariants  what a connection reports as done is durable, and survives a crash at any time after.
// Threads     open, connect: any. A connection belongs to one thread at a time, and may be handed on to
//             another, with an open block, too; a thread may end while its connection lives. So many of them
//             as the options say work at once. Connections should end before the database: if one is left,
//             the directory is closed when the last of them ends.
// Waiting     run, call: until it is durable, and as LiveSession. No call waits for the compiler: after a
//             change of the schema, calls are interpreted until the machine code is there, some seconds
//             (background_units.h). A change of the schema waits for other connections' transaction blocks,
//             for as long as `lock_timeout` says; never for a block of its own thread, which is an error.
// Errors      open, connect: the directory is taken, damaged, the disk is full: a sentence. Statements and
//             calls: what they return says it, with PostgreSQL's sqlstate.
// Process     Its locale, its working directory, and a thread's rounding mode or traps of floating point
//             change nothing here. Signals: the threads of a database block all but those that end the
//             process, so no handler of yours runs on them. A database whose log is in emulated persistent
//             memory takes SIGRTMIN for itself (logging/nvm/passive_group_commit.h). fork(): a child hasn't
//             got the database: in it, connections refuse everything, and what ends there does nothing. It
//             may open the directory once its parent has closed it, or another one. Children that don't
//             exec() keep the other files of the log open, and nothing else. exit(): a database, or a
//             connection, may be a static object; end what runs on other threads before. Memory: where `new`
//             throws, a statement or call may have been left in the middle: end the process then
//             (base/exhaustion.h), which is what a crash is, or end the connection and the database.
// Not here    Unloading: a library that contains this one must not be unloaded by dlclose() while a database
//             is open.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/transaction/concurrency.h"
#include "procedures/native/compiled_units.h"
#include "procedures/session/session.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/live_session.h"

namespace mneme {

struct EmbeddedOptions {
  uint32_t connections = 1;  // at the same time
  Execution execution = Execution::kNative;
  // The content of a new database's log; an existing database keeps its own.
  RecordContent records = RecordContent::kCommand;
  DurableLogOptions log = {};  // buffer, device, flushes; its `workers` are the connections
  Concurrency concurrency = {};
  // Opens a database that is there as soon as its log has been read: transactions run while the log's calls
  // are replayed (RecoverOptions::on_demand). A log of rows is refused then.
  bool on_demand = false;
  double most_bulk_seconds = kMostBulkSeconds;  // RecoverOptions::most_bulk_seconds
  // Gets sentences for the user: what recovery found, why procedures are interpreted. Called by any thread,
  // one at a time. It may use neither the database nor its connections, and what it throws is dropped.
  std::function<void(const std::string&)> notice = {};
  // How long a change of the schema waits for transactions that other threads have open, while others' wait
  // for it: then it fails with 55P03, as PostgreSQL's lock_timeout has it. Without it a change waits until
  // they have ended.
  std::optional<std::chrono::milliseconds> lock_timeout = std::chrono::seconds(10);
};

class EmbeddedDatabase;

class Connection {
 public:
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) = delete;
  // Rolls an open block back.
  ~Connection();

  // An SQL statement: CREATE, DROP, INSERT, UPDATE, DELETE, SELECT, CALL, BEGIN, COMMIT, ROLLBACK.
  StatementResult run(const std::string& text);

  // A call without text between, by machine code: the fast way. One argument a parameter; those at the end
  // that are INOUT may be left out. Each is made for its parameter's type, or is NULL: of_int() for integers,
  // and timestamps (microseconds since 2000-01-01 00:00:00); of_bool() or of_int() of 0 and 1; of_numeric()
  // at the parameter's scale; of_double(); of_text() of UTF-8, for a CHAR without blanks at its end. What no
  // statement could have given is refused (kRefused, with an sqlstate). Not inside of a BEGIN block, where
  // CALL is a statement. Texts and arrays of the arguments must last until call() returns; what the result
  // points to lasts until the next call, and no longer than the connection.
  CallResult call(std::string_view procedure, std::span<const Argument> arguments);
  CallResult call(std::string_view procedure, std::initializer_list<Argument> arguments) {
    return call(procedure, std::span(arguments.begin(), arguments.size()));
  }

  // The statements themselves, for a server, which waits for nothing (live_session.h). Nothing checks then
  // that one thread at a time uses the connection.
  LiveSession& session();

 private:
  friend class EmbeddedDatabase;
  struct Inside;
  struct Working;
  explicit Connection(std::unique_ptr<Inside> inside);

  std::unique_ptr<Inside> inside_;  // null: it was moved from
};

class EmbeddedDatabase {
 public:
  // A relative directory is one of the working directory at this moment.
  static Result<std::unique_ptr<EmbeddedDatabase>> open(const std::string& directory,
                                                        EmbeddedOptions options = {});

  // The database of a standby, which connections read until it is promoted. It has so many workers as the
  // options have connections; the options' log is not used.
  static std::unique_ptr<EmbeddedDatabase> of_standby(std::string directory,
                                                      std::shared_ptr<WorkingDatabase> working,
                                                      EmbeddedOptions options);

  // An error where as many are connected as the options allow.
  Result<Connection> connect();

  // Waits until the machine code that calls have asked for is compiled, or can't be, and returns how the next
  // calls run. For programs that measure: before the first call of a version of the schema there is nothing
  // to wait for.
  Execution await_machine_code();

  // The report of the recovery that opened it; empty of a new one.
  const RecoveryReport& recovered() const;

  // For what connections don't offer: checkpoints, counters, digests. Not in a child of fork().
  WorkingDatabase& working();

 private:
  friend class Connection;
  struct State;  // of the database, and of its connections
  explicit EmbeddedDatabase(std::shared_ptr<State> state) : state_(std::move(state)) {}

  const std::shared_ptr<State> state_;
};

}  // namespace mneme
