// What a directory holds.
//
// Where the system stops telling, half of the list is an error like none of it: what goes by the list removes files, or takes those that it
// doesn't name for lost. (std::filesystem's loop throws there.) Any number of threads; errors: failed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mneme {

// The paths of the directory's entries, in the order of their names.
Result<std::vector<std::string>> paths_in(const std::string& directory);

}  // namespace mneme
