// Checkpoint loader: loads the rows of a checkpoint into an empty database, on several threads.
//
// Flow        read the header page, then the chunks' headers, one after the other -> threads take chunks:
//             read, check, decode, put rows into the slots that they had. The caller builds the indexes
//             afterwards (index_builder.h), all at once.
// Invariants  every byte is checked against its checksum before it is used. The file is never changed. Every
//             loaded row has the checkpoint's LSN. From that LSN location_installer.h recognises a log record
//             that follows the checkpoint's version of the row.
// Threads     load_checkpoint() uses `threads` of its own. No other thread uses the database meanwhile.
// Errors      kInvalidArgument: the file has another format version. kDamaged: the file is missing, belongs
//             to another database or another checkpoint, or does not hold the bytes that were written; for a
//             bad page, header or chunk the error names the offset. After any error the caller must discard
//             the Database.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/checkpoint_format.h"
#include "engine/transaction/database.h"
#include "logging/directory/manifest.h"

namespace mneme {

struct LoadedCheckpoint {
  uint64_t bytes = 0;
  uint64_t rows = 0;
  bool is_partial = false;  // interrupted: the two count what was loaded
};

// Loads the checkpoint that `manifest`, the manifest of `directory`, names. Calls `progress` on the caller's
// thread with the bytes of rows that are loaded so far and their total; the first call has 0 bytes loaded.
// Any thread asks `is_interrupted` between chunks; once it returns true, no thread begins another chunk.
Result<LoadedCheckpoint> load_checkpoint(Database& database, const std::string& directory,
                                         const Manifest& manifest, uint32_t threads,
                                         const std::function<void(uint64_t, uint64_t)>& progress = {},
                                         const std::function<bool()>& is_interrupted = {});

// What the headers of that checkpoint say of its tables, of which there are `tables`; rows are not read.
struct CheckpointSummary {
  struct Table {
    uint64_t rows = 0;
    uint64_t bytes = 0;  // of its rows in the file
  };
  uint64_t file_bytes = 0;
  std::vector<Table> tables;  // by TableId
};
Result<CheckpointSummary> summarize_checkpoint(const std::string& directory, const Manifest& manifest,
                                               size_t tables);

}  // namespace mneme
