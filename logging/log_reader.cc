#include "logging/log_reader.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/parallel.h"
#include "logging/block_format.h"
#include "logging/epoch_log_reader.h"
#include "logging/segment_reader.h"

namespace mneme {

namespace {

constexpr Lsn kNoEnd{std::numeric_limits<uint64_t>::max()};

using Place = LogContents::Place;

// The part of the LSNs that an incarnation's blocks may claim.
struct LsnRange {
  Lsn begin = kNoEnd;
  Lsn end = kNoEnd;
};

LsnRange range_of(const Manifest& manifest, uint32_t incarnation) {
  for (size_t i = 0; i < manifest.incarnations.size(); ++i) {
    if (manifest.incarnations[i].number != incarnation) continue;
    const bool last = i + 1 == manifest.incarnations.size();
    return {manifest.incarnations[i].begin, last ? kNoEnd : manifest.incarnations[i + 1].begin};
  }
  return {};
}

Result<std::vector<LoadedSegment>> load_segments(const std::string& directory, const Manifest& manifest,
                                                 const LogReadOptions& options) {
  std::vector<std::optional<Result<LoadedSegment>>> results(manifest.segments.size());
  LoadedCount loaded(results.size(), options.progress);
  for_each_in_parallel(options.threads, results.size(), [&](size_t i) {
    const LsnRange range = range_of(manifest, manifest.segments[i].incarnation);
    results[i].emplace(
        load_segment(directory, manifest, manifest.segments[i], range.begin, range.end, options.patience));
    loaded.one_more();
  });
  std::vector<LoadedSegment> segments;
  for (auto& result : results) {
    if (!result->ok()) return result->error();
    segments.push_back(std::move(result->value()));
  }
  return segments;
}

// The blocks that follow one another without a gap, but for holes, from the log's first byte on.
struct Chain {
  Lsn begin;
  Lsn end;
  Place gap;  // where the block that would go on is missing
  std::optional<Place>
      bad_block;  // the first block that was durable and whose bytes don't match their checksum
  std::optional<Place> new_hole;  // the first of the last incarnation's
};

// The highest durable LSN that the incarnation's own blocks carry. Between it and the incarnation's end the blocks
// were never known to be durable; recovery kept those of their records that were intact, and torn padding is no harm.
Lsn durable_within(const Manifest& manifest, const std::vector<LoadedSegment>& loaded, uint32_t incarnation) {
  Lsn durable;
  for (size_t s = 0; s < loaded.size(); ++s) {
    if (manifest.segments[s].incarnation == incarnation) durable = std::max(durable, loaded[s].durable);
  }
  return durable;
}

// A block of a loaded segment.
struct BlockPlace {
  Lsn begin;
  size_t segment;
  size_t index;
};

// All blocks, in log order. A log in one directory is read in that order already.
std::vector<BlockPlace> blocks_in_order(const std::vector<LoadedSegment>& loaded) {
  std::vector<BlockPlace> places;
  for (size_t s = 0; s < loaded.size(); ++s) {
    for (size_t i = 0; i < loaded[s].blocks.size(); ++i) places.push_back({loaded[s].blocks[i].begin, s, i});
  }
  if (!std::ranges::is_sorted(places, {}, &BlockPlace::begin)) {
    std::ranges::stable_sort(places, {}, &BlockPlace::begin);
  }
  return places;
}

// Where the file should go on behind the block.
Place behind(const LoadedSegment& segment, const std::string& file, const LoadedBlock& block) {
  if (segment.nvm) return {file, block.offset + block.used_bytes};
  return {file, block.offset - kBlockHeaderBytes + kBlockBytes};
}

// Where what is missing before the block should be. `follows`: the log holds blocks of its segment before it.
Place before(const LoadedSegment& segment, const std::string& file, const LoadedBlock& block, bool follows,
             const Chain& chain) {
  if (segment.nvm && chain.end >= segment.nvm->begin) {
    return {file, kSegmentHeaderBytes + (chain.end.value - segment.nvm->begin.value)};
  }
  // The segment's first blocks are missing, unless it begins with this one: then the former's last are.
  const bool is_first = block.offset < block_offset(1);
  return follows || is_first ? chain.gap : Place{file, block_offset(0)};
}

// Whether what is missing before a block of this segment is a hole, as nvm_log.h may leave it.
bool may_be_hole(const Manifest& manifest, const LoadedSegment& segment, uint32_t incarnation,
                 const LogHole& hole) {
  if (!segment.nvm || hole.begin >= hole.end) return false;
  const Incarnation& last = manifest.incarnations.back();
  if (incarnation == last.number && hole.begin >= last.begin) return !last.closed;
  return std::ranges::find(manifest.holes, hole) != manifest.holes.end();
}

// The last incarnation's holes, which nobody has noted yet, are no more and no longer than its workers can have left.
bool holes_are_plausible(const Manifest& manifest, const std::vector<LoadedSegment>& loaded,
                         const LogContents& log) {
  const Lsn begin = manifest.incarnations.back().begin;
  uint64_t count = 0;
  uint64_t bytes = 0;
  for (const LogHole& hole : log.holes) {
    if (hole.begin < begin) continue;
    ++count;
    bytes += hole.end.value - hole.begin.value;
  }
  const NvmExtent& extent = *loaded.back().nvm;
  return count <= extent.writers &&
         bytes <= extent.writers * loaded.back().layout.stream_bytes(extent.longest_record_bytes);
}

// Adds a block that goes on where the log's last one ended. Of its segment, `kept_bytes` are in the log before it.
void link_block(size_t s, const LoadedBlock& block, size_t kept_bytes, LogContents& log) {
  LogContents::Segment& segment = log.segments[s];
  if (log.runs.empty() || log.runs.back().segment != s || log.runs.back().end != block.begin) {
    log.runs.push_back({s, segment.blocks.size(), 0, kept_bytes, block.begin, block.begin});
  }
  segment.blocks.push_back({block.begin, block.used_bytes, block.offset});
  ++log.runs.back().block_count;
  log.runs.back().end = block.end();
}

// The chain begins anew: what was linked lies below the checkpoint, and what came behind it has been removed.
void pass_over(Lsn begin, Chain& chain, LogContents& log) {
  chain = {.begin = begin, .end = begin, .gap = chain.gap, .bad_block = {}, .new_hole = {}};
  for (LogContents::Segment& segment : log.segments) segment.blocks.clear();
  log.runs.clear();
  log.holes.clear();
}

// Moves the chain's blocks into `log`; what comes after a gap that is no hole is only counted.
Chain link_blocks(const Manifest& manifest, std::vector<LoadedSegment>& loaded, LogContents& log) {
  const std::vector<BlockPlace> places = blocks_in_order(loaded);
  Chain chain;
  chain.begin = std::max(kFirstLsn, manifest.checkpoint_lsn);
  if (!places.empty()) chain.begin = std::min(chain.begin, places.front().begin);
  chain.end = chain.begin;
  if (!manifest.segments.empty()) chain.gap = {manifest.segments.front().file, block_offset(0)};
  std::vector<Lsn> durable;
  for (size_t s = 0; s < loaded.size(); ++s) {
    LogContents::Segment& segment = log.segments.emplace_back();
    segment.file = manifest.segments[s].file;
    segment.layout = loaded[s].layout;
    durable.push_back(durable_within(manifest, loaded, manifest.segments[s].incarnation));
  }

  std::vector<size_t> kept_bytes(loaded.size());  // those that were passed over included
  bool broken = false;
  for (const BlockPlace& place : places) {
    const LoadedSegment& segment = loaded[place.segment];
    const LoadedBlock& block = segment.blocks[place.index];
    const uint32_t incarnation = manifest.segments[place.segment].incarnation;
    const std::string& file = log.segments[place.segment].file;
    if (!broken && block.begin != chain.end) {
      chain.gap = before(segment, file, block, kept_bytes[place.segment] > 0, chain);
      const LogHole hole{chain.end, block.begin};
      if (may_be_hole(manifest, segment, incarnation, hole)) {
        if (!chain.new_hole && hole.begin >= manifest.incarnations.back().begin) chain.new_hole = chain.gap;
        log.holes.push_back(hole);
      } else if (block.begin <= manifest.checkpoint_lsn) {
        pass_over(block.begin, chain, log);
      } else {
        broken = true;
      }
    }
    if (broken) {
      log.dropped_bytes += block.used_bytes;
      continue;
    }
    if (!block.payload_is_intact && block.begin < durable[place.segment] && !chain.bad_block) {
      chain.bad_block = {file, block.offset - kBlockHeaderBytes};
    }
    link_block(place.segment, block, kept_bytes[place.segment], log);
    kept_bytes[place.segment] += block.used_bytes;
    chain.end = block.end();
    chain.gap = behind(segment, file, block);
  }
  for (size_t s = 0; s < loaded.size(); ++s) {
    const std::vector<LoadedBlock>& blocks = loaded[s].blocks;
    log.segments[s].is_below = !blocks.empty() && blocks.back().end() <= chain.begin;
    log.segments[s].bytes = std::move(loaded[s].bytes);
    log.segments[s].bytes.resize(kept_bytes[s]);
  }
  return chain;
}

// What one run's bytes hold.
struct RunRecords {
  std::vector<RecordView> records;
  uint64_t skips = 0;
  Lsn end;                // where its intact records end
  bool is_whole = false;  // up to its last byte
};

RunRecords parse_run(Lsn begin, ByteSpan rest, const RecordLayout& layout, const LogReadOptions& options) {
  RunRecords parsed;
  parsed.end = begin;
  while (rest.size() >= kRecordHeaderBytes) {
    const RecordHeader header = RecordHeader::decode(rest.data());
    const uint64_t taken = layout.stream_bytes(header.record_bytes);
    if (header.record_bytes < kRecordHeaderBytes || taken > rest.size()) return parsed;
    const ByteSpan payload = rest.subspan(kRecordHeaderBytes, header.record_bytes - kRecordHeaderBytes);
    if (!record_is_well_formed(rest.data(), payload, parsed.end, layout.checksum_seed)) return parsed;
    const bool skip = header.kind == RecordKind::kSkip;
    parsed.skips += skip ? 1 : 0;
    if (header.lsn >= options.from && (!skip || options.with_skips)) parsed.records.push_back({header.lsn, header.kind, payload});
    parsed.end = parsed.end + taken;
    rest = rest.subspan(taken);
  }
  parsed.is_whole = rest.empty();
  return parsed;
}

// Fills the log's records. Returns whether every record of the chain is intact; log.end is where the intact ones end.
bool collect_records(const Chain& chain, const LogReadOptions& options, LogContents& log) {
  std::vector<RunRecords> parsed(log.runs.size());
  for_each_in_parallel(options.threads, parsed.size(), [&](size_t i) {
    const LogContents::Run& run = log.runs[i];
    parsed[i] = parse_run(run.begin, log.bytes_of(run), log.segments[run.segment].layout, options);
  });
  size_t count = 0;
  for (const RunRecords& each : parsed) count += each.records.size();
  log.records.reserve(count);
  log.end = chain.begin;
  for (const RunRecords& each : parsed) {
    log.records.insert(log.records.end(), each.records.begin(), each.records.end());
    log.skips += each.skips;
    log.end = each.end;
    if (!each.is_whole) break;
  }
  log.record_bytes = log.end.value - chain.begin.value - log.hole_bytes();
  log.dropped_bytes += chain.end.value - log.end.value;
  return log.end == chain.end;
}

// Whether the record at the log's end is cut off by the chain's end: missing, then, rather than bad.
bool reaches_past_chain(const LogContents& log, const Chain& chain) {
  const LogContents::Run* run = log.run_of(log.end);
  if (run == nullptr) return true;
  const ByteSpan rest = log.bytes_of(*run).subspan(log.end.value - run->begin.value);
  if (rest.size() < kRecordHeaderBytes) return true;
  const RecordHeader header = RecordHeader::decode(rest.data());
  return header.lsn == log.end && log.end + header.record_bytes > chain.end;
}

}  // namespace

uint64_t LogContents::hole_bytes() const {
  uint64_t bytes = 0;
  for (const LogHole& hole : holes) bytes += hole.end.value - hole.begin.value;
  return bytes;
}

const LogContents::Run* LogContents::run_of(Lsn lsn) const {
  const auto after = std::ranges::upper_bound(runs, lsn, {}, &Run::begin);
  if (after == runs.begin() || std::prev(after)->end <= lsn) return nullptr;
  return &*std::prev(after);
}

LogContents::Place LogContents::place_of(Lsn lsn) const {
  const Run* run = run_of(lsn);
  CHECK(run != nullptr);
  const Segment& segment = segments[run->segment];
  const auto first = segment.blocks.begin() + static_cast<ptrdiff_t>(run->first_block);
  const auto after = std::upper_bound(first, first + static_cast<ptrdiff_t>(run->block_count), lsn,
                                      [](Lsn l, const Block& block) { return l < block.begin; });
  CHECK(after != first);
  const Block& block = *std::prev(after);
  return {segment.file, block.offset + (lsn.value - block.begin.value)};
}

Place LogContents::Segment::place_at(size_t index) const {
  const Lsn at = blocks.front().begin + index;
  const Block& block = *std::prev(std::ranges::upper_bound(blocks, at, {}, &Block::begin));
  return {file, block.offset + (at.value - block.begin.value)};
}

Place LogContents::place_of(const RecordView& record) const {
  if (!epochs) return place_of(record.lsn);
  const std::byte* at = record.payload.data() - kRecordHeaderBytes;
  const auto segment = std::ranges::find_if(segments, [at](const Segment& each) {
    return !each.bytes.empty() && at >= each.bytes.data() && at < each.bytes.data() + each.bytes.size();
  });
  CHECK(segment != segments.end());
  return segment->place_at(static_cast<size_t>(at - segment->bytes.data()));
}

Result<LogContents> read_log(const std::string& directory, const Manifest& manifest,
                             const LogReadOptions& options) {
  if (manifest.layout == LogLayout::kEpoch) return read_epoch_log(directory, manifest, options);
  auto loaded = load_segments(directory, manifest, options);
  if (!loaded.ok()) return loaded.error();

  LogContents log;
  // What an incarnation begins after, and what a checkpoint holds, was durable by then.
  log.durable_seen = std::max(kFirstLsn, manifest.checkpoint_lsn);
  if (!manifest.incarnations.empty()) {
    const Incarnation& last = manifest.incarnations.back();
    log.durable_seen = std::max({log.durable_seen, last.begin, last.closed.value_or(last.begin)});
  }
  for (const LoadedSegment& segment : *loaded) {
    log.durable_seen = std::max(log.durable_seen, segment.durable);
    log.file_bytes += segment.file_bytes;
  }
  const Chain chain = link_blocks(manifest, *loaded, log);
  const bool all_intact = collect_records(chain, options, log);

  const bool missing = all_intact || reaches_past_chain(log, chain);
  const Place place = missing ? chain.gap : log.place_of(log.end);
  if (log.end < log.durable_seen) {
    return damaged(
        "the log is damaged: {}/{} at byte {}: the record at LSN {} is {}, though everything below LSN {} "
        "was durable; nothing was changed",
        directory, place.file, place.offset, log.end.value, missing ? "missing" : "not what was written",
        log.durable_seen.value);
  }
  if (chain.bad_block) {
    return damaged(
        "the log is damaged: {}/{} at byte {}: the block doesn't match its checksum, though it was durable; "
        "nothing was changed",
        directory, chain.bad_block->file, chain.bad_block->offset);
  }
  if (chain.new_hole && !holes_are_plausible(manifest, *loaded, log)) {
    return damaged(
        "the log is damaged: {}/{} at byte {}: a record is missing, and others after it, {} bytes in {} "
        "places, which is more than a crash of {} workers can leave; nothing was changed",
        directory, chain.new_hole->file, chain.new_hole->offset, log.hole_bytes(), log.holes.size(),
        loaded->back().nvm->writers);
  }
  if (log.dropped_bytes > 0) {
    log.dropped_reason = fmt::format(
        "the log ends at LSN {}: in {} at byte {} the next record is {}; nothing from there on was known to "
        "be durable "
        "(below LSN {})",
        log.end.value, place.file, place.offset, missing ? "missing" : "torn", log.durable_seen.value);
  }
  return log;
}

}  // namespace mneme
