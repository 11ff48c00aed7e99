// Your part of chapter 7: what a block's header says, whether its payload is what was written, and whether a
// crash may have left it so. Read BlockHeader and may_be_torn in logging/record/block_format.h first.
//
// This starter trusts whatever it reads, and takes all damage for a crash's. encode() is the engine's own.
#include <algorithm>

#include "base/check.h"
#include "base/crc32c.h"
#include "logging/record/block_format.h"

namespace mneme {

namespace {

constexpr uint32_t kBlockMagic = 'M' | 'N' << 8 | 'B' << 16 | 'K' << 24;

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
  const std::byte* from = block.data();
  BlockHeader header;
  header.payload_checksum = load<uint32_t>(from + 8);
  header.used_bytes = load<uint32_t>(from + 12);
  header.begin = StreamPosition{load<uint64_t>(from + 16)};
  header.durable = Lsn{load<uint64_t>(from + 24)};
  header.incarnation = load<uint32_t>(from + 32);
  header.segment = load<uint32_t>(from + 36);
  header.index = load<uint32_t>(from + 40);
  header.progress = load<uint32_t>(from + 44);
  return header;
}

bool BlockHeader::payload_is_intact(ByteSpan /*block*/) const {
  return true;
}

bool may_be_torn(ByteSpan /*block*/, const std::optional<BlockHeader>& /*header*/) {
  return true;
}

}  // namespace mneme
