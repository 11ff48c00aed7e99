// NativeHeaders: one digest over all project headers that the machine code of procedures may include.
//
// That code shares the layout of rows, keys and transactions with the program that loads it, so it must be
// compiled against the very headers that the program was built from. The build takes their digest
// (tools/header_digest.cc) and bakes it in; a process that is about to compile computes it again, and does
// not compile where they differ.
// Errors      a header that cannot be read: a sentence with its path.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mneme {

// Returns the names, sorted and relative to the directory, of the headers in the folders that procedures/ may
// include, but for those of tests (testing/), which are not installed.
Result<std::vector<std::string>> header_files(const std::string& source_directory);
// Returns 32 hexadecimal digits: of the names and contents of those headers.
Result<std::string> digest_of_headers(const std::string& source_directory);

}  // namespace mneme
