#include "logging/record/block_format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "logging/record/format_version.h"

namespace mneme {

namespace {

constexpr char kSegmentMagic[8] = {'M', 'N', 'E', 'M', 'E', 'L', 'O', 'G'};
constexpr char kNvmMagic[8] = {'M', 'N', 'E', 'M', 'E', 'N', 'V', 'M'};
constexpr char kLoggerMagic[8] = {'M', 'N', 'E', 'M', 'E', 'L', 'G', 'R'};
constexpr char kRingMagic[8] = {'M', 'N', 'E', 'M', 'E', 'R', 'N', 'G'};
constexpr size_t kPageChecksumAt = 12;

uint32_t page_checksum(const std::byte* page) {
  const uint32_t before = crc32c({page, kPageChecksumAt});
  const size_t after = kPageChecksumAt + sizeof(uint32_t);
  return crc32c({page + after, kBlockBytes - after}, before);
}

// Whether the page's checksum is right for one of the magics in the place of the page's own.
bool only_the_magic_is_damaged(ByteSpan page) {
  std::vector<std::byte> mended(page.begin(), page.begin() + kBlockBytes);
  return std::ranges::any_of(
      std::array{kSegmentMagic, kNvmMagic, kLoggerMagic, kRingMagic}, [&](const char* magic) {
        std::memcpy(mended.data(), magic, sizeof kSegmentMagic);
        return load<uint32_t>(mended.data() + kPageChecksumAt) == page_checksum(mended.data());
      });
}

const char* magic_of(const SegmentHeader& header) {
  if (header.is_ring) return kRingMagic;
  if (header.nvm) return kNvmMagic;
  return header.logger ? kLoggerMagic : kSegmentMagic;
}

}  // namespace

void SegmentHeader::encode(std::byte* page) const {
  std::memset(page, 0, kBlockBytes);
  std::memcpy(page, magic_of(*this), sizeof kSegmentMagic);
  store(page + 8, former ? kReusedSegmentVersion : kFormatVersion);
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
  if (former) {
    store(page + 64, former->blocks);
    store(page + 68, former->checksum);
  }
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
  // Damage behind the magic leaves the magic, and damage of the magic leaves what is behind it.
  if (!magic_is_right && !checksum_is_right && !only_the_magic_is_damaged(page)) {
    return damaged(
        "{} is no log segment of Mneme: it begins with other bytes; put the segment back in its place", file);
  }
  const bool is_reused = version == kReusedSegmentVersion;
  if (magic_is_right && checksum_is_right && version != kFormatVersion && !is_reused) {
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
  if (is_reused) {
    header.former = {load<uint32_t>(page.data() + 64), load<uint32_t>(page.data() + 68)};
    const uint32_t blocks = header.former->blocks;
    if (header.file_bytes != block_offset(blocks) + former_table_bytes(blocks)) {
      return damaged(
          "{} is damaged at byte 0: its header page says {} bytes, and {} blocks with their table take "
          "others; nothing was changed",
          file, header.file_bytes, blocks);
    }
  }
  header.is_ring = is_ring;
  header.is_destaged = is_loggers && load<uint32_t>(page.data() + 44) == 1;
  header.is_marked = is_ring && load<uint32_t>(page.data() + 44) == 1;
  return header;
}

}  // namespace mneme
