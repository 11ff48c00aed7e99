#include "recovery/calls/lane_planner.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bytes.h"
#include "base/check.h"
#include "engine/schema/change_codec.h"
#include "logging/record/record_content.h"

namespace mneme {
namespace {

constexpr double kLanesAShare = 4;
constexpr size_t kSampledCalls = 128;  // of a batch
// After so many batches a batch counts half, and a block's sample, too.
constexpr double kBatchFade = 0.9;
constexpr double kSampleFade = 0.8;
constexpr double kCostFade = 0.95;
// Fewer observed pieces tell nothing.
constexpr double kFewestObserved = 16;
// A placement stays until another is so much better: a change drains the block once.
constexpr double kWorthAChange = 0.9;

double work_of(ir::BodyView body) {
  double work = 0;
  for (const ir::Statement& statement : body.statements) {
    const double inside = work_of(body.inner(statement.body)) + work_of(body.inner(statement.else_body));
    switch (statement.kind) {
      case ir::StatementKind::kForRange:
      case ir::StatementKind::kForQuery:
      case ir::StatementKind::kWhile:
        work += kLoopTurns * inside;
        break;
      default:
        work += inside;
    }
    // What is recalled was another slice's work.
    const ir::OperationMode mode = body.marks.of(statement).mode;
    const bool performs = mode == ir::OperationMode::kPerform || mode == ir::OperationMode::kPerformAndRecord;
    if (statement.operation.valid() && performs) ++work;
  }
  return work;
}

}  // namespace

void LaneSample::add(const LaneSample& other) {
  pieces += other.pieces;
  rows += other.rows;
  wide += other.wide;
  extra_lanes += other.extra_lanes;
  for (size_t l = 0; l < in_lane.size(); ++l) in_lane[l] += other.in_lane[l];
}

void LaneSample::fade(double factor) {
  pieces *= factor;
  rows *= factor;
  wide *= factor;
  extra_lanes *= factor;
  for (float& pieces_there : in_lane) pieces_there *= static_cast<float>(factor);
}

double LaneSample::fullest_share() const {
  const double narrow = pieces - wide;
  return narrow <= 0 ? 0 : std::min(1.0, std::ranges::max(in_lane) / narrow);
}

LanePlanner::LanePlanner(const DependencyGraph& graph, std::vector<BlockMaps> maps,
                         const ReplayOptions& options)
    : options_(options),
      threads_(options.planned_threads > 0 ? options.planned_threads : options.threads),
      calls_(graph.procedures.size(), 0),
      blocks_(maps.size()) {
  CHECK(maps.size() == graph.blocks.size() + 1);
  for (size_t b = 0; b < maps.size(); ++b) {
    Block& block = blocks_[b];
    block.maps = maps[b];
    block.work.assign(graph.procedures.size(), 0);
    block.pieces.assign(graph.procedures.size(), 0);
    block.samples.resize(maps[b].maps);
    block.placement.map = maps[b].first < maps[b].maps ? maps[b].first : 0;
    if (b == graph.blocks.size()) break;
    for (const BlockMember& member : graph.blocks[b].members) {
      const Slice& slice = graph.local(member.procedure).slices[member.slice.value];
      block.work[member.procedure.value] += work_of(slice.body);
      if (slice.is_replayed())
        block.pieces[member.procedure.value] = slice.iterations_independent ? kLoopTurns : 1;
    }
  }
}

uint32_t LanePlanner::most_lanes(uint32_t block) const {
  const BlockMaps& maps = blocks_[block].maps;
  if (maps.maps == 0 && !maps.is_free) return 1;
  if (options_.lanes_per_block > 0) return options_.lanes_per_block;
  return options_.level == ReplayLevel::kStatic || threads_ == 1 ? 1 : kMostLanes;
}

// A call begins with its procedure's number (call_codec.h). Whether the rest is one is found out when it is
// replayed.
void LanePlanner::count_calls(std::span<const RecordView> records) {
  for (double& calls : calls_) calls *= kBatchFade;
  rows_ *= kBatchFade;
  const size_t stride = std::max<size_t>(1, records.size() / kSampledCalls);
  for (size_t i = 0; i < records.size(); i += stride) {
    const std::optional<ByteSpan> call = call_of(records[i].kind, records[i].payload);
    if (!call) {
      // A record begins with how many rows it has, each of which takes a byte at least.
      if (const std::optional<LoggedChanges> rows = changes_of(records[i].kind, records[i].payload)) {
        const uint64_t count = ByteReader(rows->bytes).get_varint();
        rows_ += static_cast<double>(std::min<uint64_t>(count, rows->bytes.size()));
      }
      continue;
    }
    const uint64_t procedure = ByteReader(*call).get_varint();
    if (procedure < calls_.size()) ++calls_[procedure];
  }
}

void LanePlanner::plan(std::span<const RecordView> records, std::vector<LanePlacement>& placements) {
  placements.assign(blocks_.size(), {});
  const bool adapts = options_.lanes_per_block == 0 && options_.level == ReplayLevel::kPipelined;
  if (adapts) count_calls(records);
  std::lock_guard lock(mutex_);
  Estimate estimate;

  estimate.operation = mean_operation();
  const double decoding_a_call = decoding(estimate.operation);
  for (const double calls : calls_) estimate.work += calls * decoding_a_call;
  estimate.work += rows_ * estimate.operation;
  for (const Block& block : blocks_) {
    const double operation = operation_in(block, estimate.operation);
    for (size_t p = 0; p < calls_.size(); ++p) estimate.work += calls_[p] * block.work[p] * operation;
  }
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    LanePlacement& placement = placements[b];
    placement.map = block.placement.map;
    const uint32_t most = most_lanes(b);
    if (most == 1) continue;
    const bool is_rest = b + 1 == blocks_.size();
    if (!adapts || is_rest) {
      placement.lanes = block.maps.by_hint && options_.lanes_per_block == 0 ? 1 : most;
      continue;
    }
    estimate.block_work = estimate.block_pieces = 0;
    const double operation = operation_in(block, estimate.operation);
    for (size_t p = 0; p < calls_.size(); ++p) {
      estimate.block_work += calls_[p] * block.work[p] * operation;
      estimate.block_pieces += calls_[p] * block.pieces[p];
    }
    const double rows = rows_ * row_share(block);
    estimate.block_work += rows * operation;
    estimate.block_pieces += rows;
    block.placement = block.maps.is_free ? choose_free(block, estimate, most) : choose(block, estimate);
    placement = block.placement;
  }
}

