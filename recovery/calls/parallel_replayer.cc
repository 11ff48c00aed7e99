#include "recovery/calls/parallel_replayer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/cache_line.h"
#include "recovery/calls/lane_planner.h"
#include "recovery/calls/lane_scheduler.h"
#include "recovery/calls/piece_runner.h"
#include "recovery/rows/barrier_finder.h"

namespace mneme {
namespace {

constexpr uint32_t kLeastBatchesInFlight = 8;
constexpr uint32_t kBatchesInFlightPerThread = 2;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

ScheduleOptions schedule_options(const ReplayOptions& options) {
  const uint32_t planned = options.planned_threads > 0 ? options.planned_threads : options.threads;
  return {options.threads, batches_in_flight(options.level, planned), options.recorder, options.lane_threads};
}

}  // namespace

class ParallelReplayer::Replay final : public PieceExecutor {
 public:
  Replay(Database& database, const Program& program, const DependencyGraph& graph, ReplayOptions options)
      : database_(database),
        options_(std::move(options)),
        runner_(database, program, graph, options_),
        planner_(runner_.dispatch().make_planner()) {
    for (uint32_t t = 0; t < options_.threads; ++t)
      times_.push_back(std::make_unique<CachePadded<Times>>(runner_.dispatch().blocks().size()));
    for (uint32_t s = 0; s < LaneScheduler::slot_count(schedule_options(options_)); ++s)
      slots_.push_back(std::make_unique<Slot>(runner_.make_batch()));
  }

  Result<ReplayStatistics> replay(RecordStream& records) {
    stream_ = &records;
    statistics_ = {};
    runner_.begin(records.size(), records.has_rows());
    LaneScheduler scheduler(runner_.dispatch().blocks(), schedule_options(options_), *this);
    if (!scheduler.run()) return runner_.failure();
    window_ = nullptr;
    records_ = {};
    next_record_ = 0;
    runner_.add_to(statistics_);
    for (uint32_t t = 0; t < options_.threads; ++t) {
      Times& times = times_of(ReplayThreadId{t});
      statistics_.decode_seconds += std::exchange(times.decode_seconds, 0);
      statistics_.dispatch_seconds += std::exchange(times.dispatch_seconds, 0);
      statistics_.lane_seconds.resize(times.lane_seconds.size(), 0);
      for (size_t b = 0; b < times.lane_seconds.size(); ++b)
        statistics_.lane_seconds[b] += std::exchange(times.lane_seconds[b], 0);
      statistics_.lane_pieces.resize(times.lane_pieces.size(), 0);
      for (size_t b = 0; b < times.lane_pieces.size(); ++b)
        statistics_.lane_pieces[b] += std::exchange(times.lane_pieces[b], 0);
    }
    return statistics_;
  }

  Load load(uint64_t batch) override {
    const auto begin = std::chrono::steady_clock::now();
    const Load loaded = load(slot_of(batch));
    statistics_.decode_seconds += seconds_since(begin);
    return loaded;
  }

  bool decode(uint64_t batch, ReplayThreadId thread) override {
    const auto begin = std::chrono::steady_clock::now();
    Slot& slot = slot_of(batch);
    const bool decoded = runner_.decode(*slot.batch, slot.records);
    const double seconds = seconds_since(begin);
    times_of(thread).decode_seconds += seconds;
    planner_.observe_decoding(slot.records.size(), seconds);
    return decoded;
  }

  bool fill(uint32_t block, uint64_t batch, ReplayThreadId thread, LaneFill& lanes) override {
    const auto begin = std::chrono::steady_clock::now();
    Slot& slot = slot_of(batch);
    const LanePlacement& placement = slot.placements[block];
    const bool is_filled = runner_.fill(block, placement, *slot.batch, thread, lanes);
    if (placement.is_observed) planner_.observe(block, runner_.samples(thread));
    times_of(thread).dispatch_seconds += seconds_since(begin);
    return is_filled;
  }

  uint32_t prepare(uint32_t block, uint64_t batch, std::span<const Piece> pieces,
                   ReplayThreadId thread) override {
    if (pieces.front().part.is_share()) return 1;
    return runner_.prepare(block, *slot_of(batch).batch, pieces, thread);
  }

  bool run(uint32_t block, uint64_t batch, Piece piece, ReplayThreadId thread) override {
    ReplayBatch& of = *slot_of(batch).batch;
    if (!piece.part.is_share()) return runner_.run(block, of, piece, thread);
    const auto begin = std::chrono::steady_clock::now();
    ShareWork work;
    const bool has_run = runner_.run_share(block, of, thread, work);
    const double seconds = seconds_since(begin);
    times_of(thread).lane_seconds[block] += seconds;
    times_of(thread).lane_pieces[block] += work.pieces;
    if (work.operations > 0) planner_.observe_time(block, work.operations, seconds);
    return has_run;
  }

  void retire(uint64_t batch) override {
    Slot& slot = slot_of(batch);
    const LogBatch& log = slot.batch->log;
    statistics_.transactions += log.size();
    statistics_.ad_hoc += log.ad_hoc_count();
    slot.window = nullptr;
    statistics_.replayed_to = log.lsn(log.size() - 1);
    if (options_.progress) options_.progress(statistics_.transactions, statistics_.replayed_to);
  }

