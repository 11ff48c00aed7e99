// The headers of blocks, and what a crash may leave of a block (block_format.h).
#include <algorithm>

#include "base/check.h"
#include "base/crc32c.h"
#include "logging/record/block_format.h"

namespace mneme {

namespace {

constexpr uint32_t kBlockMagic = 'M' | 'N' << 8 | 'B' << 16 | 'K' << 24;
// A header has nine bytes at least that aren't zero: the magic, and one of each number that can't be 0, which
// are all but the index, the progress, and the checksums. Of nine one may have rotted to zero.
constexpr size_t kLeastWritten = 8;

uint32_t header_checksum(const std::byte* block) {
  return crc32c({block + sizeof(uint32_t), kBlockHeaderBytes - sizeof(uint32_t)});
}

}  // namespace

void BlockHeader::encode(std::byte* block) const {
  DCHECK(used_bytes <= kBlockPayloadBytes);
  store(block + 4, kBlockMagic);
  store(block + 8, crc32c({block + kBlockHeaderBytes, kBlockPayloadBytes}));
  store(block + 12, used_bytes);
  store(block + 16, begin.value);
  store(block + 24, durable.value);
  store(block + 32, incarnation);
  store(block + 36, segment);
  store(block + 40, index);
  store(block + 44, progress);
  store(block, header_checksum(block));
}

std::optional<BlockHeader> BlockHeader::decode(ByteSpan block) {
  if (block.size() < kBlockHeaderBytes) return std::nullopt;
  const std::byte* from = block.data();
  if (load<uint32_t>(from + 4) != kBlockMagic || load<uint32_t>(from) != header_checksum(from))
    return std::nullopt;
  BlockHeader header;
  header.payload_checksum = load<uint32_t>(from + 8);
  header.used_bytes = load<uint32_t>(from + 12);
  header.begin = StreamPosition{load<uint64_t>(from + 16)};
  header.durable = Lsn{load<uint64_t>(from + 24)};
  header.incarnation = load<uint32_t>(from + 32);
  header.segment = load<uint32_t>(from + 36);
  header.index = load<uint32_t>(from + 40);
  header.progress = load<uint32_t>(from + 44);
  if (header.used_bytes == 0 || header.used_bytes > kBlockPayloadBytes) return std::nullopt;
  return header;
}

bool BlockHeader::payload_is_intact(ByteSpan block) const {
  if (block.size() < kBlockBytes) return false;
  return payload_checksum == crc32c(block.subspan(kBlockHeaderBytes, kBlockPayloadBytes));
}

bool may_be_torn(ByteSpan block, const std::optional<BlockHeader>& header) {
  if (block.size() < kBlockBytes) return true;
  // Bytes that rotted where nothing had been written are not worth a refusal.
  if (!header)
    return kSectorBytes - static_cast<size_t>(std::ranges::count(block.first(kSectorBytes), std::byte{0})) <
           kLeastWritten;
  const size_t used = kBlockHeaderBytes + header->used_bytes;
  if (!is_zeros(block.subspan(used))) return false;
  for (size_t at = kSectorBytes; at < used; at += kSectorBytes) {
    if (is_zeros(block.subspan(at, kSectorBytes))) return true;
  }
  return false;
}

}  // namespace mneme
