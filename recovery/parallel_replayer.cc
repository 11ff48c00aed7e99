#include "recovery/parallel_replayer.h"

#include <array>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>

#include "base/cache_line.h"
#include "recovery/batch_recording.h"
#include "recovery/lane_scheduler.h"
#include "recovery/log_batch.h"
#include "recovery/piece_dispatch.h"
#include "recovery/replay_access.h"

namespace mneme {
namespace {

// Enough for eight threads to find work while some lanes are long; more would only cost tasks.
constexpr uint32_t kLanesPerBlock = 64;
constexpr uint32_t kBatchesInFlight = 8;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

ScheduleOptions schedule_options(const ReplayOptions& options) {
  return {options.threads, options.level == ReplayLevel::kPipelined ? kBatchesInFlight : 1};
}

class ParallelReplay final : public PieceExecutor {
 public:
  ParallelReplay(Database& database, const Program& program, const DependencyGraph& graph,
                 CommandSource& source, const ReplayOptions& options)
      : program_(program),
        schema_(database.schema()),
        source_(source),
        options_(options),
        recorded_(graph),
        dispatch_(graph, database.schema(), options.level == ReplayLevel::kStatic ? 1 : kLanesPerBlock,
                  options.native) {
    for (uint32_t t = 0; t < options.threads; ++t) threads_.emplace_back(database, dispatch_);
    for (uint32_t s = 0; s < LaneScheduler::slot_count(schedule_options(options)); ++s) {
      slots_.emplace_back(recorded_, options.threads);
    }
  }

  Result<ReplayStatistics> replay() {
    LaneScheduler scheduler(dispatch_.blocks(), schedule_options(options_), *this);
    if (!scheduler.run()) return failure();
    for (CachePadded<Thread>& thread : threads_) {
      statistics_.pieces += thread->pieces;
      statistics_.dispatch_seconds += thread->dispatch_seconds;
    }
    return statistics_;
  }

  Load load(uint64_t batch) override {
    const auto begin = std::chrono::steady_clock::now();
    Slot& slot = slot_of(batch);
    const Result<void> loaded = slot.batch.load(program_, source_, options_.batch_transactions);
    if (!loaded) {
      keep_error(Lsn{}, loaded.error());
      return Load::kStop;
    }
    if (slot.batch.size() == 0) return Load::kEnd;
    slot.recording.reset();
    for (uint32_t t = 0; t < slot.batch.size(); ++t) slot.recording.add(slot.batch.call(t).procedure);
    statistics_.decode_seconds += seconds_since(begin);
    return Load::kLoaded;
  }

  bool fill(uint32_t block, uint64_t batch, ReplayThreadId thread_id, LaneFill& lanes) override {
    const auto begin = std::chrono::steady_clock::now();
    Thread& thread = *threads_[thread_id.value];
    Slot& slot = slot_of(batch);
    uint32_t failed = 0;
    const Outcome outcome =
        dispatch_.fill(block, slot.batch, slot.recording, thread.locator, thread_id, lanes, failed);
    thread.dispatch_seconds += seconds_since(begin);
    return outcome.completed() || fail(slot.batch, failed, outcome);
  }

  uint32_t prepare(uint32_t block, uint64_t batch, std::span<const Piece> pieces,
                   ReplayThreadId thread_id) override {
    Thread& thread = *threads_[thread_id.value];
    Slot& slot = slot_of(batch);
    thread.lookups_begin.clear();
    thread.next_prepared = 0;
    const std::span<RowLookup> room(thread.lookups);
    LookupRequest request{.schema = &schema_, .recording = &thread.recording};
    size_t count = 0;
    for (const Piece& piece : pieces) {
      const Call& call = slot.batch.call(piece.transaction);
      size_t named = 0;
      if (const NativeLookupFunction lookups = dispatch_.find(block, call.procedure)->lookups) {
        thread.recording.bind(slot.recording, piece.transaction, thread_id);
        request.arguments = call.arguments;
        request.only_iteration.reset();
        if (piece.part != kWholeSlice) request.only_iteration = piece.part;
        named = lookups(request, room.subspan(count));
        // Perhaps it would have named more: it begins the next group.
        if (count > 0 && count + named == room.size()) break;
      }
      thread.lookups_begin.push_back(count);
      count += named;
    }
    thread.rows.expect(room.first(count));
    return static_cast<uint32_t>(thread.lookups_begin.size());
  }

