#include "recovery/calls/piece_dispatch.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

namespace {

// Maps of a block with several tables of several ways each.
constexpr size_t kMostMaps = 8;
constexpr size_t kMostMapsByHint = 4;  // more than these
// Placements choose powers of two up to here (lane_planner.h, recovery/demand/), or what the options say.
constexpr uint32_t kMostChosenLanes = 1024;
// Each so many a batch's transactions are observed.
constexpr uint32_t kObservedEach = 16;

}  // namespace

PieceDispatch::PieceDispatch(const DependencyGraph& graph, const Schema& schema, const ReplayOptions& options)
    : schema_(schema), graph_(graph), options_(options), changes_(graph, schema) {
  const SliceUnits units(graph);
  CHECK(options.native.empty() || options.native.size() == units.units().size());
  for (const Block& block : graph.blocks) {
    add_block(block.lanes, block.predecessors);
    auto& slices = slices_.emplace_back(graph.procedures.size());
    for (const BlockMember& member : block.members) {
      const LocalGraph& local = graph.local(member.procedure);
      const Slice& slice = local.slices[member.slice.value];
      if (!slice.is_replayed()) continue;
      SliceReplay& replay = slices[member.procedure.value].emplace(prepare(block, local, slice));
      if (options.native.empty()) continue;
      const NativeFunctions& body = options.native[units.body_of(member.procedure, member.slice)];
      replay.run_native = body.run_on_replay;
      replay.lookups = body.lookups[0];
      replay.locate_native =
          options.native[units.locate_body_of(member.procedure, member.slice)].run_on_replay;
      for (size_t p = 0; p < replay.parts.size(); ++p) {
        const NativeFunctions& part = options.native[units.part_of(member.procedure, member.slice, p)];
        replay.parts[p].run_native = part.run_on_replay;
        replay.parts[p].lookups = part.lookups[0];
      }
    }
  }
  add_block(changes_.rest_lanes(), {});
  slices_.emplace_back(graph.procedures.size());
  const LanePlanner planner = make_planner();
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].lane_count = planner.most_lanes(b);
    rings_.try_emplace(blocks_[b].lane_count, blocks_[b].lane_count);
    for (uint32_t p = 0; p < slices_[b].size(); ++p) {
      if (slices_[b][p]) slices_[b][p]->work = planner.work(b, ProcedureId{p});
    }
  }
  const uint32_t most_chosen = std::max(kMostChosenLanes, options.lanes_per_block);
  for (uint64_t lanes = 1; lanes <= most_chosen; lanes *= 2)
    rings_.try_emplace(static_cast<uint32_t>(lanes), static_cast<uint32_t>(lanes));
}

LanePlanner PieceDispatch::make_planner() const {
  std::vector<LanePlanner::BlockMaps> blocks;
  for (const LaneMaps& of : maps_) {
    const auto maps = static_cast<uint32_t>(of.maps.size());
    blocks.push_back({maps, of.is_free, of.first_is_safe ? 0 : maps, of.all_by_hint});
  }
  return LanePlanner(graph_, std::move(blocks), options_);
}

PieceDispatch::LaneMaps PieceDispatch::make_maps(std::span<const LaneTable> tables) {
  LaneMaps made;
  made.is_free = std::ranges::all_of(tables, &LaneTable::any_lane);
  const auto tells_rows_apart = [&](const LaneMap& map) {
    for (size_t t = 0; t < tables.size(); ++t) {
      if (!tables[t].way(map[t]).empty()) return true;
    }
    return false;
  };
  const auto needs_hint = [&](const LaneMap& map) {
    for (size_t t = 0; t < tables.size(); ++t) {
      if (map[t] >= tables[t].plain_ways()) return true;
    }
    return false;
  };
  // As one counts, the first table's way fastest: first the maps without ways for hints, then those with.
  const auto add_maps = [&](bool by_hint, size_t most) {
    for (LaneMap map(tables.size(), 0); made.maps.size() < most;) {
      if (tells_rows_apart(map) && needs_hint(map) == by_hint) made.maps.push_back(map);
      const auto ways = [&](size_t t) { return by_hint ? tables[t].ways() : tables[t].plain_ways(); };
      size_t t = 0;
      while (t < map.size() && ++map[t] == ways(t)) map[t++] = 0;
      if (t == map.size()) break;
    }
  };
  add_maps(false, kMostMaps);
  const size_t plain = made.maps.size();
  made.first_is_safe = plain > 0 && std::ranges::all_of(made.maps[0], [](size_t way) { return way == 0; });
  if (std::ranges::any_of(tables, [](const LaneTable& table) { return table.by_hint > 0; }))
    add_maps(true, plain + kMostMapsByHint);
  made.all_by_hint = plain == 0 && !made.maps.empty();
  return made;
}

