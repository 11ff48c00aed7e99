#include "logging/record/block_format.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/crc32c.h"
#include "logging/record/format_version.h"

namespace mneme {

namespace {

constexpr char kSegmentMagic[8] = {'M', 'N', 'E', 'M', 'E', 'L', 'O', 'G'};
constexpr char kNvmMagic[8] = {'M', 'N', 'E', 'M', 'E', 'N', 'V', 'M'};
constexpr char kLoggerMagic[8] = {'M', 'N', 'E', 'M', 'E', 'L', 'G', 'R'};
constexpr char kRingMagic[8] = {'M', 'N', 'E', 'M', 'E', 'R', 'N', 'G'};
constexpr uint32_t kBlockMagic = 'M' | 'N' << 8 | 'B' << 16 | 'K' << 24;
constexpr size_t kPageChecksumAt = 12;
// A header has nine bytes at least that aren't zero: the magic, and one of each number that can't be 0, which
// are all but the index, the progress, and the checksums. Of nine one may have rotted to zero.
constexpr size_t kLeastWritten = 8;

uint32_t page_checksum(const std::byte* page) {
  const uint32_t before = crc32c({page, kPageChecksumAt});
  const size_t after = kPageChecksumAt + sizeof(uint32_t);
  return crc32c({page + after, kBlockBytes - after}, before);
}

const char* magic_of(const SegmentHeader& header) {
  if (header.is_ring) return kRingMagic;
  if (header.nvm) return kNvmMagic;
  return header.logger ? kLoggerMagic : kSegmentMagic;
}

uint32_t header_checksum(const std::byte* block) {
  return crc32c({block + sizeof(uint32_t), kBlockHeaderBytes - sizeof(uint32_t)});
}

}  // namespace

void SegmentHeader::encode(std::byte* page) const {
  std::memset(page, 0, kBlockBytes);
  std::memcpy(page, magic_of(*this), sizeof kSegmentMagic);
  store(page + 8, kFormatVersion);
  store(page + 16, database_id);
  store(page + 24, catalog_hash);
  store(page + 32, number);
  store(page + 36, incarnation);
  if (nvm) {
    store(page + 40, nvm->begin.value);
    store(page + 48, nvm->writers);
    store(page + 52, nvm->longest_record_bytes);
  }
  if (logger) store(page + 40, *logger);
  if (is_destaged || is_marked) store(page + 44, uint32_t{1});
  if (file_bytes > 0) store(page + 56, file_bytes);
  store(page + kPageChecksumAt, page_checksum(page));
}

Result<SegmentHeader> SegmentHeader::decode(ByteSpan page, const std::string& file) {
  if (page.size() < kBlockBytes) {
    return damaged("{} is damaged: it ends at byte {}, inside its header page; nothing was changed", file,
                   page.size());
  }
  const bool is_nvm = std::memcmp(page.data(), kNvmMagic, sizeof kNvmMagic) == 0;
  const bool is_loggers = std::memcmp(page.data(), kLoggerMagic, sizeof kLoggerMagic) == 0;
  const bool is_ring = std::memcmp(page.data(), kRingMagic, sizeof kRingMagic) == 0;
  const bool magic_is_right =
      is_nvm || is_loggers || is_ring || std::memcmp(page.data(), kSegmentMagic, sizeof kSegmentMagic) == 0;
  const bool checksum_is_right = load<uint32_t>(page.data() + kPageChecksumAt) == page_checksum(page.data());
  const auto version = load<uint32_t>(page.data() + 8);
  // A foreign file has neither; damage to ours leaves one of them.
  if (!magic_is_right && !checksum_is_right) {
    return damaged(
        "{} is no log segment of Mneme: it begins with other bytes; put the segment back in its place", file);
  }
  if (magic_is_right && checksum_is_right && version != kFormatVersion) {
    return invalid_argument(
        "{} has format version {}, and this program reads version {}: use the program that wrote it", file,
        version, kFormatVersion);
  }
  if (!magic_is_right || !checksum_is_right) {
    return damaged(
        "{} is damaged at byte 0: the checksum of its header page doesn't match; nothing was changed", file);
  }
  SegmentHeader header{load<uint64_t>(page.data() + 16), load<uint64_t>(page.data() + 24),
                       load<uint32_t>(page.data() + 32), load<uint32_t>(page.data() + 36)};
  if (is_nvm) {
    header.nvm = {StreamPosition{load<uint64_t>(page.data() + 40)}, load<uint32_t>(page.data() + 48),
                  load<uint32_t>(page.data() + 52)};
  }
  if (is_loggers || is_ring) header.logger = load<uint32_t>(page.data() + 40);
  header.file_bytes = load<uint64_t>(page.data() + 56);
  header.is_ring = is_ring;
  header.is_destaged = is_loggers && load<uint32_t>(page.data() + 44) == 1;
  header.is_marked = is_ring && load<uint32_t>(page.data() + 44) == 1;
  return header;
}

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
