// DemandSchedule: runs the pieces of a whole log in the order in which somebody asks for what they leave
// behind, in commit order wherever two pieces may conflict.
//
// A block's lane is settled once all its pieces have run: nothing of the log will change its rows any more. A
// thread that wants a lane settled runs the lane's pieces itself, and before each of them what it waits for:
// pieces of the same call whose outputs it recalls, and of a piece that stands in several lanes the pieces
// before it there. Nothing else is run for it, but for the rest of a lane's batch, which costs little then.
//
// Flow        BatchPieces, for each (block, batch) -> settle() a lane, by the thread that asks; try_settle()
//             where it may be too much, and then wish() -> go_on() by the threads that replay the rest: batch
//             by batch, a block's pieces in commit order, in groups, until all is settled
// Wishes      go_on() hands out the steps of a block that was wished for first, and with them those of the
//             blocks whose outputs its pieces recall: in bulk, which takes a fraction of what lane by lane
//             takes. Of several such blocks it takes the one that is settled soonest, counted in pieces:
//             those who wait for little don't wait for much. A batch that stands alone waits for all before
//             it, so in a log with one wishes change nothing.
// Place       how far a lane has come: the entry that it runs next, and whether it has arrived at it and
//             waits for the others, where it is one of several lanes. Places only grow. The last lane to
//             arrive runs the piece and moves all its lanes on.
// Owner       a lane is moved by the thread that has taken it, and past a piece of several lanes by the
//             thread whose lane came last, when all of them stand still.
// Invariants  1. a lane's pieces run in commit order, one at a time. So two pieces that share a lane do.
//             2. a piece runs when all pieces of its transaction have run whose outputs it recalls
//                (`recalls`), and sees what these recorded.
//             3. a batch that stands alone is installed when all that comes before it has run and nothing
//                behind it has.
// No deadlock a thread holds the lanes on its stack: each waits for a piece that a lane above it has yet to
//             run, the topmost may wait for a lane that another thread holds. Order pieces by transaction,
//             then block (predecessors first), then their order in the block. What a piece waits for comes
//             before it in this order, so a lane on a stack stands at a later piece than those above it. Were
//             there threads that wait for each other in a ring, each lane of the ring would stand at a later
//             piece than the next. A lane that waits where a piece meets others is past nothing else, so the
//             one that comes last does not need it moved. go_on() takes the lanes of a group without waiting
//             for any, and waits for nothing while it holds them. try_settle() gives up between two steps of
//             its stack, where each lane of it stands at a place that any thread can go on from: it gives
//             back all its lanes. What is below relies on no order of the steps: a piece that a step finds
//             not ready is pulled.
// Publication a lane's place and owner, the count of a transaction's unfinished pieces, the lanes that have
//             yet to arrive at an entry: each release by who has run the pieces, acquire by who relies on it.
// Threads     settle(), try_settle(), go_on(): any, each with a ReplayThreadId of its own. wish(): any.
// Waiting     a thread that needs a lane which another holds yields until it is let go of or has come far
//             enough.
// Source      ours; lanes and rendezvous are those of lane_scheduler.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "recovery/demand/batch_pieces.h"

namespace mneme {

struct BatchPiece {
  uint32_t batch = 0;
  Piece piece;
};

struct BlockLane {
  uint32_t block = 0;
  uint32_t lane = 0;

  bool operator==(const BlockLane&) const = default;
};

class DemandExecutor {
 public:
  // As PieceExecutor's, of pieces of one block that may come from several batches.
  virtual uint32_t prepare(uint32_t block, std::span<const BatchPiece> pieces, ReplayThreadId thread) = 0;
  virtual bool run(uint32_t block, const BatchPiece& piece, ReplayThreadId thread) = 0;
  // Which procedure a transaction calls; nothing where it is ad hoc, and so recalls nothing.
  virtual std::optional<uint32_t> procedure_of(uint32_t batch, uint32_t transaction) const = 0;
  // The batch stands alone: nothing else runs meanwhile.
  virtual bool run_alone(uint32_t batch) = 0;
  // All pieces of a batch that does not stand alone have run, and nothing more is asked of it.
  virtual void retire(uint32_t batch) = 0;

 protected:
  ~DemandExecutor() = default;
};

// A batch's part of the log.
struct DemandBatch {
  std::vector<std::unique_ptr<BatchPieces>> blocks;  // none where it stands alone

