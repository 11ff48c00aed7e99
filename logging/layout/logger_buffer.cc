#include "logging/layout/logger_buffer.h"

#include <algorithm>

#include "base/check.h"
#include "logging/record/record_format.h"

namespace mneme {

LoggerBuffer::LoggerBuffer(EpochCounter& counter, const LoggerBufferOptions& options)
    : counter_(counter),
      largest_record_bytes_(options.largest_record_bytes),
      bounds_(options.members),
      open_(epoch_of(counter.bound())),
      published_(options.members) {
  CHECK(options.members > 0);
  CHECK(options.ring_bytes >= 2 * options.largest_record_bytes);
  for (uint32_t i = 0; i < options.members; ++i) {
    members_.push_back(std::make_unique<Member>(options.ring_bytes));
  }
}

bool LoggerBuffer::has_space(uint32_t member) const {
  const Member& own = *members_[member];
  return *own.written + largest_record_bytes_ <=
         own.released->load(std::memory_order_acquire) + own.ring.capacity();
}

bool LoggerBuffer::await_space(uint32_t member) {
  if (!has_space(member)) {
    space_.await([&] { return has_space(member) || closed_.load(std::memory_order_acquire); });
  }
  return !closed_.load(std::memory_order_acquire);
}

Lsn LoggerBuffer::reserve(uint32_t member) {
  DCHECK(bounds_.is_clear(member));
  bounds_.publish(member, counter_.bound().value);
  return counter_.draw();
}

void LoggerBuffer::fill(uint32_t member, ByteSpan header, ByteSpan payload) {
  Member& own = *members_[member];
  DCHECK(!bounds_.is_clear(member));
  own.ring.write(StreamPosition{*own.written}, header);
  own.ring.write(StreamPosition{*own.written + header.size()}, payload);
  *own.written += header.size() + payload.size();
  bounds_.beside(member).end.store(*own.written, std::memory_order_release);
  bounds_.clear(member);
}

LogEpoch LoggerBuffer::gather(FifoQueue<Gathered>& gathered) {
  const uint64_t lowest = bounds_.lowest(counter_.drawn().value);
  // A member may publish an old value of the counter late: what was complete is so nonetheless.
  open_ = std::max(open_, epoch_of(Lsn{lowest}));
  for (size_t i = 0; i < members_.size(); ++i) {
    published_[i] = bounds_.beside(static_cast<uint32_t>(i)).end.load(std::memory_order_acquire);
  }
  for (LogEpoch epoch = oldest_ungathered(open_); epoch < open_; epoch = oldest_ungathered(open_)) {
    for (uint32_t i = 0; i < members_.size(); ++i) gather_member(i, begin_of(epoch.next()));
    gathered.push({epoch, end_, records_});
  }
  return open_;
}

// The epoch of the first record that is not in the stream; `open`, if it is none before.
LogEpoch LoggerBuffer::oldest_ungathered(LogEpoch open) {
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& member = *members_[i];
    if (*member.gathered < published_[i]) open = std::min(open, epoch_of(lsn_at(member, *member.gathered)));
  }
  return open;
}

void LoggerBuffer::gather_member(uint32_t index, Lsn limit) {
  Member& member = *members_[index];
  Piece piece{end_, 0, index, *member.gathered};
  while (*member.gathered < published_[index]) {
    std::byte bytes[kRecordHeaderBytes];
    member.ring.read(StreamPosition{*member.gathered}, bytes);
    const RecordHeader header = RecordHeader::decode(bytes);
    if (header.lsn >= limit) break;
    *member.gathered += header.record_bytes;
    piece.bytes += header.record_bytes;
    ++records_;
  }
  if (piece.bytes == 0) return;
  end_ = piece.end();
  pieces_.push(piece);
}

Lsn LoggerBuffer::lsn_at(const Member& member, uint64_t at) const {
  std::byte bytes[kRecordHeaderBytes];
  member.ring.read(StreamPosition{at}, bytes);
  return RecordHeader::decode(bytes).lsn;
}

size_t LoggerBuffer::piece_at(StreamPosition at) const {
  size_t index = last_read_ < pieces_.size() && pieces_[last_read_].begin <= at ? last_read_ : 0;
  while (pieces_[index].end() <= at) ++index;
  return index;
}

void LoggerBuffer::read(StreamPosition at, std::span<std::byte> into) const {
  if (into.empty()) return;
  for (size_t index = piece_at(at); !into.empty(); ++index) {
    last_read_ = index;
    const Piece& piece = pieces_[index];
    const uint64_t skipped = at.value - piece.begin.value;
    const size_t bytes = std::min<uint64_t>(into.size(), piece.bytes - skipped);
    members_[piece.member]->ring.read(StreamPosition{piece.ring_begin + skipped}, into.first(bytes));
    at = at + bytes;
    into = into.subspan(bytes);
  }
}

void LoggerBuffer::release(StreamPosition upto) {
  while (!pieces_.empty() && pieces_.front().begin < upto) {
    Piece& piece = pieces_.front();
    const uint64_t bytes = std::min(upto.value - piece.begin.value, piece.bytes);
    members_[piece.member]->released->store(piece.ring_begin + bytes, std::memory_order_release);
    if (bytes < piece.bytes) {
      piece = {piece.begin + bytes, piece.bytes - bytes, piece.member, piece.ring_begin + bytes};
      break;
    }
    pieces_.pop();
  }
  last_read_ = 0;
  space_.notify_all();
}

void LoggerBuffer::close() {
  closed_.store(true, std::memory_order_release);
  space_.notify_all();
}

}  // namespace mneme
