// Stream record: how a stream of a distributed log (distributed_log.h) holds a record that lies in several
// streams.
//
// Layout      the header says that the record is a part (RecordHeader::is_part). Its payload is
//             0 u8 parts of the record   1 u8 this part's number   2 u16 pieces
//             4 u32 bytes of the record's payload
//             8 for each piece: u32 its place in that payload, u32 its bytes
//             then the pieces, one after another
// Invariants  the parts of a record have one LSN and one kind, and lie in different streams; their pieces
//             cover the payload once. Without all of them the record is not there.
// Errors      PartJoin::add returns false for a part that is none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "logging/record/log_contents.h"
#include "logging/record/lsn.h"

namespace mneme {

// A stretch of a payload, and the stream that it goes to.
struct RecordPiece {
  uint32_t begin = 0;
  uint32_t bytes = 0;
  uint32_t stream = 0;
};

// Returns how many bytes the parts of a record take at most besides its pieces' bytes.
size_t part_overhead(size_t pieces);
// The payload of part `number` of `parts`, into `to`: the pieces that go to `stream`.
void make_part(ByteSpan payload, std::span<const RecordPiece> pieces, uint32_t stream, uint32_t number,
               uint32_t parts, std::vector<std::byte>& to);

// Puts the parts of one record together.
class PartJoin {
 public:
  // Returns false if it is no part, or none of this record.
  bool add(const RecordView& part);
  // Returns nullopt while a part is missing.
  std::optional<std::vector<std::byte>> take();
  const RecordView& first() const { return first_; }

 private:
  RecordView first_;
  std::vector<bool> has_;
  std::vector<std::byte> payload_;
  uint64_t filled_ = 0;
};

}  // namespace mneme
