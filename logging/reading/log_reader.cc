#include "logging/reading/log_reader.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/parallel.h"
#include "logging/reading/distributed_log_reader.h"
#include "logging/reading/epoch_log_reader.h"
#include "logging/reading/remote_recovery.h"
#include "logging/reading/segment_reader.h"
#include "logging/record/block_format.h"
#include "logging/record/record_walk.h"

namespace mneme {

namespace {

constexpr Lsn kNoEnd{std::numeric_limits<uint64_t>::max()};

using Place = LogContents::Place;

// The part of the LSNs that an incarnation's blocks may claim.
struct IncarnationRange {
  Lsn begin = kNoEnd;
  Lsn end = kNoEnd;
};

IncarnationRange range_of(const Manifest& manifest, uint32_t incarnation) {
  for (size_t i = 0; i < manifest.incarnations.size(); ++i) {
    if (manifest.incarnations[i].number != incarnation) continue;
    const bool last = i + 1 == manifest.incarnations.size();
    return {manifest.incarnations[i].begin, last ? kNoEnd : manifest.incarnations[i + 1].begin};
  }
  return {};
}

// What is left of a run whose bytes are let go of.
struct ScannedRun {
  Lsn begin;
  Lsn end;  // of its blocks
  RecordWalk walk;
  uint64_t skips = 0;
  std::vector<LogContents::Window> windows;  // of one part each
};

// Each thread has a segment in memory; more threads than these would gain nothing on the device.
constexpr uint32_t kMostScanningThreads = 4;

// Cuts the run into windows.
ScannedRun scan_run(size_t segment, Lsn begin, ByteSpan bytes, const RecordLayout& layout,
                    const LogReadOptions& options) {
  ScannedRun run{.begin = begin, .end = begin + bytes.size(), .walk = {}, .windows = {}};
  Lsn next = begin;
  run.walk = walk_records(begin, bytes, layout, [&](const RecordHeader& header, ByteSpan) {
    const Lsn from = next;
    next = header.lsn + layout.stream_bytes(header.record_bytes);
    const bool is_skip = header.kind == RecordKind::kSkip;
    const bool is_of_schema = header.kind == RecordKind::kSchema;
    run.skips += is_skip ? 1 : 0;
    if (header.lsn < options.from) return;
    const bool is_full = run.windows.empty() || run.windows.back().is_of_schema || is_of_schema ||
                         from.value - run.windows.back().parts[0].begin.value >= options.window_bytes;
    if (is_full) run.windows.push_back({.parts = {{segment, from, from}}, .is_of_schema = is_of_schema});
    LogContents::Window& window = run.windows.back();
    window.parts[0].end = next;
    window.records += is_skip ? 0 : 1;
    window.has_rows |= header.kind == RecordKind::kLogical || header.kind == RecordKind::kPhysical;
  });
  return run;
}

// Of a segment's bytes, which are then let go of.
std::vector<ScannedRun> scan_segment(size_t number, LoadedSegment& segment, const LogReadOptions& options) {
  std::vector<ScannedRun> runs;
  size_t bytes_before = 0;
  for (size_t b = 0; b < segment.blocks.size();) {
    const Lsn begin = segment.blocks[b].begin;
    Lsn end = begin;
    for (; b < segment.blocks.size() && segment.blocks[b].begin == end; ++b) end = segment.blocks[b].end();
    const size_t size = end.value - begin.value;
    runs.push_back(scan_run(number, begin, ByteSpan(segment.bytes).subspan(bytes_before, size),
                            segment.layout, options));
    bytes_before += size;
  }
  segment.bytes = std::vector<std::byte>();  // with its memory
  std::ranges::sort(runs, {}, &ScannedRun::begin);
  return runs;
}

struct LoadedSegments {
  std::vector<LoadedSegment> segments;
  std::vector<std::vector<ScannedRun>> scanned;  // by segment; empty where their bytes are kept
};

bool may_be_kept(const std::string& directory, const Manifest& manifest, const LogReadOptions& options) {
  uint64_t bytes = 0;
  for (const SegmentEntry& entry : manifest.segments) {
    std::error_code missing;  // which is load_segment()'s to say
    const uint64_t size = std::filesystem::file_size(path_in(directory, entry.file), missing);
    bytes += missing ? 0 : size;
  }
  return bytes <= options.most_kept_bytes;
}

Result<LoadedSegments> load_segments(const std::string& directory, const Manifest& manifest,
                                     const LogReadOptions& options, bool keep) {
  std::vector<std::optional<Result<LoadedSegment>>> results(manifest.segments.size());
  LoadedSegments all;
  if (!keep) all.scanned.resize(results.size());
  LoadedCount loaded(results.size(), options.progress);
  const uint32_t threads = keep ? options.threads : std::min(options.threads, kMostScanningThreads);
  for_each_in_parallel(threads, results.size(), [&](size_t i) {
    const IncarnationRange range = range_of(manifest, manifest.segments[i].incarnation);
    results[i].emplace(
        load_segment(directory, manifest, manifest.segments[i], range.begin, range.end, options.patience));
    if (!keep && results[i]->ok()) all.scanned[i] = scan_segment(i, results[i]->value(), options);
    loaded.one_more();
  });
  for (auto& result : results) {
    if (!result->ok()) return result->error();
    all.segments.push_back(std::move(result->value()));
  }
  return all;
}

// The blocks that follow one another without a gap, but for holes, from the log's first byte on.
struct Chain {
  Lsn begin;
  Lsn end;
  Place gap;  // where the block that would go on is missing
  std::optional<Place>
      bad_block;  // the first block that was durable and whose bytes don't match their checksum
  std::optional<Place> new_hole;  // the first of the last incarnation's
  // where a block follows that doesn't go on, if one does
  size_t next_segment = std::numeric_limits<size_t>::max();
};

// The highest durable LSN that the incarnation's own blocks carry. Between it and the incarnation's end the
// blocks were never known to be durable; recovery kept those of their records that were intact, and torn
// padding is no harm.
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

// The last incarnation's holes, which nobody has noted yet, are no more and no longer than its workers can
// have left.
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

// Adds a block that goes on where the log's last one ended. Of its segment, `kept_bytes` are in the log
// before it.
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
        chain.next_segment = place.segment;
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
    if (log.is_kept) log.segments[s].bytes.resize(kept_bytes[s]);
  }
  return chain;
}

