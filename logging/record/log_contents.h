// LogContents: what a log holds, as the readers of its directory find it: records in commit order, and where
// each of them lies.
//
// Threads  plain data.
// Source   log_reader.h, which fills it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "logging/record/log_hole.h"
#include "logging/record/lsn.h"
#include "logging/record/record_format.h"

namespace mneme {

struct RecordView {
  RecordView() = default;
  RecordView(Lsn l, RecordKind k, ByteSpan p, bool part = false)
      : lsn(l), kind(k), is_part(part), payload(p) {}

  Lsn lsn;
  RecordKind kind = RecordKind::kSkip;
  bool is_part = false;  // of the record with this LSN (stream_record.h)
  ByteSpan payload;      // into LogContents' memory
};

struct LogContents {
  LogContents() = default;
  // Moved, never copied: `records` point into `segments`.
  LogContents(LogContents&&) = default;
  LogContents& operator=(LogContents&&) = default;

  std::vector<RecordView> records;  // in commit order; empty where the log is not kept
  Lsn end = kFirstLsn;              // where the next record would stand
  Lsn durable_seen = kFirstLsn;
  uint64_t record_bytes =
      0;               // of the records, headers, skips and what lies between their ends and begins included
  uint64_t skips = 0;  // how many skip records the log holds
  uint64_t file_bytes = 0;     // read from segments
  uint64_t dropped_bytes = 0;  // payload bytes in intact blocks at or above `end`
  std::string dropped_reason;  // a sentence; empty when the log ends where its last block does
  std::vector<LogHole> holes;  // in log order; of persistent memory only

  // For a log of several streams.
  struct Streams {
    uint32_t count = 0;                // of the last incarnation
    std::vector<StreamPosition> ends;  // where the log ends in each, in positions
    // For a log of loggers and epochs: the log's last epoch; nullopt if it ends where the last incarnation
    // begins.
    std::optional<uint64_t> pepoch;
  };
  std::optional<Streams> streams;
  // A record that lay in several streams (stream_record.h), put together.
  struct Joined {
    std::vector<std::byte> payload;
    RecordView first_part;
  };
  std::vector<Joined> joined;

  uint64_t hole_bytes() const;

  struct Place {
    std::string file;  // its name in the directory
    uint64_t offset;   // of the byte in the file
  };
  // Where the log's byte at `at` lies, which is below `end`. Of a log of one stream.
  Place place_of(StreamPosition at) const;
  Place place_of(Lsn lsn) const { return place_of(one_stream_position(lsn)); }
  // Where one of the log's records lies.
  Place place_of(const RecordView& record) const;

  // A segment that the manifest lists. `blocks` are those of the log, in order, and their payload bytes lie
  // in `bytes`, one after the other.
  struct Block {
    StreamPosition begin;
    uint32_t used_bytes;
    uint64_t offset;  // of its first payload byte in the file

    StreamPosition end() const { return begin + used_bytes; }
  };
  struct Segment {
    std::string file;
    std::vector<Block> blocks;
    std::vector<std::byte> bytes;
    RecordLayout layout;
    // all that it held was passed over: it lies below the checkpoint, and before a gap there
    bool is_below = false;

    // The log's position, or the stream's, of the byte bytes[index].
    StreamPosition position_at(size_t index) const;
    // Where that byte lies.
    Place place_at(size_t index) const;
  };
  std::vector<Segment> segments;  // in the manifest's order

  // Blocks of one segment that follow one another without a gap. A run begins with a record. Of a log in one
  // directory a segment is one run, but for holes; a striped log changes the segment with every flush. A log
  // of several streams has none.
  struct Run {
    size_t segment;      // index into `segments`
    size_t first_block;  // index into its blocks
    size_t block_count = 0;
    size_t first_byte;  // index into its bytes
    StreamPosition begin;
    StreamPosition end;
  };
  std::vector<Run> runs;  // in log order; together they are the log's blocks

  // A stretch of records of a log that is not kept. The windows are in commit order and are read one at a
  // time (log_windows.h).
  struct Window {
    struct Part {
      size_t segment;        // index into `segments`
      StreamPosition begin;  // of a record
      StreamPosition end;
    };
    std::vector<Part> parts;
    uint64_t records = 0;
    bool has_rows = false;      // some of them are of ad-hoc transactions
    bool is_of_schema = false;  // it holds one record, which changes the schema
  };
  bool is_kept = true;
  std::vector<Window> windows;

  // Whether it is kept or not.
  uint64_t record_count() const {
    uint64_t count = records.size();
    for (const Window& window : windows) count += window.records;
    return count;
  }

  // Where the first record that is left of it stands; of several streams, the first of `records`.
  Lsn begin() const {
    if (streams) return records.empty() ? end : records.front().lsn;
    return runs.empty() ? end : one_stream_lsn(runs.front().begin);
  }

  // The run that holds the log's byte at `at`; none: null.
  const Run* run_of(StreamPosition at) const;
  ByteSpan bytes_of(const Run& run) const {
    return ByteSpan(segments[run.segment].bytes).subspan(run.first_byte, run.end.value - run.begin.value);
  }
};

}  // namespace mneme
