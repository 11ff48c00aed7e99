#include "recovery/database/data_directory.h"

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/file/trusted_folder.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/schema/page_split.h"
#include "logging/directory/database_files.h"
#include "logging/directory/incarnation.h"
#include "logging/layout/pepoch_file.h"
#include "logging/reading/log_truncation.h"
#include "logging/reading/remote_recovery.h"
#include "recovery/database/private_files.h"
#include "recovery/database/standby_base.h"
#include "recovery/demand/demand_recovery.h"
#include "recovery/log/catalog_file.h"

namespace mneme {

class WorkingDatabaseMaker {
 public:
  static Result<WorkingDatabase> begin(const std::string& directory) {
    Result<DirectoryLock> lock = DirectoryLock::for_work(directory);
    if (!lock) return lock.error();
    return WorkingDatabase(std::move(*lock));
  }
  // Everything is in memory, and the log ends where `log` does: from here on it grows.
  static Result<void> start(WorkingDatabase& working, std::unique_ptr<ManifestFile> manifest,
                            std::unique_ptr<Program> program, std::unique_ptr<Database> database,
                            const LogContents& log, const DurableLogOptions& options,
                            uint32_t least_incarnation = 1) {
    working.manifest_ = std::move(manifest);
    working.program_ = std::move(program);
    working.database_ = std::move(database);
    Result<std::unique_ptr<DirectoryLog>> opened =
        open_log(*working.manifest_, log, options, least_incarnation);
    if (!opened) return opened.error();
    working.log_ = std::move(*opened);
    begin_beat(working, options);
    working.schema_latch_ = std::make_unique<SchemaLatch>(options.workers, options.appenders());
    attach(working);
    return {};
  }
  static Result<std::unique_ptr<DirectoryLog>> open_log(ManifestFile& manifest, const LogContents& log,
                                                        const DurableLogOptions& options,
                                                        uint32_t least_incarnation) {
    DurableLogOptions partitioned = options;
    if (beats(options)) ++partitioned.helpers;
    if (options.streams.partition == StreamPartition::kPage) partitioned.streams.split = page_splitter();
    RETURN_IF_ERROR(begin_incarnation(manifest, log, least_incarnation));
    // Not before: a directory whose log can't be written is refused as it was.
    RETURN_IF_ERROR(remove_unlisted_files(manifest));
    return open_directory_log(manifest, partitioned);
  }
  static bool beats(const DurableLogOptions& options) { return traits_of(options.device).is_replicated; }
  static void begin_beat(WorkingDatabase& working, const DurableLogOptions& options) {
    if (beats(options))
      working.beat_ = std::make_unique<LogBeat>(*working.log_, WorkerId{options.appenders()});
  }
  static void begin_rest(WorkingDatabase& working, std::shared_ptr<DemandRecovery> rest) {
    working.rest_ = std::move(rest);
    working.rest_->start();
  }
  static void attach(WorkingDatabase& working) {
    const Manifest current = working.manifest_->current();
    working.database_->attach_log(*working.log_, current.records, current.tuple_image);
  }
};

WorkingDatabase WorkingDatabase::of_standby(std::unique_ptr<Program> program,
                                            std::unique_ptr<Database> database, Lsn replayed,
                                            const DurableLogOptions& log) {
  WorkingDatabase working;
  working.program_ = std::move(program);
  working.database_ = std::move(database);
  auto standby_log = std::make_unique<StandbyLog>(replayed);
  working.standby_log_ = standby_log.get();
  working.log_ = std::move(standby_log);
  working.schema_latch_ = std::make_unique<SchemaLatch>(log.workers, log.appenders());
  working.database_->attach_log(*working.log_);
  return working;
}

Result<void> WorkingDatabase::become_primary(DirectoryLock lock, std::unique_ptr<ManifestFile> manifest,
                                             const LogContents& log, const DurableLogOptions& options) {
  CHECK(is_standby());
  lock_.emplace(std::move(lock));
  manifest_ = std::move(manifest);
  // A former engine may write no more behind what was replayed.
  const Result<RemoteClaim> claim = claim_remote_log(manifest_->directory(), options);
  if (!claim) return claim.error();
  DurableLogOptions claimed = options;
  claimed.device_options.remote.owner = claim->term.owner;
  Result<std::unique_ptr<DirectoryLog>> opened =
      WorkingDatabaseMaker::open_log(*manifest_, log, claimed, std::max(claim->term.number, 1u));
  if (!opened) return opened.error();
  standby_log_->go_on_with(std::move(*opened));
  WorkingDatabaseMaker::begin_beat(*this, options);
  WorkingDatabaseMaker::attach(*this);
  // Sessions are made anew: they were made to read.
  ++schema_version_;
  return {};
}

Result<void> check_free(const std::string& directory) {
  if (!holds_database(directory)) return check_holds_no_files(directory);
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  return invalid_argument("{} holds a database already: resume it, or choose another directory", directory);
}

Result<CreatedDatabase> create_database(const std::string& directory, std::unique_ptr<Program> program,
                                        FunctionRef<Result<void>(Database&)> load,
                                        const CreateOptions& options) {
  // No log that nothing could replay.
  const RecoveryScheme& scheme = default_scheme(options.records, options.tuple_image);
  RETURN_IF_ERROR(check_served(scheme, options.records, options.tuple_image));
  if (options.log.streams.partition == StreamPartition::kPage) RETURN_IF_ERROR(check_pages(options.records));
  RETURN_IF_ERROR(check_log_servers(options.log));
  // Before the lock, so that a refused directory is left as it was; and after it, as another process may have
  // been quicker.
  RETURN_IF_ERROR(check_free(directory));
  RETURN_IF_ERROR(make_directories(directory));
  Result<WorkingDatabase> working = WorkingDatabaseMaker::begin(directory);
  if (!working) return working.error();
  RETURN_IF_ERROR(check_free(directory));
  RETURN_IF_ERROR(begin_making(directory));
  RETURN_IF_ERROR(replace_text_file(directory + "/" + kCatalogFile, program->text()));

  CreatedDatabase created{std::move(*working)};
  auto database = std::make_unique<Database>(program->catalog, options.log.workers);
  const uint64_t load_begin = monotonic_ns();
  RETURN_IF_ERROR(load(*database));
  created.load_seconds = seconds_since(load_begin);

  Manifest manifest;
  manifest.database_id = new_database_id();
  manifest.catalog_hash = program->hash();
  manifest.checkpoint_catalog_file = kCatalogFile;
  manifest.checkpoint_catalog_hash = program->hash();
  manifest.records = options.records;
  manifest.tuple_image = options.tuple_image;
  manifest.layout = options.log.layout.value_or(LogLayout::kStream);
  manifest.attributes = options.attributes;
  const CheckpointIdentity identity{manifest.database_id, manifest.catalog_hash};
  const uint64_t checkpoint_begin = monotonic_ns();
  const Result<WrittenCheckpoint> written = write_checkpoint(*database, directory, identity, options.threads);
  if (!written) return written.error();
  created.checkpoint_seconds = seconds_since(checkpoint_begin);
  created.checkpoint_bytes = written->bytes;
  created.rows = written->rows;

  manifest.checkpoint_file = written->file;
  Result<std::unique_ptr<ManifestFile>> file = ManifestFile::create(directory, manifest);
  if (!file) return file.error();
  RETURN_IF_ERROR(end_making(directory));
  RETURN_IF_ERROR(WorkingDatabaseMaker::start(created.working, std::move(*file), std::move(program),
                                              std::move(database), LogContents{}, options.log));
  return created;
}

bool WorkingDatabase::is_recovered() const {
  return rest_ == nullptr || rest_->is_settled();
}

bool WorkingDatabase::recovery_has_failed() const {
  return rest_ != nullptr && rest_->has_failed();
}

Result<void> WorkingDatabase::finish_recovery() {
  return rest_ == nullptr ? Result<void>() : rest_->finish();
}

void WorkingDatabase::replace(std::unique_ptr<Program> program) {
  program_ = std::move(program);
  ++schema_version_;
}

Result<void> write_catalog(const std::string& directory, const Program& program, Manifest& manifest) {
  const uint64_t hash = program.hash();
  if (hash == manifest.checkpoint_catalog_hash) return {};
  const std::string file = catalog_file(manifest, hash);
  if (file != kCatalogFile) RETURN_IF_ERROR(replace_text_file(directory + "/" + file, program.text()));
  manifest.checkpoint_catalog_file = file;
  manifest.checkpoint_catalog_hash = hash;
  return {};
}

NativeFolders working_folders(const std::string& directory) {
  // Where another user could put a folder of the same path there.
  if (!open_trusted_folder(directory)) return user_folders({NativeFolders::of_program()});
  // The user's other directories can use what one has compiled.
  const NativeFolders users = user_folders({});
  NativeFolders folders;
  folders.keep = native_folder(directory);
  folders.look = {NativeFolders::of_program()};
  if (!users.keep.empty()) folders.look.push_back(users.keep);
  folders.share = users.keep;
  folders.most_shared = users.most_kept;
  return folders;
}

Result<OpenedDatabase> open_for_work(const std::string& directory, const RecoverOptions& options,
                                     const DurableLogOptions& log) {
  // Before the lock is made: what is refused is left as it was.
  const Result<Manifest> found = read_manifest(directory);
  if (!found) return found.error();
  RETURN_IF_ERROR(check_no_standby(directory, *found));
  RecoverOptions with_workers = options;
  if (with_workers.scheme == nullptr)
    with_workers.scheme = &default_scheme(found->records, found->tuple_image);
  RETURN_IF_ERROR(check_served_for_work(*with_workers.scheme, found->records, found->tuple_image));
  if (log.streams.partition == StreamPartition::kPage) RETURN_IF_ERROR(check_pages(found->records));
  Result<WorkingDatabase> working = WorkingDatabaseMaker::begin(directory);
  if (!working) return working.error();
  with_workers.workers = log.workers;
  // A former engine may write no more before its log is read.
  const Result<RemoteClaim> claim = claim_remote_log(directory, log);
  if (!claim) return claim.error();
  DurableLogOptions claimed = log;
  claimed.device_options.remote.owner = claim->term.owner;
  const Result<bool> closed = close_to_others(directory);
  if (!closed) return closed.error();
  if (found->layout == LogLayout::kEpoch) RETURN_IF_ERROR(check_pepoch_is_own(directory));
  Result<RecoveredDatabase> recovered = recover_locked(directory, with_workers, working_folders(directory));
  if (!recovered) return recovered.error();
  Result<std::unique_ptr<ManifestFile>> manifest = ManifestFile::open(directory);
  if (!manifest) return manifest.error();
  if (*closed) {
    recovered->report.notices.push_back(fmt::format(
        "files in {} could be opened by other users: they are its owner's alone now (mode 0600)", directory));
  }
  remove_abandoned_compilations(native_folder(directory));
  OpenedDatabase opened{std::move(*working), std::move(recovered->report)};
  RETURN_IF_ERROR(WorkingDatabaseMaker::start(opened.working, std::move(*manifest),
                                              std::move(recovered->program), std::move(recovered->database),
                                              recovered->log, claimed, std::max(claim->term.number, 1u)));
  if (recovered->rest != nullptr) {
    recovered->rest->keep(std::move(recovered->log));
    WorkingDatabaseMaker::begin_rest(opened.working, std::move(recovered->rest));
  }
  return opened;
}

}  // namespace mneme
