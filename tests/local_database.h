// LocalDatabase: a workload's database in memory, loaded, with workers that make calls.
//
// Its log is a counter, and every record durable at once: it shows what calls do to rows, and nothing of
// logging.
// Threads     each worker's calls by one thread; rows() while no call runs.
#pragma once

#include <memory>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/transaction/database.h"
#include "procedures/binder/program.h"
#include "procedures/session/session.h"
#include "tests/postgres_server.h"
#include "workloads/shared/load.h"
#include "workloads/shared/workload.h"

namespace mneme {

// A call's end, and its place in the serial order: after all that was logged up to `lsn`, itself included if
// `logged`.
struct PlacedOutcome {
  CallOutcome outcome;  // results as PostgreSQL prints them
  Lsn lsn;
  bool logged = false;
};

class LocalDatabase {
 public:
  LocalDatabase(const Workload& workload, uint32_t worker_count);

  const Program& program() const { return *program_; }
  const Database& database() const { return database_; }
  const RowSource& rows() const { return rows_; }

  // From now on nothing becomes durable, so deleted rows leave tombstones that stay, and a call that found
  // only absence names the deletion among what it depends on. Otherwise its place in the order cannot be
  // told.
  void keep_tombstones() { log_.hold_back(true); }

  PlacedOutcome call(WorkerId worker, const Call& call);

 private:
  const std::unique_ptr<Program> program_;
  CountingLog log_;
  Database database_;
  DatabaseRows rows_;
  std::vector<std::unique_ptr<Session>> sessions_;  // by worker
};

}  // namespace mneme