  bool run(uint32_t block, uint64_t batch, Piece piece, ReplayThreadId thread_id) override {
    Thread& thread = *threads_[thread_id.value];
    thread.rows.go_on_at(thread.lookups_begin[thread.next_prepared++]);
    Slot& slot = slot_of(batch);
    const Call& call = slot.batch.call(piece.transaction);
    const SliceReplay& slice = *dispatch_.find(block, call.procedure);
    thread.recording.bind(slot.recording, piece.transaction, thread_id);
    ++thread.pieces;

    RunRequest request;
    request.procedure = &slice.local->replay;
    request.body = slice.slice->body;
    request.native = slice.run_native;
    request.arguments = call.arguments;
    request.rows = &thread.rows;
    request.recording = &thread.recording;
    if (piece.part != kWholeSlice) request.only_iteration = piece.part;
    const Outcome outcome = thread.interpreter.run(request);
    return outcome.completed() || fail(slot.batch, piece.transaction, outcome);
  }

  void retire(uint64_t batch) override {
    statistics_.transactions += slot_of(batch).batch.size();
    if (options_.progress) options_.progress(statistics_.transactions);
  }

 private:
  struct Thread {
    Thread(Database& database, const PieceDispatch& dispatch)
        : rows(database), interpreter(database.schema()), locator(database.schema(), dispatch) {}

    ReplayAccess rows;
    Interpreter interpreter;
    PieceLocator locator;
    TransactionRecording recording;
    // Of the pieces that are ready: what each looks up begins where.
    std::array<RowLookup, Prefetcher::kMaxLookups> lookups;
    std::vector<size_t> lookups_begin;
    size_t next_prepared = 0;
    uint64_t pieces = 0;
    double dispatch_seconds = 0;
  };
  struct Slot {
    Slot(const RecordedOperations& operations, uint32_t threads) : recording(operations, threads) {}

    LogBatch batch;
    BatchRecording recording;
  };

  Slot& slot_of(uint64_t batch) { return slots_[batch % slots_.size()]; }

  bool fail(const LogBatch& batch, uint32_t transaction, const Outcome& outcome) {
    const Lsn lsn = batch.lsn(transaction);
    keep_error(lsn, replay_error(program_.procedure(batch.call(transaction).procedure), lsn, outcome));
    return false;
  }
  // Of several errors the earliest is reported: the later ones may be its consequence.
  void keep_error(Lsn lsn, Error error) {
    std::lock_guard lock(error_mutex_);
    if (error_ && error_lsn_ <= lsn) return;
    error_ = std::move(error);
    error_lsn_ = lsn;
  }
  Error failure() {
    std::lock_guard lock(error_mutex_);
    return *error_;
  }

  const Program& program_;
  const Schema& schema_;
  CommandSource& source_;
  const ReplayOptions& options_;
  const RecordedOperations recorded_;
  const PieceDispatch dispatch_;
  std::deque<CachePadded<Thread>> threads_;
  std::deque<Slot> slots_;
  // decode_seconds: load(), one call at a time. transactions: retire(), likewise.
  ReplayStatistics statistics_;

  std::mutex error_mutex_;  // guards the two below
  std::optional<Error> error_;
  Lsn error_lsn_;
};

}  // namespace

Result<ReplayStatistics> replay_in_parallel(Database& database, const Program& program,
                                            const DependencyGraph& graph, CommandSource& source,
                                            const ReplayOptions& options) {
  return ParallelReplay(database, program, graph, source, options).replay();
}

}  // namespace mneme
