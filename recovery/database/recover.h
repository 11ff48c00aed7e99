// Recover: from a data directory to the database that it describes, in memory.
//
// Flow        manifest -> catalog.sql, compiled -> checkpoint -> indexes -> log, to its end -> analysis
//             (CLR-P) -> machine code -> replay (a log of rows: at once). PLR replays first, and builds the
//             indexes at the end. On demand: the log is read first; what lies behind the last change of the
//             schema is replayed while transactions run (demand/demand_recovery.h), and the checkpoint is
//             loaded then, too, if the log holds calls alone (unloaded_checkpoint.h).
// Invariants  nothing but the directory is needed, and nothing in it is changed: recovering twice gives equal
//             databases. The database holds the checkpoint and every transaction of the log, applied in
//             commit order; unless it was interrupted (ReplayOptions::is_interrupted), when the report says
//             in which stage, and the database is of no use. machine code is taken from the directory's
//             folder or the program's, or from the user's, where what had to be compiled is kept.
// Threads     the caller's, and `replay.threads` of its own in each stage. The progress callback comes from
//             any one of them, never from two at once.
// Errors      a scheme that the log does not serve, or on_demand with one that is not CLR-P:
//             kInvalidArgument, before anything is loaded. Not a database, in use, of another format version:
//             kInvalidArgument or kFailed. Damage: kDamaged, with file and offset, or LSN.
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
#include "recovery/database/recovery_schemes.h"
#include "recovery/demand/unloaded_base.h"
#include "recovery/log/catalog_file.h"
#include "recovery/log/recovery_report.h"
#include "recovery/log/replay.h"

namespace mneme {

class DemandRecovery;

// "pipelined", "synchronous", "static".
Result<ReplayLevel> replay_level(std::string_view name);
std::string_view name_of(ReplayLevel level);
// "forward", "reverse".
Result<ReplayOrder> replay_order(std::string_view name);
std::string_view name_of(ReplayOrder order);

// The default of RecoverOptions::most_bulk_seconds.
inline constexpr double kMostBulkSeconds = 2;

struct RecoverOptions {
  const RecoveryScheme* scheme = nullptr;  // nullptr: the fastest that the log serves
  // of rows; none: reverse, but forward where the log holds changed columns alone
  std::optional<ReplayOrder> order;
  ReplayOptions replay;  // its `order`, `progress` and `native` are not used, what is here is
  uint32_t workers = 1;  // that the database is made for
  // RecoveryScheme::cuts_calls. None: by columns, and additions to one are in no order unless the log has
  // ad-hoc transactions: to change what several blocks add to would be a barrier for each of them.
  std::optional<AnalysisOptions> analysis;
  // The archive of the database's runs: all of its history is replayed, from the oldest checkpoint on
  // (whole_log.h).
  std::string log_archive;
  // If a log of calls is longer, replay reads a window at a time (record_stream.h), unless `keep_log` is set
  // because the caller wants to look at all of it.
  uint64_t most_kept_log_bytes = uint64_t{64} << 20;
  uint64_t log_window_bytes = uint64_t{4} << 20;
  bool keep_log = false;
  // CLR-P: what comes last of the log is not replayed, but opened: RecoveredDatabase::rest replays it, and
  // `workers` may use the database meanwhile. The log is kept.
  bool on_demand = false;
  // With `on_demand`: as long as the log is replayed in bulk, nobody may use what it changes. If that takes
  // no longer, whoever asks waits for it; else replay turns to what is asked for. 0: it always does.
  double most_bulk_seconds = kMostBulkSeconds;
  // The longest log that is opened so. None: as much of one as takes the memory that there is, once decoded.
  std::optional<uint64_t> most_demand_log_bytes;
  // False for a standby, which goes on restoring rows: indexes that the scheme builds at the end are not
  // built, and the tables stay as they are while rows are restored.
  bool indexes = true;
  // kNative: what is replayed runs as machine code, which is compiled where no cache has it.
  Execution execution = Execution::kInterpreted;
  ReplayedCallVisitor visit;  // sees each call with its results; RecoveryScheme::shows_calls
  std::function<void(const RecoveryProgress&)> progress;
};

struct RecoveredDatabase {
  Manifest manifest;
  std::unique_ptr<Program> program;
  std::unique_ptr<Database> database;
  // The checkpoint, while it is not loaded; `rest` gets it.
  std::unique_ptr<UnloadedBase> base;
  LogContents log;  // perhaps it is not kept
  RecoveryReport report;
  // What on_demand has left: none where nothing is, else to be started, with the log moved to it.
  std::shared_ptr<DemandRecovery> rest;  // one owner
};

// Holds the directory for reading meanwhile: refused while another process works on it.
Result<RecoveredDatabase> recover(const std::string& directory, const RecoverOptions& options);

// The same for a caller that holds the directory already. `folders`: where machine code may be found, and
// kept.
Result<RecoveredDatabase> recover_locked(const std::string& directory, const RecoverOptions& options,
                                         const NativeFolders& folders);

// The program as of a data directory's checkpoint, checked against its manifest.
Result<std::unique_ptr<Program>> read_catalog(const std::string& directory, const Manifest& manifest);

// Returns folders by which the effective user's own cache keeps machine code, and `look` is searched, too.
NativeFolders user_folders(std::vector<std::string> look);
// A data directory's folder for machine code.
std::string native_folder(const std::string& directory);

}  // namespace mneme