  bool stands_alone() const { return blocks.empty(); }
};

// What an attempt to settle something has come to.
enum class Settling : uint8_t {
  kSettled,
  kTooMuch,  // it takes more than was allowed; some of it may have been done
  kFailed,   // an executor failed, now or before; nothing more is to be done
};

class DemandSchedule {
 public:
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

  struct Recalled {
    uint32_t block = 0;
    // A piece of one iteration recalls what the same iteration has recorded there, and nothing else.
    bool by_iteration = false;
  };
  struct Block {
    uint32_t lanes = 1;
    // By procedure: the blocks whose outputs its pieces here recall. These come before it.
    std::vector<std::vector<Recalled>> recalls;
  };

  // `threads`: that settle() and go_on() are called by, at most. `shares`: by how many go_on() is called, or
  // a few more.
  DemandSchedule(std::vector<Block> blocks, std::vector<DemandBatch> batches, uint32_t threads,
                 uint32_t shares, DemandExecutor& executor);
  ~DemandSchedule();
  DemandSchedule(const DemandSchedule&) = delete;
  DemandSchedule& operator=(const DemandSchedule&) = delete;

  uint32_t lanes(uint32_t block) const { return shape_[block].lanes; }
  // Once true, it stays so. Who finds it true sees all that the lane's pieces did.
  bool is_settled(BlockLane lane) const;
  bool is_settled_block(uint32_t block) const;
  bool is_settled() const { return pieces_left_.load(std::memory_order_acquire) == 0; }
  uint64_t lane_count() const { return lane_count_; }
  // How many pieces there are, and how many have run, or are about to.
  uint64_t piece_count() const { return piece_count_; }
  uint64_t pieces_run() const { return piece_count_ - pieces_left_.load(std::memory_order_relaxed); }

  // Settles the lane. False: an executor failed, now or before; nothing more is to be done.
  bool settle(BlockLane lane, ReplayThreadId thread) {
    return try_settle(lane, thread, kNoLimit) == Settling::kSettled;
  }
  // All lanes, and the free pieces.
  bool settle_block(uint32_t block, ReplayThreadId thread) {
    return try_settle_block(block, thread, kNoLimit) == Settling::kSettled;
  }
  // The same, if it takes no more than `pieces`, about. A lane, or a block, of which more than that are left
  // is not begun.
  Settling try_settle(BlockLane lane, ReplayThreadId thread, uint64_t pieces);
  Settling try_settle_block(uint32_t block, ReplayThreadId thread, uint64_t pieces);
  // From now on go_on() brings the block, and what its pieces recall, before the others.
  void wish(uint32_t block);
  // Runs what comes next, a little, whoever asked for it; false when nothing is left to begin, or all failed.
  // Everything is settled when all threads have been told so.
  bool go_on(ReplayThreadId thread);
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  // An entry of a block: its batch, and its number in it. As bits, they grow with commit order.
  struct EntryId {
    uint32_t batch = 0;
    uint32_t number = 0;

    bool operator==(const EntryId&) const = default;
  };
  static constexpr EntryId kNone{std::numeric_limits<uint32_t>::max(), 0};
  // A lane's place.
  class Place {
   public:
    constexpr Place() = default;
    // At the entry, which is the lane's next; `has_arrived`: it waits there for the other lanes.
    constexpr explicit Place(EntryId next, bool has_arrived = false)
        : bits_(uint64_t{next.batch} << 33 | uint64_t{next.number} << 1 | (has_arrived ? 1 : 0)) {}
    static constexpr Place end() { return of(std::numeric_limits<uint64_t>::max()); }
    static constexpr Place of(uint64_t bits) {
      Place place;
      place.bits_ = bits;
      return place;
    }
    // Past the entry, wherever that is.
    static constexpr Place past(EntryId entry) { return Place({entry.batch, entry.number + 1}); }

    constexpr uint64_t bits() const { return bits_; }
    constexpr EntryId next() const {
      return {static_cast<uint32_t>(bits_ >> 33), static_cast<uint32_t>(bits_) >> 1};
    }
    constexpr bool has_arrived() const { return (bits_ & 1) != 0; }
    constexpr auto operator<=>(const Place&) const = default;

   private:
    uint64_t bits_ = 0;
  };
  struct Lane {
    Place place() const { return Place::of(at.load(std::memory_order_acquire)); }

