#include "logging/reading/block_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "logging/record/block_format.h"

namespace mneme {

namespace {

// Where the file should go on behind the block.
LogContents::Place place_behind(const LoadedSegment& segment, const std::string& file,
                                const LoadedBlock& block) {
  if (segment.nvm) return {file, block.offset + block.used_bytes};
  return {file, block.offset - kBlockHeaderBytes + kBlockBytes};
}

}  // namespace

// The highest durable LSN that the incarnation's own blocks carry. Between it and the incarnation's end the
// blocks were never known to be durable; recovery kept those of their records that were intact, and torn
// padding is no harm.
Lsn BlockChain::durable_within(uint32_t incarnation) const {
  Lsn durable;
  for (size_t s = 0; s < loaded_.size(); ++s) {
    if (manifest_.segments[s].incarnation == incarnation) durable = std::max(durable, loaded_[s].durable);
  }
  return durable;
}

// All blocks, in log order. A log in one directory is read in that order already.
std::vector<BlockChain::BlockPlace> BlockChain::blocks_in_order() const {
  std::vector<BlockPlace> places;
  for (size_t s = 0; s < loaded_.size(); ++s) {
    for (size_t i = 0; i < loaded_[s].blocks.size(); ++i)
      places.push_back({loaded_[s].blocks[i].begin, s, i});
  }
  if (!std::ranges::is_sorted(places, {}, &BlockPlace::begin)) {
    std::ranges::stable_sort(places, {}, &BlockPlace::begin);
  }
  return places;
}

// Where what is missing before the block should be.
LogContents::Place BlockChain::place_before(const BlockPlace& place) const {
  const LoadedSegment& segment = loaded_[place.segment];
  const std::string& file = log_.segments[place.segment].file;
  if (segment.nvm && end_ >= segment.nvm->begin) {
    return {file, kSegmentHeaderBytes + (end_.value - segment.nvm->begin.value)};
  }
  // The segment's first blocks are missing, unless it begins with this one: then the former's last are.
  const bool is_first = segment.blocks[place.index].offset < block_offset(1);
  return kept_bytes_[place.segment] > 0 || is_first ? gap_ : Place{file, block_offset(0)};
}

// Whether the chain goes on with a block that does not lie where it ends.
bool BlockChain::passes_gap(const BlockPlace& place) {
  gap_ = place_before(place);
  const LogHole hole{end_, place.begin};
  if (holes_.may_be(hole, loaded_[place.segment], manifest_.segments[place.segment].incarnation)) {
    holes_.add(hole, gap_);
    return true;
  }
  if (one_stream_lsn(place.begin) > manifest_.checkpoint_lsn) return false;
  restart(place.begin);
  return true;
}

// The chain begins anew: what was linked lies below the checkpoint, and what came behind it has been removed.
void BlockChain::restart(StreamPosition begin) {
  begin_ = begin;
  end_ = begin;
  bad_block_.reset();
  for (LogContents::Segment& segment : log_.segments) segment.blocks.clear();
  log_.runs.clear();
  holes_.clear();
}

// Adds a block that goes on where the log's last one ended.
void BlockChain::append(const BlockPlace& place) {
  const LoadedBlock& block = loaded_[place.segment].blocks[place.index];
  LogContents::Segment& segment = log_.segments[place.segment];
  size_t& kept_bytes = kept_bytes_[place.segment];
  if (log_.runs.empty() || log_.runs.back().segment != place.segment || log_.runs.back().end != block.begin) {
    log_.runs.push_back({place.segment, segment.blocks.size(), 0, kept_bytes, block.begin, block.begin});
  }
  segment.blocks.push_back({block.begin, block.used_bytes, block.offset});
  ++log_.runs.back().block_count;
  log_.runs.back().end = block.end();
  kept_bytes += block.used_bytes;
  end_ = block.end();
  gap_ = place_behind(loaded_[place.segment], segment.file, block);
}

void BlockChain::link() {
  const std::vector<BlockPlace> places = blocks_in_order();
  begin_ = one_stream_position(std::max(kFirstLsn, manifest_.checkpoint_lsn));
  if (!places.empty()) begin_ = std::min(begin_, places.front().begin);
  end_ = begin_;
  if (!manifest_.segments.empty()) gap_ = {manifest_.segments.front().file, block_offset(0)};
  std::vector<Lsn> durable;
  for (size_t s = 0; s < loaded_.size(); ++s) {
    LogContents::Segment& segment = log_.segments.emplace_back();
    segment.file = manifest_.segments[s].file;
    segment.layout = loaded_[s].layout;
    durable.push_back(durable_within(manifest_.segments[s].incarnation));
  }
  kept_bytes_.resize(loaded_.size());

  bool broken = false;
  for (const BlockPlace& place : places) {
    const LoadedBlock& block = loaded_[place.segment].blocks[place.index];
    if (!broken && block.begin != end_ && !passes_gap(place)) {
      broken = true;
      next_segment_ = place.segment;
    }
    if (broken) {
      log_.dropped_bytes += block.used_bytes;
      continue;
    }
    if (!block.payload_is_intact && one_stream_lsn(block.begin) < durable[place.segment] && !bad_block_) {
      bad_block_ = {log_.segments[place.segment].file, block.offset - kBlockHeaderBytes};
    }
    append(place);
  }
  for (size_t s = 0; s < loaded_.size(); ++s) {
    const std::vector<LoadedBlock>& blocks = loaded_[s].blocks;
    log_.segments[s].is_below = !blocks.empty() && blocks.back().end() <= begin_;
    log_.segments[s].bytes = std::move(loaded_[s].bytes);
    if (log_.is_kept) log_.segments[s].bytes.resize(kept_bytes_[s]);
  }
  log_.holes = holes_.holes();
}

// A record in a run that others follow was whole, whatever its length says now.
bool BlockChain::cuts_off(const RecordWalk& last) const {
  if (last.end < log_.runs.back().begin) return false;
  if (!last.next) return true;
  return last.next->lsn == one_stream_lsn(last.end) && last.end + last.next->record_bytes > end_;
}

// They are those of the segments behind that have none; of a striped log, of any that has none.
std::string BlockChain::other_gaps() const {
  std::string places;
  const auto folder_of = [](const LogContents::Segment& segment) {
    return std::filesystem::path(segment.file).parent_path();
  };
  const bool is_striped = std::ranges::any_of(log_.segments, [&](const LogContents::Segment& each) {
    return folder_of(each) != folder_of(log_.segments.front());
  });
  const size_t count = is_striped ? log_.segments.size() : std::min(next_segment_, log_.segments.size());
  bool is_behind = is_striped;
  for (size_t s = 0; s < count; ++s) {
    const std::string& file = log_.segments[s].file;
    if (is_behind && loaded_[s].blocks.empty() && (!loaded_[s].nvm || loaded_[s].nvm->begin == end_))
      places += fmt::format(", or {} at byte {}", file, block_offset(0));
    is_behind |= file == gap_.file;
  }
  return places;
}

}  // namespace mneme
