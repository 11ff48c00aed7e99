// Data directory: a database at work: created, or recovered and opened, with its log.
//
// Layout      DIR/MANIFEST       what the directory holds (logging/directory/manifest.h); without it there is
//                                no database
//             DIR/catalog*.sql   schema and procedures as of the checkpoint: catalog.sql as the user wrote
//                                them; later ones as schema records of the log have changed them
//             DIR/checkpoint-*   a database state (engine/checkpoint/checkpoint_format.h)
//             DIR/log-*          segments of the log (logging/record/block_format.h), as the manifest lists
//                                them
//             DIR/native/        machine code of the procedures, where the program does not bring it: a
//                                cache, to be removed at will (procedures/native/native_code.h)
//             DIR/lock           held while a process works here (logging/directory/directory_lock.h)
// Flow        create: catalog.sql -> load -> checkpoint -> manifest -> incarnation -> log
//             open:   recover -> incarnation (the recovered end becomes final) -> log
// Invariants  the manifest is written last: a crash while creating leaves a directory without a database, in
//             which create_database() may be tried again.
// Threads     as Database and DirectoryLog say. End all transactions before the WorkingDatabase.
// Errors      the directory is taken, in use, damaged, or the disk is full: a sentence.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/function_ref.h"
#include "base/result.h"
#include "engine/transaction/database.h"
#include "engine/transaction/schema_latch.h"
#include "logging/commit/log_beat.h"
#include "logging/directory/directory_lock.h"
#include "logging/directory/manifest.h"
#include "logging/layout/log_factory.h"
#include "procedures/binder/program.h"
#include "recovery/database/recover.h"
#include "recovery/database/standby_log.h"

namespace mneme {

// A database that transactions may run on, each durable through its log.
class WorkingDatabase {
 public:
  WorkingDatabase(WorkingDatabase&&) = default;
  // A standby's: replay of another engine's log puts rows into it, and sessions only read, until
  // become_primary().
  // `replayed`: all records below are in the rows. The database was made for `log.workers`.
  static WorkingDatabase of_standby(std::unique_ptr<Program> program, std::unique_ptr<Database> database,
                                    Lsn replayed, const DurableLogOptions& log);

  const Program& program() const { return *program_; }
  Database& database() { return *database_; }
  DirectoryLog& log() { return *log_; }
  // Its attributes say what the directory is for; change them through update(). A standby has none before it
  // is promoted.
  ManifestFile& manifest() { return *manifest_; }

  // Sessions that live with changes of the schema enter it for each transaction (live_session.h), by their
  // workers. Other users of the program or the database enter it by a thread of the log's that is no worker.
  SchemaLatch& schema_latch() { return *schema_latch_; }
  // How often the schema has changed since the directory was opened. Inside the latch it stays, as program
  // and database do.
  uint64_t schema_version() const { return schema_version_; }

  // Replaces the program after a change of the schema (schema_change.h). The change is logged, the database
  // has its tables, and no session uses the former program any more.
  void replace(std::unique_ptr<Program> program);

  // Whether all of the log is in the rows. If it was opened on demand (RecoverOptions::on_demand), what is
  // left is replayed while transactions run; once true, it stays so.
  bool is_recovered() const;
  // nullptr: it was not opened on demand, or nothing was left.
  DemandRecovery* rest() { return rest_.get(); }
  bool recovery_has_failed() const;
  // Waits for that. An error: the log and the rows do not fit each other, and the database is not to be used.
  Result<void> finish_recovery();

  // Whether it is a standby's.
  bool is_standby() const { return standby_log_ != nullptr && standby_log_->follows(); }
  // Tells the sessions of a standby how far replay is. Only of_standby() makes one.
  StandbyLog& standby_log() { return *standby_log_; }
  // Goes on as the directory's database, with a log of its own behind `log`, which is all in the rows. The
  // directory is a standby's no more (standby_base.h). A change of the schema has stopped all sessions.
  Result<void> become_primary(DirectoryLock lock, std::unique_ptr<ManifestFile> manifest,
                              const LogContents& log, const DurableLogOptions& options);

 private:
  friend class WorkingDatabaseMaker;
  WorkingDatabase() = default;
  explicit WorkingDatabase(DirectoryLock lock) : lock_(std::move(lock)) {}

  // In the order in which they are made; they end in the opposite one.
  std::optional<DirectoryLock> lock_;
  std::unique_ptr<ManifestFile> manifest_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<DemandRecovery> rest_;  // one owner
  std::unique_ptr<DirectoryLog> log_;
  StandbyLog* standby_log_ = nullptr;  // log_, where it is one
  std::unique_ptr<LogBeat> beat_;      // of a log that standbys may follow
  std::unique_ptr<SchemaLatch> schema_latch_;
  uint64_t schema_version_ = 0;
};

// Fails if a database cannot be made there: there is one already, or files of one, or another program's file
// with the manifest's name. Changes nothing.
Result<void> check_free(const std::string& directory);

struct CreateOptions {
  std::map<std::string, std::string> attributes;  // of the manifest
  RecordContent records = RecordContent::kCommand;
  TupleImage tuple_image = TupleImage::kFull;
  DurableLogOptions log;  // its `workers` are the database's
  uint32_t threads = 1;   // that write the checkpoint
};

struct CreatedDatabase {
  WorkingDatabase working;
  double load_seconds = 0;
  double checkpoint_seconds = 0;
  uint64_t checkpoint_bytes = 0;
  uint64_t rows = 0;
};

// `load` fills the empty database. The directory is made when it is missing, and must hold no database.
Result<CreatedDatabase> create_database(const std::string& directory, std::unique_ptr<Program> program,
                                        FunctionRef<Result<void>(Database&)> load,
                                        const CreateOptions& options);

// Writes the catalog of a database's program beside a checkpoint that is about to become current, and notes
// it in the manifest that names that checkpoint: to be written with it.
Result<void> write_catalog(const std::string& directory, const Program& program, Manifest& manifest);

// Returns where a process that works on the directory finds machine code, and keeps what it compiles.
NativeFolders working_folders(const std::string& directory);

struct OpenedDatabase {
  WorkingDatabase working;  // with RecoverOptions::on_demand, rest() is under way
  RecoveryReport report;
};

// `recover.workers` is not used: the log's workers are the database's. Without a scheme, it is the default
// one, which leaves a database to go on with; others may be refused (recovery_schemes.h).
Result<OpenedDatabase> open_for_work(const std::string& directory, const RecoverOptions& recover,
                                     const DurableLogOptions& log);

}  // namespace mneme
