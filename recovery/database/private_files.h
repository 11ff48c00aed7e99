// Only the owner of a data directory may open its files: another user who can could read rows, and hold the
// log's locks. A directory that was made before this rule, or whose modes were changed, is closed to others
// when it is opened for work.
#pragma once

#include <string>

#include "base/result.h"

namespace mneme {

// Removes the permissions of group and others from the database's files and folders. Returns whether there
// were any. Fails for a file that is another user's. The caller holds the directory for work.
Result<bool> close_to_others(const std::string& directory);

}  // namespace mneme
