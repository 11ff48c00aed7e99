// Recover: from a data directory to the database that it describes, in memory.
//
// Flow        manifest -> catalog.sql, compiled -> checkpoint -> indexes -> log, to its end -> analysis
//             (CLR-P) -> machine code -> replay (a log of rows: at once). PLR replays first, and builds the
//             indexes at the end.
// Invariants  nothing but the directory is needed, and nothing in it is changed: recovering twice gives equal
//             databases. The database holds the checkpoint and every transaction of the log, applied in
//             commit order. machine code is taken from the directory's folder or the program's, or from the
//             user's, where what had to be compiled is kept.
// Threads     the caller's, and `replay.threads` of its own in each stage. The progress callback comes from
//             any one of them, never from two at once.
// Errors      a scheme that the log does not serve: kInvalidArgument, before anything is loaded. Not a
//             database, in use, of another format version: kInvalidArgument or kFailed. Damage: kDamaged,
//             with file and offset, or LSN.
// Source      PACMAN (SIGMOD 2017), sections 2.2 and 4.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/analysis_options.h"
#include "base/result.h"
#include "engine/transaction/database.h"
#include "logging/directory/manifest.h"
#include "logging/reading/log_reader.h"
#include "procedures/binder/program.h"
#include "procedures/native/compiled_units.h"
#include "recovery/calls/serial_replayer.h"
#include "recovery/log/catalog_file.h"
#include "recovery/log/recovery_scheme.h"
#include "recovery/log/replay.h"
#include "recovery/log/thread_time.h"

namespace mneme {

// "pipelined", "synchronous", "static".
Result<ReplayLevel> replay_level(std::string_view name);
std::string_view name_of(ReplayLevel level);
// "forward", "reverse".
Result<ReplayOrder> replay_order(std::string_view name);
std::string_view name_of(ReplayOrder order);

enum class RecoveryStage : uint8_t { kCheckpoint, kLog, kAnalysis, kCompilation, kReplay, kIndexes };
std::string_view name_of(RecoveryStage stage);

// How far a stage is. It begins with 0 done and ends with all done.
struct RecoveryProgress {
  RecoveryStage stage = RecoveryStage::kCheckpoint;
  // kReplay: transactions; kCheckpoint: bytes; kLog: segments; kIndexes: stretches of tables; kCompilation,
  // which is only told where the compiler has to run: units; kAnalysis: 1.
  uint64_t done = 0;
  uint64_t total = 0;
  // kReplay: of the record that was replayed last in the scheme's order.
  std::optional<Lsn> lsn;
};

struct RecoverOptions {
  std::optional<RecoveryScheme> scheme;  // none: the fastest that the log serves
  // of rows; none: reverse, but forward where the log holds changed columns alone
  std::optional<ReplayOrder> order;
  ReplayOptions replay;  // its `order`, `progress` and `native` are not used, what is here is
  uint32_t workers = 1;  // that the database is made for
  // Of clr-p. None: by columns, and additions to one are in no order unless the log has ad-hoc transactions:
  // to change what several blocks add to would be a barrier for each of them.
  std::optional<AnalysisOptions> analysis;
  // The archive of the database's runs: all of its history is replayed, from the oldest checkpoint on
  // (whole_log.h).
  std::string log_archive;
  // Of a log of calls that is longer, replay reads a window at a time (record_stream.h), unless `keep_log`
  // says that the caller wants to look at all of it.
  uint64_t most_kept_log_bytes = uint64_t{64} << 20;
  uint64_t log_window_bytes = uint64_t{4} << 20;
  bool keep_log = false;
  // False: those that a scheme builds at the end are left out, and the tables stay as they are while rows are
  // restored: of a standby, which restores more.
  bool indexes = true;
  // kNative: what is replayed runs as machine code, which is compiled where no cache has it.
  Execution execution = Execution::kInterpreted;
  ReplayedCallVisitor visit;  // with kClr only: sees each call with its results
  std::function<void(const RecoveryProgress&)> progress;
};

// When a stage ran, for a timeline. Replay has one for each stretch between changes of the schema.
struct StageTime {
  std::string_view name;
  uint64_t begin_ns = 0;  // monotonic_ns()
  uint64_t end_ns = 0;
};

struct RecoveryReport {
  RecoveryScheme scheme = RecoveryScheme::kClrP;
  ReplayLevel level = ReplayLevel::kPipelined;
  AnalysisOptions analysis;  // the last
  ReplayOrder order = ReplayOrder::kReverse;
  uint32_t threads = 1;
  double manifest_seconds = 0;
  double catalog_seconds = 0;  // to read and compile it
  double checkpoint_seconds = 0;
  uint64_t checkpoint_bytes = 0;
  uint64_t checkpoint_rows = 0;
  Lsn checkpoint_lsn;
  double log_load_seconds = 0;
  uint64_t log_bytes = 0;         // of records
  uint64_t log_file_bytes = 0;    // of segments, read
  uint64_t log_memory_bytes = 0;  // that the log took while it was replayed, at most
  uint64_t dropped_bytes = 0;     // of a torn tail
  std::string dropped_reason;     // a sentence; empty without one
  uint64_t holes = 0;             // of a log in persistent memory (logging/nvm/nvm_log.h)
  uint64_t hole_bytes = 0;
  double analysis_seconds = 0;
  Execution execution = Execution::kInterpreted;  // what replay really did
  double compilation_seconds = 0;                 // to find, or make, the machine code
  double replay_seconds = 0;
  uint64_t schema_changes = 0;  // that were replayed
  uint64_t analyses = 0;        // of a program's procedures
  double schema_seconds = 0;
  double index_build_seconds = 0;  // of all at once; replay of schemes other than PLR changes them besides
  double total_seconds = 0;
  ReplayStatistics replay;
  uint64_t skipped = 0;  // records of places in the order that no transaction took
  std::vector<StageTime> stages;
  std::vector<ThreadTime> thread_times;  // of log loading and replay; empty where nobody measured them
  std::vector<std::string> blocks;       // of the last analysis: their names and tables; CLR-P
  std::vector<std::string> notices;      // sentences: why procedures were interpreted, say
  Lsn end;                               // of the log: the next record would stand here

  double replay_tps() const {
    return replay_seconds > 0 ? static_cast<double>(replay.transactions) / replay_seconds : 0;
  }
};

struct RecoveredDatabase {
  Manifest manifest;
  std::unique_ptr<Program> program;
  std::unique_ptr<Database> database;
  LogContents log;  // perhaps it is not kept
  RecoveryReport report;
};

// Holds the directory for reading meanwhile: refused while another process works on it.
Result<RecoveredDatabase> recover(const std::string& directory, const RecoverOptions& options);

// The same for those who hold the directory already. `folders`: where machine code may be found, and kept.
Result<RecoveredDatabase> recover_locked(const std::string& directory, const RecoverOptions& options,
                                         const NativeFolders& folders);

// The program as of a data directory's checkpoint, checked against its manifest.
Result<std::unique_ptr<Program>> read_catalog(const std::string& directory, const Manifest& manifest);

// Machine code that the effective user's own cache keeps, and that is looked for in `look`, too.
NativeFolders user_folders(std::vector<std::string> look);
// A data directory's folder for machine code.
std::string native_folder(const std::string& directory);

}  // namespace mneme