void PieceDispatch::add_block(std::span<const LaneTable> tables, std::span<const BlockId> predecessors) {
  maps_.push_back(make_maps(tables));
  ScheduledBlock& scheduled = blocks_.emplace_back();
  for (const BlockId predecessor : predecessors) scheduled.predecessors.push_back(predecessor.value);
}

SliceReplay PieceDispatch::prepare(const Block& block, const LocalGraph& local, const Slice& slice) const {
  SliceReplay replay;
  replay.local = &local;
  replay.slice = &slice;
  replay.recorded = recorded_operations(slice);
  replay.recalled = recalled_operations(slice);
  for (const ir::Operation& operation : local.replay.operations) {
    auto& accesses = replay.lanes.emplace_back();
    for (const ir::TableAccess& access : operation.access) {
      AccessLanes& lanes = accesses.emplace_back();
      lanes.table = block.lane_table(access.table);
      if (lanes.table != nullptr) lanes.table_number = static_cast<size_t>(lanes.table - block.lanes.data());
    }
  }
  for (const LocatedAccess& located : slice.located) {
    AccessLanes& lanes = replay.lanes[located.operation.value][located.access];
    for (size_t w = 0; w < lanes.table->ways(); ++w) {
      AccessLanes::Way& way = lanes.ways.emplace_back();
      way.is_wide = located.is_wide[w];
      way.is_by_hint = way.is_wide && !located.is_wide_hinted[w];
      if (way.is_wide && !way.is_by_hint) continue;
      const std::vector<ColumnId>& columns = way.is_by_hint ? located.hint_columns : located.columns;
      if (lanes.table->way(w) == columns) continue;
      for (const ColumnId column : lanes.table->way(w)) {
        const auto at = std::ranges::find(columns, column);
        CHECK(at != columns.end());
        way.places.push_back(static_cast<uint32_t>(at - columns.begin()));
      }
    }
    lanes.hint = located.hint;
    const TableDefinition& table = schema_.catalog().table(located.table);
    for (const ColumnId column : located.hint_columns)
      lanes.hint_is_text.push_back(table.column(column).type.is_string());
  }
  const auto inserts_freely = [&](OperationId operation) {
    return std::ranges::any_of(replay.lanes[operation.value], [](const AccessLanes& lanes) {
      return lanes.table != nullptr && lanes.table->any_lane;
    });
  };
  replay.inserts_freely = std::ranges::any_of(slice.replayed, inserts_freely);
  replay.part_of.resize(local.replay.operations.size());
  for (const SlicePart& part : slice.parts) {
    SliceReplay::Part& made = replay.parts.emplace_back();
    made.body = part.body;
    made.inserts_freely = std::ranges::any_of(part.replayed, inserts_freely);
    for (const OperationId operation : part.replayed) {
      made.records |= std::ranges::count(replay.recorded, operation) > 0;
      replay.part_of[operation.value] = static_cast<uint32_t>(replay.parts.size() - 1);
    }
  }
  // An iteration becomes a piece only if the locate body reports a row in it. So iterations may be pieces
  // only if every operation that records outputs is located: otherwise an iteration might not run, and its
  // outputs would be missing.
  const bool all_located = std::ranges::all_of(replay.recorded, [&](OperationId operation) {
    return std::ranges::any_of(replay.lanes[operation.value],
                               [](const AccessLanes& lanes) { return lanes.table != nullptr; });
  });
  replay.by_iteration = slice.iterations_independent && all_located;
  return replay;
}

uint32_t PieceDispatch::lane_of(const LaneRing& ring, const LaneTable& table, size_t way,
                                std::span<const Value> key) const {
  return ring.lane_of(schema_.catalog().table(table.table), table.way(way), key);
}

std::optional<RowLanes> PieceDispatch::row_lanes(uint32_t block, const LanePlacement& placement,
                                                 TableId table) const {
  const std::span<const LaneTable> tables =
      block == changes_.rest_block() ? changes_.rest_lanes() : std::span(graph_.blocks[block].lanes);
  const auto found = std::ranges::find(tables, table, &LaneTable::table);
  if (found == tables.end()) return std::nullopt;
  RowLanes lanes{&*found, 0, placement.lanes};
  const std::vector<LaneMap>& maps = maps_[block].maps;
  if (!maps.empty()) lanes.way = maps[placement.map][static_cast<size_t>(found - tables.begin())];
  return lanes;
}

