#include "recovery/demand/demand_schedule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/memory/prefetch.h"
#include "base/parallel.h"
#include "base/spin.h"

namespace mneme {

namespace {

// As many as look-ups overlap with profit (PieceRunner::prepare).
constexpr size_t kMostInGroup = 32;
// A thread that waits looks so often before it lets others run.
constexpr uint32_t kSpins = 64;
// So many batches go_on() lets a block be behind those whose outputs it recalls, for each step that it is
// deeper in the graph: then they are ready, as a rule, where several threads go on.
constexpr uint32_t kLag = 2;
constexpr std::chrono::microseconds kRestInterval{50};
// What a wait for another thread that took long counts for, in pieces, where a limit is given.
constexpr uint64_t kPiecesAWait = 64;
// How many entries ahead a lane is asked for, and then where its next entry stands.
constexpr uint32_t kLanesAhead = 16;
constexpr uint32_t kPlacesAhead = 8;

// Whether both are iterations of a loop, and not the same.
bool are_other_iterations(const Piece& one, const Piece& other) {
  const auto iteration_of = [](const Piece& piece) {
    return piece.part.visit([](CallPart part) { return part.iteration; },
                            [](uint32_t) { return std::optional<uint32_t>(); });
  };
  const std::optional<uint32_t> first = iteration_of(one);
  const std::optional<uint32_t> second = iteration_of(other);
  return first && second && first != second;
}

}  // namespace

// One thread's work: for a lane that was asked for a stack of what has to be done before what lies below; and
// groups of a step.
class DemandSchedule::Pull {
 public:
  Pull(DemandSchedule& schedule, ReplayThreadId thread) : schedule_(schedule), thread_(thread) {}

  // How many pieces may still be run for those that follow.
  void set_limit(uint64_t pieces) { limit_ = pieces == kNoLimit ? kNoLimit : pieces + 1; }
  Settling pull_lane(BlockLane lane, Place required) {
    push({.kind = Frame::Kind::kLane, .lane = lane, .required = required, .limit = required});
    return run();
  }
  Settling pull_free(uint32_t block, EntryId entry) {
    push({.kind = Frame::Kind::kFree, .lane = {block, 0}, .entry = entry});
    return run();
  }
  Settling pull_alone(uint32_t number) {
    push({.kind = Frame::Kind::kAlone, .number = number});
    return run();
  }
  bool run_step(const Step& step, uint32_t share);

 private:
  struct Frame {
    enum class Kind : uint8_t {
      kLane,   // the lane is to come to `required`, and may go on to `limit`
      kFree,   // the free piece of the lane's block is to run
      kAlone,  // the batch with this number among those that stand alone is to be installed
    };
    Kind kind = Kind::kLane;
    BlockLane lane = {};  // kAlone: those before it have come far enough
    Place required = {};
    Place limit = {};
    EntryId entry = {};
    uint32_t number = 0;
    size_t free = 0;        // kAlone: free pieces of the lane's block that have run
    bool has_lane = false;  // this thread has taken it
  };
  // A lane that the group has taken, and how many of its pieces are in the group.
  struct HeldLane {
    uint32_t lane = 0;
    uint32_t pieces = 0;
  };

  Settling run();
  void give_back_all() {
    while (!stack_.empty()) pop();
  }
  void spend(uint64_t pieces) {
    if (limit_ != kNoLimit) limit_ -= std::min(limit_, pieces);
  }
  void push(const Frame& frame) {
    stack_.push_back(frame);
    waits_ = 0;
  }
  void pop() {
    if (stack_.back().has_lane) let_go(stack_.back().lane);
    stack_.pop_back();
    waits_ = 0;
  }
  bool take(BlockLane lane) {
    return !schedule_.lane(lane).is_taken.exchange(true, std::memory_order_acquire);
  }
  void let_go(BlockLane lane) { schedule_.lane(lane).is_taken.store(false, std::memory_order_release); }
  // Another thread has to do something first.
  void wait() {
    if (++waits_ < kSpins) return spin_pause(waits_);
    spend(kPiecesAWait);
    std::this_thread::yield();
  }
  void fail() { schedule_.failed_.store(true, std::memory_order_release); }

  void step_lane();
  void gather(BlockLane where, Place limit);
  void meet(BlockLane where, EntryId next);
  void bring_others(BlockLane where, EntryId next);
  void pull_recalled(const Recalled& recalled, uint32_t batch, Piece by);
  bool has_run(uint32_t block, EntryId entry) const;
  void step_free();
  void step_alone();
  void ask_ahead(const Step& step, uint32_t number) const;
  bool add_to_step(const Step& step, uint32_t number);
  std::optional<Recalled> blocking(uint32_t block, EntryId entry) const;
  void add(uint32_t block, EntryId entry) {
    group_.push_back({entry.batch, schedule_.pieces(block, entry.batch).piece(entry.number)});
    numbers_[group_.size() - 1] = entry.number;
  }
  bool run_group(uint32_t block);

