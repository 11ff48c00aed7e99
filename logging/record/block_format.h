// The log's files: what their writer and their reader must agree on. docs/log_format.md describes
// them for strangers.
//
//     segment file   header page (4096 bytes), then blocks of 4096 bytes at fixed offsets, each written once
//     header page    0 magic "MNEMELOG"   8 u32 format version   12 u32 CRC32C of the page without this field
//                    16 u64 database id   24 u64 catalog hash    32 u32 segment number   36 u32 incarnation
//                    40 zeros, except in four kinds of files:
//                    magic "MNEMENVM", a segment in persistent memory (nvm_format.h):
//                      40 u64 position of the first byte behind the page   48 u32 writers
//                      52 u32 bytes of their longest record   56 zeros
//                    magic "MNEMELGR", a logger's segment (epoch_log.h): 40 u32 logger   44 zeros
//                    the same magic, a stream's segment (distributed_log.h): 40 u32 stream
//                      44 u32 1: its records were destaged from a ring in persistent memory, so that each
//                      begins on a line (nvm_format.h)
//                    magic "MNEMERNG", such a ring (nvm_ring.h): 40 u32 stream
//                      44 u32 1: it was made with a mark
//                    56 u64 the size of a file that was made with its full size; zero where it grows
//                    64 u32 blocks and 68 u32 CRC32C of the table behind them, of a segment whose file was
//                      another one's before (former_sectors.h); its format version is kReusedSegmentVersion
//     block          0 u32 CRC32C of bytes 4..47     4 u32 magic "MNBK"      8 u32 CRC32C of bytes 48..4095
//                    12 u32 payload bytes used       16 u64 position of the first payload byte
//                    24 u64 durable LSN              32 u32 incarnation      36 u32 segment number
//                    40 u32 block index              44 u32 progress         48 payload, then zeros
//
// Invariants  a position counts the payload bytes of its stream only. In a log of one stream it is the LSN,
//             too, and durable LSN <= position of the block: it is what was durable before the block was
//             written. A record may span blocks, never segments: a segment begins with a record. The header
//             has a checksum of its own, so that the durable LSN of a block counts even where its payload is
//             torn. In a logger's or a stream's segment positions are counted from 64 in each incarnation. In
//             a logger's segment progress are the epochs of the incarnation that all loggers had persisted
//             before the block was written. In a stream's segment the durable LSN is one of the commit order:
//             all records below it were durable, in whichever stream. Progress is how far past it the
//             stream's clock stood: no record of an earlier flush of the stream has an LSN at or above their
//             sum. Elsewhere progress is 0. A disk writes a sector of 512 bytes whole or not at all, and a
//             fresh segment is zeros: so a crash leaves of each of a block's sectors what was written or
//             zeros. A block that is neither whole nor so torn has rotted. In a reused segment the former
//             sector stands for the zeros; a block that its former segment left names that one's number, and
//             so is none of this segment's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "logging/record/lsn.h"
#include "logging/record/stream_position.h"

namespace mneme {

inline constexpr size_t kBlockBytes = 4096;
inline constexpr size_t kBlockHeaderBytes = 48;
inline constexpr size_t kSectorBytes = 512;
// The progress of a stream whose clock is further ahead than fits.
inline constexpr uint32_t kUnknownProgress = ~uint32_t{0};
inline constexpr size_t kBlockPayloadBytes = kBlockBytes - kBlockHeaderBytes;

// What the header of a segment in persistent memory adds.
struct NvmExtent {
  StreamPosition begin;  // of the first byte behind the header page
  uint32_t writers = 0;  // at most so many records were being written at any time
  uint32_t longest_record_bytes = 0;
};

// What the header of a reused segment adds: how many blocks it has, and the CRC32C of the table behind them
// (former_sectors.h).
struct FormerBlocks {
  uint32_t blocks = 0;
  uint32_t checksum = 0;

  bool operator==(const FormerBlocks&) const = default;
};

struct SegmentHeader {
  uint64_t database_id = 0;
  uint64_t catalog_hash = 0;
  uint32_t number = 0;
  uint32_t incarnation = 0;
  std::optional<NvmExtent> nvm{};  // nothing: the segment consists of blocks
  // whose stream it belongs to (epoch_log.h); nothing: the log is one stream
  std::optional<uint32_t> logger{};
  bool is_ring = false;      // a stream's ring in persistent memory (nvm_ring.h)
  bool is_destaged = false;  // a stream's, of what such a ring held
  bool is_marked = false;    // a ring that was made with a mark, and so has one ever after
  // The file's size when it was made: a file of another size is not what was written. 0: not noted, as the
  // file grows with the log, or was made before sizes were noted.
  uint64_t file_bytes = 0;
  // What the file held as a former segment. nullopt: it was made for this one, and its blocks were zeros.
  std::optional<FormerBlocks> former{};

  // Fills a whole block's worth of bytes.
  void encode(std::byte* page) const;
  // `file` names the page in errors: foreign file, other format version (kInvalidArgument), or damaged.
  static Result<SegmentHeader> decode(ByteSpan page, const std::string& file);
};

struct BlockHeader {
  uint32_t payload_checksum = 0;
  uint32_t used_bytes = 0;
  StreamPosition begin;  // of the first payload byte
  Lsn durable;
  uint32_t incarnation = 0;
  uint32_t segment = 0;
  uint32_t index = 0;  // 0 for the block right after the header page
  uint32_t progress = 0;

  StreamPosition end() const { return begin + used_bytes; }

  // `block` has kBlockBytes, its payload and padding already in place: encode() computes their checksum.
  void encode(std::byte* block) const;
  // Returns nullopt where the bytes are no intact block header. The payload is not looked at.
  static std::optional<BlockHeader> decode(ByteSpan block);
  // Whether the payload and its padding are what was written under this header.
  bool payload_is_intact(ByteSpan block) const;
};

// Returns whether a crash may have left a block that is not what was written, by its header (nullopt: it has
// none) or by its payload. Otherwise its bytes have changed since, or are another place's. A crash may have
// left a block that its file's end cuts off.
bool may_be_torn(ByteSpan block, const std::optional<BlockHeader>& header);

inline constexpr size_t kSegmentHeaderBytes = kBlockBytes;

// Where block `index` lies in its segment's file.
constexpr uint64_t block_offset(uint32_t index) {
  return kSegmentHeaderBytes + kBlockBytes * uint64_t{index};
}

// The bytes of a reused segment's table, which stands behind its last block.
constexpr size_t former_table_bytes(uint32_t blocks) {
  const size_t sums = kBlockBytes / kSectorBytes * sizeof(uint32_t) * size_t{blocks};
  return (sums + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

}  // namespace mneme
