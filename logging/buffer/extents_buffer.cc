#include "logging/buffer/extents_buffer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace mneme {

namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

}  // namespace

ExtentsBuffer::ExtentsBuffer(const LogBufferOptions& options)
    : LogBuffer(options),
      extent_bytes_(options.ring_bytes / options.workers / kCacheLineBytes * kCacheLineBytes),
      largest_entry_bytes_(entry_bytes(options.largest_record_bytes)),
      tail_(options.begin.value),
      extents_(std::make_unique<Extent[]>(options.workers)),
      prefix_(options.begin),
      heads_(options.workers, kNone),
      merged_(options.workers),
      published_(options.workers) {
  static_assert(kCacheLineBytes % sizeof(EntryHeader) == 0);  // so that no header wraps around
  CHECK(largest_entry_bytes_ <= extent_bytes_);
}

// Entries are multiples of their header.
uint64_t ExtentsBuffer::entry_bytes(uint64_t record_bytes) {
  return sizeof(EntryHeader) +
         (record_bytes + sizeof(EntryHeader) - 1) / sizeof(EntryHeader) * sizeof(EntryHeader);
}

void ExtentsBuffer::move_on(Position& position, uint64_t bytes) const {
  position.count += bytes;
  position.offset += bytes;
  if (position.offset >= extent_bytes_) position.offset -= extent_bytes_;
}

// Returns where the byte stands that is so many bytes behind the entry's begin; an entry may wrap around
// once.
uint64_t ExtentsBuffer::offset_behind(const Position& entry, uint64_t bytes) const {
  const uint64_t offset = entry.offset + bytes;
  return offset < extent_bytes_ ? offset : offset - extent_bytes_;
}

bool ExtentsBuffer::has_room(WorkerId worker) const {
  const Extent& extent = extents_[worker.value];
  const uint64_t used = extent.own->entry.count - extent.released->load(std::memory_order_acquire);
  return used + largest_entry_bytes_ <= extent_bytes_;
}

StreamPosition ExtentsBuffer::reserve(WorkerId worker, size_t bytes) {
  DCHECK(worker.value < workers_);
  Extent::Own& own = *extents_[worker.value].own;
  own.position = StreamPosition{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
  const EntryHeader header{own.position.value, bytes};
  std::memcpy(place_of(worker.value, own.entry.offset), &header, sizeof(header));
  return own.position;
}

void ExtentsBuffer::write(WorkerId worker, StreamPosition at, ByteSpan bytes) {
  if (bytes.empty()) return;
  const Extent::Own& own = *extents_[worker.value].own;
  const uint64_t offset = offset_behind(own.entry, sizeof(EntryHeader) + (at.value - own.position.value));
  const uint64_t before_wrap = std::min<uint64_t>(bytes.size(), extent_bytes_ - offset);
  std::memcpy(place_of(worker.value, offset), bytes.data(), before_wrap);
  if (before_wrap < bytes.size()) {
    std::memcpy(place_of(worker.value, 0), bytes.data() + before_wrap, bytes.size() - before_wrap);
  }
}

void ExtentsBuffer::publish(WorkerId worker, StreamPosition position, size_t bytes) {
  Extent& extent = extents_[worker.value];
  DCHECK(extent.own->position == position);
  move_on(extent.own->entry, entry_bytes(bytes));
  extent.published->store(extent.own->entry.count, std::memory_order_release);
}

// Whether the extent has an unmerged record.
bool ExtentsBuffer::look_at(uint32_t extent) {
  if (merged_[extent].count == published_[extent]) {
    published_[extent] = extents_[extent].published->load(std::memory_order_acquire);
  }
  if (merged_[extent].count == published_[extent]) return false;
  EntryHeader header;
  std::memcpy(&header, place_of(extent, merged_[extent].offset), sizeof(header));
  heads_[extent] = header.position;
  return true;
}

// The extent's first unmerged record is the next one in the stream.
void ExtentsBuffer::merge(uint32_t extent) {
  EntryHeader header;
  std::memcpy(&header, place_of(extent, merged_[extent].offset), sizeof(header));
  DCHECK(header.position == prefix_.value);
  pieces_.push({prefix_, header.bytes, extent, merged_[extent]});
  prefix_ = prefix_ + header.bytes;
  move_on(merged_[extent], entry_bytes(header.bytes));
  heads_[extent] = kNone;
}

StreamPosition ExtentsBuffer::contiguous_prefix() {
  for (;;) {
    auto next = std::ranges::find(heads_, prefix_.value);
    if (next == heads_.end()) {
      for (uint32_t extent = 0; extent < workers_; ++extent) {
        if (heads_[extent] == kNone) look_at(extent);
      }
      next = std::ranges::find(heads_, prefix_.value);
      if (next == heads_.end()) return prefix_;
    }
    const auto extent = static_cast<uint32_t>(next - heads_.begin());
    do {
      merge(extent);
    } while (look_at(extent) && heads_[extent] == prefix_.value);
  }
}

void ExtentsBuffer::copy_out(const Piece& piece, uint64_t from, std::span<std::byte> into) const {
  const uint64_t offset = offset_behind(piece.entry, sizeof(EntryHeader) + from);
  const uint64_t before_wrap = std::min<uint64_t>(into.size(), extent_bytes_ - offset);
  std::memcpy(into.data(), place_of(piece.extent, offset), before_wrap);
  if (before_wrap < into.size()) {
    std::memcpy(into.data() + before_wrap, place_of(piece.extent, 0), into.size() - before_wrap);
  }
}

// The place in pieces_ of the record that holds the byte at this position. Mostly the stream goes on where it
// was read last.
size_t ExtentsBuffer::piece_at(StreamPosition at) const {
  const auto ends_before = [&](size_t i) { return pieces_[i].begin.value + pieces_[i].bytes <= at.value; };
  if (last_read_ < pieces_.size() && pieces_[last_read_].begin <= at) {
    if (!ends_before(last_read_)) return last_read_;
    if (last_read_ + 1 < pieces_.size() && !ends_before(last_read_ + 1)) return last_read_ + 1;
  }
  size_t low = 0;
  for (size_t high = pieces_.size(); low < high;) {
    const size_t middle = low + (high - low) / 2;
    if (ends_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void ExtentsBuffer::read(StreamPosition at, std::span<std::byte> into) const {
  if (into.empty()) return;
  DCHECK(at.value + into.size() <= prefix_.value);
  for (size_t piece = piece_at(at);; ++piece) {
    const uint64_t from = at.value - pieces_[piece].begin.value;
    const uint64_t bytes = std::min<uint64_t>(into.size(), pieces_[piece].bytes - from);
    copy_out(pieces_[piece], from, into.first(bytes));
    into = into.subspan(bytes);
    at = at + bytes;
    last_read_ = piece;
    if (into.empty()) return;
  }
}

void ExtentsBuffer::release(StreamPosition upto) {
  size_t count = 0;
  for (; !pieces_.empty() && pieces_.front().begin < upto; ++count) {
    const Piece& piece = pieces_.front();
    extents_[piece.extent].released->store(piece.entry.count + entry_bytes(piece.bytes),
                                           std::memory_order_release);
    pieces_.pop();
  }
  last_read_ -= std::min(last_read_, count);
  LogBuffer::release(upto);
}

bool ExtentsBuffer::quiescent(StreamPosition upto) {
  return tail_->fetch_add(0, std::memory_order_acq_rel) == upto.value;
}

std::unique_ptr<LogBuffer> make_extents_buffer(const LogBufferOptions& options) {
  return std::make_unique<ExtentsBuffer>(options);
}

}  // namespace mneme
