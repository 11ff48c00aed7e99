// Checkpoint loader: loads the rows of a checkpoint into an empty database, on several threads.
//
// Flow        header page, then the chunks' headers, one after the other -> threads take chunks: read, check,
//             decode, put rows into the slots that they had; their indexes are built afterwards
//             (index_builder.h), all at once
// Invariants  every byte that is used has passed its checksum before. The file is never changed. Rows have
//             the checkpoint's LSN afterwards: by it location_installer.h tells whether the version that a
//             later record follows is the checkpoint's.
// Threads     load_checkpoint() uses `threads` of its own. No other thread uses the database meanwhile.
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

// Loads the checkpoint that the manifest, the directory's, names. The caller's thread calls `progress` with
// how many of how many bytes of rows are done; first with 0.
Result<LoadedCheckpoint> load_checkpoint(Database& database, const std::string& directory,
                                         const Manifest& manifest, uint32_t threads,
                                         const std::function<void(uint64_t, uint64_t)>& progress = {});

}  // namespace mneme
