// A log segment in persistent memory: what its writers and its reader must agree on. docs/log_format.md says it for
// strangers.
//
//     segment file   header page (block_format.h, with its NvmExtent), then lines of 64 bytes: the byte at LSN x lies
//                    x - extent.begin behind the page
//     record         as record_format.h says, but it begins on a line, and is followed by zeros up to the next; its
//                    checksum is seeded
//
// Invariants  a line belongs to one record, so it has one writer, who writes it once and whole.
//             A record lies in one segment: what is left of one behind the last record holds a skip record.
//             Only a record of this place, this life and this database is taken for one: its LSN is its place's, and its
//             checksum begins with a number made of the database's id and the incarnation. So neither what
//             another life left there, nor a payload that looks like a record, passes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/crc32c.h"
#include "logging/block_format.h"
#include "logging/record_format.h"

namespace mneme {

inline constexpr size_t kNvmLineBytes = 64;

inline RecordLayout nvm_layout(uint64_t database_id, uint32_t incarnation) {
  std::byte whose[sizeof database_id + sizeof incarnation];
  store(whose, database_id);
  store(whose + sizeof database_id, incarnation);
  return {kNvmLineBytes, crc32c(whose)};
}

}  // namespace mneme
