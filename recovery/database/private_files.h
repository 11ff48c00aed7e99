// A data directory's files are its owner's alone. One that was made before they were, or whose modes were
// changed, is closed when it is opened for work: rows could be read, and the log's locks be held, by whoever
// can open its files.
#pragma once

#include <string>

#include "base/result.h"

namespace mneme {

// Takes group's and others' leave from the files that the database has, and from its folders. Returns whether
// there was any. The caller holds the directory for work. Fails for a file that is another user's.
Result<bool> close_to_others(const std::string& directory);

}  // namespace mneme
