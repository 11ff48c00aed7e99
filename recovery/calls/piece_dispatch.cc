#include "recovery/calls/piece_dispatch.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

PieceDispatch::PieceDispatch(const DependencyGraph& graph, const Schema& schema,
                             std::span<const uint32_t> lanes, std::span<const NativeFunctions> native)
    : schema_(schema), changes_(graph, schema) {
  CHECK(lanes.size() == graph.blocks.size() + 1);
  const SliceUnits units(graph);
  CHECK(native.empty() || native.size() == units.units().size());
  for (const Block& block : graph.blocks) {
    add_block(block.lanes, block.predecessors, lanes[blocks_.size()]);
    auto& slices = slices_.emplace_back(graph.procedures.size());
    for (const BlockMember& member : block.members) {
      const LocalGraph& local = graph.local(member.procedure);
      const Slice& slice = local.slices[member.slice.value];
      if (!slice.is_replayed()) continue;
      SliceReplay& replay = slices[member.procedure.value].emplace(prepare(block, local, slice));
      if (native.empty()) continue;
      const NativeFunctions& body = native[units.body_of(member.procedure, member.slice)];
      replay.run_native = body.run_on_any;
      replay.lookups = body.lookups[0];
      replay.locate_native = native[units.locate_body_of(member.procedure, member.slice)].run_on_any;
    }
  }
  add_block(changes_.rest_lanes(), {}, lanes.back());
  slices_.emplace_back(graph.procedures.size());
}

void PieceDispatch::add_block(std::span<const LaneTable> tables, std::span<const BlockId> predecessors,
                              uint32_t lanes) {
  CHECK(lanes > 0);
  Placement placement = Placement::kFree;
  for (const LaneTable& table : tables) {
    if (!table.columns.empty())
      placement = Placement::kByKey;
    else if (!table.any_lane && placement == Placement::kFree)
      placement = Placement::kOneLane;
  }
  if (placement == Placement::kByKey && lanes == 1) placement = Placement::kOneLane;
  placements_.push_back(placement);

  ScheduledBlock scheduled;
  for (const BlockId predecessor : predecessors) scheduled.predecessors.push_back(predecessor.value);
  scheduled.lane_count = placement == Placement::kOneLane ? 1 : lanes;
  rings_.emplace_back(scheduled.lane_count);
  blocks_.push_back(std::move(scheduled));
}

SliceReplay PieceDispatch::prepare(const Block& block, const LocalGraph& local, const Slice& slice) const {
  SliceReplay replay;
  replay.local = &local;
  replay.slice = &slice;
  replay.recorded = recorded_operations(slice);
  replay.recalled = recalled_operations(slice);
  for (const ir::Operation& operation : local.replay.operations) {
    auto& tables = replay.lane_tables.emplace_back();
    for (const ir::TableAccess& access : operation.access) tables.push_back(block.lane_table(access.table));
  }
  replay.inserts_freely = std::ranges::any_of(slice.replayed, [&](OperationId operation) {
    const std::vector<const LaneTable*>& tables = replay.lane_tables[operation.value];
    return std::ranges::any_of(tables,
                               [](const LaneTable* table) { return table != nullptr && table->any_lane; });
  });
  // An iteration becomes a piece only if the locate body reports a row in it. So iterations may be pieces
  // only if every operation that records outputs is located: otherwise an iteration might not run, and its
  // outputs would be missing.
  const bool all_located = std::ranges::all_of(replay.recorded, [&](OperationId operation) {
    return std::ranges::any_of(replay.lane_tables[operation.value],
                               [](const LaneTable* t) { return t != nullptr; });
  });
  replay.by_iteration = slice.iterations_independent && all_located;
  return replay;
}

uint32_t PieceDispatch::lane_of(uint32_t block, const LaneTable& table, std::span<const Value> key) const {
  return rings_[block].lane_of(schema_.catalog().table(table.table), table.columns, key);
}

