#include "engine/checkpoint/checkpoint_format.h"

#include <algorithm>
#include <array>

#include "base/crc32c.h"
#include "logging/record/format_version.h"

namespace mneme {
namespace {

constexpr uint64_t kMagic = 0x504b43454d454e4d;  // "MNEMECKP"
constexpr uint32_t kChunkMagic = 0x4b434e4d;     // "MNCK"
constexpr size_t kChecksumOffset = 12;

uint32_t page_checksum(ByteSpan page) {
  return crc32c(page.subspan(kChecksumOffset + 4), crc32c(page.first(kChecksumOffset)));
}

}  // namespace

void CheckpointHeader::encode(std::byte* page) const {
  std::fill_n(page, kCheckpointHeaderBytes, std::byte{0});
  store(page, kMagic);
  store(page + 8, bounds_offset == 0 ? kFormatVersion : kCheckpointVersion);
  store(page + 16, database_id);
  store(page + 24, catalog_hash);
  store(page + 32, lsn.value);
  store(page + 40, chunks);
  store(page + 48, rows);
  store(page + 56, file_bytes);
  store(page + 64, bounds_offset);
  store(page + 72, bounds_checksum);
  store(page + kChecksumOffset, page_checksum({page, kCheckpointHeaderBytes}));
}

Result<CheckpointHeader> CheckpointHeader::decode(ByteSpan page, const std::string& file) {
  if (page.size() < kCheckpointHeaderBytes)
    return damaged(
        "{} is cut short: it has no whole header page; nothing was changed: put the file back from a copy of "
        "the directory",
        file);
  page = page.first(kCheckpointHeaderBytes);
  const bool magic_is_right = load<uint64_t>(page.data()) == kMagic;
  const bool checksum_is_right = load<uint32_t>(page.data() + kChecksumOffset) == page_checksum(page);
  const auto version = load<uint32_t>(page.data() + 8);
  // A foreign file has neither; damage to ours leaves one of them.
  if (!magic_is_right && !checksum_is_right) {
    return damaged(
        "{} is no checkpoint of Mneme's: it does not begin with \"MNEMECKP\"; nothing was changed: put the "
        "checkpoint back in its "
        "place",
        file);
  }
  if (magic_is_right && checksum_is_right && version != kFormatVersion && version != kCheckpointVersion) {
    return invalid_argument(
        "{} has format version {}, and this program reads version {}: use the program that wrote it", file,
        version, kCheckpointVersion);
  }
  if (!magic_is_right || !checksum_is_right) {
    return damaged(
        "{}: the header page at offset 0 fails its checksum; nothing was changed: put the file back from a "
        "copy of the directory",
        file);
  }
  CheckpointHeader header;
  header.database_id = load<uint64_t>(page.data() + 16);
  header.catalog_hash = load<uint64_t>(page.data() + 24);
  header.lsn = Lsn{load<uint64_t>(page.data() + 32)};
  header.chunks = load<uint64_t>(page.data() + 40);
  header.rows = load<uint64_t>(page.data() + 48);
  header.file_bytes = load<uint64_t>(page.data() + 56);
  if (version == kCheckpointVersion) {
    header.bounds_offset = load<uint64_t>(page.data() + 64);
    header.bounds_checksum = load<uint32_t>(page.data() + 72);
  }
  return header;
}

void CheckpointChunkBounds::append_to(std::vector<std::byte>& bytes) const {
  size_t at = bytes.size();
  bytes.resize(at + encoded_bytes(words.size()));
  store(bytes.data() + at, slot_end);
  for (const uint64_t word : words) store(bytes.data() + (at += 8), word);
}

CheckpointChunkBounds CheckpointChunkBounds::take_from(ByteSpan& bytes, size_t words) {
  CheckpointChunkBounds bounds;
  bounds.slot_end = load<uint64_t>(bytes.data());
  for (size_t i = 1; i <= words; ++i) bounds.words.push_back(load<uint64_t>(bytes.data() + 8 * i));
  bytes = bytes.subspan(encoded_bytes(words));
  return bounds;
}

void CheckpointChunkHeader::encode(std::byte* to) const {
  store(to + 4, kChunkMagic);
  store(to + 8, table);
  store(to + 12, rows);
  store(to + 16, payload_bytes);
  store(to + 20, payload_checksum);
  store(to + 24, offset);
  store(to, crc32c({to + 4, kCheckpointChunkHeaderBytes - 4}));
}

std::optional<CheckpointChunkHeader> CheckpointChunkHeader::decode(ByteSpan bytes) {
  if (bytes.size() < kCheckpointChunkHeaderBytes) return {};
  bytes = bytes.first(kCheckpointChunkHeaderBytes);
  if (load<uint32_t>(bytes.data()) != crc32c(bytes.subspan(4))) return {};
  if (load<uint32_t>(bytes.data() + 4) != kChunkMagic) return {};
  CheckpointChunkHeader header;
  header.table = load<uint32_t>(bytes.data() + 8);
  header.rows = load<uint32_t>(bytes.data() + 12);
  header.payload_bytes = load<uint32_t>(bytes.data() + 16);
  header.payload_checksum = load<uint32_t>(bytes.data() + 20);
  header.offset = load<uint64_t>(bytes.data() + 24);
  return header;
}

}  // namespace mneme
