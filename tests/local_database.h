// LocalDatabase: a workload's database in memory, loaded, with one worker that makes calls one after another.
//
// Its log is a counter, and every record durable at once: it shows what calls do to rows, and nothing about logging.
#pragma once

#include <memory>

#include "engine/database.h"
#include "engine/test_database.h"
#include "engine/transaction.h"
#include "procedures/interpreter.h"
#include "procedures/program.h"
#include "tests/postgres_server.h"
#include "workloads/load.h"
#include "workloads/workload.h"

namespace mneme {

class LocalDatabase {
 public:
  explicit LocalDatabase(const Workload& workload);

  const Program& program() const { return *program_; }
  const RowSource& rows() const { return rows_; }

  // The results as PostgreSQL prints them.
  CallOutcome call(const Call& call);

 private:
  const std::unique_ptr<Program> program_;
  CountingLog log_;
  Database database_;
  DatabaseRows rows_;
  Interpreter interpreter_;
  Transaction transaction_;
};

}  // namespace mneme
