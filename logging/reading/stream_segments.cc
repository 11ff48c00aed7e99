#include "logging/reading/stream_segments.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/parallel.h"
#include "logging/commit/stream_options.h"
#include "logging/layout/pepoch_file.h"
#include "logging/nvm/nvm_ring.h"
#include "logging/record/block_format.h"
#include "logging/record/stream_record.h"

namespace mneme {

namespace {

constexpr StreamPosition kNoStreamEnd{std::numeric_limits<uint64_t>::max()};
constexpr Lsn kNoLsn{std::numeric_limits<uint64_t>::max()};
// In Incarnation::stream_ends: the end of a stream that has no segment left with a part of the log.
constexpr StreamPosition kUnknownEnd{};

// Returns where the records that were found in a ring have their first hole, or end.
LogContents::Place first_gap(const LogContents::Segment& ring) {
  LogContents::Place place{ring.file, kSegmentHeaderBytes};
  for (size_t i = 0; i < ring.blocks.size(); ++i) {
    const LogContents::Block& block = ring.blocks[i];
    place.offset = block.offset + block.used_bytes;
    if (i + 1 < ring.blocks.size() && ring.blocks[i + 1].begin != block.end()) break;
  }
  return place;
}

}  // namespace

Result<void> StreamSegments::find(const std::vector<StreamPosition>& last_ends,
                                  std::optional<StreamPosition> others_end) {
  for (const Incarnation& each : manifest_.incarnations) {
    for (const StreamPosition end : each.number == last().number ? last_ends : each.stream_ends) {
      streams_[each.number].push_back({.end = end == kUnknownEnd ? std::optional<StreamPosition>() : end});
    }
  }
  for (size_t i = 0; i < manifest_.segments.size(); ++i) {
    const SegmentEntry& entry = manifest_.segments[i];
    std::vector<LogStream>& streams = streams_[entry.incarnation];
    if (!entry.logger || *entry.logger >= std::max(kMostLoggers, kMostStreams)) {
      return damaged("{}/MANIFEST doesn't say whose stream {} belongs to; nothing was changed", directory_,
                     entry.file);
    }
    if (streams.size() <= *entry.logger) streams.resize(*entry.logger + 1, LogStream{.end = others_end});
    LogStream& stream = streams[*entry.logger];
    if (entry.is_ring && stream.ring) {
      return damaged("{}/MANIFEST lists two rings of one stream, of which {} is one; nothing was changed",
                     directory_, entry.file);
    }
    if (entry.is_ring) {
      stream.ring = i;
    } else {
      stream.segments.push_back(i);
    }
  }
  log_.streams->count = static_cast<uint32_t>(last_streams().size());
  log_.streams->ends = last_ends;
  log_.streams->ends.resize(log_.streams->count, others_end.value_or(kUnknownEnd));
  return {};
}

Result<void> StreamSegments::load() {
  std::vector<std::optional<Result<LoadedSegment>>> results(manifest_.segments.size());
  LoadedCount loaded(results.size(), options_.progress);
  for_each_in_parallel(options_.threads, results.size(), [&](size_t i) {
    results[i].emplace(load_segment(directory_, manifest_, manifest_.segments[i], kFirstPosition,
                                    kNoStreamEnd, options_.patience));
    loaded.one_more();
  });
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]->ok()) return results[i]->error();
    loaded_.push_back(std::move(results[i]->value()));
    log_.file_bytes += loaded_.back().file_bytes;
    log_.segments.emplace_back().file = manifest_.segments[i].file;
  }
  return {};
}

Result<void> StreamSegments::link() {
  for (const auto& [number, streams] : streams_) {
    for (const LogStream& stream : streams) RETURN_IF_ERROR(link(stream, number));
  }
  return {};
}

