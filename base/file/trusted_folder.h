// Folders and files whose content can be run: only root and the effective user can have put it there.
//
// Rules       Every folder of the path, from the root on, belongs to root or to the effective user, and no
//             other user may write to it. A folder with the sticky bit (/tmp) may be writable by all: there
//             no user can rename another's entries. Symbolic links belong to root or to the effective user.
//             So no other user can have chosen where the path leads. The folder itself, and the file, must
//             have no leave for group or others to write, and the file is regular.
// Invariants  the check is of an open descriptor, and the caller reads and runs that descriptor: a path could
//             lead elsewhere by then.
// Errors      failed, with the path of what can't be trusted, why, and what to do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

struct FolderTrust {
  // Trusted beside root and the effective user: the owner of the running program, whose code runs anyway. A
  // group may write to the folders above.
  bool is_programs = false;
  // A group may write to the folder itself, too.
  bool is_groups = false;
  // Folders that are missing are made, for the effective user alone.
  bool is_made = false;
};

// A descriptor of the folder. `path` is absolute, or begins at the working directory.
Result<File> open_trusted_folder(const std::string& path, const FolderTrust& trust = {});

// A file of such a folder, for reading.
Result<File> open_trusted_file(const File& folder, const std::string& name, const FolderTrust& trust = {});

// A path by which an entry of the open folder is reached, wherever the folder is moved to.
std::string path_at(const File& folder, const std::string& name);

}  // namespace mneme
