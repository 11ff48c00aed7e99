// PieceDispatch: turns the calls and the ad-hoc changes of a batch into pieces in the lanes of a block.
//
// Flow        LaneScheduler's fill -> for each call with a slice in the block: the slice's locate body runs
//             and reports the keys of the rows that it will touch -> a lane a key -> one piece for the slice,
//             or one an iteration -> for each ad-hoc change that the block has a part in: one piece, where
//             change_placement.h says
// Placements  which of the tables' lane ways are taken, and how many lanes there are, may differ from batch
//             to batch (lane_planner.h). A lane map takes one way of each of the block's tables.
// Invariants  within a placement a row's lane depends on its values in the way's columns alone, so all pieces
//             that touch the row share a lane, or are wide and stand in all of them. Tables whose lane
//             columns hold the same values (a warehouse, a district) share lanes.
// Threads     constant once made; each thread brings its own PieceLocator.
// Hints       where the slice itself finds a key, the call's hint says it (call_hints.h): the access's lanes
//             are those of all keys that it has, whichever iteration they are of. What is no hint of such
//             keys leaves the access wide, and the piece is refused as it tells its key.
// Source      PACMAN (SIGMOD 2017), sections 4.3.1 and 4.5.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "engine/transaction/replay_access.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/interpreter/native_runner.h"
#include "recovery/calls/batch_recording.h"
#include "recovery/calls/lane_planner.h"
#include "recovery/calls/lane_ring.h"
#include "recovery/calls/lane_scheduler.h"
#include "recovery/calls/slice_units.h"
#include "recovery/log/log_batch.h"
#include "recovery/rows/change_placement.h"

namespace mneme {

// Where the rows of an access have their lanes.
struct AccessLanes {
  struct Way {
    bool is_wide = false;
    // Wide for a call without a hint alone: `places` then are of the way's columns in a hint's key.
    bool is_by_hint = false;
    // Where the way's columns stand among the values that are reported; empty: they are these, in this order.
    std::vector<uint32_t> places;
  };
  const LaneTable* table = nullptr;  // none: they need no lanes
  size_t table_number = 0;           // in Block::lanes
  std::vector<Way> ways;
  // What the call's hint says of the access stands under this operation (LocatedAccess::hint).
  OperationId hint;
  std::vector<bool> hint_is_text;  // by column of the hint's keys
};

// How replay runs one slice in its block.
struct SliceReplay {
  const LocalGraph* local = nullptr;
  const Slice* slice = nullptr;
  double work = 0;            // LanePlanner::work
  bool by_iteration = false;  // each iteration of its loop may be a piece
  bool inserts_freely =
      false;  // into tables whose rows go to any lane, which its locate body does not report
  // The machine code of its body and of its locate body; nullptr where these are interpreted.
  NativeRunFunction run_native = nullptr;
  NativeRunFunction locate_native = nullptr;
  NativeLookupFunction lookups = nullptr;  // of its body
  std::vector<OperationId> recorded;
  std::vector<OperationId> recalled;
  bool uses_recording() const { return !recorded.empty() || !recalled.empty(); }
  // How a part of Slice::parts is run.
  struct Part {
    ir::BodyView body;
    NativeRunFunction run_native = nullptr;
    NativeLookupFunction lookups = nullptr;
    bool records = false;
    bool inserts_freely = false;
  };
  std::vector<Part> parts;
  std::vector<uint32_t> part_of;  // by operation
  // lanes[operation][access]: where the access's rows have their lanes.
  std::vector<std::vector<AccessLanes>> lanes;
};

class PieceDispatch;

// One thread's tools for locating.
class PieceLocator final : private LocateSink {
 public:
  // `rows`: for locate bodies that read (AnalysisOptions::reads_to_locate).
  PieceLocator(const Schema& schema, const PieceDispatch& dispatch, ReplayAccess* rows)
      : dispatch_(dispatch), rows_(rows), interpreter_(schema), native_(schema, rows, &recording_, this) {}

  // Until the next call pieces go to lanes as the placement says.
  void begin(uint32_t block, const LanePlacement& placement);
  // Appends the transaction's pieces in the block. An error is one of replay: the locate body raised.
  Outcome dispatch(const SliceReplay& slice, const Call& call, uint32_t transaction,
                   BatchRecording& recording, ReplayThreadId thread, LaneFill& lanes);
  // The same for the changes of an ad-hoc transaction.
  void dispatch(std::span<const LoggedChange> changes, uint32_t transaction, LaneFill& lanes);
  // Finds out where the transaction's pieces would stand by each map, and appends nothing. What it would
  // raise is left to the piece.
  void sample(const SliceReplay& slice, const Call& call, uint32_t transaction, BatchRecording& recording,
              ReplayThreadId thread);
  // The same for the changes of an ad-hoc transaction.
  void sample(std::span<const LoggedChange> changes);
  // What was sampled since begin(), by map.
  std::span<const LaneSample> samples() const { return samples_; }

 private:
  // The lane of a row whose order among others does not matter, and that of a row which may lie anywhere.
  static constexpr uint32_t kAnyLane = std::numeric_limits<uint32_t>::max();
  static constexpr uint32_t kAllLanes = kAnyLane - 1;
  struct Located {
    uint32_t part;  // of a slice in parts: which; else the iteration
    uint32_t lane;
  };

