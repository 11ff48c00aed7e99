#include "recovery/demand/demand_pull.h"

#include <algorithm>
#include <thread>

#include "base/memory/prefetch.h"
#include "base/spin.h"

namespace mneme {

namespace {

// A thread that waits looks so often before it lets others run.
constexpr uint32_t kSpins = 64;
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

void DemandSchedule::Pull::wait() {
  if (++waits_ < kSpins) return spin_pause(waits_);
  spend(kPiecesAWait);
  std::this_thread::yield();
}

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

}  // namespace mneme
