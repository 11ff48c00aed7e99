// LaneScheduler: runs the pieces of log batches on all threads, in commit order wherever two pieces may
// conflict.
//
// A block of the global dependency graph is cut into lanes; a piece stands in the lane of each key that it
// may touch.
//
// Flow        load(n) -> decode(n) -> for each block, once its predecessors have finished n: fill(block, n)
//             puts the batch's pieces into lists, one a lane, in commit order -> once the lists of n-1 are
//             published, those of n are: the lanes run them -> retire(n)
// Rendezvous  a piece in several lanes is appended to each. A lane that reaches it steps aside; the last one
//             to arrive runs it and wakes the others.
// Placement   how a block's rows fall to lanes, and into how many, may change from one batch to the next
//             (LaneFill::place). Then the later batch's lists are published only once the block has run all
//             batches before it: pieces that meet may stand in different lanes on the two sides. Other
//             blocks, and the fills, go on meanwhile.
// Invariants  1. every lane holds its pieces in commit order, and runs them one at a time, batch n before
//             n+1. So two pieces of a block that share a lane run in commit order. Those of batches with
//             different placements run in the order of their batches.
//             2. when fill(block, n) runs, every piece of every predecessor in n has run, and what those
//                pieces wrote is visible; to the pieces of (block, n) also what they did in all batches
//                before, as those were published before. Fills of one block run side by side: the code that
//                locates a piece may use the records of its own transaction alone.
//             3. retire(n) comes after all pieces of n and after retire(n-1). At most `batches_in_flight`
//                batches are loaded and not retired, so a ring of slot_count() places holds what the executor
//                keeps.
// No deadlock of the pieces that are published and have not run take the one that is first in (batch, commit
// order).
//             Every piece before it in its lanes has run, so each of its lanes has arrived at it or is on its
//             way there, and the last to arrive runs it. Blocks form no cycle and lists are published batch
//             by batch, so the oldest batch always has a block that can be filled, is being filled, or a
//             published piece that can run.
// Publication all hand-overs are acq_rel counters of ours: a lane's list (Lane::batches_pending_), a
// rendezvous
//             (PieceSet::Entry::lanes_to_come), a block's batch (PieceSet::lanes_left_, ::waits_,
//             ::unpublished_, ::unfinished_, ::turn_), a batch (Slot::waits). oneTBB only chooses the thread;
//             the one word that it carries is stored and loaded with release and acquire (Handover), so
//             nothing rests on the synchronization inside its queues.
// Threads     run() is called once, by one thread, which works as thread 0 .. threads-1 like the others.
// Waiting     none inside a task: a task that cannot go on returns, and the event that it needs spawns it
//             again.
// Observed    each task reports to a ScheduleRecorder, where there is one: at most at the end of a lane's
//             list, at a rendezvous, a fill, a load; without one that is a branch each.
// Source      PACMAN (Wu, Guo, Chan, Tan: SIGMOD 2017), sections 4.2 to 4.4. Lanes with rendezvous are ours:
//             the paper gives each piece-set to a fixed number of cores.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/strong_id.h"
#include "recovery/calls/piece.h"

namespace mneme {

class LaneThreads;
class ScheduleRecorder;

using ReplayThreadId = StrongId<struct ReplayThreadIdTag>;

struct ScheduledBlock {
  std::vector<uint32_t> predecessors;  // blocks that must finish a batch first; they form no cycle
  uint32_t lane_count = 1;
};

struct ScheduleOptions {
  uint32_t threads = 1;
  uint32_t batches_in_flight = 8;  // 1: a batch ends before the next one begins
  ScheduleRecorder* recorder = nullptr;
  LaneThreads* lane_threads = nullptr;  // run the tasks; nullptr: oneTBB does. Not with a recorder
};

// Receives the pieces of one batch in one block, in commit order.
class LaneFill {
 public:
  // Before the first piece: the batch's pieces stand in lanes 0 .. lanes-1 of the block's, by the executor's
  // map number `placement`. Batches with equal numbers must put pieces that may conflict into a common lane.
  // Without this call: all lanes of the block, number 0.
  virtual void place(uint32_t placement, uint32_t lanes) = 0;
  // The piece may conflict with others in these lanes; a lane that comes twice counts once. At least one.
  virtual void append(Piece piece, std::span<const uint32_t> lanes) = 0;
  // The piece conflicts with no other piece of the block.
  virtual void append_free(Piece piece) = 0;
  // The rows that the piece will touch are unknown: no other piece may overtake it.
  virtual void append_to_all(Piece piece) = 0;

 protected:
  ~LaneFill() = default;
};

// The scheduler drives an executor. Batches count from 0; a block is an index into the scheduler's blocks.
class PieceExecutor {
 public:
  enum class Load : uint8_t {
    kLoaded,
    kWhenAlone,  // call again for this batch, once all batches before it have been retired
    kEnd,
    kStop
  };

  // Takes the batch's transactions. Calls come one at a time, in batch order. A call that comes again runs
  // alone: what the pieces of all batches before did is visible to it, and what it does to all pieces after.
  virtual Load load(uint64_t batch) = 0;
  // Makes them ready, once for each batch that was loaded, before all else is done to it; several batches at
  // a time. False stops the run.
  virtual bool decode(uint64_t batch, ReplayThreadId thread) = 0;
  // Several batches of a block at a time, and before or after one another. False stops the run: nothing new
  // is begun.
  virtual bool fill(uint32_t block, uint64_t batch, ReplayThreadId thread, LaneFill& lanes) = 0;
  // These pieces will be run next, one after the other, by this thread; nothing else touches their lanes
  // meanwhile. How many of them it has made ready, at least one: before the next one it is called again.
  virtual uint32_t prepare(uint32_t block, uint64_t batch, std::span<const Piece> pieces,
                           ReplayThreadId thread) = 0;
  virtual bool run(uint32_t block, uint64_t batch, Piece piece, ReplayThreadId thread) = 0;
  // All pieces of the batch have run. Calls come one at a time, in batch order.
  virtual void retire(uint64_t batch) = 0;

 protected:
  ~PieceExecutor() = default;
};

class LaneScheduler {
 public:
  LaneScheduler(std::span<const ScheduledBlock> blocks, ScheduleOptions options, PieceExecutor& executor);
  ~LaneScheduler();

  // Runs all batches. False when the executor stopped the run; the scheduler is spent either way.
  bool run();

  // State that an executor keeps for batch n may be reused for batch n + slot_count(options).
  static uint32_t slot_count(const ScheduleOptions& options) { return options.batches_in_flight + 1; }

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace mneme
