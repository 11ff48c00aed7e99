// The log record: what its writer and its reader must agree on.
//
//     offset 0   uint32  CRC32C of all bytes of the record after this field
//     offset 4   uint24  bytes of the whole record, header and payload
//     offset 7   uint8   kind
//     offset 8   uint64  LSN of the record: its own position in the stream
//     offset 16  payload
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme {

enum class RecordKind : uint8_t {
  kSkip = 1,     // a place in the order that no transaction took; the payload means nothing
  kCommand = 2,  // a procedure call: procedures/call_codec.h
};

inline constexpr size_t kRecordHeaderBytes = 16;
inline constexpr size_t kMaxRecordBytes = (size_t{1} << 24) - 1;
// What a record's payload may hold, so that every worker's largest record fits the smallest ring.
inline constexpr size_t kMaxPayloadBytes = 256 * 1024;
static_assert(kMaxPayloadBytes + kRecordHeaderBytes <= kMaxRecordBytes);

}  // namespace mneme
