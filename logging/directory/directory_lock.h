// DirectoryLock: while one process has a data directory open for work, no other may work on it or read its
// log.
//
// An flock on DIR/lock: it ends with the process, however that dies, so a crash leaves nothing to clean up. A
// process that can open the file can hold the lock, so only the file's owner can open it (mode 0600). A child
// of fork() closes it, and the log's locked files: it would keep the directory locked when the process that
// works there has long been gone.
#pragma once

#include <string>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

class DirectoryLock {
 public:
  // For opening the directory for work; makes DIR/lock when it is missing. Refused to any user but the
  // directory's owner. Group and others lose their leave to write to the directory.
  static Result<DirectoryLock> for_work(const std::string& directory);
  // For reading a directory without changing it: refused while another process works on it. Several may read.
  static Result<DirectoryLock> for_reading(const std::string& directory);

 private:
  explicit DirectoryLock(File file) : file_(std::move(file)) {}

  File file_;  // not open where DIR/lock has never been made: then no engine has worked here
};

}  // namespace mneme
