#include "logging/epoch_log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/check.h"
#include "base/parallel.h"
#include "logging/block_format.h"
#include "logging/pepoch_file.h"
#include "logging/place_merge.h"
#include "logging/segment_reader.h"

namespace mneme {

namespace {

constexpr Lsn kNoEnd{std::numeric_limits<uint64_t>::max()};

using Place = LogContents::Place;

// One logger's log in one incarnation.
struct Stream {
  Lsn end = kFirstLsn;           // of what the log holds of it, in positions of the stream
  std::vector<size_t> segments;  // by number: indexes into the manifest's
};

// The LSNs that an incarnation's records have.
struct LsnRange {
  Lsn begin;
  Lsn end;
};

class EpochLogReader {
 public:
  EpochLogReader(const std::string& directory, const Manifest& manifest, const LogReadOptions& options)
      : directory_(directory), manifest_(manifest), options_(options) {}

  Result<LogContents> read() {
    log_.epochs.emplace();
    if (manifest_.incarnations.empty()) return std::move(log_);  // nobody has worked here yet
    log_.end = last().begin;
    RETURN_IF_ERROR(find_end());
    log_.durable_seen = log_.end;
    RETURN_IF_ERROR(find_streams());
    RETURN_IF_ERROR(load_segments());
    RETURN_IF_ERROR(check_pepoch());
    for (auto& [number, streams] : streams_) {
      for (Stream& stream : streams) RETURN_IF_ERROR(link(stream, number == last().number));
    }
    RETURN_IF_ERROR(find_records());
    RETURN_IF_ERROR(put_in_order());
    if (log_.dropped_bytes > 0) {
      log_.dropped_reason = fmt::format(
          "the log ends at LSN {}: not all loggers had persisted an epoch past {}; what some had is left out",
          log_.end.value, log_.epochs->pepoch ? fmt::format("{}", *log_.epochs->pepoch) : "the last opening");
    }
    return std::move(log_);
  }

 private:
  const Incarnation& last() const { return manifest_.incarnations.back(); }

  // What pepoch.log says. A directory whose last opening wrote no segment has none.
  Result<void> find_end() {
    const bool has_log = std::ranges::any_of(
        manifest_.segments, [this](const SegmentEntry& each) { return each.incarnation == last().number; });
    if (!has_log) return {};
    auto slot = read_pepoch(directory_, manifest_, options_.patience);
    if (!slot.ok()) return slot.error();
    if (!*slot) return {};
    log_.epochs->pepoch = (*slot)->pepoch.value;
    log_.epochs->stream_ends = (*slot)->stream_ends;
    log_.end = (*slot)->end;
    return {};
  }

  // Which segments belong to which stream, and where the log ends in it.
  Result<void> find_streams() {
    for (const Incarnation& each : manifest_.incarnations) {
      const bool is_last = each.number == last().number;
      const std::vector<Lsn>& ends = is_last ? log_.epochs->stream_ends : each.stream_ends;
      for (const Lsn end : ends) streams_[each.number].push_back({.end = end, .segments = {}});
    }
    for (size_t i = 0; i < manifest_.segments.size(); ++i) {
      const SegmentEntry& entry = manifest_.segments[i];
      std::vector<Stream>& streams = streams_[entry.incarnation];
      if (!entry.logger || *entry.logger >= kMostLoggers) {
        return damaged("{}/MANIFEST doesn't say whose stream {} belongs to; nothing was changed", directory_,
                       entry.file);
      }
      // Where no epoch was persisted, nobody has noted how many loggers there are.
      if (streams.size() <= *entry.logger) streams.resize(*entry.logger + 1);
      streams[*entry.logger].segments.push_back(i);
    }
    log_.epochs->loggers = static_cast<uint32_t>(streams_[last().number].size());
    log_.epochs->stream_ends.resize(log_.epochs->loggers, kFirstLsn);
    return {};
  }

