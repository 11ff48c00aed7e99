// FormerSectors: what each sector of a reused segment's blocks held before the segment's first record. It
// stands in for the zeros of a fresh file, where a crash is to be told from damage (block_format.h).
//
// Layout      behind the segment's last block: a u32 CRC32C for each sector of 512 bytes of each block, in
//             their order, then zeros up to a whole block. The header page has the table's own CRC32C.
// Invariants  A disk writes a sector whole or not at all, and all of a reused file is durable before the file
//             is listed (reused_segment.h). So a crash leaves of each sector what was written, or what was
//             there before. A block that is neither whole nor so torn has rotted: the rule of fresh segments,
//             with the former sector in the place of zeros.
// Threads     plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "logging/record/block_format.h"

namespace mneme {

class FormerSectors {
 public:
  // All sectors count as unknown until they are noted.
  explicit FormerSectors(uint32_t blocks);
  // Returns nullopt where the bytes are not the table that the segment's header page speaks of.
  static std::optional<FormerSectors> decode(ByteSpan table, const FormerBlocks& former);

  // `blocks` are whole blocks of the file, from block `index` on.
  void note(uint32_t index, ByteSpan blocks);
  // Fills former_table_bytes() bytes. Returns what the header page says of them.
  FormerBlocks encode(std::span<std::byte> table) const;

  // Whether these bytes, a sector, are what sector `sector` of block `index` held before.
  bool holds(uint32_t index, size_t sector, ByteSpan bytes) const;
  // Whether whole blocks of the file, from block `index` on, are all as they were before.
  bool hold(uint32_t index, ByteSpan blocks) const;
  // As may_be_torn() of a fresh segment's block.
  bool may_be_torn(uint32_t index, ByteSpan block, const std::optional<BlockHeader>& header) const;

 private:
  bool lacks_written(uint32_t index, ByteSpan block) const;

  std::vector<uint32_t> checksums_;
};

}  // namespace mneme