uint32_t PieceDispatch::lane_of(const RowLanes& lanes, std::span<const Value> key) const {
  return lane_of(ring(lanes.lanes), *lanes.table, lanes.way, key);
}

Outcome PieceDispatch::fill(uint32_t block, const LanePlacement& placement, const LogBatch& batch,
                            BatchRecording& recording, PieceLocator& locator, ReplayThreadId thread,
                            LaneFill& lanes, uint32_t& failed) const {
  locator.begin(block, placement);
  if (block == changes_.rest_block() && batch.ad_hoc_count() == 0) return {};
  lanes.place(placement.number(), placement.lanes);
  if (placement.lanes == 1 && batch.ad_hoc_count() == 0 && !placement.is_piecewise) {
    for (uint32_t t = 0; placement.is_observed && t < batch.size(); t += kObservedEach) {
      const SliceReplay* slice = find(block, batch.call(t).procedure);
      if (slice != nullptr) locator.sample(*slice, batch.call(t), t, recording, thread);
    }
    const uint32_t lane = 0;
    lanes.append({0, PiecePart::share()}, {&lane, 1});
    return {};
  }
  const bool is_free = maps_[block].is_free;
  for (uint32_t t = 0; t < batch.size(); ++t) {
    if (batch.is_ad_hoc(t)) {
      if (placement.is_observed && t % kObservedEach == 0) locator.sample(batch.changes(t));
      locator.dispatch(batch.changes(t), t, lanes);
      continue;
    }
    const SliceReplay* slice = find(block, batch.call(t).procedure);
    if (slice == nullptr) continue;
    if (placement.is_observed && t % kObservedEach == 0)
      locator.sample(*slice, batch.call(t), t, recording, thread);
    if (is_free) {
      lanes.append_free({t, PiecePart::slice()});
    } else if (placement.lanes == 1) {
      const uint32_t lane = 0;
      lanes.append({t, PiecePart::slice()}, {&lane, 1});
    } else {
      const Outcome outcome = locator.dispatch(*slice, batch.call(t), t, recording, thread, lanes);
      if (!outcome.completed()) {
        failed = t;
        return outcome;
      }
    }
  }
  return {};
}

void PieceLocator::begin(uint32_t block, const LanePlacement& placement) {
  block_ = block;
  placement_ = placement;
  ring_ = &dispatch_.ring(placement.lanes);
  samples_.assign(placement.is_observed ? dispatch_.maps_[block].maps.size() : 0, {});
  sampled_.resize(std::max(sampled_.size(), samples_.size()));
}

Outcome PieceLocator::run_locate_body(const SliceReplay& slice, const Call& call, uint32_t transaction,
                                      BatchRecording& recording, ReplayThreadId thread) {
  slice_ = &slice;
  hints_ = call.hints;
  has_used_hint_ = false;
  hinted_.clear();
  recording_.bind(recording, transaction, thread);
  if (slice.locate_native != nullptr) {
    const bool located = native_.run(slice.locate_native, slice.local->replay, call.arguments);
    return located ? Outcome() : native_.outcome();
  }
  RunRequest request;
  request.procedure = &slice.local->replay;
  request.body = slice.slice->locate_body;
  request.arguments = call.arguments;
  request.recording = &recording_;
  request.rows = rows_;
  request.locate = this;
  return interpreter_.run(request);
}

void PieceLocator::sample(const SliceReplay& slice, const Call& call, uint32_t transaction,
                          BatchRecording& recording, ReplayThreadId thread) {
  is_sampling_ = true;
  for (std::vector<Located>& located : sampled_) located.clear();
  (void)run_locate_body(slice, call, transaction, recording, thread);
  is_sampling_ = false;
  const bool falls_apart = slice.by_iteration || !slice.parts.empty();
  for (size_t m = 0; m < samples_.size(); ++m) {
    std::vector<Located>& located = sampled_[m];
    if (!falls_apart || located.empty()) {
      add_to_sample(samples_[m], located);
      continue;
    }
    std::ranges::sort(located, {}, &Located::part);
    for (auto rest = std::span<const Located>(located); !rest.empty();) {
      const std::span<const Located> of_part = located_in(rest, rest.front().part);
      add_to_sample(samples_[m], of_part);
      rest = rest.subspan(of_part.size());
    }
  }
}

