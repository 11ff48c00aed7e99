#include "recovery/parallel_replayer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/cache_line.h"
#include "recovery/batch_recording.h"
#include "recovery/change_replayer.h"
#include "recovery/lane_scheduler.h"
#include "recovery/log_batch.h"
#include "recovery/piece_dispatch.h"
#include "recovery/replay_access.h"

namespace mneme {
namespace {

// Enough for eight threads to find work while some lanes are long; more would only cost tasks.
constexpr uint32_t kLanesPerBlock = 64;
constexpr uint32_t kLeastBatchesInFlight = 8;
constexpr uint32_t kBatchesInFlightPerThread = 2;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

ScheduleOptions schedule_options(const ReplayOptions& options) {
  return {options.threads, batches_in_flight(options.level, options.threads), options.recorder};
}

class ParallelReplay final : public PieceExecutor {
 public:
  ParallelReplay(Database& database, const Program& program, const DependencyGraph& graph,
                 std::span<const RecordView> records, const ReplayOptions& options)
      : database_(database),
        program_(program),
        schema_(database.schema()),
        records_(records),
        options_(options),
        recorded_(graph),
        dispatch_(graph, database.schema(), options.level == ReplayLevel::kStatic ? 1 : kLanesPerBlock,
                  options.native),
        alone_(database) {
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
      statistics_.decode_seconds += thread->decode_seconds;
      statistics_.dispatch_seconds += thread->dispatch_seconds;
    }
    return statistics_;
  }

  Load load(uint64_t batch) override {
    const auto begin = std::chrono::steady_clock::now();
    const Load loaded = load(slot_of(batch));
    statistics_.decode_seconds += seconds_since(begin);
    return loaded;
  }

