// Log archive: a directory that gets a database's files when a checkpoint makes them superfluous: the
// checkpoint before, and log segments. With what the data directory still holds they are the whole history,
// to be replayed or kept.
//
// Layout      ARCHIVE/DATABASE_ID/FILE, names as in the data directory
// Flow        keep_in_archive(): before the manifest forgets a file, so that a crash leaves it in one place
//             at least, or in both -> the data directory's own is removed -> recovery/log/whole_log.h reads
//             both together
// Cost        a second name for the same file; a copy, where the archive is in another file system.
// Errors      a sentence with both paths.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mneme {

// Where an archive keeps this database's files.
std::string archive_folder(const std::string& archive, uint64_t database_id);

// Makes the file durable in the archive's folder, which is made when it is missing, under its own name.
Result<void> keep_in_archive(const std::string& folder, const std::string& path);

}  // namespace mneme