  Result<void> load_segments() {
    std::vector<std::optional<Result<LoadedSegment>>> results(manifest_.segments.size());
    LoadedCount loaded(results.size(), options_.progress);
    for_each_in_parallel(options_.threads, results.size(), [&](size_t i) {
      results[i].emplace(
          load_segment(directory_, manifest_, manifest_.segments[i], kFirstLsn, kNoEnd, options_.patience));
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

  // No block was written after an epoch that pepoch.log does not know.
  Result<void> check_pepoch() {
    uint64_t persisted = 0;
    for (size_t i = 0; i < loaded_.size(); ++i) {
      if (manifest_.segments[i].incarnation != last().number) continue;
      persisted = std::max<uint64_t>(persisted, loaded_[i].persisted_epochs);
    }
    if (persisted == 0) return {};
    const uint64_t first = epoch_of(last().begin).value;
    if (first + persisted <= epoch_of(log_.end).value) return {};
    return damaged(
        "{}/{} is damaged: it knows {}, though epoch {} was persisted when the log went on; nothing was "
        "changed",
        directory_, kPepochFile,
        log_.epochs->pepoch ? fmt::format("no epoch past {}", *log_.epochs->pepoch)
                            : "no epoch of this opening",
        first + persisted - 1);
  }

  // Moves the stream's blocks into the log, up to its end; what comes after is only counted.
  Result<void> link(const Stream& stream, bool is_last) {
    std::optional<Lsn> at;  // where the stream goes on; nothing: it has not begun
    Place gap{std::string(kPepochFile), 0};
    if (!stream.segments.empty()) gap = {log_.segments[stream.segments.front()].file, block_offset(0)};
    bool broken = false;
    for (const size_t s : stream.segments) {
      LoadedSegment& loaded = loaded_[s];
      LogContents::Segment& segment = log_.segments[s];
      size_t kept_bytes = 0;
      for (size_t b = 0; b < loaded.blocks.size(); ++b) {
        const LoadedBlock& block = loaded.blocks[b];
        const bool is_first = block.offset == block_offset(0) + kBlockHeaderBytes;
        // A stream begins with a segment's first block, and a segment goes on where the one before it ended.
        if (!broken && (at ? *at != block.begin : !is_first)) {
          broken = true;
          if (!is_first && segment.blocks.empty()) gap = {segment.file, block_offset(0)};
        }
        const uint64_t kept =
            broken || block.begin >= stream.end
                ? 0
                : std::min<uint64_t>(block.used_bytes, stream.end.value - block.begin.value);
        if (is_last) log_.dropped_bytes += block.used_bytes - kept;
        if (!broken) at = block.end();
        if (kept == 0) continue;
        if (!block.payload_is_intact) return bad_block({segment.file, block.offset - kBlockHeaderBytes});
        segment.blocks.push_back({block.begin, static_cast<uint32_t>(kept), block.offset});
        kept_bytes += kept;
        gap = {segment.file, block.offset - kBlockHeaderBytes + kBlockBytes};
      }
      segment.bytes = std::move(loaded.bytes);
      segment.bytes.resize(kept_bytes);
    }
    const Lsn reached = at.value_or(kFirstLsn);
    const bool was_dropped = stream.segments.empty() && manifest_.checkpoint_lsn > kCheckpointLsn;
    if (reached < stream.end && !was_dropped) {
      return damaged(
          "the log is damaged: {}/{} at byte {}: a block is missing, though everything below LSN {} was "
          "durable; "
          "nothing was changed",
          directory_, gap.file, gap.offset, log_.end.value);
    }
    return {};
  }

  Error bad_block(const Place& place) const {
    return damaged(
        "the log is damaged: {}/{} at byte {}: the block doesn't match its checksum, though it was durable; "
        "nothing was changed",
        directory_, place.file, place.offset);
  }

  LsnRange range_of(uint32_t incarnation) const {
    for (size_t i = 0; i < manifest_.incarnations.size(); ++i) {
      if (manifest_.incarnations[i].number != incarnation) continue;
      const bool is_last = i + 1 == manifest_.incarnations.size();
      return {manifest_.incarnations[i].begin, is_last ? log_.end : manifest_.incarnations[i + 1].begin};
    }
    return {};
  }

  // The records of a segment's blocks. All are whole: the log ends between two of them.
  Result<void> parse(size_t s) {
    const LogContents::Segment& segment = log_.segments[s];
    const LsnRange range = range_of(manifest_.segments[s].incarnation);
    std::vector<RecordView>& records = records_[s];
    ByteSpan rest = segment.bytes;
    while (!rest.empty()) {
      const RecordHeader header =
          rest.size() < kRecordHeaderBytes ? RecordHeader() : RecordHeader::decode(rest.data());
      const bool fits = header.record_bytes >= kRecordHeaderBytes && header.record_bytes <= rest.size();
      const ByteSpan payload =
          fits ? rest.subspan(kRecordHeaderBytes, header.record_bytes - kRecordHeaderBytes) : ByteSpan();
      if (!fits || !record_is_well_formed(rest.data(), payload, header.lsn) || header.lsn < range.begin ||
          header.lsn >= range.end) {
        const Place place = segment.place_at(segment.bytes.size() - rest.size());
        return damaged(
            "the log is damaged: {}/{} at byte {}: the record is not what was written, though it was "
            "durable; "
            "nothing was changed",
            directory_, place.file, place.offset);
      }
      records.push_back({header.lsn, header.kind, payload});
      rest = rest.subspan(header.record_bytes);
    }
    return {};
  }

  Result<void> find_records() {
    records_.resize(log_.segments.size());
    std::vector<Result<void>> results(log_.segments.size());
    for_each_in_parallel(options_.threads, results.size(), [&](size_t s) { results[s] = parse(s); });
    for (const Result<void>& result : results) RETURN_IF_ERROR(result);
    return {};
  }

  Result<void> put_in_order() {
    for (const Incarnation& each : manifest_.incarnations) RETURN_IF_ERROR(merge(each.number));
    std::erase_if(log_.records, [this](const RecordView& each) {
      return each.lsn < options_.from || (!options_.with_skips && each.kind == RecordKind::kSkip);
    });
    return {};
  }

  // Appends the incarnation's records to the log's.
  Result<void> merge(uint32_t incarnation) {
    const Lsn checkpoint = manifest_.checkpoint_lsn;
    PlaceMerge merge;
    for (size_t s = 0; s < records_.size(); ++s) {
      if (manifest_.segments[s].incarnation != incarnation) continue;
      std::vector<RecordView> records = std::move(records_[s]);
      if (checkpoint > kCheckpointLsn) {
        std::erase_if(records, [&](const RecordView& each) { return each.lsn <= checkpoint; });
      }
      merge.add(std::move(records));
    }
    const LsnRange range = range_of(incarnation);
    const bool from_begin = checkpoint < range.begin;
    const std::optional<std::vector<RecordView>> merged =
        merge.merge(from_begin ? std::optional(range.begin) : std::nullopt, options_.threads);
    const bool reaches_end = !merged || is_followed_by(*merged, range, from_begin);
    if (!merged || !reaches_end) {
      return damaged(
          "the log is damaged: {}: of incarnation {} records are missing between LSN {} and {}, though all "
          "of its "
          "files are as they were written; nothing was changed",
          directory_, incarnation, range.begin.value, range.end.value);
    }
    for (const RecordView& each : *merged) {
      log_.record_bytes += kRecordHeaderBytes + each.payload.size();
      log_.skips += each.kind == RecordKind::kSkip ? 1 : 0;
    }
    log_.records.insert(log_.records.end(), merged->begin(), merged->end());
    return {};
  }

  // Whether the place behind the last record is that of the next incarnation's first.
  static bool is_followed_by(const std::vector<RecordView>& records, const LsnRange& range, bool from_begin) {
    if (records.empty()) {
      return !from_begin || place_in_epoch(range.begin) == place_in_epoch(range.end);
    }
    return place_in_epoch(records.back().lsn + 1) == place_in_epoch(range.end);
  }

  const std::string& directory_;
  const Manifest& manifest_;
  const LogReadOptions& options_;
  LogContents log_;
  std::map<uint32_t, std::vector<Stream>> streams_;  // by incarnation; of each, by logger
  std::vector<LoadedSegment> loaded_;                // in the manifest's order
  std::vector<std::vector<RecordView>> records_;     // by segment
};

}  // namespace

Result<LogContents> read_epoch_log(const std::string& directory, const Manifest& manifest,
                                   const LogReadOptions& options) {
  return EpochLogReader(directory, manifest, options).read();
}

}  // namespace mneme
