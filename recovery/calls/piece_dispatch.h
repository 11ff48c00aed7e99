// PieceDispatch: turns the calls and the ad-hoc changes of a batch into pieces in the lanes of a block.
//
// Flow        LaneScheduler's fill -> for each call with a slice in the block: the slice's locate body runs
//             and reports the keys of the rows that it will touch -> a lane a key -> one piece for the slice,
//             or one an iteration -> for each ad-hoc change that the block has a part in: one piece, where
//             change_placement.h says
// Invariants  a row's lane depends on its values in the table's lane columns alone, so all pieces that touch
//             the row share a lane. Tables whose lane columns hold the same values (a warehouse, a district)
//             share lanes.
// Threads     constant once made; each thread brings its own PieceLocator.
// Source      PACMAN (SIGMOD 2017), sections 4.3.1 and 4.5.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "procedures/interpreter/interpreter.h"
#include "recovery/calls/batch_recording.h"
#include "recovery/calls/lane_ring.h"
#include "recovery/calls/lane_scheduler.h"
#include "recovery/calls/slice_units.h"
#include "recovery/log/log_batch.h"
#include "recovery/rows/change_placement.h"

namespace mneme {

// How replay runs one slice in its block.
struct SliceReplay {
  const LocalGraph* local = nullptr;
  const Slice* slice = nullptr;
  bool by_iteration = false;  // each iteration of its loop may be a piece
  bool inserts_freely =
      false;  // into tables whose rows go to any lane, which its locate body does not report
  // The machine code of its body and of its locate body; nullptr where these are interpreted.
  NativeRunFunction run_native = nullptr;
  NativeRunFunction locate_native = nullptr;
  NativeLookupFunction lookups = nullptr;  // of its body
  std::vector<OperationId> recorded;
  std::vector<OperationId> recalled;
  // lane_tables[operation][access]: where the access's rows have their lanes; nullptr where they need none.
  std::vector<std::vector<const LaneTable*>> lane_tables;
};

class PieceDispatch;

// One thread's tools for locating.
class PieceLocator final : private LocateSink {
 public:
  PieceLocator(const Schema& schema, const PieceDispatch& dispatch)
      : dispatch_(dispatch), interpreter_(schema) {}

  // Appends the transaction's pieces in the block. An error is one of replay: the locate body raised.
  Outcome dispatch(uint32_t block, const SliceReplay& slice, const Call& call, uint32_t transaction,
                   BatchRecording& recording, ReplayThreadId thread, LaneFill& lanes);
  // The same for the changes of an ad-hoc transaction.
  void dispatch(uint32_t block, std::span<const LoggedChange> changes, uint32_t transaction, LaneFill& lanes);

 private:
  // The lane of a row whose order among others does not matter.
  static constexpr uint32_t kAnyLane = std::numeric_limits<uint32_t>::max();
  struct Located {
    uint32_t iteration;
    uint32_t lane;
  };

  void locate(OperationId operation, uint32_t access, uint32_t iteration,
              std::span<const Value> key) override;
  bool in_one_lane() const;
  void append(Piece piece, std::span<const Located> located, LaneFill& lanes);

  const PieceDispatch& dispatch_;
  Interpreter interpreter_;
  TransactionRecording recording_;
  const SliceReplay* slice_ = nullptr;
  uint32_t block_ = 0;
  std::vector<Located> located_;
  std::vector<uint32_t> lanes_;
  std::vector<std::byte> image_;  // of a changed row
  std::vector<Value> key_;
};

class PieceDispatch {
 public:
  // `lanes`: how many each of blocks() is cut into that has keys to cut it by. `native`: the machine code of
  // the graph's SliceUnits, or nothing.
  PieceDispatch(const DependencyGraph& graph, const Schema& schema, std::span<const uint32_t> lanes,
                std::span<const NativeFunctions> native = {});

  // The graph's, and one more (ChangePlacement::rest_block).
  std::span<const ScheduledBlock> blocks() const { return blocks_; }
  const ChangePlacement& changes() const { return changes_; }

  // The procedure's slice in the block; nullptr where there is nothing to replay.
  const SliceReplay* find(uint32_t block, ProcedureId procedure) const {
    return slices_[block][procedure.value] ? &*slices_[block][procedure.value] : nullptr;
  }

  // Appends the pieces of the whole batch. `failed`: which transaction's locating raised, when that is the
  // outcome.
  Outcome fill(uint32_t block, const LogBatch& batch, BatchRecording& recording, PieceLocator& locator,
               ReplayThreadId thread, LaneFill& lanes, uint32_t& failed) const;

 private:
  friend class PieceLocator;

  // How a block's pieces find their lanes.
  enum class Placement : uint8_t {
    kFree,     // nothing orders them
    kOneLane,  // nothing tells their rows apart
    kByKey,    // by what their locate bodies report
  };

  void add_block(std::span<const LaneTable> tables, std::span<const BlockId> predecessors, uint32_t lanes);
  SliceReplay prepare(const Block& block, const LocalGraph& local, const Slice& slice) const;
  uint32_t lane_of(uint32_t block, const LaneTable& table, std::span<const Value> key) const;

  const Schema& schema_;
  const ChangePlacement changes_;
  std::vector<ScheduledBlock> blocks_;
  std::vector<Placement> placements_;                            // by block
  std::vector<LaneRing> rings_;                                  // by block
  std::vector<std::vector<std::optional<SliceReplay>>> slices_;  // by block and procedure
};

}  // namespace mneme
