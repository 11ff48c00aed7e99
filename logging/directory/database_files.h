// Database files: which files of a directory look like a database's, and whether one may be made there.
//
// Invariants  a directory that is being made says so (kUnfinishedFile), durably, before its first other file,
//             and until its manifest is durable. So files without a manifest and without that file are other
//             data, and no database may be made over them.
// Threads     any; files are only read, but by the two that begin and end the making.
// Errors      kDamaged: the manifest alone is missing; kFailed: a file can't be read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mneme {

inline constexpr const char* kManifestFile = "MANIFEST";
inline constexpr const char* kPepochFile = "pepoch.log";
// There while the directory is being made.
inline constexpr const char* kUnfinishedFile = "unfinished";

// log-NNNNNN.segment, behind the prefix: "log-", or with a database's id before it.
bool names_segment(std::string_view name, std::string_view prefix);
// checkpoint-HHHHHHHHHHHHHHHH.
bool names_checkpoint(std::string_view name);

// The paths, from the directory, of files that look like a database's: segments, also in directories below
// that hold no database of their own, checkpoints, catalogs and pepoch.log. None where there is no directory.
Result<std::vector<std::string>> database_files(const std::string& directory);

// The directories among the paths that hold no database of their own.
std::vector<std::string> folders_in(const std::vector<std::string>& paths);

// Refuses a directory without a manifest that holds files of a database, unless a making of one was begun
// there and not ended.
Result<void> check_holds_no_files(const std::string& directory);

// To be called before a database's first file is made, and once its manifest is durable.
Result<void> begin_making(const std::string& directory);
Result<void> end_making(const std::string& directory);

// Whether the file has anything behind its header page: no fresh segment has. Of a reused one, whether
// anything is not as its former segment left it.
Result<bool> holds_records(const std::string& path);

}  // namespace mneme
