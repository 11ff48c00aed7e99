// Checkpoint chunks: the chunks of a checkpoint's file, found and checked, and each read into its table.
//
// Flow        open_checkpoint(): the header page, the chunks' headers, their bounds -> ChunkReader::read(), a
//             chunk at a time
// Invariants  every byte is checked against its checksum before it is used. The file is never changed.
// Threads     open_checkpoint(): the caller's. read(): any, each with a payload of its own.
// Errors      as checkpoint_loader.h says.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file/file.h"
#include "base/result.h"
#include "engine/checkpoint/checkpoint_format.h"
#include "engine/schema/row_codec.h"
#include "engine/transaction/database.h"
#include "logging/directory/manifest.h"

namespace mneme {

// The file that a manifest names, and what it says of itself.
struct OpenedCheckpoint {
  File file;
  CheckpointHeader header;
  std::vector<CheckpointChunkHeader> chunks;
  std::vector<std::byte> bounds;  // of the chunks, encoded; empty: the file has none

  uint64_t row_bytes() const;
};

// `tables`: how many the checkpoint's catalog has.
Result<OpenedCheckpoint> open_checkpoint(const std::string& directory, const Manifest& manifest,
                                         size_t tables);

class ChunkReader {
 public:
  // What an error says behind what is wrong with the file: of one that was found before anything was done.
  static constexpr std::string_view kNothingChanged =
      "nothing was changed: put the file back from a copy of the directory";

  // All that is given outlives this.
  ChunkReader(Database& database, const OpenedCheckpoint& checkpoint, std::string_view advice)
      : database_(database), checkpoint_(checkpoint), advice_(advice) {}

  static constexpr uint64_t kAnySlot = std::numeric_limits<uint64_t>::max();

  // Puts the chunk's rows, all of which are below `slot_end`, into their slots, where no index leads to them
  // yet. `rows` gets them.
  Result<void> read(const CheckpointChunkHeader& chunk, uint64_t slot_end, std::vector<std::byte>& payload,
                    std::vector<Row*>& rows) const;

 private:
  enum class Outcome : uint8_t { kOk, kNoRow, kTwice, kOutOfMemory };

  Outcome put(TableId table, uint64_t slot, const RowCodec& codec, ByteReader& reader, Row*& row) const;

  Database& database_;
  const OpenedCheckpoint& checkpoint_;
  const std::string_view advice_;
};

}  // namespace mneme
