// Wrong: the payload may be of any size.
// Must fail: Rule: No payload is longer than kMaxPayloadBytes
// The log record: what its writer and its reader must agree on.
//
//     offset 0   uint32  CRC32C of all bytes of the record after this field
//     offset 4   uint24  bytes of the whole record, header and payload
//     offset 7   uint8   kind
//     offset 8   uint64  bits 0 ... 62: LSN of the record; bit 63: it is a part of a record (stream_record.h)
//     offset 16  payload
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "logging/record/lsn.h"
#include "logging/record/stream_position.h"

namespace mneme {

enum class RecordKind : uint8_t {
  kSkip = 1,      // a place in the order that no transaction took; the payload is zeros
  kCommand = 2,   // a procedure call: procedures/interpreter/call_codec.h
  kLogical = 3,   // the rows that a transaction changed: engine/schema/change_codec.h
  kAll = 4,       // a call and, as kPhysical, its rows
  kPhysical = 5,  // the rows that a transaction changed, with where they lie: engine/schema/change_codec.h
  kSchema = 6,    // a CREATE or DROP, as it was written: procedures/session/catalog_change.h
};

inline constexpr size_t kRecordHeaderBytes = 16;
inline constexpr size_t kMaxRecordBytes = (size_t{1} << 24) - 1;
// The largest payload of a record. Every worker's largest record fits the smallest ring.
inline constexpr size_t kMaxPayloadBytes = 256 * 1024;
static_assert(kMaxPayloadBytes + kRecordHeaderBytes <= kMaxRecordBytes);

struct RecordHeader {
  static constexpr uint64_t kPartBit = uint64_t{1} << 63;

  uint32_t checksum = 0;
  uint32_t record_bytes = 0;
  RecordKind kind = RecordKind::kSkip;
  Lsn lsn;
  bool is_part = false;  // of the record with this LSN

  static RecordHeader decode(const std::byte* from) {
    const auto length_and_kind = load<uint32_t>(from + 4);
    const auto lsn_and_part = load<uint64_t>(from + 8);
    return {load<uint32_t>(from), length_and_kind & 0xffffff, static_cast<RecordKind>(length_and_kind >> 24),
            Lsn{lsn_and_part & ~kPartBit}, (lsn_and_part & kPartBit) != 0};
  }
  void encode(std::byte* to) const {
    store(to, checksum);
    store(to + 4, record_bytes | static_cast<uint32_t>(kind) << 24);
    store(to + 8, lsn.value | (is_part ? kPartBit : 0));
  }
};

// How records follow one another: without a gap, but in persistent memory (nvm_format.h), and in what was
// destaged from it.
struct RecordLayout {
  uint64_t alignment = 1;           // of a record's begin
  uint32_t checksum_seed = 0;       // of its checksum
  bool is_seeded_by_place = false;  // where a record begins is in its checksum, too: elsewhere it is none

  // Returns the seed of the checksum of a record that begins at `at`.
  uint32_t seed_at(StreamPosition at) const {
    if (!is_seeded_by_place) return checksum_seed;
    std::byte place[sizeof at.value];
    store(place, at.value);
    return crc32c(place, checksum_seed);
  }
  // Returns how many bytes of the log a record of this size takes.
  constexpr uint64_t stream_bytes(uint64_t record_bytes) const {
    return (record_bytes + alignment - 1) / alignment * alignment;
  }
};

// The checksum that a record of this encoded header and this payload must carry. `seed` is
// the layout's.
inline uint32_t record_checksum(const std::byte* header, ByteSpan payload, uint32_t seed = 0) {
  return crc32c(payload, crc32c({header + sizeof(uint32_t), kRecordHeaderBytes - sizeof(uint32_t)}, seed));
}

// Whether a record that stands at `at` is what a writer makes: the one definition of a well-formed record.
// The writer asserts it before it publishes, the reader tests it after it loads. `header` is the encoded
// header.
inline bool record_is_well_formed(const std::byte* header, ByteSpan payload, Lsn at, uint32_t seed = 0) {
  const RecordHeader record = RecordHeader::decode(header);
  if (record.lsn != at || at < kFirstLsn) return false;
  if (record.record_bytes != kRecordHeaderBytes + payload.size()) return false;
  if (record.kind < RecordKind::kSkip || record.kind > RecordKind::kSchema) return false;
  return record.checksum == record_checksum(header, payload, seed);
}

}  // namespace mneme
