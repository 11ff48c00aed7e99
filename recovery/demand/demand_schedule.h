// DemandSchedule: runs the pieces of a whole log in the order in which somebody asks for what they leave
// behind, in commit order wherever two pieces may conflict.
//
// A block's lane is settled once all its pieces have run: nothing of the log will change its rows any more. A
// thread that wants a lane settled runs the lane's pieces itself, and before each of them what it waits for:
// pieces of the same call whose outputs it recalls, and of a piece that stands in several lanes the pieces
// before it there. Nothing else is run for it, but for the rest of a lane's batch, which costs little then.
//
// Flow        LaneLists, a set for each (block, batch) -> settle() a lane, by whoever asks -> go_on() by those
//             who don't, batch by batch, until all is settled
// Place       a lane's place in the log: batch, number in the batch's list, and whether the lane has arrived
//             at a piece of several lanes and waits for the others. Places only grow. The last lane to arrive
//             runs the piece and moves all its lanes on.
// Owner       a lane is moved by the thread that has taken it, and past a piece of several lanes by the thread
//             whose lane came last, when all of them stand still.
// Invariants  1. a lane's pieces run in commit order, one at a time. So two pieces that share a lane do.
//             2. a piece runs when all pieces of its transaction have run whose outputs it recalls
//                (`recalls`), and sees what these recorded.
//             3. a batch that stands alone is installed when all lanes have come to it and none is past it.
// No deadlock a thread holds the lanes on its stack: each waits for a piece that a lane above it has yet to
//             run, the topmost may wait for a lane that another thread holds. Order pieces by transaction, then
//             block (predecessors first), then their order in the block. What a piece waits for comes before
//             it in this order, so a lane on a stack stands at a later piece than those above it. Were there
//             threads that wait for each other in a ring, each lane of the ring would stand at a later piece
//             than the next. A lane that waits where a piece meets others is past nothing else, so the one
//             that comes last does not need it moved.
// Publication a lane's place and owner, the count of a transaction's unfinished pieces, an entry's lanes to
//             come: each release by who has run the pieces, acquire by who relies on it.
// Threads     settle(), go_on(): any, each with a ReplayThreadId of its own.
// Waiting     a thread that needs a lane which another holds yields until it is let go of or has come far
//             enough.
// Source      ours; lanes and rendezvous are those of lane_scheduler.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "recovery/demand/lane_lists.h"

namespace mneme {

struct BatchPiece {
  uint32_t batch = 0;
  Piece piece;
};

// A lane of a block; the list of its free pieces counts as one more (LaneLists).
struct BlockLane {
  uint32_t block = 0;
  uint32_t lane = 0;

  bool operator==(const BlockLane&) const = default;
};

class DemandExecutor {
 public:
  // As PieceExecutor's, of pieces of one lane that may come from several batches.
  virtual uint32_t prepare(uint32_t block, std::span<const BatchPiece> pieces, ReplayThreadId thread) = 0;
  virtual bool run(uint32_t block, const BatchPiece& piece, ReplayThreadId thread) = 0;
  // Which procedure a transaction calls; nothing where it is ad hoc, and so recalls nothing.
  virtual std::optional<uint32_t> procedure_of(uint32_t batch, uint32_t transaction) const = 0;
  // The batch stands alone: nothing else runs meanwhile.
  virtual bool run_alone(uint32_t batch) = 0;

 protected:
  ~DemandExecutor() = default;
};

// A batch's part of the log.
struct DemandBatch {
  std::vector<std::unique_ptr<LaneLists>> blocks;  // none where it stands alone
  uint64_t transactions = 0;

  bool stands_alone() const { return blocks.empty(); }
};

class DemandSchedule {
 public:
  struct Block {
    uint32_t lanes = 1;
    // By procedure: the blocks whose outputs its pieces here recall.
    std::vector<std::vector<uint32_t>> recalls;
  };
  // `threads`: that settle() and go_on() are called by, at most.
  DemandSchedule(std::vector<Block> blocks, std::vector<DemandBatch> batches, uint32_t threads,
                 DemandExecutor& executor);
  ~DemandSchedule();
  DemandSchedule(const DemandSchedule&) = delete;
  DemandSchedule& operator=(const DemandSchedule&) = delete;

