// Record walk: the intact records at the front of some bytes of the log, one after the other.
//
// Threads  plain functions.
#pragma once

#include <optional>

#include "base/bytes.h"
#include "logging/record/record_format.h"

namespace mneme {

struct RecordWalk {
  StreamPosition end;                // where the intact records end
  bool is_whole = false;             // that is where the bytes end
  std::optional<RecordHeader> next;  // what stands there, if a header has room
};

// visit(header, payload) for each; `begin` is where the first byte lies in a log of one stream.
template <typename Visit>
RecordWalk walk_records(StreamPosition begin, ByteSpan rest, const RecordLayout& layout, Visit visit) {
  RecordWalk walk;
  walk.end = begin;
  while (rest.size() >= kRecordHeaderBytes) {
    const RecordHeader header = RecordHeader::decode(rest.data());
    const uint64_t taken = layout.stream_bytes(header.record_bytes);
    if (header.record_bytes < kRecordHeaderBytes || taken > rest.size()) break;
    const ByteSpan payload = rest.subspan(kRecordHeaderBytes, header.record_bytes - kRecordHeaderBytes);
    if (header.is_part ||
        !record_is_well_formed(rest.data(), payload, one_stream_lsn(walk.end), layout.checksum_seed))
      break;
    visit(header, payload);
    walk.end = walk.end + taken;
    rest = rest.subspan(taken);
  }
  walk.is_whole = rest.empty();
  if (rest.size() >= kRecordHeaderBytes) walk.next = RecordHeader::decode(rest.data());
  return walk;
}

}  // namespace mneme
