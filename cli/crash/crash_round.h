// CrashRound: one life of a database, from opening it to SIGKILL, and the examination of what is left.
//
// Flow        run_until_killed: child process, clients -> SIGKILL -> Witness. A hook that makes trouble
//             meanwhile, and has to mend it before anything can be recovered, is run at both moments, and
//             waited for. examine: recover by every scheme -> digests, the workload's conditions, the
//             Witness's judgement. Where checkpoints have shortened the log, an archive has the whole of it:
//             that is replayed once, to be judged, and its digest is what recovery from the newest checkpoint
//             must give.
// Threads     the caller's; run_until_killed uses one a client besides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/crash/witness.h"
#include "cli/option/workload_settings.h"
#include "procedures/binder/program.h"
#include "recovery/database/recover.h"

namespace mneme {

struct CrashSetting {
  std::string directory;
  std::vector<std::string> checkpoints;  // options that say when they are taken
  uint64_t device_seed = 1;
  Execution execution = Execution::kNative;
  std::vector<std::string> log;          // options that choose its device and buffer
  std::vector<std::string> concurrency;  // likewise
  std::vector<std::string> log_content;  // LogContentSettings::run_arguments
  uint32_t threads = 1;                  // of the server; as many clients
  double kill_after = 1;                 // seconds after the first answer
  uint32_t incarnation = 0;              // of the clients' streams of calls
  std::string hook;      // a shell command, run with "answered" and with "killed" behind it; empty: none
  bool may_end = false;  // an engine that ends by itself is as good as one that was killed
};

struct KilledRun {
  uint64_t answered = 0;
  uint64_t rolled_back = 0;
  double seconds = 0;  // from the first answer to the end
  bool ended_by_itself = false;
  int exit_status = 0;  // of one that ended by itself
};

// Starts a server on the directory, sends it calls, kills it, and reports to the witness what the clients
// knew.
Result<KilledRun> run_until_killed(const CrashSetting& setting, const Workload& workload,
                                   const Program& program, Witness& witness);

struct Examination {
  struct Scheme {
    std::string name;
    RecoveryReport report;
    std::string digest;
  };
  // of the whole log, where an archive has it; then those that the log serves, serial replay first
  std::vector<Scheme> schemes;
  Lsn checkpoint_lsn;          // of the newest
  bool in_checkpoint = false;  // the crash came while another was being written
  bool digests_equal = true;
  Verdict verdict;
  std::vector<Check> failed_checks;  // of the workload's conditions
  size_t checks = 0;

  bool good() const { return digests_equal && verdict.good() && failed_checks.empty(); }
  // The faults that were found; empty if there are none.
  std::string faults() const;
};

// `archive`: of the directory's runs; empty: they took no checkpoints. `how` gives the threads, the
// execution, and clr-p's level and analysis.
Result<Examination> examine(const std::string& directory, const std::string& archive,
                            const Workload& workload, const Program& program, const RecoverOptions& how,
                            Witness& witness, bool quiet);

}  // namespace mneme