void PieceLocator::add_to_sample(LaneSample& sample, std::span<const Located> located) {
  ++sample.pieces;
  if (std::ranges::count(located, kAllLanes, &Located::lane) > 0) {
    ++sample.wide;
    return;
  }
  uint64_t seen = 0;
  static_assert(kMostLanes <= 64);
  for (const auto [part, lane] : located) {
    if (lane == kAnyLane || (seen >> lane & 1) != 0) continue;
    sample.extra_lanes += seen == 0 ? 0 : 1;
    seen |= uint64_t{1} << lane;
    sample.in_lane[lane] += 1;
  }
}

Outcome PieceLocator::dispatch(const SliceReplay& slice, const Call& call, uint32_t transaction,
                               BatchRecording& recording, ReplayThreadId thread, LaneFill& lanes) {
  located_.clear();
  const Outcome outcome = run_locate_body(slice, call, transaction, recording, thread);
  if (!outcome.completed()) return outcome;

  if (located_.empty()) {
    // The call touches no row that has a lane. A piece is needed only if later pieces recall what the slice
    // reads, or if the slice inserts rows that go to any lane.
    if (!slice.recorded.empty() || slice.inserts_freely) lanes.append_free({transaction, PiecePart::slice()});
    return outcome;
  }
  if (!slice.parts.empty() && !in_one_lane() && !in_all_lanes()) {
    std::ranges::sort(located_, {}, &Located::part);
    for (uint32_t part = 0; part < slice.parts.size(); ++part) {
      const std::span<const Located> located = located_in(located_, part);
      if (!located.empty() || slice.parts[part].records || slice.parts[part].inserts_freely)
        append({transaction, PiecePart::slice_part(part)}, located, lanes);
    }
    return outcome;
  }
  // A hint does not say of which iteration a key is.
  if (slice.by_iteration && !has_used_hint_ && !in_one_lane() && !in_all_lanes()) {
    std::ranges::sort(located_, {}, &Located::part);
    for (const OperationId operation : slice.recorded) {
      recording.reserve_iterations(transaction, operation, located_.back().part + 1, thread);
    }
    for (auto rest = std::span<const Located>(located_); !rest.empty();) {
      const std::span<const Located> located = located_in(rest, rest.front().part);
      append({transaction, PiecePart::iteration(rest.front().part)}, located, lanes);
      rest = rest.subspan(located.size());
    }
    return outcome;
  }
  append({transaction, PiecePart::slice()}, located_, lanes);
  return outcome;
}

void PieceLocator::dispatch(std::span<const LoggedChange> changes, uint32_t transaction, LaneFill& lanes) {
  for (uint32_t c = 0; c < changes.size(); ++c) {
    const ChangePlace* place = dispatch_.changes_.find(block_, changes[c].row.table);
    if (place == nullptr || !ChangePlacement::has_part(*place, changes[c])) continue;
    const Piece piece{transaction, PiecePart::change(c)};
    if (place->lanes->any_lane) {
      lanes.append_free(piece);
      continue;
    }
    image_.resize(dispatch_.schema_.layout(changes[c].row.table).image_bytes());
    const std::vector<PieceDispatch::LaneMap>& maps = dispatch_.maps_[block_].maps;
    const size_t way = maps.empty() ? 0 : maps[placement_.map][place->table_number];
    if (!dispatch_.changes_.lane_values(*place, way, changes[c], image_.data(), key_)) {
      lanes.append_to_all(piece);
      continue;
    }
    const uint32_t lane = dispatch_.lane_of(*ring_, *place->lanes, way, key_);
    lanes.append(piece, {&lane, 1});
  }
}

