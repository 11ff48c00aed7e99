// Standby base: a standby begins with a copy of its primary's data directory: checkpoint, catalog, manifest,
// and such log files as there are. The rest of the log comes out of the replicated log.
//
// Flow        copy_base(), or a copy made by other means -> adopt_base() -> follower.h
// A copy      of a primary at work: files that a manifest names never change; but a checkpoint may replace
//             them meanwhile, and then all is copied anew. The copy's manifest is written last, so what a
//             crash leaves is no database.
// Adopted     the manifest lists those segments alone that there are, and knows no incarnation past them: it
//             will come again.
// Promoted    what the directory holds of the log is the log, and a new incarnation, or more than one, goes
//             on behind it.
// Errors      a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/reading/log_reader.h"

namespace mneme {

// Marks the manifest of a directory that follows another engine's log. It must not be worked on before it is
// promoted.
inline constexpr const char* kStandbyAttribute = "standby";

bool is_standby(const Manifest& manifest);
// To be called before a directory is opened for work.
Result<void> check_no_standby(const std::string& directory, const Manifest& manifest);

// Into a directory that holds no database, and is made where it is missing.
Result<void> copy_base(const std::string& primary, const std::string& directory);

// Makes a copy's manifest that of a standby, unless it is one. The directory is locked.
Result<void> adopt_base(ManifestFile& manifest);

// Makes a standby's directory, which is locked, a database to work on. Its next incarnation has this number,
// or a higher one. Returns the log, of which nothing is kept in memory. If `end` is given, and the log ends
// elsewhere, fails with kDamaged, and the directory remains a standby's.
Result<LogContents> become_database(ManifestFile& manifest, uint32_t least_incarnation,
                                    std::optional<Lsn> end, uint32_t threads);

// The same for a standby whose replicated log is lost: the directory's log is taken for the whole log, and no
// writer is fenced.
Result<Lsn> promote_as_is(const std::string& directory, uint32_t threads);

}  // namespace mneme
