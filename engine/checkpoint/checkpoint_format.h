// The checkpoint file: what its writer (engine/) and its loader (recovery/) must agree on.
//
//     header page   0 magic "MNEMECKP"   8 u32 version          12 u32 CRC32C of the page without this field
//     (4096 bytes)  16 u64 database id   24 u64 catalog hash    32 u64 LSN       40 u64 chunks
//                   48 u64 rows          56 u64 bytes of the whole file          64 u64 offset of the bounds
//                   72 u32 CRC32C of the bounds      76 zeros
//     chunk         0 u32 CRC32C of the header without this field    4 u32 magic "MNCK"    8 u32 table
//                   12 u32 rows            16 u32 payload bytes   20 u32 CRC32C of the payload
//                   24 u64 offset of the chunk in the file
//                   32 payload: its rows, one after the other
//     row           zigzag varint: its slot less the slot behind the row's before it in the chunk (0 for the
//                   chunk's first), then its columns, as row_codec.h encodes them
//     bounds        up to the end of the file; for each chunk, in the order of offsets: u64 slot behind the
//                   highest one of its rows, then for each index of its table, in the catalog's order, the
//                   lowest and the highest key of its rows (u64 words, as KeyCodec makes them)
//
// The bounds say which chunks have to be loaded before rows with given keys may be looked for. Checkpoints of
// former engines have none: their version is the directory's (format_version.h).
//
// Slots are what locations in the log mean (change_codec.h): a row is where the checkpoint says, or where a
// later record has put it. Rows of a chunk whose slots follow one another spend one byte on it. Chunks follow
// one another without gaps, in any order of tables and rows. The header page is written last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "logging/record/lsn.h"

namespace mneme {

// The version of files whose chunks say which keys their rows have.
inline constexpr uint32_t kCheckpointVersion = 5;

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
  uint64_t bounds_offset = 0;  // 0: there are none
  uint32_t bounds_checksum = 0;

  uint64_t chunks_end() const { return bounds_offset == 0 ? file_bytes : bounds_offset; }
  // Fills a page.
  void encode(std::byte* page) const;
  // `file` names the page in errors: foreign file, other format version (kInvalidArgument), or damaged.
  static Result<CheckpointHeader> decode(ByteSpan page, const std::string& file);
};

// What is known of a chunk's rows without reading them.
struct CheckpointChunkBounds {
  uint64_t slot_end = 0;        // behind the highest slot
  std::vector<uint64_t> words;  // for each index of the table: the lowest key, then the highest

  static uint64_t encoded_bytes(size_t words) { return 8 * (1 + words); }
  void append_to(std::vector<std::byte>& bytes) const;
  // Returns the bounds at the front of `bytes`, with so many words, and takes them off. There are enough.
  static CheckpointChunkBounds take_from(ByteSpan& bytes, size_t words);
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