// What one run's bytes hold.
struct RunRecords {
  std::vector<RecordView> records;
  uint64_t skips = 0;
  RecordWalk walk;
};

RunRecords parse_run(Lsn begin, ByteSpan bytes, const RecordLayout& layout, const LogReadOptions& options) {
  RunRecords parsed;
  parsed.walk = walk_records(begin, bytes, layout, [&](const RecordHeader& header, ByteSpan payload) {
    const bool skip = header.kind == RecordKind::kSkip;
    parsed.skips += skip ? 1 : 0;
    if (header.lsn < options.from || (skip && !options.with_skips)) return;
    parsed.records.push_back({header.lsn, header.kind, payload});
  });
  return parsed;
}

// Fills the log's records. Returns how the last of the intact ones came to an end.
RecordWalk collect_records(const Chain& chain, const LogReadOptions& options, LogContents& log) {
  std::vector<RunRecords> parsed(log.runs.size());
  for_each_in_parallel(options.threads, parsed.size(), [&](size_t i) {
    const LogContents::Run& run = log.runs[i];
    parsed[i] = parse_run(run.begin, log.bytes_of(run), log.segments[run.segment].layout, options);
  });
  size_t count = 0;
  for (const RunRecords& each : parsed) count += each.records.size();
  log.records.reserve(count);
  RecordWalk last{.end = chain.begin, .is_whole = true, .next = {}};
  for (const RunRecords& each : parsed) {
    log.records.insert(log.records.end(), each.records.begin(), each.records.end());
    log.skips += each.skips;
    last = each.walk;
    if (!last.is_whole) break;
  }
  return last;
}

// Appends what one run holds to the last window, while that has room.
void add_window(LogContents::Window&& window, uint64_t window_bytes,
                std::vector<LogContents::Window>& windows) {
  const auto bytes_of = [](const LogContents::Window& of) {
    uint64_t bytes = 0;
    for (const LogContents::Window::Part& part : of.parts) bytes += part.end.value - part.begin.value;
    return bytes;
  };
  const bool stands_alone = windows.empty() || windows.back().is_of_schema || window.is_of_schema;
  if (stands_alone || bytes_of(windows.back()) + bytes_of(window) > window_bytes) {
    windows.push_back(std::move(window));
    return;
  }
  LogContents::Window& last = windows.back();
  last.parts.push_back(window.parts[0]);
  last.records += window.records;
  last.has_rows |= window.has_rows;
}

// Likewise, of a log that is not kept: fills its windows. Nothing: the segments' runs are not those of the
// log, as blocks of several claim the same place.
std::optional<RecordWalk> collect_windows(const Chain& chain, const LogReadOptions& options,
                                          std::vector<std::vector<ScannedRun>>& scanned, LogContents& log) {
  RecordWalk last{.end = chain.begin, .is_whole = true, .next = {}};
  for (const LogContents::Run& run : log.runs) {
    std::vector<ScannedRun>& runs = scanned[run.segment];
    const auto found = std::ranges::lower_bound(runs, run.begin, {}, &ScannedRun::begin);
    if (found == runs.end() || found->begin != run.begin || found->end != run.end) return std::nullopt;
    for (LogContents::Window& window : found->windows) {
      if (window.records > 0) add_window(std::move(window), options.window_bytes, log.windows);
    }
    log.skips += found->skips;
    last = found->walk;
    if (!last.is_whole) break;
  }
  return last;
}