    std::atomic<uint64_t> at{0};  // Place
    // Where at's entry stands in LaneTable::entries. Whoever moves the lane writes it (relaxed) before `at`
    // (release); whoever relies on it has read `at` (acquire). Others only prefetch what it leads to.
    std::atomic<uint32_t> next{0};
    std::atomic<bool> is_taken{false};  // exchange: acquire; store of false: release
  };
  // A block's lanes, and for each the entries that stand in it, in commit order.
  struct LaneTable {
    std::unique_ptr<Lane[]> lanes;
    std::vector<EntryId> entries;  // of all lanes, one after the other; behind each lane's, kNone
    std::vector<EntryId> free;
    bool recalls_nothing = true;
  };
  struct Left {
    // Written by the threads that settle a lane, or have run a free piece (release); read by any (acquire).
    std::atomic<uint64_t> lanes{0};
    std::atomic<uint64_t> free{0};
  };
  struct Step {
    uint32_t block = 0;
    uint32_t batch = 0;
  };
  // A share of a block's step.
  struct Share {
    uint32_t block = 0;
    uint32_t step = 0;  // of the block
    uint32_t share = 0;
  };
  class Pull;

  void make_lanes(uint32_t block);
  void order_steps();
  uint64_t time_of(uint32_t block, uint32_t step) const;
  bool is_handed_out(uint32_t block) const { return next_[block].step == steps_[block].size(); }
  std::optional<uint32_t> soonest_wish() const;
  std::optional<Share> take_share();
  Lane& lane(BlockLane at) const { return tables_[at.block].lanes[at.lane]; }
  BatchPieces& pieces(uint32_t block, uint32_t batch) const { return *batches_[batch].blocks[block]; }
  // The place of the lane when it has run so many entries of its list.
  Place place_after(BlockLane at, uint32_t entries) const;
  // Moves a lane that has run `entries` more; the thread that does may move it (Owner).
  void move(BlockLane at, uint32_t entries);
  // Whether the batch's pieces may run, as far as batches that stand alone are concerned.
  bool is_open(uint32_t batch) const {
    return alone_before_[batch] <= installed_.load(std::memory_order_acquire);
  }
  // The number, among those that stand alone, of the last one before a batch that is not open, or was not.
  uint32_t last_alone_before(uint32_t batch) const { return alone_before_[batch] - 1; }
  // Whether the lane has yet to run more than so many.
  bool has_more_than(BlockLane at, uint64_t pieces) const;
  Settling settle_alone(ReplayThreadId thread, uint64_t pieces);
  void count_run(uint64_t pieces) { pieces_left_.fetch_sub(pieces, std::memory_order_release); }
  void count_run(std::span<const BatchPiece> pieces);

  const std::vector<Block> shape_;
  const std::vector<DemandBatch> batches_;
  const uint32_t shares_;
  DemandExecutor& executor_;
  std::vector<LaneTable> tables_;  // by block
  std::unique_ptr<Left[]> left_;   // by block: what is not settled
  // By batch: its pieces that have not run. Written by the threads that run them; the last one sees what the
  // others did (acq_rel).
  std::unique_ptr<std::atomic<uint32_t>[]> left_of_batch_;
  std::vector<std::vector<uint32_t>> steps_;  // of go_on(), each of `shares_` shares: by block, its batches
  std::vector<uint32_t> depth_;         // by block: how many blocks come before it, one recalled by the next
  std::vector<uint32_t> alone_;         // the batches that stand alone
  std::vector<uint32_t> alone_before_;  // by batch: how many of these come before it
  uint64_t lane_count_ = 0;
  uint64_t piece_count_ = 0;
  std::vector<std::unique_ptr<Pull>> pulls_;  // by thread
  // Batches that stand alone are installed in order. taken_: how many a thread has taken to install
  // (acq_rel); installed_: how many are (release, acquire).
  std::atomic<uint32_t> taken_{0};
  std::atomic<uint32_t> installed_{0};
  // Written by the threads that have run pieces (release); who finds none left (acquire) sees what they did.
  std::atomic<uint64_t> pieces_left_{0};
  std::vector<std::vector<uint32_t>> before_;  // by block: it, and all whose outputs it needs, ascending
  std::mutex order_mutex_;                     // guards the next three
  std::vector<uint32_t> wished_;               // blocks, in the order of their wishes
  std::vector<Share> next_;                    // by block: what is handed out next
  std::vector<uint64_t> to_hand_out_;          // by block: pieces of the steps from there on
  // Written by a thread whose executor failed (release), read by all (acquire).
  std::atomic<bool> failed_{false};
};

}  // namespace mneme
