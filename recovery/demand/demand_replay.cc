#include "recovery/demand/demand_replay.h"

#include <algorithm>
#include <bit>
#include <map>
#include <thread>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/parallel.h"
#include "recovery/demand/settling_tables.h"
#include "recovery/rows/barrier_finder.h"

namespace mneme {

namespace {

// What a block has whose pieces are too often wide for many lanes: so many, then so few, at last one.
constexpr uint32_t kManyLanes = 1024;
constexpr uint32_t kFewLanes = 16;
// So many of the log's records are looked at to count the calls of each procedure.
constexpr size_t kCountedRecords = 10'000;
constexpr double kPiecesALane = 8;

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
      chooses_lanes_(options.lanes_per_block == 0),
      options_(demand_options(std::move(options))),
      runner_(database, program, graph, options_),
      groups_(options_.threads) {
  const size_t blocks = runner_.dispatch().blocks().size();
  is_recalled_.assign(blocks, false);
  reserving_.resize(graph.procedures.size());
  recalls_.assign(blocks, std::vector<std::vector<DemandSchedule::Recalled>>(graph.procedures.size()));
  for (const Block& block : graph.blocks) {
    for (const BlockMember& member : block.members) {
      const LocalGraph& local = graph.local(member.procedure);
      std::vector<DemandSchedule::Recalled>& recalls = recalls_[block.id.value][member.procedure.value];
      recalls = recalled_blocks(local, local.slices[member.slice.value]);
      for (const DemandSchedule::Recalled& recalled : recalls) is_recalled_[recalled.block] = true;
      const SliceReplay* slice = runner_.dispatch().find(block.id.value, member.procedure);
      if (slice != nullptr && slice->by_iteration && !slice->recorded.empty())
        reserving_[member.procedure.value].push_back(block.id.value);
    }
  }
}

DemandReplay::~DemandReplay() = default;

Result<void> DemandReplay::open(std::span<const RecordView> records, uint32_t threads) {
  CHECK(schedule_ == nullptr && threads <= options_.threads);
  cut(records, threads);
  place_lanes(records);
  std::vector<DemandBatch> lists(batches_.size());
  const auto blocks = static_cast<uint32_t>(placements_.size());
  for (size_t b = 0; b < batches_.size(); ++b) {
    if (!batches_[b].stands_alone) lists[b].blocks.resize(blocks);
  }
  if (!fill(lists, 0, blocks, threads)) return error();
  for (uint32_t block = 0; block < blocks; ++block) {
    while (std::ranges::any_of(lists, [&](const DemandBatch& batch) {
      return !batch.stands_alone() && batch.blocks[block]->is_too_wide();
    })) {
      uint32_t& lanes = placements_[block].lanes;
      lanes = lanes > kManyLanes ? kManyLanes : lanes > kFewLanes ? kFewLanes : 1;
      if (!fill(lists, block, block + 1, threads)) return error();
    }
  }
  rules_ = std::make_unique<SettlingRules>(
      settling_tables(graph_, database_.schema(), runner_.dispatch(), placements_), database_.schema());
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
    Batch& batch = batches_.emplace_back();
    batch.records = records.subspan(begin, count);
    batch.stands_alone = is_alone;
    begin += count;
    if (is_alone) ++next_barrier;
  }
}

// The placements of all batches.
void DemandReplay::place_lanes(std::span<const RecordView> records) {
  LanePlanner planner = runner_.dispatch().make_planner();
  planner.plan(records.first(std::min<size_t>(records.size(), 1)), placements_);
  std::vector<uint64_t> calls(graph_.procedures.size(), 0);
  uint64_t ad_hoc = 0;
  const size_t step = std::max<size_t>(1, records.size() / kCountedRecords);
  for (size_t i = 0; i < records.size(); i += step) {
    const std::optional<ByteSpan> call = call_of(records[i].kind, records[i].payload);
    const uint64_t procedure = call ? ByteReader(*call).get_varint() : 0;
    if (!call)
      ad_hoc += step;
    else if (procedure < calls.size())
      calls[procedure] += step;
  }
  for (uint32_t block = 0; block < placements_.size(); ++block) {
    LanePlacement& placement = placements_[block];
    placement.is_observed = false;
    placement.is_piecewise = true;
    if (placement.lanes == 1 || !chooses_lanes_) continue;
    auto pieces = static_cast<double>(ad_hoc);
    for (uint32_t p = 0; p < calls.size(); ++p)
      pieces += static_cast<double>(calls[p]) * planner.pieces(block, ProcedureId{p});
    const double lanes = pieces / kPiecesALane;
    placement.lanes = std::clamp(std::bit_ceil(static_cast<uint32_t>(std::min<double>(lanes, kMostLanes))),
                                 kLeastLanes, kMostLanes);
  }
}

bool DemandReplay::fill(std::vector<DemandBatch>& lists, uint32_t first_block, uint32_t end_block,
                        uint32_t threads) {
  std::atomic<size_t> next{0};  // relaxed: it hands out numbers; joining orders the rest
  std::atomic<bool> has_failed{false};
  (void)run_on_threads(threads, [&](uint32_t t) -> Result<void> {
    const ReplayThreadId thread{t};
    const std::unique_ptr<ReplayBatch> replay = runner_.make_batch();
    for (size_t b; !has_failed.load(std::memory_order_relaxed) &&
                   (b = next.fetch_add(1, std::memory_order_relaxed)) < batches_.size();) {
      Batch& batch = batches_[b];
      bool done = runner_.decode(*replay, batch.records);
      if (done && batch.procedures.empty()) note_calls(batch, replay->log);
      for (uint32_t block = first_block; block < end_block && done && !batch.stands_alone; ++block)
        done = fill(lists[b], block, *replay, thread);
      if (!done) has_failed.store(true, std::memory_order_relaxed);
    }
    return {};
  });
  return !has_failed.load(std::memory_order_relaxed);
}

void DemandReplay::note_calls(Batch& batch, const LogBatch& log) {
  ad_hoc_.fetch_add(log.ad_hoc_count(), std::memory_order_relaxed);
  batch.procedures.reserve(log.size());
  for (uint32_t t = 0; t < log.size(); ++t)
    batch.procedures.push_back(log.is_ad_hoc(t) ? kNoCall : log.call(t).procedure.value);
}

bool DemandReplay::fill(DemandBatch& lists, uint32_t block, ReplayBatch& replay, ReplayThreadId thread) {
  auto made = std::make_unique<BatchPieces>(replay.log.size(), placements_[block].lanes, is_recalled_[block]);
  if (!runner_.fill(block, placements_[block], replay, thread, *made)) return false;
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

Settling DemandReplay::try_settle(const SettlingRules::Need& need, ReplayThreadId thread, uint64_t pieces) {
  return need.lane ? schedule_->try_settle({need.block, *need.lane}, thread, pieces)
                   : schedule_->try_settle_block(need.block, thread, pieces);
}

ReplayStatistics DemandReplay::statistics() {
  ReplayStatistics statistics;
  for (const Batch& batch : batches_) {
    statistics.transactions += batch.records.size();
    statistics.barriers += batch.stands_alone ? 1 : 0;
  }
  statistics.ad_hoc = ad_hoc_.load(std::memory_order_relaxed);
  runner_.add_to(statistics);
  return statistics;
}

// The batch's calls, which may not be decoded yet.
ReplayBatch& DemandReplay::loaded(Batch& batch) {
  if (ReplayBatch* replay = batch.replay.load(std::memory_order_acquire)) return *replay;
  const std::lock_guard lock(mutex_);
  if (ReplayBatch* replay = batch.replay.load(std::memory_order_relaxed)) return *replay;
  if (free_.empty()) {
    made_.push_back(runner_.make_batch());
    free_.push_back(made_.back().get());
  }
  ReplayBatch* replay = free_.back();
  free_.pop_back();
  // It was decoded when this was opened.
  CHECK(runner_.decode_changes(*replay, batch.records));
  batch.stages = std::make_unique<std::atomic<Batch::Stage>[]>(batch.records.size());
  batch.replay.store(replay, std::memory_order_release);
  return *replay;
}

void DemandReplay::retire(uint32_t number) {
  Batch& batch = batches_[number];
  const std::lock_guard lock(mutex_);
  free_.push_back(batch.replay.exchange(nullptr, std::memory_order_relaxed));
  batch.stages = nullptr;
}

void DemandReplay::decode(Batch& batch, ReplayBatch& replay, uint32_t transaction, ReplayThreadId thread) {
  std::atomic<Batch::Stage>& stage = batch.stages[transaction];
  if (stage.load(std::memory_order_acquire) == Batch::Stage::kDecoded) return;
  Batch::Stage encoded = Batch::Stage::kEncoded;
  if (!stage.compare_exchange_strong(encoded, Batch::Stage::kIsDecoded, std::memory_order_acquire)) {
    while (stage.load(std::memory_order_acquire) != Batch::Stage::kDecoded) std::this_thread::yield();
    return;
  }
  // It was decoded when this was opened, and located.
  CHECK(runner_.decode_call(replay, batch.records[transaction], transaction, thread));
  for (const uint32_t block : reserving_[batch.procedures[transaction]]) {
    if (placements_[block].lanes > 1)
      CHECK(runner_.reserve(block, placements_[block], replay, transaction, thread));
  }
  stage.store(Batch::Stage::kDecoded, std::memory_order_release);
}

uint32_t DemandReplay::prepare(uint32_t block, std::span<const BatchPiece> pieces, ReplayThreadId thread) {
  std::vector<PlacedPiece>& group = groups_[thread.value];
  group.clear();
  for (const BatchPiece& piece : pieces) {
    Batch& batch = batches_[piece.batch];
    ReplayBatch& replay = loaded(batch);
    const uint32_t transaction = piece.piece.transaction;
    if (batch.procedures[transaction] != kNoCall) decode(batch, replay, transaction, thread);
    group.push_back({&replay, piece.piece});
  }
  return runner_.prepare(block, group, thread);
}

bool DemandReplay::run(uint32_t block, const BatchPiece& piece, ReplayThreadId thread) {
  ReplayBatch& replay = *batches_[piece.batch].replay.load(std::memory_order_relaxed);
  return runner_.run(block, replay, piece.piece, thread);
}

bool DemandReplay::run_alone(uint32_t batch) {
  const std::unique_ptr<ReplayBatch> replay = runner_.make_batch();
  CHECK(runner_.decode(*replay, batches_[batch].records));
  return runner_.install_alone(replay->log);
}

std::optional<uint32_t> DemandReplay::procedure_of(uint32_t batch, uint32_t transaction) const {
  const uint32_t procedure = batches_[batch].procedures[transaction];
  return procedure == kNoCall ? std::nullopt : std::optional(procedure);
}

}  // namespace mneme
