// The checkpoint file: what its writer (engine/) and its loader (recovery/) must agree on.
//
//     header page   0 magic "MNEMECKP"   8 u32 format version   12 u32 CRC32C of the page without this field
//     (4096 bytes)  16 u64 database id   24 u64 catalog hash    32 u64 LSN       40 u64 chunks
//                   48 u64 rows          56 u64 bytes of the whole file          64 zeros
//     chunk         0 u32 CRC32C of the header without this field    4 u32 magic "MNCK"    8 u32 table
//                   12 u32 rows            16 u32 payload bytes   20 u32 CRC32C of the payload
//                   24 u64 offset of the chunk in the file
//                   32 payload: its rows, one after the other
//     row           zigzag varint: its slot less the slot behind the row's before it in the chunk (0 for the
//                   chunk's first), then its columns, as row_codec.h encodes them
//
// Slots are what locations in the log mean (change_codec.h): a row is where the checkpoint says, or where a
// later record has put it. Rows of a chunk whose slots follow one another spend one byte on it. Chunks follow
// one another without gaps, in any order of tables and rows. The header page is written last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "logging/record/lsn.h"

namespace mneme {

inline constexpr size_t kCheckpointHeaderBytes = 4096;
inline constexpr size_t kCheckpointChunkHeaderBytes = 32;
// A chunk is closed once its payload has reached this; it is what a thread writes or loads at a time.
inline constexpr size_t kCheckpointChunkBytes = size_t{1} << 20;

struct CheckpointHeader {
  uint64_t database_id = 0;
  uint64_t catalog_hash = 0;
  Lsn lsn;
  uint64_t chunks = 0;
  uint64_t rows = 0;
  uint64_t file_bytes = 0;

  // Fills a page.
  void encode(std::byte* page) const;
  // `file` names the page in errors: foreign file, other format version (kInvalidArgument), or damaged.
  static Result<CheckpointHeader> decode(ByteSpan page, const std::string& file);
};

struct CheckpointChunkHeader {
  uint32_t table = 0;
  uint32_t rows = 0;
  uint32_t payload_bytes = 0;
  uint32_t payload_checksum = 0;
  uint64_t offset = 0;

  void encode(std::byte* to) const;
  // Returns nullopt if these bytes are no intact chunk header.
  static std::optional<CheckpointChunkHeader> decode(ByteSpan bytes);
};

}  // namespace mneme
