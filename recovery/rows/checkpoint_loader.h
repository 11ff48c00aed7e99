// Checkpoint loader: the rows of a checkpoint into an empty database, on several threads.
//
// Flow        header page, then the chunks' headers, one after the other -> threads take chunks: read, check,
//             decode, put rows into the slots that they had; their indexes are built afterwards
//             (index_builder.h), all at once
// Invariants  every byte that is used has passed its checksum before. The file is never changed. Rows stand
//             at the checkpoint's LSN afterwards: what a later record says that it follows is told by that
//             from what it may not.
// Threads     load_checkpoint() uses `threads` of its own. The database is nobody else's meanwhile.
// Errors      not this database's, or of another format version: kInvalidArgument. Not what was written:
//             kDamaged, with file and offset. The database is then to be thrown away.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "engine/checkpoint/checkpoint_format.h"
#include "engine/transaction/database.h"
#include "logging/directory/manifest.h"

namespace mneme {

struct LoadedCheckpoint {
  uint64_t bytes = 0;
  uint64_t rows = 0;
};

// Loads the checkpoint that the manifest, the directory's, names. `progress` is told, by the caller's thread,
// how many of how many bytes of rows are done, first of all 0.
Result<LoadedCheckpoint> load_checkpoint(Database& database, const std::string& directory,
                                         const Manifest& manifest, uint32_t threads,
                                         const std::function<void(uint64_t, uint64_t)>& progress = {});

}  // namespace mneme
