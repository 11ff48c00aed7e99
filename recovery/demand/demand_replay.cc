#include "recovery/demand/demand_replay.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "recovery/rows/barrier_finder.h"

namespace mneme {

namespace {

// What a block has whose pieces are too often wide for many lanes: so many, then so few, at last one.
constexpr uint32_t kManyLanes = 1024;
constexpr uint32_t kFewLanes = 16;

ReplayOptions demand_options(ReplayOptions options) {
  if (options.lanes_per_block == 0) options.lanes_per_block = DemandReplay::kMostLanes;
  return options;
}

// Whether the slices' pieces are the iterations of one loop.
bool share_loop(const Slice& one, const Slice& other) {
  if (!one.iterations_independent || !other.iterations_independent) return false;
  const ir::Statement* const first = one.iteration_loop();
  const ir::Statement* const second = other.iteration_loop();
  return first != nullptr && second != nullptr && first->where.line == second->where.line &&
         first->where.column == second->where.column;
}

// The blocks that record what the procedure's slice recalls.
std::vector<DemandSchedule::Recalled> recalled_blocks(const LocalGraph& local, const Slice& slice) {
  std::map<uint32_t, bool> blocks;  // and whether iteration by iteration
  for (const OperationId operation : recalled_operations(slice)) {
    for (const Slice& other : local.slices) {
      if (std::ranges::count(recorded_operations(other), operation) > 0)
        blocks.emplace(other.block.value, share_loop(slice, other));
    }
  }
  std::vector<DemandSchedule::Recalled> recalled;
  for (const auto& [block, by_iteration] : blocks) recalled.push_back({block, by_iteration});
  return recalled;
}

}  // namespace

DemandReplay::DemandReplay(Database& database, const Program& program, const DependencyGraph& graph,
                           ReplayOptions options)
    : database_(database),
      graph_(graph),
      options_(demand_options(std::move(options))),
      runner_(database, program, graph, options_),
      groups_(options_.threads) {
  const size_t blocks = runner_.dispatch().blocks().size();
  is_recalled_.assign(blocks, false);
  recalls_.assign(blocks, std::vector<std::vector<DemandSchedule::Recalled>>(graph.procedures.size()));
  for (const Block& block : graph.blocks) {
    for (const BlockMember& member : block.members) {
      const LocalGraph& local = graph.local(member.procedure);
      std::vector<DemandSchedule::Recalled>& recalls = recalls_[block.id.value][member.procedure.value];
      recalls = recalled_blocks(local, local.slices[member.slice.value]);
      for (const DemandSchedule::Recalled& recalled : recalls) is_recalled_[recalled.block] = true;
    }
  }
}

DemandReplay::~DemandReplay() = default;

uint32_t DemandReplay::lanes_for(size_t records) {
  return static_cast<uint32_t>(std::clamp<size_t>(std::bit_ceil(records), kLeastLanes, kMostLanes));
}

Result<void> DemandReplay::open(std::span<const RecordView> records, uint32_t threads) {
  CHECK(schedule_ == nullptr && threads <= options_.threads);
  cut(records, threads);
  place_lanes(records);
  std::vector<DemandBatch> lists(batches_.size());
  const auto blocks = static_cast<uint32_t>(placements_.size());
  std::atomic<size_t> next{0};  // relaxed: it hands out numbers; joining orders the rest
  std::atomic<bool> has_failed{false};
  const Result<void> run = run_on_threads(threads, [&](uint32_t t) -> Result<void> {
    const ReplayThreadId thread{t};
    for (size_t b; !has_failed.load(std::memory_order_relaxed) &&
                   (b = next.fetch_add(1, std::memory_order_relaxed)) < batches_.size();) {
      Batch& batch = batches_[b];
      batch.replay = runner_.make_batch();
      bool done = runner_.decode(*batch.replay, batch.records);
      if (!batch.stands_alone) lists[b].blocks.resize(blocks);
      for (uint32_t block = 0; block < blocks && done && !batch.stands_alone; ++block)
        done = fill(lists[b], block, batch, thread);
      if (!done) has_failed.store(true, std::memory_order_relaxed);
    }
    return {};
  });
  if (!run) return run.error();
  if (has_failed.load(std::memory_order_relaxed)) return error();
  for (uint32_t block = 0; block < blocks; ++block) {
    while (std::ranges::any_of(lists, [&](const DemandBatch& batch) {
      return !batch.stands_alone() && batch.blocks[block]->is_too_wide();
    })) {
      uint32_t& lanes = placements_[block].lanes;
      lanes = lanes > kManyLanes ? kManyLanes : lanes > kFewLanes ? kFewLanes : 1;
      if (!fill(lists, block, threads)) return error();
    }
  }
  rules_ = std::make_unique<SettlingRules>(graph_, database_.schema(), runner_.dispatch(), placements_);
  DemandExecutor& executor = *this;
  schedule_ =
      std::make_unique<DemandSchedule>(shape(), std::move(lists), options_.threads, threads, executor);
  return {};
}

void DemandReplay::cut(std::span<const RecordView> records, uint32_t threads) {
  const std::vector<size_t> barriers =
      find_barriers(runner_.dispatch().changes(), database_.change_codec(), records, threads);
  size_t next_barrier = 0;
  for (size_t begin = 0; begin < records.size();) {
    const size_t barrier = next_barrier < barriers.size() ? barriers[next_barrier] : records.size();
    const bool is_alone = barrier == begin;
    const size_t count = is_alone ? 1 : std::min<size_t>(options_.batch_transactions, barrier - begin);
    batches_.push_back({records.subspan(begin, count), is_alone, nullptr});
    begin += count;
    if (is_alone) ++next_barrier;
  }
}

// The placements of all batches.
void DemandReplay::place_lanes(std::span<const RecordView> records) {
  LanePlanner planner = runner_.dispatch().make_planner();
  planner.plan(records.first(std::min<size_t>(records.size(), 1)), placements_);
  for (LanePlacement& placement : placements_) {
    placement.is_observed = false;
    placement.is_piecewise = true;
  }
}

bool DemandReplay::fill(std::vector<DemandBatch>& lists, uint32_t block, uint32_t threads) {
  std::atomic<size_t> next{0};  // relaxed: as in open()
  std::atomic<bool> has_failed{false};
  (void)run_on_threads(threads, [&](uint32_t t) -> Result<void> {
    for (size_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < batches_.size();) {
      if (batches_[b].stands_alone) continue;
      if (!fill(lists[b], block, batches_[b], ReplayThreadId{t}))
        has_failed.store(true, std::memory_order_relaxed);
    }
    return {};
  });
  return !has_failed.load(std::memory_order_relaxed);
}

bool DemandReplay::fill(DemandBatch& lists, uint32_t block, Batch& batch, ReplayThreadId thread) {
  auto made =
      std::make_unique<BatchPieces>(batch.replay->log.size(), placements_[block].lanes, is_recalled_[block]);
  if (!runner_.fill(block, placements_[block], *batch.replay, thread, *made)) return false;
  lists.blocks[block] = std::move(made);
  return true;
}

std::vector<DemandSchedule::Block> DemandReplay::shape() const {
  std::vector<DemandSchedule::Block> blocks;
  for (size_t b = 0; b < placements_.size(); ++b) blocks.push_back({placements_[b].lanes, recalls_[b]});
  return blocks;
}

bool DemandReplay::is_settled(const SettlingRules::Need& need) const {
  return need.lane ? schedule_->is_settled({need.block, *need.lane})
                   : schedule_->is_settled_block(need.block);
}

bool DemandReplay::settle(const SettlingRules::Need& need, ReplayThreadId thread) {
  return need.lane ? schedule_->settle({need.block, *need.lane}, thread)
                   : schedule_->settle_block(need.block, thread);
}

ReplayStatistics DemandReplay::statistics() {
  ReplayStatistics statistics;
  for (const Batch& batch : batches_) {
    statistics.transactions += batch.records.size();
    statistics.ad_hoc += batch.replay->log.ad_hoc_count();
    statistics.barriers += batch.stands_alone ? 1 : 0;
  }
  runner_.add_to(statistics);
  return statistics;
}

uint32_t DemandReplay::prepare(uint32_t block, std::span<const BatchPiece> pieces, ReplayThreadId thread) {
  std::vector<PlacedPiece>& group = groups_[thread.value];
  group.clear();
  for (const BatchPiece& piece : pieces) group.push_back({batches_[piece.batch].replay.get(), piece.piece});
  return runner_.prepare(block, group, thread);
}

bool DemandReplay::run(uint32_t block, const BatchPiece& piece, ReplayThreadId thread) {
  return runner_.run(block, *batches_[piece.batch].replay, piece.piece, thread);
}

bool DemandReplay::run_alone(uint32_t batch) {
  return runner_.install_alone(batches_[batch].replay->log);
}

std::optional<uint32_t> DemandReplay::procedure_of(uint32_t batch, uint32_t transaction) const {
  const LogBatch& log = batches_[batch].replay->log;
  if (log.is_ad_hoc(transaction)) return std::nullopt;
  return log.call(transaction).procedure.value;
}

}  // namespace mneme
