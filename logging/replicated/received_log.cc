#include "logging/replicated/received_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/memory/aligned_bytes.h"
#include "logging/directory/segment_file.h"
#include "logging/directory/volatile_tail.h"
#include "logging/record/record_walk.h"

namespace mneme {

namespace {

constexpr StreamPosition kEndUnknown{std::numeric_limits<uint64_t>::max()};
constexpr std::string_view kNewBase =
    "the standby can't go on with what it has: begin it anew with a copy of the primary's directory "
    "(docs/standby.md)";

Error bad_piece(const ReplicatedPiece& piece, uint64_t offset, std::string_view what) {
  return damaged(
      "the replicated log is damaged: the message at position {}, segment {} of term {} at byte {}: {}; "
      "nothing of it "
      "was replayed, and {}",
      piece.position, piece.segment, piece.term, offset, what, kNewBase);
}

Error gap(StreamPosition from, StreamPosition to) {
  return damaged(
      "the replicated log holds nothing of LSN {} to {} any more, and the standby has it not, either: {}",
      from.value, to.value, kNewBase);
}

// Its records up to `durable_seen` were known to be durable; what lies above may be in a cache yet.
Result<void> make_durable(const std::string& directory, const LogContents& held) {
  for (const LogContents::Segment& segment : held.segments) {
    if (segment.blocks.empty() || segment.blocks.back().end() <= one_stream_position(held.durable_seen))
      continue;
    RETURN_IF_ERROR(make_tail_durable(path_in(directory, segment.file), held, segment));
  }
  return {};
}

}  // namespace

ReceivedLog::ReceivedLog(ManifestFile& manifest, const LogContents& held)
    : manifest_(manifest),
      directory_(manifest.directory()),
      from_(one_stream_position(manifest.current().checkpoint_lsn)) {
  incarnations_ = manifest.current().incarnations;
  bytes_begin_ = written_ = durable_ = one_stream_position(held.end);
  if (!held.runs.empty()) end_ = bytes_begin_;
}

Result<std::unique_ptr<ReceivedLog>> ReceivedLog::open(ManifestFile& manifest, const LogContents& held) {
  RETURN_IF_ERROR(make_durable(manifest.directory(), held));
  return std::unique_ptr<ReceivedLog>(new ReceivedLog(manifest, held));
}

Result<void> ReceivedLog::take(const ReplicatedPiece& piece) {
  newest_term_ = std::max(newest_term_, piece.term);
  if (piece.bytes.empty()) return {};
  if (piece.bytes.size() % kBlockBytes != 0 || piece.offset % kBlockBytes != 0) {
    return bad_piece(piece, piece.offset, "it holds no whole blocks");
  }
  if (piece.offset == 0) RETURN_IF_ERROR(check_header_page(piece));
  std::optional<uint64_t> first_offset;  // of the blocks that are new, which come last
  for (size_t at = piece.offset == 0 ? kSegmentHeaderBytes : 0; at < piece.bytes.size(); at += kBlockBytes) {
    const auto header = check_block(piece, at);
    if (!header.ok()) return header.error();
    const auto is_new_block = is_new(piece, *header);
    if (!is_new_block.ok()) return is_new_block.error();
    if (!*is_new_block) continue;
    if (!first_offset) {
      RETURN_IF_ERROR(enter_segment(piece, *header));
      first_offset = piece.offset + at;
    }
    add(*header, ByteSpan(piece.bytes).subspan(at, kBlockBytes));
  }
  return first_offset ? write_added(*first_offset) : Result<void>();
}

Result<void> ReceivedLog::check_header_page(const ReplicatedPiece& piece) const {
  const auto header =
      SegmentHeader::decode(ByteSpan(piece.bytes).first(kSegmentHeaderBytes),
                            fmt::format("the replicated log's message at position {}", piece.position));
  if (!header.ok()) return header.error();
  const Manifest manifest = manifest_.current();
  if (header->database_id != manifest.database_id) {
    return damaged(
        "the replicated log is another database's: its id is {:016x}, that of {} {:016x}; name the right "
        "stream",
        header->database_id, directory_, manifest.database_id);
  }
  if (header->catalog_hash != manifest.catalog_hash) {
    return damaged(
        "the replicated log was written under another catalog: its hash is {:016x}, that of {} {:016x}; {}",
        header->catalog_hash, directory_, manifest.catalog_hash, kNewBase);
  }
  if (header->number != piece.segment || header->incarnation != piece.term || header->nvm || header->logger) {
    return bad_piece(piece, 0, "the header page is another segment's");
  }
  return {};
}

Result<BlockHeader> ReceivedLog::check_block(const ReplicatedPiece& piece, size_t at) const {
  const ByteSpan block = ByteSpan(piece.bytes).subspan(at, kBlockBytes);
  const uint64_t offset = piece.offset + at;
  const auto header = BlockHeader::decode(block);
  if (!header || !header->payload_is_intact(block))
    return bad_piece(piece, offset, "the block doesn't match its checksum");
  const bool is_in_place = header->segment == piece.segment && header->incarnation == piece.term &&
                           block_offset(header->index) == offset && header->used_bytes <= kBlockPayloadBytes;
  if (!is_in_place) return bad_piece(piece, offset, "the block belongs elsewhere");
  return *header;
}

bool ReceivedLog::knows(uint64_t term) const {
  return std::ranges::count(incarnations_, term,
                            [](const Incarnation& each) { return uint64_t{each.number}; }) > 0;
}

StreamPosition ReceivedLog::end_of(uint64_t term) const {
  for (size_t i = 0; i + 1 < incarnations_.size(); ++i) {
    if (incarnations_[i].number == term) return one_stream_position(incarnations_[i + 1].begin);
  }
  return kEndUnknown;
}

StreamPosition ReceivedLog::end_of_whole() const {
  return walk_records(bytes_begin_, bytes_, {}, [](const RecordHeader&, ByteSpan) {}).end;
}

Result<bool> ReceivedLog::is_new(const ReplicatedPiece& piece, const BlockHeader& block) const {
  if (!knows(piece.term)) {
    // One that left nothing in the log has been forgotten.
    if (!incarnations_.empty() && piece.term < incarnations_.back().number) return false;
    if (end_) {
      // It went on behind the last record that it found whole.
      const StreamPosition whole = end_of_whole();
      if (block.begin < whole) {
        return bad_piece(
            piece, piece.offset,
            fmt::format("the term begins at LSN {}, and the standby has replayed the one before up to {}",
                        block.begin.value, whole.value));
      }
      if (block.begin > whole) return gap(whole, block.begin);
      return true;
    }
  } else {
    const StreamPosition limit = end_of(piece.term);
    if (block.begin >= limit || limit <= from_) return false;
  }
  if (end_) {
    if (block.end() <= *end_) return false;
    if (block.begin > *end_) return gap(*end_, block.begin);
    return true;
  }
  // The first of all: records begin with a segment.
  if (block.index != 0 && block.end() <= from_) return false;
  const StreamPosition needed = std::max(from_, kFirstPosition);
  if (block.index != 0 || block.begin > needed) return gap(needed, block.begin);
  return true;
}

// The first block of the piece that is new. All before it is in the files.
Result<void> ReceivedLog::enter_segment(const ReplicatedPiece& piece, const BlockHeader& first) {
  if (segment_ != nullptr && segment_->number == piece.segment && segment_->term == piece.term) return {};
  RETURN_IF_ERROR(sync());
  const auto term = static_cast<uint32_t>(piece.term);
  const Manifest manifest = manifest_.current();
  const auto listed = std::ranges::find_if(manifest.segments, [&](const SegmentEntry& each) {
    return each.number == piece.segment && each.incarnation == term;
  });
  if (listed == manifest.segments.end()) {
    if (first.index != 0) {
      return bad_piece(piece, piece.offset, "the segment's blocks before it have not come");
    }
    return list_segment(piece, first.begin);
  }
  auto file = File::open_own(path_in(directory_, listed->file), O_RDWR);
  if (!file.ok()) return file.error();
  const std::lock_guard lock(mutex_);
  segment_ = std::make_shared<Segment>(Segment{std::move(*file), piece.segment, term});
  return {};
}

// The content of a segment of this number is not part of the log, and so the number has come up again.
Result<void> ReceivedLog::check_unused(const SegmentEntry& entry, StreamPosition begin) const {
  auto file = File::open_in(directory_, entry.file);
  if (!file.ok()) return file.error();
  std::vector<std::byte> block(kBlockBytes);
  const auto count = file->read_at(block, block_offset(0));
  if (!count.ok()) return count.error();
  const auto header = *count == kBlockBytes ? BlockHeader::decode(block) : std::nullopt;
  if (!header || header->begin >= begin) return {};
  return damaged("the replicated log has two segments of number {}, and {}/{} is the first: {}", entry.number,
                 directory_, entry.file, kNewBase);
}

Result<void> ReceivedLog::list_segment(const ReplicatedPiece& piece, StreamPosition begin) {
  const auto term = static_cast<uint32_t>(piece.term);
  std::vector<std::string> unlisted;
  for (const SegmentEntry& each : manifest_.current().segments) {
    if (each.number == piece.segment) RETURN_IF_ERROR(check_unused(each, begin));
    // All that came before lies below the checkpoint, if the segment begins there.
    if (each.number == piece.segment || begin <= from_) unlisted.push_back(each.file);
  }
  const bool is_new_term = !knows(term);
  if (is_new_term) {
    incarnations_.push_back({term, one_stream_lsn(begin)});
    if (end_) {
      // The torn end of the term before.
      bytes_.resize(begin.value - bytes_begin_.value);
      end_ = begin;
    }
  }
  RETURN_IF_ERROR(manifest_.update([&](Manifest& manifest) {
    if (is_new_term) manifest.incarnations.push_back({term, one_stream_lsn(begin)});
    manifest.attributes[kReceivedFromAttribute] = std::to_string(piece.position);
    std::erase_if(manifest.segments,
                  [&](const SegmentEntry& each) { return std::ranges::count(unlisted, each.file) > 0; });
  }));
  for (const std::string& file : unlisted) ::unlink(path_in(directory_, file).c_str());
  const Manifest manifest = manifest_.current();
  const SegmentHeader header{manifest.database_id, manifest.catalog_hash, piece.segment, term};
  auto file =
      make_listed_segment(manifest_, header, {.segment_bytes = kSegmentHeaderBytes, .direct_io = false});
  if (!file.ok()) return file.error();
  const std::lock_guard lock(mutex_);
  segment_ = std::make_shared<Segment>(Segment{std::move(*file), piece.segment, term});
  return {};
}

void ReceivedLog::add(const BlockHeader& header, ByteSpan block) {
  if (!end_) end_ = bytes_begin_ = header.begin;
  const ByteSpan payload = block.subspan(kBlockHeaderBytes, header.used_bytes);
  const ByteSpan new_bytes = payload.subspan(end_->value - header.begin.value);
  bytes_.insert(bytes_.end(), new_bytes.begin(), new_bytes.end());
  end_ = header.end();
  BlockHeader here = header;
  here.durable = std::min(header.durable, durable());
  const size_t at = added_.size();
  added_.insert(added_.end(), block.begin(), block.end());
  here.encode(added_.data() + at);
}

Result<void> ReceivedLog::write_added(uint64_t offset) {
  const Result<void> written = segment_->file.write_at(added_, offset);
  added_.clear();
  RETURN_IF_ERROR(written);
  const std::lock_guard lock(mutex_);
  written_ = *end_;
  return {};
}

Result<ReceivedRecords> ReceivedLog::take_records() {
  ReceivedRecords received;
  const RecordWalk walk =
      walk_records(bytes_begin_, bytes_, {}, [&](const RecordHeader& header, ByteSpan payload) {
        if (header.kind == RecordKind::kSkip || header.lsn < one_stream_lsn(from_)) return;
        received.records.push_back({header.lsn, header.kind, payload});
      });
  received.end = one_stream_lsn(walk.end);
  const size_t whole = walk.end.value - bytes_begin_.value;
  // The rest is the begin of a record, or empty.
  const bool is_begin = !walk.next || (walk.next->lsn == one_stream_lsn(walk.end) &&
                                       walk.next->record_bytes >= kRecordHeaderBytes &&
                                       walk.next->record_bytes > bytes_.size() - whole);
  if (!is_begin) {
    return damaged(
        "the replicated log is damaged: the record at LSN {} is not what was written, though its block is; "
        "{}",
        walk.end.value, kNewBase);
  }
  std::vector<std::byte> rest(bytes_.begin() + static_cast<ptrdiff_t>(whole), bytes_.end());
  received.bytes = std::exchange(bytes_, std::move(rest));
  bytes_begin_ = walk.end;
  return received;
}

Result<void> ReceivedLog::sync() {
  std::shared_ptr<const Segment> segment;
  StreamPosition written;
  {
    const std::lock_guard lock(mutex_);
    if (segment_ == nullptr || durable_ >= written_) return {};
    segment = segment_;
    written = written_;
  }
  // Those before it were synced when it was entered.
  RETURN_IF_ERROR(segment->file.sync_data());
  const std::lock_guard lock(mutex_);
  durable_ = std::max(durable_, written);
  return {};
}

Lsn ReceivedLog::durable() const {
  const std::lock_guard lock(mutex_);
  return one_stream_lsn(durable_);
}

}  // namespace mneme
