// Directories: what one holds, and how changes of one, entries that are made, renamed or removed, become
// durable.
//
// Invariant   Where DirectoryChanges::sync() has succeeded, all changes made since its construction are
//             durable. One sync covers the changes of all threads, and one that fails may have taken other
//             threads' changes with it: what it leaves behind no later sync is known to cover, though it
//             succeed (Rebello and others, Can Applications Recover from fsync Failures?, ATC 2020). So a
//             sync fails, too, where another of the directory has failed since the construction, by this
//             class in this process. A caller that tries again makes the changes anew.
// Threads     any; those that sync one directory do so one after the other. The argument: a failure is
//             counted before the next sync begins, so one that succeeds after it finds the count changed,
//             unless its changes were begun, and so made, after the failure.
// Errors      failed
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

// The paths of the directory's entries, in the order of their names. Where the system stops telling, half of
// the list is an error like none of it: what goes by the list removes files, or takes those that it doesn't
// name for lost. (std::filesystem's loop throws there.)
Result<std::vector<std::string>> paths_in(const std::string& directory);

class DirectorySyncs;

// Constructed before the changes are made. If the directory cannot be opened, sync() returns the error.
class DirectoryChanges {
 public:
  explicit DirectoryChanges(const std::string& path);
  Result<void> sync() const;

 private:
  Result<File> directory_;
  DirectorySyncs* syncs_ = nullptr;  // the directory's, of all threads; never goes
  uint64_t failures_before_ = 0;
};

// Makes one directory, of the effective user's alone (mode 0700, whatever the umask). Returns 0, or the
// system's error number.
int make_private_directory(const std::string& path);

// Makes the directory, and those above it that are not there. Each is durable before anything is made in it,
// also where a process that was killed made it before.
Result<void> make_directories(const std::string& path);

}  // namespace mneme
