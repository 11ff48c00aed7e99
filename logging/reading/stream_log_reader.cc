#include "logging/reading/stream_log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "logging/reading/block_chain.h"
#include "logging/reading/remote_recovery.h"
#include "logging/reading/segment_reader.h"
#include "logging/reading/window_scan.h"
#include "logging/record/record_walk.h"

namespace mneme {

namespace {

constexpr StreamPosition kNoEnd{std::numeric_limits<uint64_t>::max()};
// Each thread has a segment in memory; more threads than these would gain nothing on the device.
constexpr uint32_t kMostScanningThreads = 4;

// The positions that an incarnation's blocks may claim.
struct IncarnationRange {
  StreamPosition begin = kNoEnd;
  StreamPosition end = kNoEnd;
};

IncarnationRange range_of(const Manifest& manifest, uint32_t incarnation) {
  for (size_t i = 0; i < manifest.incarnations.size(); ++i) {
    if (manifest.incarnations[i].number != incarnation) continue;
    const bool last = i + 1 == manifest.incarnations.size();
    return {one_stream_position(manifest.incarnations[i].begin),
            last ? kNoEnd : one_stream_position(manifest.incarnations[i + 1].begin)};
  }
  return {};
}

bool may_be_kept(const std::string& directory, const Manifest& manifest, const LogReadOptions& options) {
  if (options.with_skips) return true;
  uint64_t bytes = 0;
  for (const SegmentEntry& entry : manifest.segments) {
    std::error_code missing;  // load_segment() reports it
    const uint64_t size = std::filesystem::file_size(path_in(directory, entry.file), missing);
    bytes += missing ? 0 : size;
  }
  return bytes <= options.most_kept_bytes;
}

// The records in one run's bytes.
struct RunRecords {
  std::vector<RecordView> records;
  uint64_t skips = 0;
  RecordWalk walk;
};

RunRecords parse_run(StreamPosition begin, ByteSpan bytes, const RecordLayout& layout,
                     const LogReadOptions& options) {
  RunRecords parsed;
  parsed.walk = walk_records(begin, bytes, layout, [&](const RecordHeader& header, ByteSpan payload) {
    const bool skip = header.kind == RecordKind::kSkip;
    parsed.skips += skip ? 1 : 0;
    if (header.lsn < options.from || (skip && !options.with_skips)) return;
    parsed.records.push_back({header.lsn, header.kind, payload});
  });
  return parsed;
}

// Reads the log once: with `keep` its records stay in memory, else its windows are cut.
class StreamLogReader {
 public:
  StreamLogReader(const std::string& directory, const Manifest& manifest, const LogReadOptions& options,
                  bool keep)
      : directory_(directory),
        manifest_(manifest),
        options_(options),
        keep_(keep),
        windows_(keep ? 0 : manifest.segments.size(), options),
        chain_(manifest, loaded_, log_) {
    log_.is_kept = keep;
  }

  // Returns nullopt where the log has no windows: then it is to be kept.
  Result<std::optional<LogContents>> read() {
    RETURN_IF_ERROR(load());
    find_durable();
    chain_.link();
    const std::optional<RecordWalk> last = keep_ ? collect_records() : windows_.collect(chain_.begin(), log_);
    if (!last) return std::optional<LogContents>();
    log_.end = one_stream_lsn(last->end);
    log_.record_bytes = last->end.value - chain_.begin().value - log_.hole_bytes();
    log_.dropped_bytes += chain_.end().value - last->end.value;
    RETURN_IF_ERROR(check_end(*last));
    return std::optional(std::move(log_));
  }

 private:
  Result<void> load() {
    std::vector<std::optional<Result<LoadedSegment>>> results(manifest_.segments.size());
    LoadedCount loaded(results.size(), options_.progress);
    const uint32_t threads = keep_ ? options_.threads : std::min(options_.threads, kMostScanningThreads);
    for_each_in_parallel(threads, results.size(), [&](size_t i) {
      const IncarnationRange range = range_of(manifest_, manifest_.segments[i].incarnation);
      results[i].emplace(load_segment(directory_, manifest_, manifest_.segments[i], range.begin, range.end,
                                      options_.patience));
      if (!keep_ && results[i]->ok()) windows_.scan(i, results[i]->value());
      loaded.one_more();
    });
    for (auto& result : results) {
      if (!result->ok()) return result->error();
      loaded_.push_back(std::move(result->value()));
      log_.file_bytes += loaded_.back().file_bytes;
    }
    return {};
  }

