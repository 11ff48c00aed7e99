// LanePlanner: into how many lanes a replay cuts each block of a batch, and by which columns.
//
// Why         Lanes cost: to know a piece's lanes, the rows that its call will touch must be located, a loop
//             falls into as many pieces as it meets lanes, the look-ups of a short lane overlap little, and a
//             piece of several lanes is waited for by all of them. A block needs more than one lane only
//             where one thread could not keep up with it while the others run the other blocks, of this batch
//             and of the next ones: where its share of the work, times the threads, is more than one
//             thread's.
// Flow        plan(batch) counts the batch's calls -> the shares of the blocks' work, over the last batches
//             -> for each block the placement that is estimated to end first -> PieceDispatch fills the
//             block's lanes by it, and locates every 16th transaction by the other placements, too ->
//             observe() -> the next plan(). Logs change: what is observed of old batches fades.
// Estimate    A block's work: the operations that its slices replay, those in loops counted kLoopTurns times,
//             by the time that one took in this block while it had one lane (observe_time()). A share is of
//             the blocks' work and of decoding, which any thread does beside them.
//             With one lane a batch takes as long as the larger of the block's share and the threads' part of
//             all. With lanes the block's work is more, by locating and by waits for pieces of several lanes,
//             and it takes as long as the fullest lane, or the threads' part of all. Ties go to one lane.
// Units       lanes: 1, or a power of two that leaves kLanesAShare lanes for each thread's worth of work, so
//             that long ones and short ones even out.
// Threads     plan(): one call at a time, in order of batches. observe*(): any, beside it.
// Source      PACMAN (SIGMOD 2017), section 4.4, gives cores to blocks by their shares of the work; lanes are
//             ours.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "recovery/log/replay.h"

namespace mneme {

inline constexpr uint32_t kMostLanes = 64;

// Costs, in operations of a procedure.
// What reading and decoding a call costs until it has been measured. Any thread does it.
inline constexpr double kDecodeCost = 1;
// To locate a piece's rows, and to run it by itself in a short lane.
inline constexpr double kLaneCost = 1.3;
// A lane that waits for a piece, or is woken by one.
inline constexpr double kMeetingCost = 6;
// How often a loop is taken to turn.
inline constexpr double kLoopTurns = 10;

// How one batch's pieces of a block find their lanes.
struct LanePlacement {
  uint32_t map = 0;    // which of the block's lane maps (PieceDispatch::maps)
  uint32_t lanes = 1;  // 1: nothing is located
  // Whether a sample of the transactions is to be located by all maps.
  bool is_observed = false;
  // Each call's slice is a piece of its own, also where one lane holds all.
  bool is_piecewise = false;

  // Equal for placements that put each row into the same lane.
  uint32_t number() const { return lanes == 1 ? 0 : map * 2 * kMostLanes + lanes; }
};

// What a sample of a block's pieces was found to touch, by one of its lane maps cut into kMostLanes.
struct LaneSample {
  double pieces = 0;
  double rows = 0;         // of these, changed rows of ad-hoc transactions
  double wide = 0;         // of all, pieces of all lanes
  double extra_lanes = 0;  // of the others, beyond one for each
  std::array<float, kMostLanes> in_lane = {};

  void add(const LaneSample& other);
  void fade(double factor);
  // The fullest lane's part of the pieces that are not wide.
  double fullest_share() const;
};

class LanePlanner {
 public:
  // What a block offers. By one that orders nothing pieces go to any lane: it has no map.
  struct BlockMaps {
    uint32_t maps = 0;
    bool is_free = false;
    // The map that may serve before it has been observed: every access fixes its columns. None: `maps`.
    uint32_t first = 0;
    // Every map needs hints: only what has observed them, or says how many lanes there are, takes one.
    bool by_hint = false;
  };
  // `maps`: one for each of the graph's blocks, and one for the rows that no procedure touches, which are cut
  // as the options say.
  LanePlanner(const DependencyGraph& graph, std::vector<BlockMaps> maps, const ReplayOptions& options);

  // A placement for each block. `records`: the batch's.
  void plan(std::span<const RecordView> records, std::vector<LanePlacement>& placements);
  // `samples`: one for each map of the block.
  void observe(uint32_t block, std::span<const LaneSample> samples);

  // Notes that one lane ran so many of the block's operations, as work() counts them, in so long.
  void observe_time(uint32_t block, double operations, double seconds);
  // Notes that a batch of so many calls was decoded in so long.
  void observe_decoding(size_t calls, double seconds);

  // Returns how many operations one call of the procedure has in the block.
  double work(uint32_t block, ProcedureId procedure) const { return blocks_[block].work[procedure.value]; }
  // About how many pieces one call of the procedure has in the block, where there are lanes.
  double pieces(uint32_t block, ProcedureId procedure) const {
    return blocks_[block].pieces[procedure.value];
  }
  // How many lanes a block can come to have.
  uint32_t most_lanes(uint32_t block) const;

 private:
  // How many operations were measured of late, and how long they took.
  struct Cost {
    double operations = 0;
    double seconds = 0;

    void add(double more_operations, double more_seconds);
  };
  struct Block {
    BlockMaps maps;
    std::vector<double> work;         // by procedure: one call's, in operations
    std::vector<double> pieces;       // by procedure: one call's, where there are lanes
    std::vector<LaneSample> samples;  // by map
    Cost cost;
    LanePlacement placement;
  };
  struct Estimate {
    double work = 0;        // of a batch, of all blocks and of decoding
    double operation = 1;   // an operation's work in the mean
    double block_work = 0;  // of the block
    double block_pieces = 0;
  };

  void count_calls(std::span<const RecordView> records);
  // All with mutex_ held: an operation's work in the mean of all blocks, in this one, and decoding a call.
  double mean_operation() const;
  static double operation_in(const Block& block, double mean);
  double decoding(double mean) const;
  LanePlacement choose(const Block& block, const Estimate& estimate) const;
  LanePlacement choose_free(const Block& block, const Estimate& estimate, uint32_t most) const;
  double row_share(const Block& block) const;
  double time_of(const Block& block, const Estimate& estimate, LanePlacement placement) const;
  uint32_t wanted_lanes(double share) const;

  const ReplayOptions options_;
  const uint32_t threads_;
  std::vector<double> calls_;  // by procedure, in the last batches
  double rows_ = 0;            // likewise: changed rows of ad-hoc transactions
  std::mutex mutex_;           // of what observe*() and plan() share: samples and costs
  std::vector<Block> blocks_;
  Cost decoding_;
};

}  // namespace mneme
