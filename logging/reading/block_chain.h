// BlockChain: the blocks of a log of one stream that follow one another without a gap, but for holes, from
// the log's first byte on.
//
// Flow        segments are loaded -> link() puts the chain's blocks into the log -> the records in them are
//             walked -> the chain explains where the log ended, and why
// Invariants  what lies before a gap at or below the checkpoint is passed over: files below it may be gone. A
//             gap above it that is no hole (log_holes.h) ends the chain; blocks behind that are only counted.
// Threads     one.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "logging/directory/loaded_segment.h"
#include "logging/directory/manifest.h"
#include "logging/reading/log_holes.h"
#include "logging/record/log_contents.h"
#include "logging/record/record_walk.h"

namespace mneme {

class BlockChain {
 public:
  using Place = LogContents::Place;

  // All outlive it. `loaded`: the manifest's segments.
  BlockChain(const Manifest& manifest, std::vector<LoadedSegment>& loaded, LogContents& log)
      : manifest_(manifest), loaded_(loaded), log_(log), holes_(manifest) {}

  // Moves the chain's blocks into the log, with their bytes; what comes after the chain's end is only
  // counted.
  void link();

  StreamPosition begin() const { return begin_; }
  StreamPosition end() const { return end_; }
  // Where the block that would go on is missing.
  const Place& gap() const { return gap_; }
  // The first block that was durable and whose bytes don't match their checksum.
  const std::optional<Place>& bad_block() const { return bad_block_; }
  const LogHoles& holes() const { return holes_; }

  // Whether the record behind the last intact one is cut off by the chain's end: missing, then, rather than
  // bad.
  bool cuts_off(const RecordWalk& last) const;
  // Returns the first blocks, besides gap(), that may be the missing one, as words of a sentence: "" where
  // there are none.
  std::string other_gaps() const;

 private:
  // A block of a loaded segment.
  struct BlockPlace {
    StreamPosition begin;
    size_t segment;
    size_t index;
  };

  std::vector<BlockPlace> blocks_in_order() const;
  Lsn durable_within(uint32_t incarnation) const;
  Place place_before(const BlockPlace& place) const;
  bool passes_gap(const BlockPlace& place);
  void restart(StreamPosition begin);
  void append(const BlockPlace& place);

  const Manifest& manifest_;
  std::vector<LoadedSegment>& loaded_;
  LogContents& log_;
  LogHoles holes_;

  StreamPosition begin_;
  StreamPosition end_;
  Place gap_;
  std::optional<Place> bad_block_;
  std::vector<size_t> kept_bytes_;  // by segment: of its blocks that were linked, those passed over included
  // Where a block follows that doesn't go on, if one does.
  size_t next_segment_ = std::numeric_limits<size_t>::max();
};

}  // namespace mneme