  // All that an incarnation begins after, and all that a checkpoint holds, was durable by then.
  void find_durable() {
    log_.durable_seen = std::max(kFirstLsn, manifest_.checkpoint_lsn);
    if (!manifest_.incarnations.empty()) {
      const Incarnation& last = manifest_.incarnations.back();
      log_.durable_seen = std::max({log_.durable_seen, last.begin, last.closed.value_or(last.begin)});
    }
    for (const LoadedSegment& segment : loaded_)
      log_.durable_seen = std::max(log_.durable_seen, segment.durable);
  }

  // Fills the log's records. Returns how the last of the intact ones came to an end.
  RecordWalk collect_records() {
    std::vector<RunRecords> parsed(log_.runs.size());
    for_each_in_parallel(options_.threads, parsed.size(), [&](size_t i) {
      const LogContents::Run& run = log_.runs[i];
      parsed[i] = parse_run(run.begin, log_.bytes_of(run), log_.segments[run.segment].layout, options_);
    });
    size_t count = 0;
    for (const RunRecords& each : parsed) count += each.records.size();
    log_.records.reserve(count);
    RecordWalk last{.end = chain_.begin(), .is_whole = true, .next = {}};
    for (const RunRecords& each : parsed) {
      log_.records.insert(log_.records.end(), each.records.begin(), each.records.end());
      log_.skips += each.skips;
      last = each.walk;
      if (!last.is_whole) break;
    }
    return last;
  }

  // Refuses an end below what was durable; explains one that leaves bytes out.
  Result<void> check_end(const RecordWalk& last) {
    const std::optional<LogContents::Place>& bad_block = chain_.bad_block();
    // In a bad block the record may claim any length; and it may begin in the block before, of another file.
    const bool is_bad = bad_block && last.end < chain_.end();
    const bool missing = last.end == chain_.end() || (!is_bad && chain_.cuts_off(last));
    LogContents::Place place = missing ? chain_.gap() : log_.place_of(last.end);
    if (is_bad && place.file != bad_block->file) place = *bad_block;
    if (log_.end < log_.durable_seen) {
      return damaged(
          "the log is damaged: {}/{} at byte {}{}: the record at LSN {} is {}, though everything below LSN "
          "{} "
          "was durable; nothing was changed",
          directory_, place.file, place.offset, missing ? chain_.other_gaps() : "", log_.end.value,
          missing ? "missing" : "not what was written", log_.durable_seen.value);
    }
    if (bad_block) {
      return damaged(
          "the log is damaged: {}/{} at byte {}: the block doesn't match its checksum, though it was "
          "durable; "
          "nothing was changed",
          directory_, bad_block->file, bad_block->offset);
    }
    if (!loaded_.empty()) RETURN_IF_ERROR(chain_.holes().check(directory_, loaded_.back()));
    for (size_t s = 0; s < loaded_.size(); ++s)
      RETURN_IF_ERROR(refuse_rot(directory_, manifest_, manifest_.segments[s], loaded_[s]));
    if (log_.dropped_bytes == 0) return {};
    log_.dropped_reason = fmt::format(
        "the log ends at LSN {}: in {} at byte {} the next record is {}; nothing from there on was known to "
        "be durable "
        "(below LSN {})",
        log_.end.value, place.file, place.offset, missing ? "missing" : "torn", log_.durable_seen.value);
    return {};
  }

  const std::string& directory_;
  const Manifest& manifest_;
  const LogReadOptions& options_;
  const bool keep_;
  LogContents log_;
  std::vector<LoadedSegment> loaded_;
  WindowScan windows_;
  BlockChain chain_;
};

Result<LogContents> read_segments(const std::string& directory, const Manifest& manifest,
                                  const LogReadOptions& options, bool keep) {
  if (!keep) {
    auto log = StreamLogReader(directory, manifest, options, /*keep=*/false).read();
    if (!log.ok()) return log.error();
    if (*log) return std::move(**log);
  }
  auto log = StreamLogReader(directory, manifest, options, /*keep=*/true).read();
  if (!log.ok()) return log.error();
  return std::move(**log);
}

}  // namespace

Result<LogContents> read_stream_log(const std::string& directory, const Manifest& manifest,
                                    const LogReadOptions& options) {
  if (segments_in_memories(directory, manifest).empty())
    return read_segments(directory, manifest, options, may_be_kept(directory, manifest, options));
  const auto fetched = FetchedLog::fetch(directory, manifest);
  if (!fetched.ok()) return fetched.error();
  // Its files go when this returns: nothing could be read from them again.
  return read_segments(directory, fetched->manifest(), options, /*keep=*/true);
}

}  // namespace mneme
