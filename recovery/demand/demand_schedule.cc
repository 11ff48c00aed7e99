#include "recovery/demand/demand_schedule.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "recovery/demand/demand_pull.h"

namespace mneme {

namespace {

// So many batches go_on() lets a block be behind those whose outputs it recalls, for each step that it is
// deeper in the graph: then they are ready, as a rule, where several threads go on.
constexpr uint32_t kLag = 2;
constexpr std::chrono::microseconds kRestInterval{50};

}  // namespace

DemandSchedule::DemandSchedule(std::vector<Block> blocks, std::vector<DemandBatch> batches, uint32_t threads,
                               uint32_t shares, DemandExecutor& executor)
    : shape_(std::move(blocks)),
      batches_(std::move(batches)),
      shares_(std::max(shares, 1U)),
      executor_(executor),
      tables_(shape_.size()),
      left_(std::make_unique<Left[]>(shape_.size())),
      left_of_batch_(std::make_unique<std::atomic<uint32_t>[]>(batches_.size())) {
  CHECK(batches_.size() < uint64_t{1} << 31);
  for (uint32_t n = 0; n < batches_.size(); ++n) {
    alone_before_.push_back(static_cast<uint32_t>(alone_.size()));
    if (batches_[n].stands_alone()) alone_.push_back(n);
    uint32_t pieces_of_batch = 0;
    for (const auto& pieces : batches_[n].blocks) pieces_of_batch += pieces->size();
    left_of_batch_[n].store(pieces_of_batch, std::memory_order_relaxed);
    piece_count_ += pieces_of_batch;
  }
  piece_count_ += alone_.size();
  pieces_left_.store(piece_count_, std::memory_order_relaxed);
  for_each_in_parallel(shares_, shape_.size(), [this](size_t b) { make_lanes(static_cast<uint32_t>(b)); });
  for (const Block& block : shape_) lane_count_ += block.lanes;
  order_steps();
  for (uint32_t t = 0; t < threads; ++t) pulls_.push_back(std::make_unique<Pull>(*this, ReplayThreadId{t}));
}

DemandSchedule::~DemandSchedule() = default;

// A counting sort of the block's entries, a lane after the other.
void DemandSchedule::make_lanes(uint32_t block) {
  LaneTable& table = tables_[block];
  const uint32_t lanes = shape_[block].lanes;
  const auto for_each_entry = [&](auto&& visit) {
    for (uint32_t n = 0; n < batches_.size(); ++n) {
      if (batches_[n].stands_alone()) continue;
      const BatchPieces& pieces = *batches_[n].blocks[block];
      for (uint32_t i = 0; i < pieces.size(); ++i) visit(EntryId{n, i}, pieces.lanes(i));
    }
  };
  table.recalls_nothing =
      std::ranges::all_of(shape_[block].recalls, [](const auto& recalled) { return recalled.empty(); });
  std::vector<uint32_t> next(lanes, 0);
  for_each_entry([&](EntryId entry, std::span<const uint32_t> of) {
    if (of.empty()) table.free.push_back(entry);
    for (const uint32_t lane : of) ++next[lane];
  });
  table.lanes = std::make_unique<Lane[]>(lanes);
  uint64_t size = 0;
  for (uint32_t l = 0; l < lanes; ++l) {
    const uint32_t entries = next[l];
    next[l] = static_cast<uint32_t>(size);
    table.lanes[l].next.store(next[l], std::memory_order_relaxed);
    size += entries + 1;
  }
  CHECK(size <= std::numeric_limits<uint32_t>::max());
  table.entries.resize(size, kNone);
  for_each_entry([&](EntryId entry, std::span<const uint32_t> of) {
    for (const uint32_t lane : of) table.entries[next[lane]++] = entry;
  });
  uint64_t left = 0;
  for (uint32_t l = 0; l < lanes; ++l) {
    const Place first = place_after({block, l}, 0);
    table.lanes[l].at.store(first.bits(), std::memory_order_relaxed);
    left += first == Place::end() ? 0 : 1;
  }
  left_[block].lanes.store(left, std::memory_order_relaxed);
  left_[block].free.store(table.free.size(), std::memory_order_relaxed);
}

// Batch by batch, and a block later than those whose outputs it recalls.
void DemandSchedule::order_steps() {
  depth_.assign(shape_.size(), 0);
  steps_.resize(shape_.size());
  to_hand_out_.assign(shape_.size(), 0);
  for (uint32_t b = 0; b < shape_.size(); ++b) {
    std::set<uint32_t> needed{b};
    for (const auto& recalled : shape_[b].recalls) {
      for (const Recalled& before : recalled) {
        CHECK(before.block < b);
        depth_[b] = std::max(depth_[b], depth_[before.block] + 1);
        needed.insert(before_[before.block].begin(), before_[before.block].end());
      }
    }
    before_.emplace_back(needed.begin(), needed.end());
    for (uint32_t n = 0; n < batches_.size(); ++n) {
      if (batches_[n].stands_alone() || batches_[n].blocks[b]->size() == 0) continue;
      steps_[b].push_back(n);
      to_hand_out_[b] += batches_[n].blocks[b]->size();
    }
    next_.push_back({.block = b});
  }
}

uint64_t DemandSchedule::time_of(uint32_t block, uint32_t step) const {
  // A batch that stands alone waits for all before it.
  const uint32_t lag = alone_.empty() ? kLag : 0;
  return steps_[block][step] + uint64_t{lag} * depth_[block];
}

std::optional<uint32_t> DemandSchedule::soonest_wish() const {
  std::optional<uint32_t> soonest;
  uint64_t least = kNoLimit;
  for (const uint32_t wished : wished_) {
    uint64_t pieces = 0;
    for (const uint32_t block : before_[wished]) pieces += to_hand_out_[block];
    if (pieces == 0 || pieces >= least) continue;
    soonest = wished;
    least = pieces;
  }
  return soonest;
}

std::optional<DemandSchedule::Share> DemandSchedule::take_share() {
  const std::lock_guard lock(order_mutex_);
  std::optional<uint32_t> first;
  const auto consider = [&](uint32_t block) {
    if (is_handed_out(block)) return;
    if (!first || time_of(block, next_[block].step) < time_of(*first, next_[*first].step)) first = block;
  };
  if (const std::optional<uint32_t> wish = soonest_wish()) {
    for (const uint32_t block : before_[*wish]) consider(block);
  } else {
    for (uint32_t block = 0; block < shape_.size(); ++block) consider(block);
  }
  if (!first) return std::nullopt;
  Share& next = next_[*first];
  const Share taken = next;
  if (++next.share == shares_) {
    to_hand_out_[*first] -= pieces(*first, steps_[*first][taken.step]).size();
    next = {.block = *first, .step = taken.step + 1};
  }
  return taken;
}

void DemandSchedule::wish(uint32_t block) {
  if (!alone_.empty()) return;
  const std::lock_guard lock(order_mutex_);
  if (std::ranges::find(wished_, block) == wished_.end()) wished_.push_back(block);
}

DemandSchedule::Place DemandSchedule::place_after(BlockLane at, uint32_t entries) const {
  const LaneTable& table = tables_[at.block];
  const EntryId next = table.entries[table.lanes[at.lane].next.load(std::memory_order_relaxed) + entries];
  return next == kNone ? Place::end() : Place(next);
}

void DemandSchedule::move(BlockLane at, uint32_t entries) {
  Lane& moved = lane(at);
  const Place place = place_after(at, entries);
  moved.next.store(moved.next.load(std::memory_order_relaxed) + entries, std::memory_order_relaxed);
  // First: who finds the lane settled finds the block so, if it was the last.
  if (place == Place::end()) left_[at.block].lanes.fetch_sub(1, std::memory_order_release);
  moved.at.store(place.bits(), std::memory_order_release);
}

void DemandSchedule::count_run(std::span<const BatchPiece> pieces) {
  for (size_t first = 0, end; first < pieces.size(); first = end) {
    const uint32_t batch = pieces[first].batch;
    for (end = first + 1; end < pieces.size() && pieces[end].batch == batch;) ++end;
    const auto count = static_cast<uint32_t>(end - first);
    if (left_of_batch_[batch].fetch_sub(count, std::memory_order_acq_rel) == count) executor_.retire(batch);
  }
  count_run(pieces.size());
}

bool DemandSchedule::is_settled(BlockLane at) const {
  return lane(at).place() == Place::end() && installed_.load(std::memory_order_acquire) == alone_.size();
}

bool DemandSchedule::is_settled_block(uint32_t block) const {
  return left_[block].lanes.load(std::memory_order_acquire) == 0 &&
         left_[block].free.load(std::memory_order_acquire) == 0 &&
         installed_.load(std::memory_order_acquire) == alone_.size();
}

bool DemandSchedule::has_more_than(BlockLane at, uint64_t pieces) const {
  if (lane(at).place() == Place::end()) return false;
  const LaneTable& table = tables_[at.block];
  const EntryId* const first = &table.entries[lane(at).next.load(std::memory_order_relaxed)];
  for (uint64_t i = 0; i <= pieces; ++i) {
    if (first[i] == kNone) return false;
  }
  return true;
}

Settling DemandSchedule::settle_alone(ReplayThreadId thread, uint64_t pieces) {
  Pull& pull = *pulls_[thread.value];
  pull.set_limit(pieces);
  for (uint32_t n = installed_.load(std::memory_order_acquire); n < alone_.size(); ++n) {
    if (const Settling settling = pull.pull_alone(n); settling != Settling::kSettled) return settling;
  }
  return has_failed() ? Settling::kFailed : Settling::kSettled;
}

Settling DemandSchedule::try_settle(BlockLane at, ReplayThreadId thread, uint64_t pieces) {
  if (pieces != kNoLimit && has_more_than(at, pieces)) return Settling::kTooMuch;
  if (const Settling settling = settle_alone(thread, pieces); settling != Settling::kSettled) return settling;
  return lane(at).place() == Place::end() ? Settling::kSettled
                                          : pulls_[thread.value]->pull_lane(at, Place::end());
}

Settling DemandSchedule::try_settle_block(uint32_t block, ReplayThreadId thread, uint64_t pieces) {
  const Left& left = left_[block];
  // Each lane that is left has a piece, at least.
  if (left.lanes.load(std::memory_order_relaxed) > pieces ||
      left.free.load(std::memory_order_relaxed) > pieces)
    return has_failed() ? Settling::kFailed : Settling::kTooMuch;
  if (const Settling settling = settle_alone(thread, pieces); settling != Settling::kSettled) return settling;
  Pull& pull = *pulls_[thread.value];
  for (uint32_t l = 0; l < shape_[block].lanes; ++l) {
    if (lane({block, l}).place() == Place::end()) continue;
    if (const Settling settling = pull.pull_lane({block, l}, Place::end()); settling != Settling::kSettled)
      return settling;
  }
  for (const EntryId entry : tables_[block].free) {
    if (this->pieces(block, entry.batch).free_state(entry.number) == BatchPieces::Free::kHasRun) continue;
    if (const Settling settling = pull.pull_free(block, entry); settling != Settling::kSettled)
      return settling;
  }
  return has_failed() ? Settling::kFailed : Settling::kSettled;
}

bool DemandSchedule::go_on(ReplayThreadId thread) {
  if (const std::optional<Share> next = take_share())
    return pulls_[thread.value]->run_step({next->block, steps_[next->block][next->step]}, next->share);
  // What others have begun is theirs to end.
  while (settle_alone(thread, kNoLimit) == Settling::kSettled && !is_settled())
    std::this_thread::sleep_for(kRestInterval);
  return false;
}

}  // namespace mneme