  bool decode(uint64_t batch, ReplayThreadId thread_id) override {
    const auto begin = std::chrono::steady_clock::now();
    const bool decoded = decode(slot_of(batch));
    threads_[thread_id.value]->decode_seconds += seconds_since(begin);
    return decoded;
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
    prefetch(block, slot, pieces);
    thread.lookups_begin.clear();
    thread.next_prepared = 0;
    const std::span<RowLookup> room(thread.lookups);
    LookupRequest request{.schema = &schema_, .recording = &thread.recording};
    size_t count = 0;
    for (const Piece& piece : pieces) {
      if (slot.batch.is_ad_hoc(piece.transaction)) {
        thread.lookups_begin.push_back(count);
        continue;
      }
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
    ++thread.pieces;
    if (slot.batch.is_ad_hoc(piece.transaction)) return install(block, slot.batch, piece, thread);
    const Call& call = slot.batch.call(piece.transaction);
    const SliceReplay& slice = *dispatch_.find(block, call.procedure);
    thread.recording.bind(slot.recording, piece.transaction, thread_id);

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
    statistics_.ad_hoc += slot_of(batch).batch.ad_hoc_count();
    if (options_.progress) options_.progress(statistics_.transactions);
  }

 private:
  struct Thread {
    Thread(Database& database, const PieceDispatch& dispatch)
        : rows(database),
          changes(database),
          interpreter(database.schema()),
          locator(database.schema(), dispatch) {}

    ReplayAccess rows;
    ChangeReplayer changes;
    Interpreter interpreter;
    PieceLocator locator;
    TransactionRecording recording;
    // Of the pieces that are ready: what each looks up begins where.
    std::array<RowLookup, Prefetcher::kMaxLookups> lookups;
    std::vector<size_t> lookups_begin;
    size_t next_prepared = 0;
    uint64_t pieces = 0;
    double decode_seconds = 0;
    double dispatch_seconds = 0;
  };
  struct Slot {
    Slot(const RecordedOperations& operations, uint32_t threads) : recording(operations, threads) {}

    std::span<const RecordView> calls;  // to be decoded into the batch; none: it has been
    LogBatch batch;
    BatchRecording recording;
    bool waits_to_be_alone = false;
  };

  // A batch's calls and recordings are more than the cache keeps of them: those of all these pieces are asked for at once,
  // step by step, as each leads to the next.
  void prefetch(uint32_t block, const Slot& slot, std::span<const Piece> pieces) const {
    const auto each_call = [&](auto&& step) {
      for (const Piece& piece : pieces) {
        if (!slot.batch.is_ad_hoc(piece.transaction)) step(piece.transaction);
      }
    };
    if (pieces.size() == 1) return;
    each_call([&](uint32_t transaction) {
      slot.batch.prefetch_call(transaction);
      slot.recording.prefetch(transaction);
    });
    each_call([&](uint32_t transaction) {
      slot.batch.prefetch_arguments(transaction);
      slot.recording.prefetch_operations(transaction);
    });
    each_call([&](uint32_t transaction) {
      for (const OperationId operation :
           dispatch_.find(block, slot.batch.call(transaction).procedure)->recalled) {
        slot.recording.prefetch_recorded(transaction, operation);
      }
    });
  }

  // The next batch, where all of its records are calls: nothing needs to be known of them yet.
  std::span<const RecordView> next_calls() const {
    const auto rest = records_.subspan(next_record_);
    const auto next = rest.first(std::min<size_t>(options_.batch_transactions, rest.size()));
    const bool all_calls = std::ranges::all_of(
        next, [](const RecordView& record) { return record.kind == RecordKind::kCommand; });
    return all_calls ? next : std::span<const RecordView>();
  }

  // Among rows, decoding finds where the batch ends. What stands alone is installed at once, if nothing is in flight; else
  // it waits in the slot until load() is called again.
  Load load(Slot& slot) {
    for (bool is_alone = slot.waits_to_be_alone;; is_alone = true) {
      if (!std::exchange(slot.waits_to_be_alone, false)) {
        slot.calls = next_calls();
        next_record_ += slot.calls.size();
        if (!slot.calls.empty()) return Load::kLoaded;
        const Result<void> loaded = load(slot.batch, records_.subspan(next_record_));
        if (!loaded) {
          keep_error(Lsn{}, loaded.error());
          return Load::kStop;
        }
        next_record_ += slot.batch.size();
      }
      if (slot.batch.size() == 0) return Load::kEnd;
      if (!slot.batch.stands_alone()) return Load::kLoaded;
      if (!is_alone) {
        slot.waits_to_be_alone = true;
        return Load::kWhenAlone;
      }
      if (!install_alone(slot.batch)) return Load::kStop;
    }
  }
  Result<void> load(LogBatch& batch, std::span<const RecordView> records) const {
    return batch.load(
        program_, database_.change_codec(), records, options_.batch_transactions,
        [this](std::span<const LoggedChange> changes) { return dispatch_.changes().is_barrier(changes); });
  }

  bool decode(Slot& slot) {
    if (!slot.calls.empty()) {
      const Result<void> loaded = load(slot.batch, slot.calls);
      if (!loaded) {
        keep_error(slot.calls.front().lsn, loaded.error());
        return false;
      }
      CHECK(slot.batch.size() == slot.calls.size());
    }
    slot.recording.reset();
    for (uint32_t t = 0; t < slot.batch.size(); ++t) {
      if (slot.batch.is_ad_hoc(t))
        slot.recording.add_nothing();
      else
        slot.recording.add(slot.batch.call(t).procedure);
    }
    return true;
  }

  bool install_alone(const LogBatch& batch) {
    for (const LoggedChange& change : batch.changes(0)) {
      if (!check_installed(batch, 0, change, alone_.replay(change.row))) return false;
    }
    ++statistics_.transactions;
    ++statistics_.ad_hoc;
    ++statistics_.barriers;
    return true;
  }

  bool install(uint32_t block, const LogBatch& batch, Piece piece, Thread& thread) {
    const LoggedChange& change = batch.changes(piece.transaction)[piece.part];
    const std::optional<ColumnBits> among = dispatch_.changes().find(block, change.row.table)->among();
    if (thread.changes.takes_out_entries(change.row)) thread.rows.forget_expected();
    return check_installed(batch, piece.transaction, change,
                           thread.changes.replay(change.row, among ? &*among : nullptr));
  }

  bool check_installed(const LogBatch& batch, uint32_t transaction, const LoggedChange& change,
                       InstallOutcome outcome) {
    if (outcome == InstallOutcome::kInstalled) return true;
    const Lsn lsn = batch.lsn(transaction);
    keep_error(lsn, install_error(database_.catalog(), change.row.table, lsn, outcome));
    return false;
  }

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

  Database& database_;
  const Program& program_;
  const Schema& schema_;
  const std::span<const RecordView> records_;
  const ReplayOptions& options_;
  const RecordedOperations recorded_;
  const PieceDispatch dispatch_;
  std::deque<CachePadded<Thread>> threads_;
  std::deque<Slot> slots_;
  // Of load(), one call at a time.
  ChangeReplayer alone_;
  size_t next_record_ = 0;
  // decode_seconds: load(), one call at a time, and at the end the threads'. The transactions: retire(), likewise, and load() when nothing is in flight.
  ReplayStatistics statistics_;

  std::mutex error_mutex_;  // guards the two below
  std::optional<Error> error_;
  Lsn error_lsn_;
};

}  // namespace

uint32_t batches_in_flight(ReplayLevel level, uint32_t threads) {
  if (level != ReplayLevel::kPipelined) return 1;
  return std::max(kLeastBatchesInFlight, kBatchesInFlightPerThread * threads);
}

Result<ReplayStatistics> replay_in_parallel(Database& database, const Program& program,
                                            const DependencyGraph& graph, std::span<const RecordView> records,
                                            const ReplayOptions& options) {
  return ParallelReplay(database, program, graph, records, options).replay();
}

}  // namespace mneme
