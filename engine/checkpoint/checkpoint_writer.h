// Checkpoint writer: all live rows of a database at rest, as one file.
//
// Flow        threads take ranges of slots (slot_ranges.h) -> rows -> checkpoint_file.h
// Threads     the database is at rest: no transaction runs. Of one at work, online_checkpointer.h takes them.
// Errors      the disk is full or fails: a sentence; the file is removed.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/checkpoint/checkpoint_file.h"
#include "engine/transaction/database.h"

namespace mneme {

Result<WrittenCheckpoint> write_checkpoint(const Database& database, const std::string& directory,
                                           const CheckpointIdentity& identity, uint32_t threads);

}  // namespace mneme