 private:
  struct Slot {
    explicit Slot(std::unique_ptr<ReplayBatch> made) : batch(std::move(made)) {}

    HeldWindow window;                      // in which the batch's records lie, until it retires
    std::span<const RecordView> records;    // to be decoded into the batch
    std::vector<LanePlacement> placements;  // by block
    std::unique_ptr<ReplayBatch> batch;
    bool waits_to_be_alone = false;
  };
  // One thread's.
  struct Times {
    explicit Times(size_t blocks) : lane_seconds(blocks, 0), lane_pieces(blocks, 0) {}

    double decode_seconds = 0;
    double dispatch_seconds = 0;
    std::vector<double> lane_seconds;  // by block
    std::vector<uint64_t> lane_pieces;
  };

  // Whether any are left: those of the window from next_record_ on.
  Result<bool> has_records() {
    while (next_record_ == records_.size()) {
      Result<HeldWindow> next = stream_->next();
      if (!next) return next.error();
      if (*next == nullptr) return false;
      window_ = *std::move(next);
      records_ = window_->records();
      next_record_ = 0;
      next_barrier_ = 0;
      // A window of a kept log is the whole log, and no thread has other work yet: all of them look through
      // it.
      barriers_ = find_barriers(runner_.dispatch().changes(), database_.change_codec(), records_,
                                stream_->kept().empty() ? 1 : options_.threads);
    }
    return true;
  }

  bool next_stands_alone() const {
    return next_barrier_ < barriers_.size() && barriers_[next_barrier_] == next_record_;
  }

  // The records up to the next one that stands alone. Such a one is installed at once, if nothing is in
  // flight; else it waits until load() is called again. An interrupted replay ends here: what is in flight
  // is run to its end.
  Load load(Slot& slot) {
    const bool is_alone = std::exchange(slot.waits_to_be_alone, false);
    for (;;) {
      const Result<bool> more = has_records();
      if (!more) runner_.keep_error(Lsn{}, more.error());
      if (!more || !*more) return more ? Load::kEnd : Load::kStop;
      if (options_.interrupted()) {
        statistics_.is_partial = true;
        return Load::kEnd;
      }
      slot.window = window_;
      if (!next_stands_alone()) break;
      slot.waits_to_be_alone = !is_alone;
      if (!is_alone) return Load::kWhenAlone;
      slot.records = records_.subspan(next_record_, 1);
      if (!runner_.decode(*slot.batch, slot.records) || !runner_.install_alone(slot.batch->log))
        return Load::kStop;
      ++statistics_.transactions;
      ++statistics_.ad_hoc;
      ++statistics_.barriers;
      statistics_.replayed_to = slot.records.front().lsn;
      ++next_record_;
      ++next_barrier_;
    }
    const size_t end = next_barrier_ < barriers_.size() ? barriers_[next_barrier_] : records_.size();
    const size_t count = std::min<size_t>(options_.batch_transactions, end - next_record_);
    slot.records = records_.subspan(next_record_, count);
    next_record_ += count;
    planner_.plan(slot.records, slot.placements);
    return Load::kLoaded;
  }

  Times& times_of(ReplayThreadId thread) { return **times_[thread.value]; }
  Slot& slot_of(uint64_t batch) { return *slots_[batch % slots_.size()]; }

  Database& database_;
  const ReplayOptions options_;
  PieceRunner runner_;
  LanePlanner planner_;
  std::vector<std::unique_ptr<CachePadded<Times>>> times_;  // by thread
  std::vector<std::unique_ptr<Slot>> slots_;
  // Used by load(), whose calls come one at a time.
  RecordStream* stream_ = nullptr;  // while it is replayed
  HeldWindow window_;
  std::span<const RecordView> records_;  // the window's
  std::vector<size_t> barriers_;         // the numbers of those that stand alone
  size_t next_record_ = 0;
  size_t next_barrier_ = 0;
  // decode_seconds: load(), one call at a time, and at the end the threads'. The transactions: retire(),
  // likewise, and load() when nothing is in flight.
  ReplayStatistics statistics_;
};

ParallelReplayer::ParallelReplayer(Database& database, const Program& program, const DependencyGraph& graph,
                                   ReplayOptions options)
    : replay_(std::make_unique<Replay>(database, program, graph, std::move(options))) {}

ParallelReplayer::~ParallelReplayer() = default;

Result<ReplayStatistics> ParallelReplayer::replay(RecordStream& records) {
  return replay_->replay(records);
}

uint32_t batches_in_flight(ReplayLevel level, uint32_t threads) {
  if (level != ReplayLevel::kPipelined) return 1;
  return std::max(kLeastBatchesInFlight, kBatchesInFlightPerThread * threads);
}

Result<ReplayStatistics> replay_in_parallel(Database& database, const Program& program,
                                            const DependencyGraph& graph, RecordStream& records,
                                            const ReplayOptions& options) {
  return ParallelReplayer(database, program, graph, options).replay(records);
}

}  // namespace mneme