  void locate(OperationId operation, uint32_t access, uint32_t iteration,
              std::span<const Value> key) override;
  Outcome run_locate_body(const SliceReplay& slice, const Call& call, uint32_t transaction,
                          BatchRecording& recording, ReplayThreadId thread);
  uint32_t lane_of(const AccessLanes& access, size_t map, const LaneRing& ring, std::span<const Value> key);
  const CallHint* hint_of(const AccessLanes& access) const;
  // Adds the lanes of all keys of the hint.
  void locate_by(const CallHint& hint, const AccessLanes& access, size_t map, const LaneRing& ring,
                 uint32_t part, std::vector<Located>& located);
  static void add_to_sample(LaneSample& sample, std::span<const Located> located);
  bool in_one_lane() const;
  bool in_all_lanes() const;
  static std::span<const Located> located_in(std::span<const Located> located, uint32_t part);
  void append(Piece piece, std::span<const Located> located, LaneFill& lanes);

  const PieceDispatch& dispatch_;
  ReplayAccess* const rows_;
  TransactionRecording recording_;
  Interpreter interpreter_;
  NativeRunner native_;
  const SliceReplay* slice_ = nullptr;
  std::span<const CallHint> hints_;  // of the call
  bool has_used_hint_ = false;
  std::vector<OperationId> hinted_;  // accesses of this run whose lanes a hint has said, in all iterations
  uint32_t block_ = 0;
  LanePlacement placement_;
  const LaneRing* ring_ = nullptr;  // of as many lanes
  bool is_sampling_ = false;
  std::vector<LaneSample> samples_;            // by map
  std::vector<std::vector<Located>> sampled_;  // of one transaction, by map
  std::vector<Value> way_key_;
  std::vector<Located> located_;
  std::vector<uint32_t> lanes_;
  std::vector<std::byte> image_;  // of a changed row
  std::vector<Value> key_;
};

// How a block's rows of one table fall to lanes.
struct RowLanes {
  const LaneTable* table = nullptr;
  size_t way = 0;
  uint32_t lanes = 1;

  // Whose values say in which lane a row lies; none: all are in lane 0.
  std::span<const ColumnId> columns() const { return table->way(way); }
};

class PieceDispatch {
 public:
  // `options`: whose placements will come (lane_planner.h), and the machine code of the graph's SliceUnits,
  // or none.
  PieceDispatch(const DependencyGraph& graph, const Schema& schema, const ReplayOptions& options);

  // Chooses each batch's placements.
  LanePlanner make_planner() const;

  // The graph's, and one more (ChangePlacement::rest_block).
  std::span<const ScheduledBlock> blocks() const { return blocks_; }
  const ChangePlacement& changes() const { return changes_; }

  // By procedure: its slice in the block; none where there is nothing to replay.
  std::span<const std::optional<SliceReplay>> slices(uint32_t block) const { return slices_[block]; }
  const SliceReplay* find(uint32_t block, ProcedureId procedure) const {
    const std::optional<SliceReplay>& slice = slices(block)[procedure.value];
    return slice ? &*slice : nullptr;
  }

  // How many ways there are to cut the block into lanes (LanePlacement::map). 0: it has one lane, or its
  // pieces go to any.
  uint32_t map_count(uint32_t block) const { return static_cast<uint32_t>(maps_[block].maps.size()); }
  // Whether nothing orders the block's pieces.
  bool is_free(uint32_t block) const { return maps_[block].is_free; }
  // None where the block writes no rows of the table.
  std::optional<RowLanes> row_lanes(uint32_t block, const LanePlacement& placement, TableId table) const;
  // `key`: a row's values in RowLanes::columns().
  uint32_t lane_of(const RowLanes& lanes, std::span<const Value> key) const;

  // Appends the pieces of the whole batch. `failed`: which transaction's locating raised, when that is the
  // outcome. What was observed of the batch is the locator's samples() afterwards.
  Outcome fill(uint32_t block, const LanePlacement& placement, const LogBatch& batch,
               BatchRecording& recording, PieceLocator& locator, ReplayThreadId thread, LaneFill& lanes,
               uint32_t& failed) const;

 private:
  friend class PieceLocator;

  // Which way of each of the block's tables a map takes.
  using LaneMap = std::vector<size_t>;
  struct LaneMaps {
    bool is_free = false;        // nothing orders the pieces
    std::vector<LaneMap> maps;   // none: nothing tells their rows apart, or is_free
    bool first_is_safe = false;  // no access is wide by the first one
    bool all_by_hint = false;    // each of them takes a way of some table that is there for hints
  };

  static LaneMaps make_maps(std::span<const LaneTable> tables);
  void add_block(std::span<const LaneTable> tables, std::span<const BlockId> predecessors);
  SliceReplay prepare(const Block& block, const LocalGraph& local, const Slice& slice) const;
  const LaneRing& ring(uint32_t lanes) const { return rings_.at(lanes); }
  uint32_t lane_of(const LaneRing& ring, const LaneTable& table, size_t way,
                   std::span<const Value> key) const;

  const Schema& schema_;
  const DependencyGraph& graph_;
  const ReplayOptions options_;
  const ChangePlacement changes_;
  std::vector<ScheduledBlock> blocks_;
  std::vector<LaneMaps> maps_;                                   // by block
  std::map<uint32_t, LaneRing> rings_;                           // by number of lanes
  std::vector<std::vector<std::optional<SliceReplay>>> slices_;  // by block and procedure
};

}  // namespace mneme