// Which blocks' rows they are is seen where they are located; until then each block may have all of them.
double LanePlanner::row_share(const Block& block) const {
  if (block.samples.empty()) return 0;
  double all = 0;
  for (const Block& each : blocks_) all += each.samples.empty() ? 0 : each.samples.front().rows;
  return all > 0 ? block.samples.front().rows / all : 1;
}

uint32_t LanePlanner::wanted_lanes(double share) const {
  const double threads_worth = share * threads_;
  if (threads_worth <= 1) return 1;
  return std::bit_ceil(std::min(kMostLanes, static_cast<uint32_t>(std::ceil(kLanesAShare * threads_worth))));
}

// Any lane will do, and nothing is located: as many as there can be, or one.
LanePlacement LanePlanner::choose_free(const Block& block, const Estimate& estimate, uint32_t most) const {
  if (estimate.work == 0) return block.placement;
  const double threads_worth = estimate.block_work / estimate.work * threads_;
  const bool is_spread =
      block.placement.lanes > 1 ? threads_worth > kWorthAChange : threads_worth * kWorthAChange > 1;
  return {.lanes = is_spread ? most : 1};
}

LanePlacement LanePlanner::choose(const Block& block, const Estimate& estimate) const {
  LanePlacement best = block.placement;
  if (estimate.work == 0) return best;
  const uint32_t wanted = wanted_lanes(estimate.block_work / estimate.work);
  if (wanted == 1) return {.map = best.map, .lanes = 1};
  best.lanes = std::min(best.lanes, wanted);
  best.is_observed = true;
  double best_time = time_of(block, estimate, best) * kWorthAChange;
  for (const uint32_t lanes : {1u, wanted, wanted / 4}) {
    for (uint32_t map = 0; map < block.maps.maps; ++map) {
      const LanePlacement placement{.map = map, .lanes = std::max(lanes, 1u), .is_observed = true};
      if (placement.number() == best.number()) continue;
      const double time = time_of(block, estimate, placement);
      if (time >= best_time) continue;
      best = placement;
      best_time = time;
    }
  }
  return best;
}

// In parts of the time that one thread takes for all blocks.
double LanePlanner::time_of(const Block& block, const Estimate& estimate, LanePlacement placement) const {
  const double share = estimate.block_work / estimate.work;
  if (placement.lanes == 1) return std::max(share, 1.0 / threads_);
  const LaneSample& sample = block.samples[placement.map];
  double wide = 0;
  double extra_lanes = 0;
  double fullest = 0;
  if (sample.pieces >= kFewestObserved) {
    wide = sample.wide / sample.pieces;
    extra_lanes = sample.extra_lanes / sample.pieces;
    fullest = sample.fullest_share();
  } else if (placement.map != block.maps.first) {
    return 1;  // not before it has been observed
  }
  const double meetings = extra_lanes + wide * (placement.lanes - 1);
  const double piece = estimate.block_work / estimate.block_pieces;
  const double work = share * (1 + (kLaneCost + kMeetingCost * meetings) * estimate.operation / piece);
  const double longest = work * (wide + (1 - wide) * std::max(fullest, 1.0 / placement.lanes));
  return std::max(longest, (1 - share + work) / threads_);
}

void LanePlanner::Cost::add(double more_operations, double more_seconds) {
  operations = kCostFade * operations + more_operations;
  seconds = kCostFade * seconds + more_seconds;
}

double LanePlanner::mean_operation() const {
  Cost sum;
  for (const Block& block : blocks_) {
    sum.operations += block.cost.operations;
    sum.seconds += block.cost.seconds;
  }
  return sum.operations > 0 ? sum.seconds / sum.operations : 1;
}

double LanePlanner::operation_in(const Block& block, double mean) {
  return block.cost.operations > 0 ? block.cost.seconds / block.cost.operations : mean;
}

double LanePlanner::decoding(double mean) const {
  const bool is_known = decoding_.operations > 0 && mean != 1;
  return is_known ? decoding_.seconds / decoding_.operations : kDecodeCost * mean;
}

void LanePlanner::observe_time(uint32_t block, double operations, double seconds) {
  std::lock_guard lock(mutex_);
  blocks_[block].cost.add(operations, seconds);
}

void LanePlanner::observe_decoding(size_t calls, double seconds) {
  std::lock_guard lock(mutex_);
  decoding_.add(static_cast<double>(calls), seconds);
}

void LanePlanner::observe(uint32_t block, std::span<const LaneSample> samples) {
  std::lock_guard lock(mutex_);
  for (size_t m = 0; m < samples.size(); ++m) {
    LaneSample& sum = blocks_[block].samples[m];
    sum.fade(kSampleFade);
    sum.add(samples[m]);
  }
}

}  // namespace mneme