Result<void> StreamSegments::link(const LogStream& stream, uint32_t incarnation) {
  const bool is_last = incarnation == last().number;
  const StreamPosition end = stream.end.value_or(kNoStreamEnd);
  std::optional<StreamPosition> at;  // where the stream goes on; nothing: it has not begun
  Place gap{"MANIFEST", 0};
  if (!stream.segments.empty()) gap = {log_.segments[stream.segments.front()].file, block_offset(0)};
  bool broken = false;
  bool is_full = false;        // the segment that `gap` lies in
  std::optional<Place> empty;  // where the first block is missing of a segment before, which has none
  for (const size_t s : stream.segments) {
    LoadedSegment& loaded = loaded_[s];
    LogContents::Segment& segment = log_.segments[s];
    // Where the one before it is full, what comes next was to lie in this one.
    if (!broken && is_full) gap = {segment.file, block_offset(0)};
    // A stream goes on in the next segment only once it has written to this one. Its ring may have what is
    // missing.
    if (!broken && !stream.ring && empty && !loaded.blocks.empty()) {
      broken = true;
      gap = *empty;
    }
    if (!empty && loaded.blocks.empty()) empty = {segment.file, block_offset(0)};
    if (!broken && loaded.blocks.empty() && loaded.rotten_at) gap = {segment.file, *loaded.rotten_at};
    size_t kept_bytes = 0;
    for (const LoadedBlock& block : loaded.blocks) {
      const bool is_first = block.offset == block_offset(0) + kBlockHeaderBytes;
      // A stream begins with a segment's first block, and a segment goes on where the one before it ended.
      if (!broken && (at ? *at != block.begin : !is_first)) {
        broken = true;
        if (!is_first && segment.blocks.empty()) gap = {segment.file, block_offset(0)};
      }
      if (!broken && stream.is_open() && !block.payload_is_intact) {
        broken = true;
        gap = {segment.file, block.offset - kBlockHeaderBytes};
      }
      const uint64_t kept = broken || block.begin >= end
                                ? 0
                                : std::min<uint64_t>(block.used_bytes, end.value - block.begin.value);
      if (is_last) log_.dropped_bytes += block.used_bytes - kept;
      if (!broken) at = block.end();
      if (kept == 0) continue;
      if (!block.payload_is_intact) return bad_block({segment.file, block.offset - kBlockHeaderBytes});
      segment.blocks.push_back({block.begin, static_cast<uint32_t>(kept), block.offset});
      kept_bytes += kept;
      gap = {segment.file, block.offset - kBlockHeaderBytes + kBlockBytes};
    }
    is_full = !loaded.blocks.empty() && gap.offset + kBlockBytes > loaded.file_bytes;
    segment.bytes = std::move(loaded.bytes);
    segment.bytes.resize(kept_bytes);
    segment.layout = loaded.layout;
  }
  if (stream.is_open()) {
    if (!stream.segments.empty()) ends_[incarnation].push_back(gap);
    return {};
  }
  const bool was_dropped = stream.segments.empty() && manifest_.checkpoint_lsn > kCheckpointLsn;
  if (at.value_or(kFirstPosition) < end && !was_dropped) {
    return damaged(
        "the log is damaged: {}/{} at byte {}: a block is missing, though the stream was durable up to its "
        "position "
        "{}; nothing was changed",
        directory_, gap.file, gap.offset, end.value);
  }
  return {};
}

Error StreamSegments::bad_block(const Place& place) const {
  return damaged(
      "the log is damaged: {}/{} at byte {}: the block doesn't match its checksum, though it was durable; "
      "nothing was changed",
      directory_, place.file, place.offset);
}

LsnRange StreamSegments::range_of(uint32_t incarnation) const {
  for (size_t i = 0; i < manifest_.incarnations.size(); ++i) {
    if (manifest_.incarnations[i].number != incarnation) continue;
    const bool is_last = i + 1 == manifest_.incarnations.size();
    return {manifest_.incarnations[i].begin, is_last ? kNoLsn : manifest_.incarnations[i + 1].begin};
  }
  return {};
}

Result<std::vector<std::vector<RecordView>>> StreamSegments::parse() {
  const size_t count = log_.segments.size();
  std::vector<std::vector<RecordView>> records(count);
  std::vector<size_t> intact_bytes(count);
  std::vector<Result<void>> results(count);
  std::vector<bool> is_open(count);
  std::vector<bool> is_ring(count);
  for (const auto& [number, streams] : streams_) {
    for (const LogStream& stream : streams) {
      for (const size_t s : stream.segments) is_open[s] = stream.is_open();
      if (stream.ring) is_ring[*stream.ring] = true;
    }
  }
  for_each_in_parallel(options_.threads, count, [&](size_t s) {
    if (!is_ring[s]) results[s] = parse(s, is_open[s], records[s], intact_bytes[s]);
  });
  for (const Result<void>& result : results) RETURN_IF_ERROR(result);
  // Behind a record that is not intact the stream goes on with nothing, or in its ring.
  for (const auto& [number, streams] : streams_) {
    for (const LogStream& stream : streams) {
      if (number != last().number && !stream.ring) continue;
      const StreamPosition end = end_at_gaps(stream, records, intact_bytes);
      if (!stream.ring) continue;
      const size_t ring = *stream.ring;
      scan_nvm_ring(loaded_[ring], end, stream.end.value_or(kNoStreamEnd), log_.segments[ring]);
      loaded_[ring].bytes = {};
      ends_[number].push_back(first_gap(log_.segments[ring]));
      RETURN_IF_ERROR(parse(ring, /*is_open=*/true, records[ring], intact_bytes[ring]));
    }
  }
  return records;
}

