// LaneThreads: runs the lane scheduler's tasks in place of oneTBB, and sees what they do, for a program that
// shows a replay step by step (lab/).
//
// Flow        the scheduler: add() ... run_all(), within which each task that runs may add() others
// Invariants  run_all() returns once no task is left. Of an activity there is one task at a time, so no two
//             tasks with the same kind, block, lane and batch are waiting.
// Threads     run_all() may run tasks on one thread after the other or side by side, each under the number of
//             one of ScheduleOptions::threads that runs nothing else meanwhile. saw() comes from within the
//             tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "recovery/calls/lane_scheduler.h"

namespace mneme {

struct LaneTask {
  enum class Kind : uint8_t {
    kLoad,  // loads the next batch
    kFill,  // puts the batch's pieces into the block's lanes
    kLane,  // runs the lane's pieces, as far as they may run
  };

  Kind kind = Kind::kLoad;
  uint32_t block = 0;  // kFill, kLane
  uint32_t lane = 0;   // kLane
  uint64_t batch = 0;  // kFill
  std::function<void(ReplayThreadId)> run{};
};

// A piece, and the lanes in which it stands.
struct LanedPiece {
  Piece piece;
  std::span<const uint32_t> lanes;
};

struct LaneEvent {
  enum class Kind : uint8_t {
    kLoaded,     // the batch has been read and decoded
    kFilled,     // the block's pieces of the batch stand in their lanes: `pieces`
    kPublished,  // and the lanes may run them
    kArrived,    // the lane has come to a piece of several lanes and steps aside, as others have not
    kRan,        // the piece has run
    kFinished,   // all of the block's pieces of the batch have
    kRetired,    // all of the batch's pieces have
  };

  Kind kind = Kind::kLoaded;
  uint32_t block = 0;
  uint32_t lane = 0;
  uint64_t batch = 0;
  Piece piece{};                         // kArrived, kRan
  std::span<const LanedPiece> pieces{};  // kFilled: in commit order
};

class LaneThreads {
 public:
  virtual void add(LaneTask task) = 0;
  virtual void run_all() = 0;
  virtual void saw(const LaneEvent& event) = 0;

 protected:
  ~LaneThreads() = default;
};

}  // namespace mneme
