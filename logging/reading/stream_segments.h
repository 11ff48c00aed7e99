// Stream segments: the segments of a log of several streams, of loggers (epoch_log.h) or sockets
// (distributed_log.h), loaded and followed stream by stream into the log that is being read.
//
// Flow        find() -> load() -> link() each stream -> parse() -> what the layout does with the records
// Invariants  a stream begins with a segment's first block at any position; from there on its blocks follow
//             one another without a gap, from segment to segment. Where a stream's end is known, a block that
//             is missing or bad before it is damage; where it is not, the stream ends there. A stream whose
//             buffer lay in persistent memory has a ring (nvm_ring.h), which goes on behind the last whole
//             record that was destaged, and may have holes: workers fence their records in any order. The
//             commit sequence shows which of the holes matter, so such a stream counts as one without a known
//             end.
// Threads     load() and parse() use threads of their own.
// Errors      as log_reader.h says.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "logging/reading/log_reader.h"
#include "logging/reading/segment_reader.h"

namespace mneme {

// The LSNs that an incarnation's records have.
struct LsnRange {
  Lsn begin;
  Lsn end;
};

// One stream of one incarnation.
struct LogStream {
  std::optional<StreamPosition> end{};  // of what the log holds of it; nothing: it is to be found out
  std::vector<size_t> segments{};       // by number: indexes into the manifest's
  std::optional<size_t> ring{};         // likewise

  // Whether it is to be followed as far as it is intact.
  bool is_open() const { return !end || ring; }
};

class StreamSegments {
 public:
  // All outlive it.
  StreamSegments(const std::string& directory, const Manifest& manifest, const LogReadOptions& options,
                 LogContents& log)
      : directory_(directory), manifest_(manifest), options_(options), log_(log) {}

  // Which segments belong to which stream. `last_ends`: of the last incarnation; a stream whose end neither
  // they nor the manifest note ends at `others_end`.
  Result<void> find(const std::vector<StreamPosition>& last_ends, std::optional<StreamPosition> others_end);
  Result<void> load();
  // Moves the streams' blocks into the log, up to their ends; what comes after is only counted.
  Result<void> link();
  // The records of all segments, in the manifest's order. Those of a stream without an end are cut where one
  // is not intact.
  Result<std::vector<std::vector<RecordView>>> parse();
  // In the last incarnation's streams: leaves only records that `belongs` accepts and what lies before them;
  // notes the streams' ends.
  void cut(std::vector<std::vector<RecordView>>& records,
           const std::function<bool(const RecordView&)>& belongs);

  LsnRange range_of(uint32_t incarnation) const;
  const std::vector<LogStream>& last_streams() { return streams_[last().number]; }
  const LoadedSegment& loaded(size_t segment) const { return loaded_[segment]; }
  // Where the incarnation's streams end whose ends were to be found out: where one breaks off, behind the
  // last block of one that doesn't, as far as the files show, and where a record begins that is not whole
  // there, or is missing in a ring.
  const std::vector<LogContents::Place>& ends(uint32_t incarnation) { return ends_[incarnation]; }

 private:
  using Place = LogContents::Place;

  const Incarnation& last() const { return manifest_.incarnations.back(); }
  bool is_last(size_t segment) const { return manifest_.segments[segment].incarnation == last().number; }
  Result<void> link(const LogStream& stream, uint32_t incarnation);
  Result<void> parse(size_t s, bool is_open, std::vector<RecordView>& records, size_t& intact_bytes) const;
  StreamPosition end_at_gaps(const LogStream& stream, std::vector<std::vector<RecordView>>& records,
                             std::vector<size_t>& intact_bytes);
  void keep(size_t segment, size_t bytes);
  Error bad_block(const Place& place) const;

  const std::string& directory_;
  const Manifest& manifest_;
  const LogReadOptions& options_;
  LogContents& log_;
  std::map<uint32_t, std::vector<LogStream>> streams_;  // by incarnation; of each, by number
  std::vector<LoadedSegment> loaded_;                   // in the manifest's order
  std::map<uint32_t, std::vector<Place>> ends_;         // by incarnation
};

}  // namespace mneme