// Cuts the stream's segments behind its last record that is intact. Returns where that ends.
StreamPosition StreamSegments::end_at_gaps(const LogStream& stream,
                                           std::vector<std::vector<RecordView>>& records,
                                           std::vector<size_t>& intact_bytes) {
  StreamPosition end = kFirstPosition;
  bool broken = false;
  for (const size_t s : stream.segments) {
    const bool is_whole = intact_bytes[s] == log_.segments[s].bytes.size();
    if (!is_whole && !broken && !stream.ring)
      ends_[last().number].push_back(log_.segments[s].place_at(intact_bytes[s]));
    if (broken) {
      records[s].clear();
      intact_bytes[s] = 0;
    }
    keep(s, intact_bytes[s]);
    if (intact_bytes[s] > 0) end = log_.segments[s].blocks.back().end();
    broken = broken || !is_whole;
  }
  return end;
}

// The records of a segment's blocks. Where the stream's end is known all are whole: it lies between two of
// them.
Result<void> StreamSegments::parse(size_t s, bool is_open, std::vector<RecordView>& records,
                                   size_t& intact_bytes) const {
  const LogContents::Segment& segment = log_.segments[s];
  const Lsn begin = range_of(manifest_.segments[s].incarnation).begin;
  ByteSpan rest = segment.bytes;
  while (!rest.empty()) {
    const RecordHeader header =
        rest.size() < kRecordHeaderBytes ? RecordHeader() : RecordHeader::decode(rest.data());
    const uint64_t taken = segment.layout.stream_bytes(header.record_bytes);
    const bool fits = header.record_bytes >= kRecordHeaderBytes && taken <= rest.size();
    const ByteSpan payload =
        fits ? rest.subspan(kRecordHeaderBytes, header.record_bytes - kRecordHeaderBytes) : ByteSpan();
    const size_t index = segment.bytes.size() - rest.size();
    const uint32_t seed = segment.layout.seed_at(segment.position_at(index));
    if (!fits || !record_is_well_formed(rest.data(), payload, header.lsn, seed) || header.lsn < begin) {
      if (is_open) break;
      const Place place = segment.place_at(index);
      return damaged(
          "the log is damaged: {}/{} at byte {}: the record is not what was written, though it was "
          "durable; "
          "nothing was changed",
          directory_, place.file, place.offset);
    }
    records.push_back({header.lsn, header.kind, payload, header.is_part});
    rest = rest.subspan(taken);
  }
  intact_bytes = segment.bytes.size() - rest.size();
  return {};
}

// Only the segment's first bytes belong to the log.
void StreamSegments::keep(size_t s, size_t bytes) {
  LogContents::Segment& segment = log_.segments[s];
  if (is_last(s)) log_.dropped_bytes += segment.bytes.size() - bytes;
  segment.bytes.resize(bytes);
  size_t before = 0;
  for (LogContents::Block& block : segment.blocks) {
    block.used_bytes =
        static_cast<uint32_t>(std::min<size_t>(block.used_bytes, bytes - std::min(bytes, before)));
    before += block.used_bytes;
  }
  std::erase_if(segment.blocks, [](const LogContents::Block& block) { return block.used_bytes == 0; });
}

void StreamSegments::cut(std::vector<std::vector<RecordView>>& records,
                         const std::function<bool(const RecordView&)>& belongs) {
  const std::vector<LogStream>& streams = last_streams();
  for (size_t i = 0; i < streams.size(); ++i) {
    std::vector<size_t> segments = streams[i].segments;
    if (streams[i].ring) segments.push_back(*streams[i].ring);  // it holds what comes last
    bool is_past = true;                                        // the last record of the log
    for (auto s = segments.rbegin(); s != segments.rend(); ++s) {
      std::vector<RecordView>& all = records[*s];
      LogContents::Segment& segment = log_.segments[*s];
      while (is_past && !all.empty() && !belongs(all.back())) all.pop_back();
      if (is_past && all.empty()) {
        keep(*s, 0);
      } else if (is_past) {
        is_past = false;
        const ByteSpan payload = all.back().payload;
        const auto begin = static_cast<size_t>(payload.data() - kRecordHeaderBytes - segment.bytes.data());
        keep(*s, begin + segment.layout.stream_bytes(kRecordHeaderBytes + payload.size()));
        log_.streams->ends[i] = segment.blocks.back().end();
      }
      std::erase_if(all, [&](const RecordView& each) { return !belongs(each); });
    }
  }
}

}  // namespace mneme