  uint32_t lanes(uint32_t block) const { return shape_[block].lanes; }
  // Once true, it stays so. Who reads it sees all that the lane's pieces did.
  bool is_settled(BlockLane lane) const;
  bool is_settled_block(uint32_t block) const;
  bool is_settled() const { return unsettled_.load(std::memory_order_acquire) == 0; }
  // How many lanes there are, and how many are not settled yet.
  uint64_t lane_count() const { return lane_count_; }
  uint64_t unsettled() const { return unsettled_.load(std::memory_order_relaxed); }
  // How many pieces have run, roughly while some are running, and how many there are.
  uint64_t pieces_run() const { return pieces_run_.load(std::memory_order_relaxed); }
  uint64_t piece_count() const { return piece_count_; }

  // Settles the lane. False: an executor failed, now or before; nothing more is to be done.
  bool settle(BlockLane lane, ReplayThreadId thread);
  bool settle_block(uint32_t block, ReplayThreadId thread);
  // Runs what comes next, a little, whoever asked for it; false when nothing is left to begin, or all failed.
  // Everything is settled when all threads have been told so.
  bool go_on(ReplayThreadId thread);
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  // Batch, number in the lane's list of the batch, and whether the lane waits there for others.
  class Place {
   public:
    Place() = default;
    Place(uint32_t batch, uint32_t number, bool has_arrived = false)
        : bits_(uint64_t{batch} << 32 | uint64_t{number} << 1 | (has_arrived ? 1 : 0)) {}
    static Place of(uint64_t bits) {
      Place place;
      place.bits_ = bits;
      return place;
    }

    uint64_t bits() const { return bits_; }
    uint32_t batch() const { return static_cast<uint32_t>(bits_ >> 32); }
    uint32_t number() const { return static_cast<uint32_t>(bits_) >> 1; }
    bool has_arrived() const { return (bits_ & 1) != 0; }
    auto operator<=>(const Place&) const = default;

   private:
    uint64_t bits_ = 0;
  };
  struct Lane {
    Place place() const { return Place::of(at.load(std::memory_order_acquire)); }
    void go_to(Place place) { at.store(place.bits(), std::memory_order_release); }

    std::atomic<uint64_t> at{0};        // Place
    std::atomic<bool> is_taken{false};  // exchange: acquire; store of false: release
  };
  class Pull;

  Lane& lane(BlockLane at) const { return **lanes_[at.block][at.lane]; }
  LaneLists& lists(uint32_t block, uint32_t batch) const { return *batches_[batch].blocks[block]; }
  uint32_t batch_count() const { return static_cast<uint32_t>(batches_.size()); }
  Place end() const { return {batch_count(), 0}; }
  bool pull(BlockLane lane, Place required, ReplayThreadId thread);

  const std::vector<Block> shape_;
  const std::vector<DemandBatch> batches_;
  DemandExecutor& executor_;
  std::vector<std::vector<std::unique_ptr<CachePadded<Lane>>>> lanes_;  // by block
  std::vector<BlockLane> all_;                                          // in the blocks' order
  uint64_t lane_count_ = 0;
  uint64_t piece_count_ = 0;
  // By batch that stands alone: 0, 1 once a thread has taken it, 2 when it is installed (acq_rel).
  std::vector<std::atomic<uint32_t>> alone_;
  std::vector<std::unique_ptr<Pull>> pulls_;  // by thread
  // Written by the thread that settles a lane (release); read by any.
  std::atomic<uint64_t> unsettled_{0};
  // Relaxed, all three: what go_on() hands out next, and a number to look at; written by any thread.
  std::atomic<uint64_t> next_step_{0};
  std::atomic<uint64_t> pieces_run_{0};
  // Written by a thread whose executor failed (release), read by all (acquire).
  std::atomic<bool> failed_{false};
};

}  // namespace mneme
