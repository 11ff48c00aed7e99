#include "logging/nvm/nvm_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace mneme {

namespace {

constexpr uint32_t kMarkMagic = 'M' | 'N' << 8 | 'M' << 16 | 'K' << 24;
constexpr size_t kMarkBytes = 24;
constexpr uint32_t kMarks = 2;

uint32_t mark_checksum(const std::byte* mark, uint32_t seed) {
  return crc32c({mark + sizeof(uint32_t), kMarkBytes - sizeof(uint32_t)}, seed);
}

// Fills a line.
void encode_mark(std::byte* line, uint64_t number, Lsn durable_gsn, uint32_t seed) {
  std::memset(line, 0, kNvmLineBytes);
  store(line + 4, kMarkMagic);
  store(line + 8, number);
  store(line + 16, durable_gsn.value);
  store(line, mark_checksum(line, seed));
}

// From the marks page's begin.
size_t place_of_mark(uint64_t number) {
  return number % kMarks * kNvmLineBytes;
}

}  // namespace

Result<std::unique_ptr<NvmRing>> NvmRing::make(ManifestFile& manifest, uint32_t number, uint32_t stream,
                                               const std::string& directory, size_t bytes,
                                               const PersistentMemoryOptions& memory) {
  CHECK(std::has_single_bit(bytes));
  CHECK(bytes % AlignedBytes::kAlignment == 0);
  const Manifest current = manifest.current();
  const Incarnation& incarnation = current.incarnations.back();
  const RecordLayout layout = ring_layout(current.database_id, incarnation.number, stream);
  SegmentHeader header{.number = number};
  header.is_ring = true;
  header.is_marked = true;
  std::array<std::byte, kMarks * kNvmLineBytes> marks{};
  encode_mark(marks.data() + place_of_mark(1), 1, incarnation.begin, layout.checksum_seed);
  auto file = make_segment(manifest, header,
                           {.directory = directory,
                            .segment_bytes = kRingBegin + bytes,
                            .direct_io = false,
                            .logger = stream,
                            .behind_header = marks});
  if (!file.ok()) return file.error();
  auto mapped = PersistentMemory::map(*file, memory);
  if (!mapped.ok()) return mapped.error();
  return std::unique_ptr<NvmRing>(new NvmRing(std::move(*file), std::move(*mapped), layout));
}

std::byte* NvmRing::view() {
  return memory_->view() + kRingBegin;
}

void NvmRing::store_record(StreamPosition at, ByteSpan header, ByteSpan payload) {
  DCHECK(at.value % kNvmLineBytes == 0);
  for_each_line(header.data(), payload, [&](const std::byte* line) {
    memory_->store_line(kRingBegin + (at.value & (capacity_ - 1)), line);
    at = at + kNvmLineBytes;
  });
  memory_->delay();
}

// A torn one doesn't match its checksum, and leaves the one before.
void NvmRing::mark(Lsn durable_gsn) {
  alignas(kCacheLineBytes) std::byte line[kNvmLineBytes];
  encode_mark(line, ++marks_, durable_gsn, layout_.checksum_seed);
  const size_t at = kRingMarksAt + place_of_mark(marks_);
  memory_->store_line(at, line);
  memory_->drain(at, kNvmLineBytes);
  PersistentMemory::fence();
}

Result<LoadedSegment> load_nvm_ring(const File& file, const SegmentHeader& header) {
  const auto file_bytes = file.size();
  if (!file_bytes.ok()) return file_bytes.error();
  const uint64_t ring_bytes = *file_bytes - std::min<uint64_t>(*file_bytes, kRingBegin);
  if (!std::has_single_bit(ring_bytes)) {
    return damaged(
        "{} is damaged: it has {} bytes, and a ring has two pages and a power of two; nothing was changed",
        file.path(), *file_bytes);
  }
  std::vector<std::byte> marks(kBlockBytes);
  LoadedSegment ring;
  ring.bytes.resize(ring_bytes);
  for (const auto& [bytes, at] : {std::pair(&marks, kRingMarksAt), std::pair(&ring.bytes, kRingBegin)}) {
    const auto count = file.read_at(*bytes, at);
    if (!count.ok()) return count.error();
    if (*count < bytes->size()) return failed("{} got shorter while it was read", file.path());
  }
  ring.file_bytes = *file_bytes;
  ring.layout = ring_layout(header.database_id, header.incarnation, header.logger.value_or(0));
  bool has_mark = false;
  for (size_t i = 0; i < kMarks; ++i) {
    const std::byte* mark = marks.data() + i * kNvmLineBytes;
    if (load<uint32_t>(mark + 4) != kMarkMagic) continue;
    if (load<uint32_t>(mark) != mark_checksum(mark, ring.layout.checksum_seed)) continue;
    ring.durable = std::max(ring.durable, Lsn{load<uint64_t>(mark + 16)});
    has_mark = true;
  }
  if (header.is_marked && !has_mark) {
    return damaged(
        "{} is damaged at byte {}: the ring has no mark, and was made with one; nothing was changed: put the "
        "file back from a copy of "
        "the directory",
        file.path(), kRingMarksAt);
  }
  return ring;
}

void scan_nvm_ring(const LoadedSegment& ring, StreamPosition begin, StreamPosition end,
                   LogContents::Segment& to) {
  to.layout = ring.layout;
  const uint64_t capacity = ring.bytes.size();
  const uint64_t first = begin.value & (capacity - 1);
  CHECK(first % kNvmLineBytes == 0);
  // The window that may hold anything, with the lap's end inside: made one piece.
  std::vector<std::byte> window(ring.bytes);
  std::ranges::rotate(window, window.begin() + static_cast<ptrdiff_t>(first));
  bool goes_on = false;
  for (uint64_t i = 0; i < capacity;) {
    const StreamPosition at = begin + i;
    const ByteSpan rest = ByteSpan(window).subspan(i);
    const uint64_t taken = at < end ? nvm_record_at_front(rest, at, ring.layout) : 0;
    if (taken > 0) {
      // A block lies in one stretch of the file.
      for (uint64_t part = 0; part < taken;) {
        const uint64_t offset = (at.value + part) & (capacity - 1);
        const uint64_t bytes = std::min(taken - part, capacity - offset);
        if (!goes_on || offset == 0) to.blocks.push_back({at + part, 0, kRingBegin + offset});
        to.blocks.back().used_bytes += static_cast<uint32_t>(bytes);
        part += bytes;
        goes_on = true;
      }
      to.bytes.insert(to.bytes.end(), rest.begin(), rest.begin() + static_cast<ptrdiff_t>(taken));
    }
    goes_on = taken > 0;
    i += goes_on ? taken : kNvmLineBytes;
  }
}

}  // namespace mneme