// What is missing where the chain ends may as well be the first block of a segment behind that has none; of a
// striped log, of any that has none.
std::string first_blocks_behind(const Chain& chain, const std::vector<LoadedSegment>& loaded,
                                const LogContents& log) {
  std::string places;
  const auto folder_of = [](const LogContents::Segment& segment) {
    return std::filesystem::path(segment.file).parent_path();
  };
  const bool is_striped = std::ranges::any_of(log.segments, [&](const LogContents::Segment& each) {
    return folder_of(each) != folder_of(log.segments.front());
  });
  bool is_behind = is_striped;
  for (size_t s = 0;
       s < (is_striped ? log.segments.size() : std::min(chain.next_segment, log.segments.size())); ++s) {
    const std::string& file = log.segments[s].file;
    if (is_behind && loaded[s].blocks.empty() && (!loaded[s].nvm || loaded[s].nvm->begin == chain.end))
      places += fmt::format(", or {} at byte {}", file, block_offset(0));
    is_behind |= file == chain.gap.file;
  }
  return places;
}

// Whether the record at the log's end is cut off by the chain's end: missing, then, rather than bad. One in a
// run that others follow was whole, whatever its length says now.
bool reaches_past_chain(const RecordWalk& last, const Chain& chain, const LogContents& log) {
  if (last.end < log.runs.back().begin) return false;
  if (!last.next) return true;
  return last.next->lsn == last.end && last.end + last.next->record_bytes > chain.end;
}

}  // namespace

Result<LogContents> read_log(const std::string& directory, const Manifest& manifest,
                             const LogReadOptions& options) {
  if (manifest.layout == LogLayout::kEpoch) return read_epoch_log(directory, manifest, options);
  if (manifest.layout == LogLayout::kDistributed) return read_distributed_log(directory, manifest, options);
  if (!segments_in_memories(directory, manifest).empty()) {
    const auto fetched = FetchedLog::fetch(directory, manifest);
    if (!fetched.ok()) return fetched.error();
    // Its files go when this returns: nothing could be read from them again.
    LogReadOptions whole = options;
    whole.most_kept_bytes = std::numeric_limits<uint64_t>::max();
    return read_log(directory, fetched->manifest(), whole);
  }
  LogContents log;
  log.is_kept = options.with_skips || may_be_kept(directory, manifest, options);
  auto all = load_segments(directory, manifest, options, log.is_kept);
  if (!all.ok()) return all.error();
  std::vector<LoadedSegment>& loaded = all->segments;

  // What an incarnation begins after, and what a checkpoint holds, was durable by then.
  log.durable_seen = std::max(kFirstLsn, manifest.checkpoint_lsn);
  if (!manifest.incarnations.empty()) {
    const Incarnation& last = manifest.incarnations.back();
    log.durable_seen = std::max({log.durable_seen, last.begin, last.closed.value_or(last.begin)});
  }
  for (const LoadedSegment& segment : loaded) {
    log.durable_seen = std::max(log.durable_seen, segment.durable);
    log.file_bytes += segment.file_bytes;
  }
  const Chain chain = link_blocks(manifest, loaded, log);
  const std::optional<RecordWalk> last =
      log.is_kept ? collect_records(chain, options, log) : collect_windows(chain, options, all->scanned, log);
  if (!last) {
    LogReadOptions keep = options;
    keep.most_kept_bytes = std::numeric_limits<uint64_t>::max();
    return read_log(directory, manifest, keep);
  }
  log.end = last->end;
  log.record_bytes = log.end.value - chain.begin.value - log.hole_bytes();
  log.dropped_bytes += chain.end.value - log.end.value;

  // In a bad block the record may claim any length; and it may begin in the block before, of another file.
  const bool is_bad = chain.bad_block && log.end < chain.end;
  const bool missing = log.end == chain.end || (!is_bad && reaches_past_chain(*last, chain, log));
  Place place = missing ? chain.gap : log.place_of(log.end);
  if (is_bad && place.file != chain.bad_block->file) place = *chain.bad_block;
  if (log.end < log.durable_seen) {
    return damaged(
        "the log is damaged: {}/{} at byte {}{}: the record at LSN {} is {}, though everything below LSN {} "
        "was durable; nothing was changed",
        directory, place.file, place.offset, missing ? first_blocks_behind(chain, loaded, log) : "",
        log.end.value, missing ? "missing" : "not what was written", log.durable_seen.value);
  }
  if (chain.bad_block) {
    return damaged(
        "the log is damaged: {}/{} at byte {}: the block doesn't match its checksum, though it was durable; "
        "nothing was changed",
        directory, chain.bad_block->file, chain.bad_block->offset);
  }
  if (chain.new_hole && !holes_are_plausible(manifest, loaded, log)) {
    return damaged(
        "the log is damaged: {}/{} at byte {}: a record is missing, and others after it, {} bytes in {} "
        "places, which is more than a crash of {} workers can leave; nothing was changed",
        directory, chain.new_hole->file, chain.new_hole->offset, log.hole_bytes(), log.holes.size(),
        loaded.back().nvm->writers);
  }
  for (size_t s = 0; s < loaded.size(); ++s)
    RETURN_IF_ERROR(refuse_rot(directory, manifest, manifest.segments[s], loaded[s]));
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
