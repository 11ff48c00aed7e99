// EmbeddedDatabase: a database inside a program of yours: a data directory, created or recovered, and connections to it.
//
//     auto database = mneme::EmbeddedDatabase::open("bank", {.connections = 4});
//     auto connection = (*database)->connect();
//     connection->run("CREATE TABLE account (id INT PRIMARY KEY, balance NUMERIC(12,2) NOT NULL)");
//     connection->call("deposit", {mneme::Argument::of(mneme::Value::of_int(1)), ...});
//
// Flow        open(): the directory is created, or recovered by the default scheme -> connect() -> run(), call() -> end of the
//             connections -> end of the database
// Invariants  what a connection tells as done is durable, and survives a crash at any time after.
// Threads     open, connect: any. A connection belongs to one thread at a time; so many of them as the options say work
//             at once. The database outlives its connections.
// Waiting     run, call: until it is durable, and as LiveSession. The first call after a change of the schema waits for the
//             compiler, some seconds, unless `execution` says that procedures are interpreted.
// Errors      open, connect: the directory is taken, damaged, the disk is full: a sentence. Statements and calls: what
//             they return says it, with PostgreSQL's sqlstate.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "procedures/compiled_units.h"
#include "procedures/session.h"
#include "recovery/data_directory.h"
#include "recovery/live_session.h"

namespace mneme {

struct EmbeddedOptions {
  uint32_t connections = 1;  // at the same time
  Execution execution = Execution::kNative;
  // What the log of a new database holds; one that is there keeps what it has.
  RecordContent records = RecordContent::kCommand;
  DurableLogOptions log = {};  // buffer, device, flushes; its `workers` are the connections
  // Gets sentences for the user: what recovery found, why procedures are interpreted. Called by any thread, one at a time.
  std::function<void(const std::string&)> notice = {};
};

class EmbeddedDatabase;

class Connection {
 public:
  Connection(Connection&&) = default;
  Connection& operator=(Connection&&) = delete;
  // Rolls an open block back.
  ~Connection();

  // An SQL statement: CREATE, DROP, INSERT, UPDATE, DELETE, SELECT, CALL, BEGIN, COMMIT, ROLLBACK.
  StatementResult run(const std::string& text);

  // A call without text between, by machine code: the fast way. One argument a parameter; those at the end that are INOUT may be
  // left out. Not inside of a BEGIN block, where CALL is a statement. What the result points to lasts until the next call.
  CallResult call(std::string_view procedure, std::span<const Argument> arguments);
  CallResult call(std::string_view procedure, std::initializer_list<Argument> arguments) {
    return call(procedure, std::span(arguments.begin(), arguments.size()));
  }

 private:
  friend class EmbeddedDatabase;
  Connection(EmbeddedDatabase& database, WorkerId worker);

  // Of one version of the schema.
  struct Calls {
    uint64_t version;
    std::shared_ptr<const CompiledUnits> code;
    Session session;
  };
  Calls& calls();
  CallResult refuse(std::string message);

  struct Place {  // gives the worker back, once, wherever the connection was moved to
    EmbeddedDatabase* database;
    WorkerId worker;
    Place(EmbeddedDatabase& of, WorkerId number) : database(&of), worker(number) {}
    ~Place();
  };
  std::unique_ptr<Place> place_;
  std::unique_ptr<LiveSession> statements_;
  std::unique_ptr<Calls> calls_;
  Call call_;
  std::string message_;
};

class EmbeddedDatabase {
 public:
  static Result<std::unique_ptr<EmbeddedDatabase>> open(const std::string& directory, EmbeddedOptions options = {});

  // An error where as many are connected as the options allow.
  Result<Connection> connect();

  // For what connections don't offer: checkpoints, counters, digests.
  WorkingDatabase& working() { return working_; }

 private:
  friend class Connection;
  EmbeddedDatabase(std::string directory, EmbeddedOptions options, WorkingDatabase working);

  // Of the present version; whoever asks is inside the schema's latch.
  std::shared_ptr<const CompiledUnits> code();
  void tell(const std::string& sentence);

  const std::string directory_;
  const EmbeddedOptions options_;
  WorkingDatabase working_;

  std::mutex mutex_;  // guards what follows
  std::vector<bool> is_connected_;  // by worker
  std::shared_ptr<const CompiledUnits> code_;
  uint64_t code_version_ = 0;
};

}  // namespace mneme
