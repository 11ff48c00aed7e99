#include "logging/reading/epoch_log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "logging/layout/pepoch_file.h"
#include "logging/reading/place_merge.h"
#include "logging/reading/stream_segments.h"

namespace mneme {

namespace {

class EpochLogReader {
 public:
  EpochLogReader(const std::string& directory, const Manifest& manifest, const LogReadOptions& options)
      : directory_(directory),
        manifest_(manifest),
        options_(options),
        segments_(directory, manifest, options, log_) {}

  Result<LogContents> read() {
    log_.streams = LogContents::Streams();
    if (manifest_.incarnations.empty()) return std::move(log_);  // no engine has worked here yet
    log_.end = last().begin;
    RETURN_IF_ERROR(find_end());
    log_.durable_seen = log_.end;
    // Where no epoch was persisted, the number of loggers is not noted.
    RETURN_IF_ERROR(segments_.find(stream_ends_, kFirstPosition));
    RETURN_IF_ERROR(segments_.load());
    RETURN_IF_ERROR(check_pepoch());
    RETURN_IF_ERROR(segments_.link());
    auto records = segments_.parse();
    if (!records.ok()) return records.error();
    records_ = std::move(*records);
    RETURN_IF_ERROR(check_range());
    RETURN_IF_ERROR(put_in_order());
    if (log_.dropped_bytes > 0) {
      log_.dropped_reason = fmt::format(
          "the log ends at LSN {}: not all loggers had persisted an epoch past {}; what some had is left out",
          log_.end.value,
          log_.streams->pepoch ? fmt::format("{}", *log_.streams->pepoch) : "the last opening");
    }
    return std::move(log_);
  }

 private:
  const Incarnation& last() const { return manifest_.incarnations.back(); }

  // Finds the log's end in pepoch.log. A directory whose last opening wrote no segment has no such file.
  Result<void> find_end() {
    const bool has_log = std::ranges::any_of(
        manifest_.segments, [this](const SegmentEntry& each) { return each.incarnation == last().number; });
    if (!has_log) return {};
    auto slot = read_pepoch(directory_, manifest_, options_.patience);
    if (!slot.ok()) return slot.error();
    if (!*slot) return {};
    // The first slot says where the incarnation begins, before anything was persisted.
    if ((*slot)->end > last().begin) log_.streams->pepoch = (*slot)->pepoch.value;
    has_slot_ = true;
    stream_ends_ = (*slot)->stream_ends;
    log_.end = (*slot)->end;
    return {};
  }

  // No block was written after an epoch that pepoch.log does not know, nor a segment made before its first
  // slot; and where the log was closed in order the file knows its end.
  Result<void> check_pepoch() {
    uint64_t persisted = 0;
    bool had_slot = false;
    for (size_t i = 0; i < manifest_.segments.size(); ++i) {
      if (manifest_.segments[i].incarnation != last().number) continue;
      persisted = std::max<uint64_t>(persisted, segments_.loaded(i).progress);
      had_slot |= segments_.loaded(i).is_sized;
    }
    const uint64_t first = epoch_of(last().begin).value;
    if (persisted > 0 && first + persisted > epoch_of(log_.end).value) {
      return damaged(
          "{}/{} is damaged: it knows {}, though epoch {} was persisted when the log went on; nothing was "
          "changed",
          directory_, kPepochFile,
          log_.streams->pepoch ? fmt::format("no epoch past {}", *log_.streams->pepoch)
                               : "no epoch of this opening",
          first + persisted - 1);
    }
    if (had_slot && !has_slot_) {
      return damaged(
          "{}/{} is damaged, or older than the log: no slot of it is of the last opening, incarnation {}; "
          "nothing was changed: put "
          "the file back from a copy of the directory",
          directory_, kPepochFile, last().number);
    }
    if (log_.end < last().closed.value_or(log_.end)) {
      return damaged(
          "{}/{} is damaged, or older than MANIFEST: it says that the log ends at LSN {}, and it was closed "
          "at LSN {}; nothing was "
          "changed: put the file back from a copy of the directory",
          directory_, kPepochFile, log_.end.value, last().closed->value);
    }
    return {};
  }

  LsnRange range_of(uint32_t incarnation) const {
    const LsnRange range = segments_.range_of(incarnation);
    return {range.begin, std::min(range.end, log_.end)};
  }

  Result<void> check_range() const {
    for (size_t s = 0; s < records_.size(); ++s) {
      const Lsn end = range_of(manifest_.segments[s].incarnation).end;
      const auto past = std::ranges::find_if(
          records_[s], [end](const RecordView& each) { return each.lsn >= end || each.is_part; });
      if (past == records_[s].end()) continue;
      const LogContents::Place place = log_.place_of(*past);
      return damaged(
          "the log is damaged: {}/{} at byte {}: the record is not what was written, though it was durable; "
          "nothing was "
          "changed",
          directory_, place.file, place.offset);
    }
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
  std::vector<StreamPosition> stream_ends_;  // of the last incarnation
  bool has_slot_ = false;                    // of the last incarnation's, in pepoch.log
  StreamSegments segments_;
  std::vector<std::vector<RecordView>> records_;  // by segment
};

}  // namespace

Result<LogContents> read_epoch_log(const std::string& directory, const Manifest& manifest,
                                   const LogReadOptions& options) {
  return EpochLogReader(directory, manifest, options).read();
}

}  // namespace mneme
