// BenchDriver: a workload's calls by the clients of a server, and what they measured.
//
// Flow        generator -> prepared CALL -> the server's answer -> latency, the call's begin to its answer
// Calls       client c of n makes the calls of worker c of n in `mneme run`, from the same seed: a round's
//             number takes the place of the directory's incarnation.
// Rate        open loop: as cli/measure/driver.h has it.
// Errors      40001 and 40P01 are conflicts: the call is made again, and counted as aborted. What a
//             procedure raises (P0001, and classes 22 and 23: data and constraints) rolls the call back, and
//             counts as a user's abort, as in `mneme run`. Any other error ends the bench with the server's
//             words.
// Invariants  every answer is checked: a result has a value for each INOUT parameter, of its type.
// Threads     one a client, each with a connection; the caller's shows progress.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/bench/target_connection.h"
#include "cli/measure/driver.h"
#include "cli/measure/warm_up.h"
#include "engine/schema/value.h"
#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

struct BenchOptions {
  uint32_t clients = 1;
  double duration_seconds = 10;
  std::optional<uint64_t> transactions;  // in place of a duration: how many calls, over all clients
  WarmUpRule warm_up;                    // not measured
  std::optional<double> rate;            // open loop: calls a second, over all clients
  std::string isolation;                 // of the sessions; empty: the server's own
  std::function<bool()> is_interrupted;  // asked often; the clients end after the call that they make
  // Called with each committed call and its results, by its client's thread.
  std::function<void(const Call&, std::span<const Argument> results)> committed;
  // The server may end meanwhile: a client whose connection is lost ends, too, and that is no error.
  bool ends_with_server = false;
  std::function<void(const RunProgress&)> progress;
};

struct RoundReport {
  double seconds = 0;
  WarmUpReport warm_up;
  std::vector<double> throughput_per_second;  // of each whole second
  std::vector<ProcedureReport> procedures;    // by ProcedureId
  std::map<std::string, uint64_t> rollbacks;  // user aborts by SQLSTATE
  int128 conserved = 0;                       // of all committed calls, the warm-up's included
  bool is_partial = false;                    // it was interrupted

  ProcedureReport total() const;
  double throughput() const;
};

// How an error of this SQLSTATE counts.
enum class ErrorClass : uint8_t { kConflict, kRollback, kFatal };
ErrorClass class_of(std::string_view sqlstate);

Result<RoundReport> drive_target(const Workload& workload, const Program& program, const Target& target,
                                 uint32_t round, const BenchOptions& options);

}  // namespace mneme
