// RecoveryReport: what a recovery did and how long each part took, a member a part. RecoveryProgress: how far
// it is while it runs.
//
// Units       seconds of the clock on the wall; ReplayStatistics and ThreadTime say what they sum up.
// Threads     the report: written by the thread that recovers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis_options.h"
#include "analyzer/dependency_graph.h"
#include "base/clock.h"
#include "logging/record/lsn.h"
#include "procedures/native/compiled_units.h"
#include "recovery/log/recovery_scheme.h"
#include "recovery/log/replay.h"
#include "recovery/log/thread_time.h"

namespace mneme {

enum class RecoveryStage : uint8_t { kCheckpoint, kLog, kAnalysis, kCompilation, kReplay, kIndexes };
std::string_view name_of(RecoveryStage stage);

// How far a stage is. It begins with 0 done and ends with all done.
struct RecoveryProgress {
  RecoveryStage stage = RecoveryStage::kCheckpoint;
  // kReplay: transactions; kCheckpoint: bytes; kLog: segments; kIndexes: stretches of tables; kCompilation,
  // which is reported only where the compiler has to run: units; kAnalysis: 1.
  uint64_t done = 0;
  uint64_t total = 0;
  // kReplay: of the record that was replayed last in the scheme's order.
  std::optional<Lsn> lsn;
};

// When a stage ran, for a timeline. Replay has one for each stretch between changes of the schema.
struct StageTime {
  std::string_view name;
  uint64_t begin_ns = 0;  // monotonic_ns()
  uint64_t end_ns = 0;
};

struct OpeningReport {
  double manifest_seconds = 0;
  double catalog_seconds = 0;  // to read and compile it
};

struct CheckpointReport {
  double seconds = 0;
  uint64_t bytes = 0;
  uint64_t rows = 0;
  Lsn lsn;
};

struct LogReadingReport {
  double seconds = 0;
  uint64_t records = 0;  // from the checkpoint on, without those that were skipped
  uint64_t record_bytes = 0;
  uint64_t file_bytes = 0;     // of the segments that were read
  uint64_t memory_bytes = 0;   // that the log took while it was replayed, at most
  uint64_t dropped_bytes = 0;  // of a torn tail
  std::string dropped_reason;  // a sentence; empty without a torn tail
  uint64_t holes = 0;          // of a log in persistent memory (logging/nvm/nvm_log.h)
  uint64_t hole_bytes = 0;
  uint64_t skipped = 0;  // records of places in the order that no transaction took
  Lsn end;               // the next record would stand here
};

// A scheme that cuts calls analyses their procedures, once for each program that it replays calls of.
struct AnalysisReport {
  double seconds = 0;
  uint64_t count = 0;
  AnalysisOptions options;          // the last analysis's
  std::vector<std::string> blocks;  // the last analysis's: their names and tables
};

struct MachineCodeReport {
  double seconds = 0;                             // to find the code, or to compile it
  Execution execution = Execution::kInterpreted;  // what replay really did
};

// A table that replay could not spread over lanes, and what kept its rows together.
struct SerialTable {
  std::string block;
  std::string table;
  LostColumn lost;
  double lane_seconds = 0;  // how long the block ran in its one lane
};

// The slices of one block, where they ran one after the other, a batch at a time.
struct KernelTime {
  std::string block;
  uint64_t pieces = 0;
  double seconds = 0;  // of all threads
};

struct ReplayReport {
  double seconds = 0;
  ReplayStatistics statistics;
  std::vector<ThreadTime> thread_times;  // of log loading and replay; empty where they were not measured
  ReplayLevel level = ReplayLevel::kPipelined;
  ReplayOrder order = ReplayOrder::kReverse;
  // CLR-P, of the last stretch between changes of the schema.
  std::vector<SerialTable> serial_because;
  std::vector<KernelTime> kernels;

  double tps() const { return seconds > 0 ? static_cast<double>(statistics.transactions) / seconds : 0; }
};

struct SchemaReport {
  double seconds = 0;
  uint64_t changes = 0;  // that were replayed
};

struct IndexBuildReport {
  double seconds = 0;  // to build all of them at once; replay that maintains indexes counts as replay
};

struct RecoveryReport {
  const RecoveryScheme* scheme = nullptr;
  uint32_t threads = 1;
  OpeningReport opening;
  CheckpointReport checkpoint;
  LogReadingReport log;
  AnalysisReport analysis;
  MachineCodeReport code;
  ReplayReport replay;
  SchemaReport schema;
  IndexBuildReport indexes;
  double total_seconds = 0;
  // The stage in which recovery was interrupted (ReplayOptions::is_interrupted). The report holds what was
  // done until then, and the database is in no state to be used.
  std::optional<RecoveryStage> interrupted_in;
  std::vector<StageTime> stages;
  std::vector<std::string> notices;  // sentences for the user: why procedures were interpreted, for example

  // Adds a stage that began at `begin_ns` and ends now. Returns its seconds.
  double end_stage(std::string_view name, uint64_t begin_ns) {
    const uint64_t end_ns = monotonic_ns();
    stages.push_back({name, begin_ns, end_ns});
    return static_cast<double>(end_ns - begin_ns) * 1e-9;
  }
  // Adds the sentence unless it stands there already.
  void add_notice(const std::string& notice);
};

}  // namespace mneme
