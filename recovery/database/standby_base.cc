#include "recovery/database/standby_base.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "logging/directory/database_files.h"
#include "logging/directory/directory_lock.h"
#include "logging/directory/incarnation.h"
#include "logging/directory/newest_manifest.h"
#include "logging/reading/log_reader.h"
#include "logging/replicated/received_log.h"
#include "recovery/database/recover.h"

namespace mneme {

namespace {

namespace fs = std::filesystem;

constexpr int kTries = 5;

Result<void> copy_file(const std::string& primary, const std::string& file, const std::string& to) {
  const std::string folder = fs::path(to).parent_path().string();
  RETURN_IF_ERROR(make_directories(folder));
  const DirectoryChanges changes(folder);
  // An earlier attempt may have left a file of this name without making its directory entry durable.
  // copy_file_in() replaces the file, and changes.sync() makes the new entry durable.
  RETURN_IF_ERROR(copy_file_in(primary, file, to));
  return changes.sync();
}

// Returns the files to copy, by their paths from the data directory: the checkpoint, its catalog,
// kCatalogFile and those listed segments that exist.
std::set<std::string> base_files(const std::string& primary, const Manifest& manifest) {
  std::set<std::string> files{manifest.checkpoint_file, manifest.checkpoint_catalog_file, kCatalogFile};
  for (const SegmentEntry& each : manifest.segments) {
    if (fs::exists(path_in(primary, each.file))) files.insert(each.file);
  }
  return files;
}

Result<void> copy_files(const std::string& primary, const Manifest& manifest, const std::string& directory) {
  for (const std::string& file : base_files(primary, manifest)) {
    if (file.starts_with('/')) {
      return invalid_argument(
          "{} lies outside of {}, so a copy would share it: take a checkpoint there first "
          "(--checkpoint-every)",
          file, primary);
    }
    RETURN_IF_ERROR(copy_file(primary, file, path_in(directory, file)));
  }
  return {};
}

// Removes from the manifest the segments whose files are missing, and the incarnations that began past the
// segments that exist.
void cut_log(const std::string& directory, Manifest& manifest) {
  std::erase_if(manifest.segments,
                [&](const SegmentEntry& each) { return !fs::exists(path_in(directory, each.file)); });
  uint32_t last = 0;
  for (const SegmentEntry& each : manifest.segments) last = std::max(last, each.incarnation);
  // The first incarnation after `last` stays listed: its begin is the place where `last` ended.
  bool ended = last == 0;
  std::erase_if(manifest.incarnations, [&](const Incarnation& each) {
    if (each.begin <= manifest.checkpoint_lsn || each.number <= last) return false;
    return std::exchange(ended, true);
  });
  manifest.attributes.erase(kReceivedFromAttribute);
}

}  // namespace

bool is_standby(const Manifest& manifest) {
  return manifest.attributes.contains(kStandbyAttribute);
}

Result<void> check_no_standby(const std::string& directory, const Manifest& manifest) {
  if (!is_standby(manifest)) return {};
  return invalid_argument(
      "{} is a standby's, which follows another engine's log, and work on it would leave that: promote it "
      "first (mneme follow {} "
      "--promote)",
      directory, directory);
}

Result<void> copy_base(const std::string& primary, const std::string& directory) {
  if (holds_database(directory)) {
    return invalid_argument(
        "{} holds a database already: leave --from out to go on with it, or give another directory",
        directory);
  }
  RETURN_IF_ERROR(check_holds_no_files(directory));
  Result<void> copied;
  for (int i = 0; i < kTries; ++i) {
    Result<Manifest> manifest = read_manifest(primary);
    if (!manifest) return manifest.error();
    if (manifest->layout != LogLayout::kStream) {
      return invalid_argument(
          "the log of {} has several streams (--log-buffer {}), and a standby follows one of one stream",
          primary, name_of(manifest->layout));
    }
    RETURN_IF_ERROR(make_directories(directory));
    RETURN_IF_ERROR(begin_making(directory));
    copied = copy_files(primary, *manifest, directory);
    if (copied) {
      const auto created = ManifestFile::create(directory, *manifest);
      return created ? end_making(directory) : created.error();
    }
    const Result<Manifest> now = read_manifest(primary);
    // Another attempt helps only if a checkpoint has replaced the files meanwhile.
    if (now && now->checkpoint_file == manifest->checkpoint_file) return copied.error();
  }
  return copied.error();
}

Result<void> adopt_base(ManifestFile& manifest) {
  const Manifest base = manifest.current();
  if (is_standby(base)) return {};
  if (base.layout != LogLayout::kStream) {
    return invalid_argument(
        "the log of {} has several streams (--log-buffer {}), and a standby follows one of one stream",
        manifest.directory(), name_of(base.layout));
  }
  return manifest.update([&](Manifest& changed) {
    cut_log(manifest.directory(), changed);
    changed.attributes[kStandbyAttribute] = "follows";
  });
}

Result<LogContents> become_database(ManifestFile& manifest, uint32_t least_incarnation,
                                    std::optional<Lsn> end, uint32_t threads) {
  const Manifest standby = manifest.current();
  LogReadOptions read;
  read.threads = threads;
  read.from = standby.checkpoint_lsn;
  read.most_kept_bytes = 0;  // the log is scanned, and not kept in memory
  RETURN_IF_ERROR(check_is_newest(manifest.directory(), standby));
  auto held = read_log(manifest.directory(), standby, read);
  if (!held.ok()) return held.error();
  if (end && *end != held->end) {
    return damaged(
        "{} holds the log up to LSN {}, and the standby has replayed it up to {}: begin the standby anew, "
        "with a copy of "
        "the primary's directory",
        manifest.directory(), held->end.value, end->value);
  }
  RETURN_IF_ERROR(begin_incarnation(manifest, *held, least_incarnation));
  RETURN_IF_ERROR(manifest.update([](Manifest& changed) {
    changed.attributes.erase(kStandbyAttribute);
    changed.attributes.erase(kReceivedFromAttribute);
  }));
  return held;
}

Result<Lsn> promote_as_is(const std::string& directory, uint32_t threads) {
  const Result<Manifest> found = read_manifest(directory);
  if (!found) return found.error();
  if (!is_standby(*found))
    return invalid_argument("{} is no standby's: there is nothing to promote", directory);
  const Result<DirectoryLock> lock = DirectoryLock::for_work(directory);
  if (!lock) return lock.error();
  const Result<std::unique_ptr<ManifestFile>> manifest = ManifestFile::open(directory);
  if (!manifest) return manifest.error();
  const Result<LogContents> held = become_database(**manifest, 1, std::nullopt, threads);
  if (!held) return held.error();
  return held->end;
}

}  // namespace mneme
