#include "logging/record/stream_record.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace mneme {

namespace {

constexpr size_t kPartHeaderBytes = 8;
constexpr size_t kPieceHeaderBytes = 8;

}  // namespace

size_t part_overhead(size_t pieces) {
  return kPartHeaderBytes + pieces * kPieceHeaderBytes;
}

void make_part(ByteSpan payload, std::span<const RecordPiece> pieces, uint32_t stream, uint32_t number,
               uint32_t parts, std::vector<std::byte>& to) {
  const auto goes_there = [stream](const RecordPiece& piece) { return piece.stream == stream; };
  const auto count = static_cast<size_t>(std::ranges::count_if(pieces, goes_there));
  to.resize(part_overhead(count));
  store(to.data(), static_cast<uint8_t>(parts));
  store(to.data() + 1, static_cast<uint8_t>(number));
  store(to.data() + 2, static_cast<uint16_t>(count));
  store(to.data() + 4, static_cast<uint32_t>(payload.size()));
  size_t at = kPartHeaderBytes;
  for (const RecordPiece& piece : pieces) {
    if (!goes_there(piece)) continue;
    store(to.data() + at, piece.begin);
    store(to.data() + at + 4, piece.bytes);
    at += kPieceHeaderBytes;
    const ByteSpan bytes = payload.subspan(piece.begin, piece.bytes);
    to.insert(to.end(), bytes.begin(), bytes.end());
  }
}

bool PartJoin::add(const RecordView& part) {
  if (part.payload.size() < kPartHeaderBytes) return false;
  const std::byte* from = part.payload.data();
  const auto parts = load<uint8_t>(from);
  const auto number = load<uint8_t>(from + 1);
  const size_t pieces = load<uint16_t>(from + 2);
  const auto payload_bytes = load<uint32_t>(from + 4);
  if (has_.empty()) {
    if (payload_bytes > kMaxPayloadBytes) return false;
    first_ = part;
    has_.resize(parts);
    payload_.resize(payload_bytes);
  }
  if (parts != has_.size() || number >= parts || has_[number] || payload_bytes != payload_.size())
    return false;
  if (part.kind != first_.kind || part.lsn != first_.lsn) return false;
  has_[number] = true;
  if (part.payload.size() < part_overhead(pieces)) return false;
  ByteSpan bytes = part.payload.subspan(part_overhead(pieces));
  for (size_t piece = 0; piece < pieces; ++piece) {
    const std::byte* header = from + kPartHeaderBytes + piece * kPieceHeaderBytes;
    const size_t begin = load<uint32_t>(header);
    const size_t count = load<uint32_t>(header + 4);
    if (begin + count > payload_.size() || count > bytes.size()) return false;
    std::ranges::copy(bytes.first(count), payload_.begin() + static_cast<ptrdiff_t>(begin));
    filled_ += count;
    bytes = bytes.subspan(count);
  }
  return bytes.empty();
}

std::optional<std::vector<std::byte>> PartJoin::take() {
  if (!std::ranges::all_of(has_, [](bool has) { return has; }) || filled_ != payload_.size())
    return std::nullopt;
  return std::move(payload_);
}

}  // namespace mneme
