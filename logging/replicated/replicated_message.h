// A message of a replicated log: a header, and the bytes that one flush wrote of a segment file.
// docs/replicated_log.md says it for strangers.
//
//     0 u32 magic "MNRM"   4 u32 format version   8 u64 database id   16 u32 term   20 u32 segment number
//     24 u64 owner of the term   32 u64 offset in the segment file   40 u32 bytes that follow
//     44 u32 CRC32C of bytes 0..43 and of those that follow           48 the bytes; none: the term begins
//
// Threads     any.
// Errors      another version: kInvalidArgument. Not what was written: kDamaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/log_term.h"
#include "base/result.h"

namespace mneme {

inline constexpr uint32_t kReplicatedMessageVersion = 1;
inline constexpr size_t kReplicatedHeaderBytes = 48;

struct ReplicatedHeader {
  uint64_t database_id = 0;
  LogTerm term;
  uint32_t segment = 0;
  uint64_t offset = 0;
  uint32_t length = 0;  // of what follows

  bool begins_term() const { return length == 0; }
  // The message; `bytes` has the header's length.
  std::vector<std::byte> encode(ByteSpan bytes) const;
  // Decodes a message of which the header alone is there. `where` names it in errors. A database_id other
  // than 0 must be its.
  static Result<ReplicatedHeader> decode_header(ByteSpan header, uint64_t database_id,
                                                const std::string& where);
  // Decodes a whole one, checksum and all.
  static Result<ReplicatedHeader> decode(ByteSpan message, uint64_t database_id, const std::string& where);
};

}  // namespace mneme
