// PreSharedKey: the secret that an engine and its log servers share, from a file.
//
// Invariants  at least 32 bytes, the file's text without the line's end, and readable only by its owner.
// Threads     plain data.
// Errors      a key file that others may read, or that is too short to be a secret: refused, with what to do.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace mneme {

struct PreSharedKey {
  std::string secret;
};

Result<std::shared_ptr<const PreSharedKey>> read_key_file(const std::string& path);

}  // namespace mneme
