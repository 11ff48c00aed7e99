// read_secret_file(): the text of a file that holds a key, which only its owner may read.
//
// Threads  any. Opening the file never waits.
// Errors   the file is missing, is no regular file, belongs to another user, may be read by others, or holds
//          more than the caller allows: a sentence with the path, and what to do.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace mneme {

Result<std::string> read_secret_file(const std::string& path, size_t most_bytes);

}  // namespace mneme
