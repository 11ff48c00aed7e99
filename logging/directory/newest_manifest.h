// Newest manifest: whether the files beside a manifest show that it is older than the log.
//
// Invariant   a segment is listed, durably, before its first record (segment_file.h), and numbers rise and
//             never come up again: so one of this database's that holds records, and whose number is above
//             all that the manifest knows, proves an older manifest. One that holds none proves nothing: a
//             crash comes between making a segment and listing it.
// Errors      kDamaged: the manifest is older, or another database's segment is in the way of this one's;
//             kFailed: a file can't be read.
#pragma once

#include <string>

#include "base/result.h"
#include "logging/directory/manifest.h"

namespace mneme {

// Looks through the data directory, the folders in it that hold no database of their own, and all other
// folders where listed segments lie. No process may work in the directory meanwhile.
Result<void> check_is_newest(const std::string& directory, const Manifest& manifest);

}  // namespace mneme
