#include "logging/reading/distributed_log_reader.h"

#include <algorithm>
#include <map>
#include <optional>

#include "logging/reading/stream_segments.h"
#include "logging/record/stream_record.h"

namespace mneme {

namespace {

class DistributedLogReader {
 public:
  DistributedLogReader(const std::string& directory, const Manifest& manifest, const LogReadOptions& options)
      : directory_(directory),
        manifest_(manifest),
        options_(options),
        segments_(directory, manifest, options, log_) {}

  Result<LogContents> read() {
    log_.streams = LogContents::Streams();
    if (manifest_.incarnations.empty()) return std::move(log_);  // no engine has worked here yet
    RETURN_IF_ERROR(segments_.find({}, std::nullopt));
    RETURN_IF_ERROR(segments_.load());
    find_durable();
    RETURN_IF_ERROR(segments_.link());
    auto records = segments_.parse();
    if (!records.ok()) return records.error();
    records_ = std::move(*records);
    for (const Incarnation& each : manifest_.incarnations) RETURN_IF_ERROR(merge(each.number));
    if (log_.end < log_.durable_seen) return hole(log_.end, last().number);
    for (size_t s = 0; s < manifest_.segments.size(); ++s)
      RETURN_IF_ERROR(refuse_rot(directory_, manifest_, manifest_.segments[s], segments_.loaded(s)));
    segments_.cut(records_, [this](const RecordView& each) { return each.lsn < log_.end; });
    if (log_.dropped_bytes > 0) {
      log_.dropped_reason = fmt::format(
          "the log ends at LSN {}: the record there is in none of the {} streams; what some hold past it is "
          "left out, and "
          "nothing from there on was known to be durable (below LSN {})",
          log_.end.value, log_.streams->count, log_.durable_seen.value);
    }
    std::erase_if(log_.records, [this](const RecordView& each) {
      return each.lsn < options_.from || (!options_.with_skips && each.kind == RecordKind::kSkip);
    });
    return std::move(log_);
  }

 private:
  const Incarnation& last() const { return manifest_.incarnations.back(); }

  // All that an incarnation begins after, and all that a checkpoint holds, was durable by then.
  void find_durable() {
    log_.durable_seen = std::max({last().begin, kFirstLsn, last().closed.value_or(kFirstLsn)});
    if (manifest_.checkpoint_lsn > kCheckpointLsn) {
      log_.durable_seen = std::max(log_.durable_seen, manifest_.checkpoint_lsn + 1);
    }
    for (size_t i = 0; i < manifest_.segments.size(); ++i) {
      if (manifest_.segments[i].incarnation != last().number) continue;
      log_.durable_seen = std::max(log_.durable_seen, segments_.loaded(i).durable);
    }
  }

  // Appends the incarnation's records to the log's, up to the first place that is empty.
  Result<void> merge(uint32_t incarnation) {
    const LsnRange range = segments_.range_of(incarnation);
    const Lsn begin = std::max(range.begin, manifest_.checkpoint_lsn + 1);
    size_t count = 0;
    for (size_t s = 0; s < records_.size(); ++s) {
      if (manifest_.segments[s].incarnation == incarnation) count += records_[s].size();
    }
    // A place past their number lies behind an empty one.
    std::vector<RecordView> places(count);
    std::map<Lsn, PartJoin> joins;
    for (size_t s = 0; s < records_.size(); ++s) {
      if (manifest_.segments[s].incarnation != incarnation) continue;
      for (const RecordView& each : records_[s]) {
        const Lsn lsn = each.lsn;
        if (lsn < begin || lsn >= range.end || lsn.value - begin.value >= count) continue;
        if (each.is_part) {
          if (!joins[lsn].add(each)) return twice(each);
          continue;
        }
        RecordView& place = places[lsn.value - begin.value];
        if (place.lsn != kCheckpointLsn) return twice(each);
        place = each;
      }
    }
    RETURN_IF_ERROR(join(joins, begin, places));
    const auto first_empty =
        std::ranges::find_if(places, [](const RecordView& each) { return each.lsn == kCheckpointLsn; });
    places.erase(first_empty, places.end());
    log_.end = begin + places.size();
    const bool is_last = incarnation == last().number;
    if (!is_last && log_.end < range.end) return hole(log_.end, incarnation);
    for (const RecordView& each : places) {
      log_.record_bytes += kRecordHeaderBytes + each.payload.size();
      log_.skips += each.kind == RecordKind::kSkip ? 1 : 0;
    }
    log_.records.insert(log_.records.end(), places.begin(), places.end());
    return {};
  }

  // Puts records that lay in parts in their places. One without all of them is as good as missing.
  Result<void> join(std::map<Lsn, PartJoin>& joins, Lsn begin, std::vector<RecordView>& places) {
    for (auto& [lsn, parts] : joins) {
      std::optional<std::vector<std::byte>> payload = parts.take();
      if (!payload) continue;
      RecordView& place = places[lsn.value - begin.value];
      if (place.lsn != kCheckpointLsn) return twice(parts.first());
      log_.joined.push_back({std::move(*payload), parts.first()});
      place = {lsn, parts.first().kind, log_.joined.back().payload};
    }
    return {};
  }

  Error twice(const RecordView& record) const {
    const LogContents::Place place = log_.place_of(record);
    return damaged(
        "the log is damaged: {}/{} at byte {}: there is another record with the LSN {}, or it is none of the "
        "record's parts; nothing was changed",
        directory_, place.file, place.offset, record.lsn.value);
  }

  // It may have been any stream's: a last block without a right header breaks nothing off, and what does may
  // be a torn end.
  Error hole(Lsn at, uint32_t incarnation) {
    std::string where;
    for (const LogContents::Place& place : segments_.ends(incarnation))
      where += fmt::format("{}{}/{} at byte {}", where.empty() ? "" : ", or ", directory_, place.file,
                           place.offset);
    where += where.empty() ? directory_ + ": " : ": ";
    return damaged(
        "the log is damaged: {}the record at LSN {} is missing or not what was written, in whichever stream "
        "it was, "
        "though everything below LSN {} was durable; nothing was changed",
        where, at.value, log_.durable_seen.value);
  }

  const std::string& directory_;
  const Manifest& manifest_;
  const LogReadOptions& options_;
  LogContents log_;
  StreamSegments segments_;
  std::vector<std::vector<RecordView>> records_;  // by segment
};

}  // namespace

Result<LogContents> read_distributed_log(const std::string& directory, const Manifest& manifest,
                                         const LogReadOptions& options) {
  return DistributedLogReader(directory, manifest, options).read();
}

}  // namespace mneme
