// Driver: runs a workload's calls on all workers of a database and measures them.
//
// Flow        generator -> Session -> acknowledgement (--commit) -> latency, begin to durable acknowledgement
// Commit      pipelined: a worker queues what it committed and runs the next call; it acknowledges what has become
//             durable. sync: it waits for each. async: it acknowledges at once, and may lose what it acknowledged.
// Invariants  when run() returns, every committed call has been acknowledged.
// Threads     one a worker, and the caller's, which shows progress.
// Units       latencies in nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "engine/database.h"
#include "procedures/program.h"
#include "workloads/workload.h"

namespace mneme {

enum class CommitMode : uint8_t { kPipelined, kSync, kAsync };
Result<CommitMode> commit_mode(std::string_view name);

struct DriverOptions {
  CommitMode commit = CommitMode::kPipelined;
  double duration_seconds = 10;
  std::optional<uint64_t> transactions;  // in place of a duration: how many calls, over all workers
  double warmup_seconds = 0;             // not measured
  std::optional<double> rate;            // open loop: so many calls a second, over all workers
  uint32_t incarnation = 0;              // of the streams of calls
  std::function<void(double seconds, uint64_t committed)> progress;
};

struct ProcedureReport {
  uint64_t committed = 0;
  uint64_t aborted = 0;      // attempts that met a conflict
  uint64_t user_aborts = 0;  // calls that raised
  Histogram latency_ns;
};

struct RunReport {
  double seconds = 0;
  std::vector<ProcedureReport> procedures;  // by ProcedureId
  Lsn acknowledged;                         // the highest LSN told to a client

  ProcedureReport total() const;
};

Result<RunReport> drive(const Workload& workload, const Program& program, Database& database,
                        const DriverOptions& options);

}  // namespace mneme
