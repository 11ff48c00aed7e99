// A log segment in persistent memory: what its writers and its reader must agree on. docs/log_format.md
// describes it for strangers.
//
//     segment file   header page (block_format.h, with its NvmExtent), then lines of 64 bytes: the byte at
//                    position x lies x - extent.begin behind the page
//     record         as record_format.h says, but it begins on a line, and is followed by zeros up to the
//                    next; its checksum is seeded
//
// Invariants  a line belongs to one record, so it has one writer, which writes it once and whole. A record
//             lies in one segment: a skip record fills the rest of a segment behind its last record. Only a
//             record of this place, this life and this database is taken for one: its LSN is its position,
//             and its checksum begins with a number made of the database's id and the incarnation. So neither
//             what another life left there, nor a payload that looks like a record, passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/cache_line.h"
#include "base/crc32c.h"
#include "logging/record/block_format.h"
#include "logging/record/record_format.h"

namespace mneme {

inline constexpr size_t kNvmLineBytes = 64;
// Where a ring's file (nvm_ring.h) has the page of its marks, and where the ring begins.
inline constexpr size_t kRingMarksAt = kSegmentHeaderBytes;
inline constexpr size_t kRingBegin = kRingMarksAt + kBlockBytes;
static_assert(kNvmLineBytes == kCacheLineBytes);

inline RecordLayout nvm_layout(uint64_t database_id, uint32_t incarnation) {
  std::byte whose[sizeof database_id + sizeof incarnation];
  store(whose, database_id);
  store(whose + sizeof database_id, incarnation);
  return {kNvmLineBytes, crc32c(whose)};
}

// Returns the layout of a stream's ring (nvm_ring.h), and of the segments that it is destaged to. An LSN is
// no position there, and places are used again lap after lap, so a record's position is in its checksum.
inline RecordLayout ring_layout(uint64_t database_id, uint32_t incarnation, uint32_t stream) {
  std::byte which[sizeof stream];
  store(which, stream);
  return {kNvmLineBytes, crc32c(which, nvm_layout(database_id, incarnation).checksum_seed),
          /*is_seeded_by_place=*/true};
}

// Gives the record's lines, in order: whole ones as they are, the last one filled up with zeros.
template <typename StoreLine>
void for_each_line(const std::byte* header, ByteSpan payload, StoreLine store_line) {
  constexpr size_t kFirstLineBytes = kNvmLineBytes - kRecordHeaderBytes;  // of payload
  alignas(kNvmLineBytes) std::byte line[kNvmLineBytes]{};
  std::memcpy(line, header, kRecordHeaderBytes);
  const size_t first = payload.size() < kFirstLineBytes ? payload.size() : kFirstLineBytes;
  if (first > 0) std::memcpy(line + kRecordHeaderBytes, payload.data(), first);
  store_line(line);
  for (payload = payload.subspan(first); payload.size() >= kNvmLineBytes;
       payload = payload.subspan(kNvmLineBytes)) {
    store_line(payload.data());
  }
  if (payload.empty()) return;
  std::memset(line, 0, sizeof line);
  std::memcpy(line, payload.data(), payload.size());
  store_line(line);
}

// Returns how many bytes of the log the record at the front of `rest` takes, which begins at `at`; 0 where
// there is none.
uint64_t nvm_record_at_front(ByteSpan rest, StreamPosition at, const RecordLayout& layout);

}  // namespace mneme
