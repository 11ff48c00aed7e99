// Whole log: a data directory's manifest, extended by what an archive has kept
// (logging/directory/log_archive.h), so that recovery replays the whole history from the oldest checkpoint
// on.
//
// Invariants  a segment that the manifest lists is taken from where it lists it, also where the archive has
//             it as well.
// Errors      the archive can't be read, or holds nothing of this database: a sentence.
#pragma once

#include <string>

#include "base/result.h"
#include "logging/directory/manifest.h"

namespace mneme {

Result<Manifest> with_archive(Manifest manifest, const std::string& archive);

}  // namespace mneme