void PieceLocator::sample(std::span<const LoggedChange> changes) {
  const LaneRing& ring = dispatch_.ring(kMostLanes);
  for (const LoggedChange& change : changes) {
    const ChangePlace* place = dispatch_.changes_.find(block_, change.row.table);
    if (place == nullptr || place->lanes->any_lane || !ChangePlacement::has_part(*place, change)) continue;
    image_.resize(dispatch_.schema_.layout(change.row.table).image_bytes());
    for (size_t m = 0; m < samples_.size(); ++m) {
      LaneSample& sample = samples_[m];
      const size_t way = dispatch_.maps_[block_].maps[m][place->table_number];
      ++sample.pieces;
      ++sample.rows;
      if (dispatch_.changes_.lane_values(*place, way, change, image_.data(), key_))
        ++sample.in_lane[dispatch_.lane_of(ring, *place->lanes, way, key_)];
      else
        ++sample.wide;
    }
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

// `located` is sorted by part.
std::span<const PieceLocator::Located> PieceLocator::located_in(std::span<const Located> located,
                                                                uint32_t part) {
  const auto found = std::ranges::equal_range(located, part, {}, &Located::part);
  return {found.begin(), found.end()};
}

bool PieceLocator::in_all_lanes() const {
  return std::ranges::any_of(located_, [](const Located& located) { return located.lane == kAllLanes; });
}

void PieceLocator::append(Piece piece, std::span<const Located> located, LaneFill& lanes) {
  lanes_.clear();
  for (const Located& l : located) {
    if (l.lane == kAllLanes) return lanes.append_to_all(piece);
    if (l.lane != kAnyLane) lanes_.push_back(l.lane);
  }
  if (lanes_.empty())
    lanes.append_free(piece);
  else
    lanes.append(piece, lanes_);
}

void PieceLocator::locate(OperationId operation, uint32_t access, uint32_t iteration,
                          std::span<const Value> key) {
  const AccessLanes& lanes = slice_->lanes[operation.value][access];
  CHECK(lanes.table != nullptr);
  const uint32_t part = slice_->parts.empty() ? iteration : slice_->part_of[operation.value];
  const CallHint* const hint = hints_.empty() ? nullptr : hint_of(lanes);
  const bool is_known = hint != nullptr && std::ranges::count(hinted_, operation) > 0;
  if (hint != nullptr && !is_known) hinted_.push_back(operation);
  const auto add = [&](size_t map, const LaneRing& ring, std::vector<Located>& located) {
    if (hint == nullptr || !lanes.ways[dispatch_.maps_[block_].maps[map][lanes.table_number]].is_by_hint)
      located.push_back({part, lane_of(lanes, map, ring, key)});
    else if (!is_known)
      locate_by(*hint, lanes, map, ring, part, located);
  };
  if (!is_sampling_) return add(placement_.map, *ring_, located_);
  const LaneRing& ring = dispatch_.ring(kMostLanes);
  for (size_t m = 0; m < samples_.size(); ++m) add(m, ring, sampled_[m]);
}

// Bytes from disk may be a hint of other columns, whose values must not be taken for these.
const CallHint* PieceLocator::hint_of(const AccessLanes& access) const {
  const CallHint* const hint = access.hint.valid() ? find_hint(hints_, access.hint) : nullptr;
  if (hint == nullptr || hint->keys.empty()) return hint;
  if (hint->columns != access.hint_is_text.size()) return nullptr;
  for (size_t c = 0; c < hint->columns; ++c) {
    if ((hint->keys[c].kind() == Value::Kind::kText) != access.hint_is_text[c]) return nullptr;
  }
  return hint;
}

void PieceLocator::locate_by(const CallHint& hint, const AccessLanes& access, size_t map,
                             const LaneRing& ring, uint32_t part, std::vector<Located>& located) {
  const size_t number = dispatch_.maps_[block_].maps[map][access.table_number];
  const AccessLanes::Way& way = access.ways[number];
  has_used_hint_ = true;
  // The piece runs also where the hint says that it will not get here: it refuses itself if it does.
  if (hint.keys.empty()) located.push_back({part, kAnyLane});
  for (size_t first = 0; first < hint.keys.size(); first += hint.columns) {
    const std::span<const Value> key = hint.keys.subspan(first, hint.columns);
    way_key_.clear();
    for (size_t c = 0; c < access.table->way(number).size(); ++c)
      way_key_.push_back(key[way.places.empty() ? c : way.places[c]]);
    located.push_back({part, dispatch_.lane_of(ring, *access.table, number, way_key_)});
  }
}

uint32_t PieceLocator::lane_of(const AccessLanes& lanes, size_t map, const LaneRing& ring,
                               std::span<const Value> key) {
  if (lanes.table->any_lane) return kAnyLane;
  const size_t number = dispatch_.maps_[block_].maps[map][lanes.table_number];
  const AccessLanes::Way& way = lanes.ways[number];
  if (way.is_wide) return kAllLanes;
  if (way.places.empty())
    return dispatch_.lane_of(ring, *lanes.table, number, key.first(lanes.table->way(number).size()));
  way_key_.clear();
  for (const uint32_t place : way.places) way_key_.push_back(key[place]);
  return dispatch_.lane_of(ring, *lanes.table, number, way_key_);
}

}  // namespace mneme
