// Driver: runs a workload's calls on all workers of a database and measures them.
//
// Flow        generator -> Session -> acknowledgement (--commit) -> latency, begin to durable acknowledgement
// Rate        open loop: calls are due at times of their own (cli/measure/arrivals.h). A call's latency
//             counts from when it was due, not from when a worker came to it, so that a wait is counted for
//             each call that it delays. Calls that are due but not begun at the end are left out.
// Terminals   each user makes his next call once the last one is answered and he has thought and keyed it in;
//             its latency counts from then on.
// Commit      pipelined: a worker queues what it committed and runs the next call; it acknowledges what has
//             become durable. sync: it waits for each, and the log hurries. group: it waits for each, and the
//             log gathers what other workers commit meanwhile. async: it acknowledges at once, and may lose
//             what it acknowledged.
// Window      which calls count, and in which second: cli/measure/call_tally.h; when it begins:
//             cli/measure/warm_up.h.
// Invariants  when run() returns, every committed call has been acknowledged.
// Threads     one a worker, and the caller's, which shows progress. Workers keep off the cores that the log's
//             device interrupts (base/interrupted_cores.h), if there are enough others.
// Units       latencies in nanoseconds; throughput in acknowledged commits a second.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/measure/arrivals.h"
#include "cli/measure/call_tally.h"
#include "cli/measure/terminals.h"
#include "cli/measure/warm_up.h"
#include "engine/transaction/database.h"
#include "measurement/latency/latency_series.h"
#include "measurement/machine/stalls.h"
#include "procedures/binder/program.h"
#include "procedures/session/session.h"
#include "workloads/shared/workload.h"

namespace mneme {

enum class CommitMode : uint8_t { kPipelined, kSync, kGroup, kAsync };
// Returns the mode that a word of --commit names.
CommitMode commit_mode(std::string_view name);

struct RunProgress {
  uint64_t committed = 0;
  double per_second = 0;                // in the last whole second
  std::optional<double> seconds_total;  // of a run that has a duration, the warm-up included
  double seconds = 0;
  double measured_seconds = 0;  // of them, behind the warm-up
};

struct DriverOptions {
  CommitMode commit = CommitMode::kPipelined;
  double duration_seconds = 10;
  std::optional<uint64_t> transactions;  // in place of a duration: how many calls, over all workers
  WarmUpRule warm_up;                    // not measured
  std::optional<double> rate;            // open loop: so many calls a second, over all workers
  ArrivalKind arrivals = ArrivalKind::kUniform;
  uint64_t arrival_seed = 1;
  uint32_t terminals = 0;  // users who key in calls and think (cli/measure/terminals.h); 0: none do
  bool seconds_by_procedure = false;        // RunReport::series has a tag a procedure, else only one
  uint32_t incarnation = 0;                 // of the streams of calls
  std::vector<uint32_t> interrupted_cores;  // which the workers keep off, if there are enough others
  SessionOptions session;
  std::function<void(const RunProgress&)> progress;
  std::function<bool()> is_interrupted;  // asked often; the run ends once it returns true
};

struct RunReport {
  double seconds = 0;
  WarmUpReport warm_up;
  uint64_t measured_from_ns = 0;  // monotonic_ns()
  double processor_seconds = 0;   // of the whole process meanwhile, what the system did for it included
  std::vector<ProcedureReport> procedures;  // by ProcedureId
  std::vector<LatencySeries> series;        // by worker: latencies of committed calls, by the second
  bool is_partial = false;                  // it was interrupted
  size_t whole_seconds = 0;                 // of the window: seconds beyond hold late acknowledgements
  Stalls stalls;                            // of the machine, since the measurement began
  Lsn acknowledged;                         // the highest LSN told to a client
  std::vector<uint32_t> cores_kept_off;     // by the workers
  // transactions that were logged by their rows, the warm-up's included
  uint64_t ad_hoc = 0;
  uint64_t hinted = 0;      // likewise: that were logged by calls with hints
  uint64_t hint_bytes = 0;  // of these

  ProcedureReport total() const;
};

Result<RunReport> drive(const Workload& workload, const Program& program, Database& database,
                        const DriverOptions& options);

}  // namespace mneme