Outcome PieceDispatch::fill(uint32_t block, const LogBatch& batch, BatchRecording& recording,
                            PieceLocator& locator, ReplayThreadId thread, LaneFill& lanes,
                            uint32_t& failed) const {
  if (block == changes_.rest_block() && batch.ad_hoc_count() == 0) return {};
  for (uint32_t t = 0; t < batch.size(); ++t) {
    if (batch.is_ad_hoc(t)) {
      locator.dispatch(block, batch.changes(t), t, lanes);
      continue;
    }
    const SliceReplay* slice = find(block, batch.call(t).procedure);
    if (slice == nullptr) continue;
    switch (placements_[block]) {
      case Placement::kFree:
        lanes.append_free({t, PiecePart::slice()});
        break;
      case Placement::kOneLane: {
        const uint32_t lane = 0;
        lanes.append({t, PiecePart::slice()}, {&lane, 1});
        break;
      }
      case Placement::kByKey: {
        const Outcome outcome = locator.dispatch(block, *slice, batch.call(t), t, recording, thread, lanes);
        if (!outcome.completed()) {
          failed = t;
          return outcome;
        }
        break;
      }
    }
  }
  return {};
}

Outcome PieceLocator::dispatch(uint32_t block, const SliceReplay& slice, const Call& call,
                               uint32_t transaction, BatchRecording& recording, ReplayThreadId thread,
                               LaneFill& lanes) {
  block_ = block;
  slice_ = &slice;
  located_.clear();
  recording_.bind(recording, transaction, thread);
  RunRequest request;
  request.procedure = &slice.local->replay;
  request.body = slice.slice->locate_body;
  request.native = slice.locate_native;
  request.arguments = call.arguments;
  request.recording = &recording_;
  request.locate = this;
  const Outcome outcome = interpreter_.run(request);
  if (!outcome.completed()) return outcome;

  if (located_.empty()) {
    // The call touches no row that has a lane. A piece is needed only if later pieces recall what the slice
    // reads, or if the slice inserts rows that go to any lane.
    if (!slice.recorded.empty() || slice.inserts_freely) lanes.append_free({transaction, PiecePart::slice()});
    return outcome;
  }
  if (slice.by_iteration && !in_one_lane()) {
    std::ranges::sort(located_, {}, &Located::iteration);
    for (const OperationId operation : slice.recorded) {
      recording.reserve_iterations(transaction, operation, located_.back().iteration + 1, thread);
    }
    for (auto rest = std::span<const Located>(located_); !rest.empty();) {
      const uint32_t iteration = rest.front().iteration;
      const auto end = std::ranges::find_if(rest, [&](const Located& l) { return l.iteration != iteration; });
      const auto count = static_cast<size_t>(end - rest.begin());
      append({transaction, PiecePart::iteration(iteration)}, rest.first(count), lanes);
      rest = rest.subspan(count);
    }
    return outcome;
  }
  append({transaction, PiecePart::slice()}, located_, lanes);
  return outcome;
}

void PieceLocator::dispatch(uint32_t block, std::span<const LoggedChange> changes, uint32_t transaction,
                            LaneFill& lanes) {
  for (uint32_t c = 0; c < changes.size(); ++c) {
    const ChangePlace* place = dispatch_.changes_.find(block, changes[c].row.table);
    if (place == nullptr || !ChangePlacement::has_part(*place, changes[c])) continue;
    const Piece piece{transaction, PiecePart::change(c)};
    if (place->lanes->any_lane) {
      lanes.append_free(piece);
      continue;
    }
    image_.resize(dispatch_.schema_.layout(changes[c].row.table).image_bytes());
    if (!dispatch_.changes_.lane_values(*place, changes[c], image_.data(), key_)) {
      lanes.append_to_all(piece);
      continue;
    }
    const uint32_t lane = dispatch_.lane_of(block, *place->lanes, key_);
    lanes.append(piece, {&lane, 1});
  }
}

bool PieceLocator::in_one_lane() const {
  uint32_t lane = kAnyLane;
  for (const Located& located : located_) {
    if (located.lane == kAnyLane || located.lane == lane) continue;
    if (lane != kAnyLane) return false;
    lane = located.lane;
  }
  return true;
}

void PieceLocator::append(Piece piece, std::span<const Located> located, LaneFill& lanes) {
  lanes_.clear();
  for (const Located& l : located) {
    if (l.lane != kAnyLane) lanes_.push_back(l.lane);
  }
  if (lanes_.empty())
    lanes.append_free(piece);
  else
    lanes.append(piece, lanes_);
}

void PieceLocator::locate(OperationId operation, uint32_t access, uint32_t iteration,
                          std::span<const Value> key) {
  const LaneTable* table = slice_->lane_tables[operation.value][access];
  CHECK(table != nullptr);
  located_.push_back({iteration, table->any_lane ? kAnyLane : dispatch_.lane_of(block_, *table, key)});
}

}  // namespace mneme
