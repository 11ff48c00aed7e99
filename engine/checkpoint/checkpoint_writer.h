// Checkpoint writer: all live rows of a database at rest, as one file.
//
// Flow        threads take ranges of slots (slot_ranges.h) -> rows -> checkpoint_file.h
// Threads     no transaction runs. For a database at work see online_checkpointer.h.
// Errors      a full or failing disk. The error is a sentence for the user, and the file is removed.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/checkpoint/checkpoint_file.h"
#include "engine/transaction/database.h"

namespace mneme {

Result<WrittenCheckpoint> write_checkpoint(const Database& database, const std::string& directory,
                                           const CheckpointIdentity& identity, uint32_t threads,
                                           size_t chunk_bytes = kCheckpointChunkBytes);

}  // namespace mneme
