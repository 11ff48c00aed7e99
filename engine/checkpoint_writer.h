// Checkpoint writer: all live rows of a database at rest, as one file.
//
// Flow        threads take ranges of slots -> rows into chunks -> chunks at offsets drawn from a counter -> sync ->
//             header page -> sync, file and directory -> the caller makes it current in the manifest
// Invariants  until the manifest names the file, nobody reads it: a crash in between leaves a file of no consequence.
// Threads     the database is at rest: no transaction runs.
// Errors      the disk is full or fails: a sentence; the file is removed.
// Source      the format is checkpoint_format.h's.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/checkpoint_format.h"
#include "engine/database.h"

namespace mneme {

struct CheckpointOptions {
  uint64_t database_id = 0;
  uint64_t catalog_hash = 0;
  Lsn lsn = kCheckpointLsn;
  uint32_t threads = 1;
};

struct WrittenCheckpoint {
  std::string file;  // its name in the directory
  uint64_t bytes = 0;
  uint64_t rows = 0;
};

Result<WrittenCheckpoint> write_checkpoint(const Database& database, const std::string& directory,
                                           const CheckpointOptions& options);

}  // namespace mneme
