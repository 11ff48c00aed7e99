#include "logging/nvm/nvm_segment_reader.h"

#include <algorithm>

#include "logging/record/nvm_format.h"

namespace mneme {

uint64_t nvm_record_at_front(ByteSpan rest, StreamPosition at, const RecordLayout& layout) {
  if (rest.size() < kRecordHeaderBytes) return 0;
  const RecordHeader header = RecordHeader::decode(rest.data());
  // The first look that most lines without a record fail.
  if (!layout.is_seeded_by_place && (header.is_part || header.lsn != one_stream_lsn(at))) return 0;
  if (header.record_bytes < kRecordHeaderBytes || header.record_bytes > rest.size()) return 0;
  const ByteSpan payload = rest.subspan(kRecordHeaderBytes, header.record_bytes - kRecordHeaderBytes);
  if (!record_is_well_formed(rest.data(), payload, header.lsn, layout.seed_at(at))) return 0;
  const uint64_t taken = layout.stream_bytes(header.record_bytes);
  return taken <= rest.size() ? taken : 0;
}

Result<LoadedSegment> load_nvm_segment(const File& file, const SegmentHeader& header, StreamPosition begin,
                                       StreamPosition end) {
  const auto file_bytes = file.size();
  if (!file_bytes.ok()) return file_bytes.error();
  std::vector<std::byte> bytes(std::max<uint64_t>(*file_bytes, kSegmentHeaderBytes) - kSegmentHeaderBytes);
  const auto count = file.read_at(bytes, kSegmentHeaderBytes);
  if (!count.ok()) return count.error();
  bytes.resize(*count);

  LoadedSegment segment;
  segment.file_bytes = *file_bytes;
  segment.nvm = header.nvm;
  segment.layout = nvm_layout(header.database_id, header.incarnation);
  const StreamPosition first = header.nvm->begin;
  bool goes_on = false;
  for (uint64_t at = 0; at < bytes.size();) {
    const StreamPosition position = first + at;
    const ByteSpan rest = ByteSpan(bytes).subspan(at);
    const uint64_t taken =
        position < begin || position >= end ? 0 : nvm_record_at_front(rest, position, segment.layout);
    if (taken > 0) {
      if (!goes_on) {
        segment.blocks.push_back(
            {.begin = position, .offset = kSegmentHeaderBytes + at, .payload_is_intact = true});
      }
      segment.blocks.back().used_bytes += static_cast<uint32_t>(taken);
      segment.bytes.insert(segment.bytes.end(), rest.begin(), rest.begin() + static_cast<ptrdiff_t>(taken));
    }
    goes_on = taken > 0;
    at += goes_on ? taken : kNvmLineBytes;
  }
  return segment;
}

}  // namespace mneme
