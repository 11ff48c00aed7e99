// DemandSchedule::Pull: one thread's work on a schedule. For a lane that was asked for it keeps a stack of
// what has to be done before what lies below; of a step it runs a share, in groups. demand_schedule.h has the
// rules and the proof.
//
// Threads     its own thread's alone.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "recovery/demand/demand_schedule.h"

namespace mneme {

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
  // As many as look-ups overlap with profit (PieceRunner::prepare).
  static constexpr size_t kMostInGroup = 32;

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
  void wait();
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

}  // namespace mneme
