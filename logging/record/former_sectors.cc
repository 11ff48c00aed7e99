#include "logging/record/former_sectors.h"

#include <algorithm>

#include "base/check.h"
#include "base/crc32c.h"

namespace mneme {

namespace {

constexpr size_t kSectorsOfBlock = kBlockBytes / kSectorBytes;

}  // namespace

FormerSectors::FormerSectors(uint32_t blocks) : checksums_(blocks * kSectorsOfBlock) {}

std::optional<FormerSectors> FormerSectors::decode(ByteSpan table, const FormerBlocks& former) {
  if (table.size() != former_table_bytes(former.blocks) || crc32c(table) != former.checksum)
    return std::nullopt;
  FormerSectors sectors(former.blocks);
  for (size_t i = 0; i < sectors.checksums_.size(); ++i)
    sectors.checksums_[i] = load<uint32_t>(table.data() + i * sizeof(uint32_t));
  return sectors;
}

void FormerSectors::note(uint32_t index, ByteSpan blocks) {
  const size_t first = index * kSectorsOfBlock;
  DCHECK(first + blocks.size() / kSectorBytes <= checksums_.size());
  for (size_t at = 0; at < blocks.size(); at += kSectorBytes)
    checksums_[first + at / kSectorBytes] = crc32c(blocks.subspan(at, kSectorBytes));
}

FormerBlocks FormerSectors::encode(std::span<std::byte> table) const {
  const auto blocks = static_cast<uint32_t>(checksums_.size() / kSectorsOfBlock);
  CHECK(table.size() == former_table_bytes(blocks));
  std::ranges::fill(table, std::byte{0});
  for (size_t i = 0; i < checksums_.size(); ++i) store(table.data() + i * sizeof(uint32_t), checksums_[i]);
  return {blocks, crc32c(table)};
}

bool FormerSectors::holds(uint32_t index, size_t sector, ByteSpan bytes) const {
  return checksums_[index * kSectorsOfBlock + sector] == crc32c(bytes);
}

bool FormerSectors::hold(uint32_t index, ByteSpan blocks) const {
  for (size_t at = 0; at < blocks.size(); at += kSectorBytes) {
    if (!holds(index, at / kSectorBytes, blocks.subspan(at, kSectorBytes))) return false;
  }
  return true;
}

// The header is bad, and its sector is not the former one: it has rotted. Where another sector was not
// written, the block was not whole before, so nothing durable lay in it. A sector of zeros shows nothing: the
// block may have written zeros there.
bool FormerSectors::lacks_written(uint32_t index, ByteSpan block) const {
  const std::vector<std::byte> zeros(kSectorBytes);
  // As of a fresh segment.
  if (holds(index, 0, zeros)) return mneme::may_be_torn(block, std::nullopt);
  for (size_t sector = 1; sector < kSectorsOfBlock; ++sector) {
    const ByteSpan bytes = block.subspan(sector * kSectorBytes, kSectorBytes);
    if (!is_zeros(bytes) && holds(index, sector, bytes)) return true;
  }
  return false;
}

bool FormerSectors::may_be_torn(uint32_t index, ByteSpan block,
                                const std::optional<BlockHeader>& header) const {
  if (block.size() < kBlockBytes) return true;
  const auto is_former = [&](size_t sector) {
    return holds(index, sector, block.subspan(sector * kSectorBytes, kSectorBytes));
  };
  if (!header) return is_former(0) || lacks_written(index, block);
  // It was written. Of the others one at least was not, and each that was has zeros behind the payload.
  const size_t used = kBlockHeaderBytes + header->used_bytes;
  bool lacks_one = false;
  for (size_t sector = 0; sector < kSectorsOfBlock; ++sector) {
    const size_t begin = std::max(sector * kSectorBytes, used);
    const size_t end = (sector + 1) * kSectorBytes;
    const bool has_zeros = begin >= end || is_zeros(block.subspan(begin, end - begin));
    if (sector == 0 || !is_former(sector)) {
      if (!has_zeros) return false;
    } else if (sector * kSectorBytes < used || !has_zeros) {
      // Zeros behind the payload are what was written there, too.
      lacks_one = true;
    }
  }
  return lacks_one;
}

}  // namespace mneme