  DemandSchedule& schedule_;
  const ReplayThreadId thread_;
  std::vector<Frame> stack_;
  uint64_t limit_ = kNoLimit;  // one more than may still be run, so that what has just been enough is
  uint32_t waits_ = 0;
  std::vector<BatchPiece> group_;
  std::array<uint32_t, kMostInGroup> numbers_;  // of the group's pieces, in their batches
  std::vector<HeldLane> held_;
};

Settling DemandSchedule::Pull::run() {
  while (!stack_.empty()) {
    if (schedule_.has_failed()) {
      give_back_all();
      return Settling::kFailed;
    }
    if (limit_ == 0) {
      give_back_all();
      return Settling::kTooMuch;
    }
    switch (stack_.back().kind) {
      case Frame::Kind::kLane:
        step_lane();
        break;
      case Frame::Kind::kFree:
        step_free();
        break;
      case Frame::Kind::kAlone:
        step_alone();
        break;
    }
  }
  return schedule_.has_failed() ? Settling::kFailed : Settling::kSettled;
}

void DemandSchedule::Pull::step_lane() {
  Frame& frame = stack_.back();
  const Lane& lane = schedule_.lane(frame.lane);
  if (lane.place() >= frame.required) return pop();
  if (!frame.has_lane) {
    if (!take(frame.lane)) return wait();
    frame.has_lane = true;
    waits_ = 0;
  }
  const Place at = lane.place();
  // Another thread may just have moved it past a piece of several lanes.
  if (at >= frame.required) return pop();
  const BlockLane where = frame.lane;
  const EntryId next = at.next();
  if (at.has_arrived()) return bring_others(where, next);
  if (!schedule_.is_open(next.batch)) {
    return push({.kind = Frame::Kind::kAlone, .number = schedule_.last_alone_before(next.batch)});
  }
  gather(where, frame.limit);
  if (group_.empty()) return meet(where, next);
  if (run_group(where.block)) schedule_.move(where, static_cast<uint32_t>(group_.size()));
}

// The lane's next pieces, up to the first that needs something before it may run.
void DemandSchedule::Pull::gather(BlockLane where, Place limit) {
  const LaneTable& table = schedule_.tables_[where.block];
  group_.clear();
  for (uint32_t i = schedule_.lane(where).next.load(std::memory_order_relaxed);
       table.entries[i] != kNone && group_.size() < kMostInGroup; ++i) {
    const EntryId entry = table.entries[i];
    if (Place(entry) >= limit || !schedule_.is_open(entry.batch) ||
        !schedule_.pieces(where.block, entry.batch).has_one_lane(entry.number) ||
        blocking(where.block, entry))
      return;
    add(where.block, entry);
  }
}

bool DemandSchedule::Pull::run_group(uint32_t block) {
  const std::span<const BatchPiece> pieces(group_);
  for (size_t done = 0; done < pieces.size();) {
    const uint32_t ready = schedule_.executor_.prepare(block, pieces.subspan(done), thread_);
    for (uint32_t i = 0; i < ready; ++i, ++done) {
      const BatchPiece& piece = pieces[done];
      if (!schedule_.executor_.run(block, piece, thread_)) {
        fail();
        return false;
      }
      BatchPieces& of = schedule_.pieces(block, piece.batch);
      of.piece_has_run(piece.piece.transaction);
      if (of.lanes(numbers_[done]).empty()) {
        schedule_.left_[block].free.fetch_sub(1, std::memory_order_release);
        of.free_has_run(numbers_[done]);
      }
    }
  }
  schedule_.count_run(pieces);
  spend(pieces.size());
  return true;
}

bool DemandSchedule::Pull::has_run(uint32_t block, EntryId entry) const {
  BatchPieces& pieces = schedule_.pieces(block, entry.batch);
  const std::span<const uint32_t> lanes = pieces.lanes(entry.number);
  if (lanes.empty()) return pieces.free_state(entry.number) == BatchPieces::Free::kHasRun;
  return schedule_.lane({block, lanes.front()}).place() >= Place::past(entry);
}

// The block with pieces of the entry's transaction that have yet to run before it.
std::optional<DemandSchedule::Recalled> DemandSchedule::Pull::blocking(uint32_t block, EntryId entry) const {
  if (schedule_.tables_[block].recalls_nothing) return std::nullopt;
  const Piece piece = schedule_.pieces(block, entry.batch).piece(entry.number);
  const std::optional<uint32_t> procedure = schedule_.executor_.procedure_of(entry.batch, piece.transaction);
  if (!procedure) return std::nullopt;
  for (const Recalled& recalled : schedule_.shape_[block].recalls[*procedure]) {
    BatchPieces& pieces = schedule_.pieces(recalled.block, entry.batch);
    if (pieces.is_finished(piece.transaction)) continue;
    if (!recalled.by_iteration) return recalled;
    const auto [first, end] = pieces.entries_of(piece.transaction);
    for (uint32_t number = first; number < end; ++number) {
      if (!are_other_iterations(piece, pieces.piece(number)) &&
          !has_run(recalled.block, {entry.batch, number}))
        return recalled;
    }
  }
  return std::nullopt;
}

// The lane stands at a piece that needs something before it may run.
void DemandSchedule::Pull::meet(BlockLane where, EntryId next) {
  BatchPieces& pieces = schedule_.pieces(where.block, next.batch);
  if (const auto recalled = blocking(where.block, next))
    return pull_recalled(*recalled, next.batch, pieces.piece(next.number));
  if (pieces.has_one_lane(next.number)) return;  // it has just become ready
  schedule_.lane(where).at.store(Place(next, true).bits(), std::memory_order_release);
  // From here on the last lane to arrive moves this one.
  if (!pieces.arrive(next.number)) return;
  group_.clear();
  add(where.block, next);
  if (!run_group(where.block)) return;
  for (const uint32_t each : pieces.lanes(next.number)) schedule_.move({where.block, each}, 1);
}

// The lane waits for the others of its piece.
void DemandSchedule::Pull::bring_others(BlockLane where, EntryId next) {
  const Place there(next, true);
  for (const uint32_t other : schedule_.pieces(where.block, next.batch).lanes(next.number)) {
    const BlockLane lane{where.block, other};
    if (schedule_.lane(lane).place() < there)
      return push({.kind = Frame::Kind::kLane, .lane = lane, .required = there, .limit = there});
  }
  wait();
}

// The first of the pieces that `by` recalls, and that has yet to run, comes onto the stack. One at a time: a
// lane on the stack must stand at a later piece than those above it.
void DemandSchedule::Pull::pull_recalled(const Recalled& recalled, uint32_t batch, Piece by) {
  const uint32_t block = recalled.block;
  BatchPieces& pieces = schedule_.pieces(block, batch);
  const auto [first, end] = pieces.entries_of(by.transaction);
  for (uint32_t number = first; number < end; ++number) {
    if (recalled.by_iteration && are_other_iterations(by, pieces.piece(number))) continue;
    const EntryId entry{batch, number};
    if (has_run(block, entry)) continue;
    const std::span<const uint32_t> lanes = pieces.lanes(number);
    if (lanes.empty()) return push({.kind = Frame::Kind::kFree, .lane = {block, 0}, .entry = entry});
    const Place past = Place::past(entry);
    return push({.kind = Frame::Kind::kLane,
                 .lane = {block, lanes.front()},
                 .required = past,
                 .limit = std::max(past, Place({batch + 1, 0}))});
  }
  wait();
}

void DemandSchedule::Pull::step_free() {
  const uint32_t block = stack_.back().lane.block;
  const EntryId entry = stack_.back().entry;
  BatchPieces& pieces = schedule_.pieces(block, entry.batch);
  switch (pieces.free_state(entry.number)) {
    case BatchPieces::Free::kHasRun:
      return pop();
    case BatchPieces::Free::kRuns:
      return wait();
    case BatchPieces::Free::kWaits:
      break;
  }
  if (!schedule_.is_open(entry.batch)) {
    return push({.kind = Frame::Kind::kAlone, .number = schedule_.last_alone_before(entry.batch)});
  }
  if (const auto recalled = blocking(block, entry))
    return pull_recalled(*recalled, entry.batch, pieces.piece(entry.number));
  if (!pieces.take_free(entry.number)) return;
  group_.clear();
  add(block, entry);
  if (run_group(block)) pop();
}

void DemandSchedule::Pull::step_alone() {
  Frame& frame = stack_.back();
  const uint32_t installed = schedule_.installed_.load(std::memory_order_acquire);
  if (installed > frame.number) return pop();
  if (installed < frame.number) return push({.kind = Frame::Kind::kAlone, .number = installed});
  const Place before({schedule_.alone_[frame.number], 0});
  for (BlockLane& at = frame.lane; at.block < schedule_.shape_.size();) {
    if (at.lane < schedule_.lanes(at.block)) {
      if (schedule_.lane(at).place() < before)
        return push({.kind = Frame::Kind::kLane, .lane = at, .required = before, .limit = before});
      ++at.lane;
      continue;
    }
    const std::vector<EntryId>& free = schedule_.tables_[at.block].free;
    for (; frame.free < free.size() && Place(free[frame.free]) < before; ++frame.free) {
      const EntryId entry = free[frame.free];
      if (schedule_.pieces(at.block, entry.batch).free_state(entry.number) != BatchPieces::Free::kHasRun)
        return push({.kind = Frame::Kind::kFree, .lane = {at.block, 0}, .entry = entry});
    }
    at = {at.block + 1, 0};
    frame.free = 0;
  }
  uint32_t number = frame.number;
  if (!schedule_.taken_.compare_exchange_strong(number, number + 1, std::memory_order_acq_rel)) return wait();
  if (!schedule_.executor_.run_alone(schedule_.alone_[number])) return fail();
  schedule_.installed_.store(number + 1, std::memory_order_release);
  schedule_.count_run(1);
  pop();
}

// A share of a batch's pieces in a block, in commit order, a group at a time: of as many lanes as there come.
// A piece that can't run at once is pulled by itself.
bool DemandSchedule::Pull::run_step(const Step& step, uint32_t share) {
  set_limit(kNoLimit);
  if (!schedule_.is_open(step.batch) &&
      pull_alone(schedule_.last_alone_before(step.batch)) != Settling::kSettled)
    return false;
  BatchPieces& pieces = schedule_.pieces(step.block, step.batch);
  const auto is_mine = [&](uint32_t number) {
    if (schedule_.shares_ == 1) return true;
    const std::span<const uint32_t> lanes = pieces.lanes(number);
    return (lanes.empty() ? number : lanes.front()) % schedule_.shares_ == share;
  };
  for (uint32_t number = 0; number < pieces.size();) {
    group_.clear();
    held_.clear();
    bool is_ready = true;
    for (; number < pieces.size() && group_.size() < kMostInGroup; ++number) {
      ask_ahead(step, number);
      if (!is_mine(number)) continue;
      is_ready = add_to_step(step, number);
      if (!is_ready) break;
    }
    const bool has_run = run_group(step.block);
    for (const HeldLane& held : held_) {
      const BlockLane lane{step.block, held.lane};
      if (has_run && held.pieces > 0) schedule_.move(lane, held.pieces);
      let_go(lane);
    }
    if (!has_run) return false;
    if (is_ready) continue;
    const std::span<const uint32_t> lanes = pieces.lanes(number);
    const EntryId entry{step.batch, number};
    const Settling settling = lanes.empty() ? pull_free(step.block, entry)
                                            : pull_lane({step.block, lanes.front()}, Place::past(entry));
    if (settling != Settling::kSettled) return false;
    ++number;
  }
  return !schedule_.has_failed();
}

// A block has more lanes than the cache holds.
void DemandSchedule::Pull::ask_ahead(const Step& step, uint32_t number) const {
  const BatchPieces& pieces = schedule_.pieces(step.block, step.batch);
  const LaneTable& table = schedule_.tables_[step.block];
  const auto lane_at = [&](uint32_t ahead) -> std::optional<uint32_t> {
    if (number + ahead >= pieces.size() || !pieces.has_one_lane(number + ahead)) return std::nullopt;
    return pieces.lanes(number + ahead).front();
  };
  if (const auto lane = lane_at(kLanesAhead)) prefetch_line(&table.lanes[*lane]);
  if (const auto lane = lane_at(kPlacesAhead))
    prefetch_line(&table.entries[table.lanes[*lane].next.load(std::memory_order_relaxed)] + 1);
}

// False: the piece can't run with the group. It may have run before.
bool DemandSchedule::Pull::add_to_step(const Step& step, uint32_t number) {
  BatchPieces& pieces = schedule_.pieces(step.block, step.batch);
  const EntryId entry{step.batch, number};
  if (pieces.lanes(number).empty()) {
    if (pieces.free_state(number) != BatchPieces::Free::kWaits) return true;
    if (blocking(step.block, entry)) return false;
    if (pieces.take_free(number)) add(step.block, entry);
    return true;
  }
  const BlockLane lane{step.block, pieces.lanes(number).front()};
  auto held = std::ranges::find(held_, lane.lane, &HeldLane::lane);
  if (held == held_.end()) {
    if (schedule_.lane(lane).place() >= Place::past(entry)) return true;
    if (!pieces.has_one_lane(number) || !take(lane)) return false;
    held_.push_back({lane.lane, 0});
    held = held_.end() - 1;
    if (schedule_.lane(lane).place() >= Place::past(entry)) return true;
  } else if (held->pieces == 0 && schedule_.lane(lane).place() >= Place::past(entry)) {
    return true;
  }
  // A lane that waits for others is moved by them, whoever holds it.
  const Place at =
      held->pieces == 0 ? schedule_.lane(lane).place() : schedule_.place_after(lane, held->pieces);
  if (!pieces.has_one_lane(number) || at != Place(entry) || blocking(step.block, entry)) return false;
  add(step.block, entry);
  ++held->pieces;
  return true;
}

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
