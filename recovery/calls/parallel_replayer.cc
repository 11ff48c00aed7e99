#include "recovery/calls/parallel_replayer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/cache_line.h"
#include "engine/transaction/replay_access.h"
#include "procedures/interpreter/native_runner.h"
#include "recovery/calls/barrier_finder.h"
#include "recovery/calls/batch_recording.h"
#include "recovery/calls/lane_planner.h"
#include "recovery/calls/lane_scheduler.h"
#include "recovery/calls/piece_dispatch.h"
#include "recovery/log/log_batch.h"
#include "recovery/rows/change_replayer.h"

namespace mneme {
namespace {

constexpr uint32_t kLeastBatchesInFlight = 8;
constexpr uint32_t kBatchesInFlightPerThread = 2;
// Calls of a share that are asked for at once.
constexpr size_t kMostAtOnce = 32;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

ScheduleOptions schedule_options(const ReplayOptions& options) {
  const uint32_t planned = options.planned_threads > 0 ? options.planned_threads : options.threads;
  return {options.threads, batches_in_flight(options.level, planned), options.recorder};
}

}  // namespace

class ParallelReplayer::Replay final : public PieceExecutor {
 public:
  Replay(Database& database, const Program& program, const DependencyGraph& graph, ReplayOptions options)
      : database_(database),
        program_(program),
        schema_(database.schema()),
        options_(std::move(options)),
        recorded_(graph),
        dispatch_(graph, database.schema(), options_),
        planner_(dispatch_.make_planner()),
        alone_(database) {
    for (uint32_t t = 0; t < options_.threads; ++t)
      threads_.push_back(std::make_unique<CachePadded<Thread>>(database, dispatch_));
    for (uint32_t s = 0; s < LaneScheduler::slot_count(schedule_options(options_)); ++s)
      slots_.push_back(std::make_unique<Slot>(recorded_, options_.threads));
  }

  Result<ReplayStatistics> replay(RecordStream& records) {
    stream_ = &records;
    statistics_ = {};
    LaneScheduler scheduler(dispatch_.blocks(), schedule_options(options_), *this);
    if (!scheduler.run()) return failure();
    window_ = nullptr;
    records_ = {};
    next_record_ = 0;
    for (uint32_t t = 0; t < options_.threads; ++t) {
      Thread& thread = thread_of(ReplayThreadId{t});
      statistics_.pieces += std::exchange(thread.pieces, 0);
      statistics_.row_lines +=
          thread.rows.lines_asked_for() - std::exchange(thread.lines_told, thread.rows.lines_asked_for());
      statistics_.decode_seconds += std::exchange(thread.decode_seconds, 0);
      statistics_.dispatch_seconds += std::exchange(thread.dispatch_seconds, 0);
      statistics_.lane_seconds.resize(thread.lane_seconds.size(), 0);
      for (size_t b = 0; b < thread.lane_seconds.size(); ++b)
        statistics_.lane_seconds[b] += std::exchange(thread.lane_seconds[b], 0);
      thread.asked = {};
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
    Slot& slot = slot_of(batch);
    const bool decoded = decode(slot);
    const double seconds = seconds_since(begin);
    thread_of(thread_id).decode_seconds += seconds;
    planner_.observe_decoding(slot.records.size(), seconds);
    return decoded;
  }

  bool fill(uint32_t block, uint64_t batch, ReplayThreadId thread_id, LaneFill& lanes) override {
    const auto begin = std::chrono::steady_clock::now();
    Thread& thread = thread_of(thread_id);
    Slot& slot = slot_of(batch);
    uint32_t failed = 0;
    const LanePlacement& placement = slot.placements[block];
    const Outcome outcome = dispatch_.fill(block, placement, slot.batch, slot.recording, thread.locator,
                                           thread_id, lanes, failed);
    if (placement.is_observed) planner_.observe(block, thread.locator.samples());
    thread.dispatch_seconds += seconds_since(begin);
    return outcome.completed() || fail(slot.batch, failed, outcome);
  }

  uint32_t prepare(uint32_t block, uint64_t batch, std::span<const Piece> pieces,
                   ReplayThreadId thread_id) override {
    Thread& thread = thread_of(thread_id);
    Slot& slot = slot_of(batch);
    thread.slot = &slot;
    if (pieces.front().part.is_share()) return 1;
    if (pieces.size() > 1) prefetch(block, slot, pieces.subspan(thread.asked.among(block, slot, pieces)));
    thread.lookups_begin.clear();
    thread.next_prepared = 0;
    const std::span<RowLookup> room(thread.lookups);
    LookupRequest request{.schema = &schema_, .recording = &thread.recording};
    size_t count = 0;
    for (const Piece& piece : pieces) {
      const bool has_room = piece.part.visit(
          [&](CallPart part) {
            const Call& call = slot.batch.call(piece.transaction);
            const SliceReplay& slice = *dispatch_.find(block, call.procedure);
            size_t named = 0;
            if (const auto lookups =
                    part.slice_part ? slice.parts[*part.slice_part].lookups : slice.lookups) {
              thread.recording.bind(slot.recording, piece.transaction, thread_id);
              request.arguments = call.arguments;
              request.only_iteration = part.iteration;
              named = lookups(request, room.subspan(count));
              // Perhaps it would have named more: it begins the next group.
              if (count > 0 && count + named == room.size()) return false;
            }
            thread.lookups_begin.push_back(count);
            count += named;
            return true;
          },
          [&](uint32_t number) {
            if (count == room.size()) return false;
            thread.lookups_begin.push_back(count);
            if (thread.changes.name_lookup(change_of(slot, piece, number).row, room[count])) ++count;
            return true;
          });
      if (!has_room) break;
    }
    thread.rows.expect(room.first(count));
    const size_t ready = thread.lookups_begin.size();
    thread.asked = {block, &slot, pieces.subspan(ready)};
    return static_cast<uint32_t>(ready);
  }

  bool run(uint32_t block, uint64_t batch, Piece piece, ReplayThreadId thread_id) override {
    Thread& thread = thread_of(thread_id);
    Slot& slot = *thread.slot;
    DCHECK(&slot == &slot_of(batch));
    if (piece.part.is_share()) {
      const auto begin = std::chrono::steady_clock::now();
      double operations = 0;
      const bool has_run = run_share(block, slot, thread_id, operations);
      const double seconds = seconds_since(begin);
      thread.lane_seconds[block] += seconds;
      if (operations > 0) planner_.observe_time(block, operations, seconds);
      return has_run;
    }
    thread.rows.go_on_at(thread.lookups_begin[thread.next_prepared++]);
    ++thread.pieces;
    return piece.part.visit(
        [&](CallPart part) { return run_slice(block, piece.transaction, part, thread_id); },
        [&](uint32_t number) {
          return install(block, slot.batch, piece.transaction, change_of(slot, piece, number), thread);
        });
  }

  void retire(uint64_t batch) override {
    Slot& slot = slot_of(batch);
    statistics_.transactions += slot.batch.size();
    statistics_.ad_hoc += slot.batch.ad_hoc_count();
    slot.window = nullptr;
    if (options_.progress) options_.progress(statistics_.transactions, slot.batch.lsn(slot.batch.size() - 1));
  }

 private:
  struct Slot {
    Slot(const RecordedOperations& operations, uint32_t threads) : recording(operations, threads) {}

    HeldWindow window;                      // in which the batch's records lie, until it retires
    std::span<const RecordView> records;    // to be decoded into the batch
    std::vector<LanePlacement> placements;  // by block
    LogBatch batch;
    BatchRecording recording;
    bool waits_to_be_alone = false;
  };
  // Pieces whose calls and recordings have been asked for, but that are not ready yet: the next group begins
  // with them, if nothing comes between.
  struct AskedPieces {
    AskedPieces() = default;
    AskedPieces(uint32_t block, const Slot* slot, std::span<const Piece> pieces)
        : block(block), slot(slot), count(pieces.size()) {
      if (count > 0) first = pieces.front();
    }

    // How many of these, which are at least one.
    size_t among(uint32_t block_now, const Slot& slot_now, std::span<const Piece> pieces) const {
      const bool begin_with_them =
          count > 0 && block == block_now && slot == &slot_now && first == pieces.front();
      return begin_with_them ? std::min(count, pieces.size()) : 0;
    }

    uint32_t block = 0;
    const Slot* slot = nullptr;
    size_t count = 0;
    Piece first;
  };
  struct SharePiece {
    const SliceReplay* slice = nullptr;
    uint32_t transaction = 0;
    size_t first_lookup = 0;
  };
  struct Thread {
    Thread(Database& database, const PieceDispatch& dispatch)
        : rows(database),
          changes(database),
          interpreter(database.schema()),
          native(database.schema(), &rows, &recording, nullptr),
          locator(database.schema(), dispatch),
          lane_seconds(dispatch.blocks().size(), 0) {}

    ReplayAccess rows;
    ChangeReplayer changes;
    TransactionRecording recording;
    Interpreter interpreter;
    NativeRunner native;
    PieceLocator locator;
    Slot* slot = nullptr;  // of the pieces that are ready
    AskedPieces asked;
    // The look-ups of the pieces that are ready, and where each piece's look-ups begin.
    std::array<RowLookup, Prefetcher::kMaxLookups> lookups;
    std::vector<size_t> lookups_begin;
    size_t next_prepared = 0;
    uint64_t pieces = 0;
    uint64_t lines_told = 0;  // of those asked for
    double decode_seconds = 0;
    double dispatch_seconds = 0;
    std::vector<double> lane_seconds;  // by block
  };

  static const LoggedChange& change_of(const Slot& slot, const Piece& piece, uint32_t number) {
    return slot.batch.changes(piece.transaction)[number];
  }

  // A batch's calls and recordings are more than the cache keeps of them: those of all these pieces are asked
  // for at once, step by step, as each leads to the next. What leads to them lies in the order of the
  // transactions, as the pieces do.
  void prefetch(uint32_t block, const Slot& slot, std::span<const Piece> pieces) const {
    for (const Piece& piece : pieces) {
      piece.part.visit(
          [&](CallPart) {
            slot.batch.prefetch_arguments(piece.transaction);
            slot.recording.prefetch_operations(piece.transaction);
          },
          [&](uint32_t number) {
            const ByteSpan columns = change_of(slot, piece, number).row.columns;
            prefetch_lines(columns.data(), columns.size());
          });
    }
    for (const Piece& piece : pieces) {
      if (slot.batch.is_ad_hoc(piece.transaction)) continue;
      for (const OperationId operation :
           dispatch_.find(block, slot.batch.call(piece.transaction).procedure)->recalled) {
        slot.recording.prefetch_recorded(piece.transaction, operation);
      }
    }
  }

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
      barriers_ = find_barriers(dispatch_.changes(), database_.change_codec(), records_,
                                stream_->kept().empty() ? 1 : options_.threads);
    }
    return true;
  }

  bool next_stands_alone() const {
    return next_barrier_ < barriers_.size() && barriers_[next_barrier_] == next_record_;
  }

  // The records up to the next one that stands alone. Such a one is installed at once, if nothing is in
  // flight; else it waits until load() is called again.
  Load load(Slot& slot) {
    const bool is_alone = std::exchange(slot.waits_to_be_alone, false);
    for (;;) {
      const Result<bool> more = has_records();
      if (!more) keep_error(Lsn{}, more.error());
      if (!more || !*more) return more ? Load::kEnd : Load::kStop;
      slot.window = window_;
      if (!next_stands_alone()) break;
      slot.waits_to_be_alone = !is_alone;
      if (!is_alone) return Load::kWhenAlone;
      slot.records = records_.subspan(next_record_, 1);
      if (!decode_records(slot) || !install_alone(slot.batch)) return Load::kStop;
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

  bool decode_records(Slot& slot) {
    const Result<void> loaded = slot.batch.load(program_, database_.change_codec(), slot.records);
    if (!loaded) keep_error(slot.records.front().lsn, loaded.error());
    return loaded.ok();
  }

  bool decode(Slot& slot) {
    if (!decode_records(slot)) return false;
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

  bool run_slice(uint32_t block, uint32_t transaction, CallPart part, ReplayThreadId thread_id) {
    Thread& thread = thread_of(thread_id);
    Slot& slot = *thread.slot;
    const Call& call = slot.batch.call(transaction);
    const SliceReplay& slice = *dispatch_.find(block, call.procedure);
    thread.recording.bind(slot.recording, transaction, thread_id);
    const NativeRunFunction native =
        part.slice_part ? slice.parts[*part.slice_part].run_native : slice.run_native;
    if (native != nullptr) return run_native(native, slice, slot.batch, transaction, part.iteration, thread);

    RunRequest request;
    request.procedure = &slice.local->replay;
    request.body = part.slice_part ? slice.parts[*part.slice_part].body : ir::BodyView(slice.slice->body);
    request.arguments = call.arguments;
    request.rows = &thread.rows;
    request.recording = &thread.recording;
    request.only_iteration = part.iteration;
    Outcome outcome = thread.interpreter.run(request);
    if (outcome.completed()) outcome = end_of_run(thread.rows.end_run());
    return outcome.completed() || fail(slot.batch, transaction, outcome);
  }

  bool run_native(NativeRunFunction unit, const SliceReplay& slice, const LogBatch& batch,
                  uint32_t transaction, std::optional<uint32_t> only_iteration, Thread& thread) {
    if (!thread.native.run(unit, slice.local->replay, batch.call(transaction).arguments, only_iteration))
      return fail(batch, transaction, thread.native.outcome());
    const AccessStatus inserted = thread.rows.end_run();
    return inserted == AccessStatus::kOk || fail(batch, transaction, end_of_run(inserted));
  }

  // The slices of the batch's calls in a block of one lane, in commit order: as prepare() and run() have it
  // for pieces, but with nothing done piece by piece that can be done once. `operations`: LanePlanner::work.
  bool run_share(uint32_t block, Slot& slot, ReplayThreadId thread_id, double& operations) {
    Thread& thread = thread_of(thread_id);
    thread.asked = {};
    const LogBatch& batch = slot.batch;
    const std::span<const std::optional<SliceReplay>> slices = dispatch_.slices(block);
    std::array<SharePiece, kMostAtOnce> group;
    for (uint32_t next = 0; next < batch.size();) {
      size_t count = 0;
      for (; next < batch.size() && count < group.size(); ++next) {
        const std::optional<SliceReplay>& slice = slices[batch.call(next).procedure.value];
        if (!slice) continue;
        group[count++] = {&*slice, next};
        operations += slice->work;
        batch.prefetch_arguments(next);
        if (!slice->recalled.empty()) slot.recording.prefetch_operations(next);
      }
      for (const SharePiece& piece : std::span(group).first(count)) {
        for (const OperationId operation : piece.slice->recalled)
          slot.recording.prefetch_recorded(piece.transaction, operation);
      }
      for (std::span<SharePiece> left = std::span(group).first(count); !left.empty();) {
        const size_t ready = name_lookups(slot, left, thread, thread_id);
        for (const SharePiece& piece : left.first(ready)) {
          thread.rows.go_on_at(piece.first_lookup);
          if (!run_share_piece(block, slot, piece, thread, thread_id)) return false;
        }
        thread.pieces += ready;
        left = left.subspan(ready);
      }
    }
    return true;
  }

  // Looks up what the first of these pieces will ask for, and returns how many they are: at least one.
  size_t name_lookups(Slot& slot, std::span<SharePiece> pieces, Thread& thread, ReplayThreadId thread_id) {
    const std::span<RowLookup> room(thread.lookups);
    LookupRequest request{.schema = &schema_, .recording = &thread.recording};
    size_t count = 0;
    size_t ready = 0;
    for (; ready < pieces.size(); ++ready) {
      SharePiece& piece = pieces[ready];
      piece.first_lookup = count;
      if (piece.slice->lookups == nullptr) continue;
      if (!piece.slice->recalled.empty()) thread.recording.bind(slot.recording, piece.transaction, thread_id);
      request.arguments = slot.batch.call(piece.transaction).arguments;
      const size_t named = piece.slice->lookups(request, room.subspan(count));
      // Perhaps it would have named more: it begins the next group.
      if (count > 0 && count + named == room.size()) break;
      count += named;
    }
    thread.rows.expect(room.first(count));
    return ready;
  }

  bool run_share_piece(uint32_t block, Slot& slot, const SharePiece& piece, Thread& thread,
                       ReplayThreadId thread_id) {
    const SliceReplay& slice = *piece.slice;
    if (slice.run_native == nullptr) return run_slice(block, piece.transaction, {}, thread_id);
    if (slice.uses_recording()) thread.recording.bind(slot.recording, piece.transaction, thread_id);
    return run_native(slice.run_native, slice, slot.batch, piece.transaction, std::nullopt, thread);
  }

  bool install(uint32_t block, const LogBatch& batch, uint32_t transaction, const LoggedChange& change,
               Thread& thread) {
    const std::optional<ColumnBits> among = dispatch_.changes().find(block, change.row.table)->among();
    if (thread.changes.takes_out_entries(change.row)) thread.rows.forget_expected();
    return check_installed(batch, transaction, change,
                           thread.changes.replay(change.row, among ? &*among : nullptr));
  }

  bool check_installed(const LogBatch& batch, uint32_t transaction, const LoggedChange& change,
                       InstallOutcome outcome) {
    if (outcome == InstallOutcome::kInstalled) return true;
    const Lsn lsn = batch.lsn(transaction);
    keep_error(lsn, install_error(database_.catalog(), change.row.table, lsn, outcome));
    return false;
  }

  Thread& thread_of(ReplayThreadId id) { return **threads_[id.value]; }
  Slot& slot_of(uint64_t batch) { return *slots_[batch % slots_.size()]; }

  bool fail(const LogBatch& batch, uint32_t transaction, const Outcome& outcome) {
    const Lsn lsn = batch.lsn(transaction);
    keep_error(lsn, replay_error(program_.procedure(batch.call(transaction).procedure), lsn, outcome));
    return false;
  }
  // Keeps the earliest of several errors: the later ones may be its consequence.
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
  const ReplayOptions options_;
  const RecordedOperations recorded_;
  const PieceDispatch dispatch_;
  LanePlanner planner_;
  std::vector<std::unique_ptr<CachePadded<Thread>>> threads_;
  std::vector<std::unique_ptr<Slot>> slots_;
  // Used by load(), whose calls come one at a time.
  RecordStream* stream_ = nullptr;  // while it is replayed
  ChangeReplayer alone_;
  HeldWindow window_;
  std::span<const RecordView> records_;  // the window's
  std::vector<size_t> barriers_;         // the numbers of those that stand alone
  size_t next_record_ = 0;
  size_t next_barrier_ = 0;
  // decode_seconds: load(), one call at a time, and at the end the threads'. The transactions: retire(),
  // likewise, and load() when nothing is in flight.
  ReplayStatistics statistics_;

  std::mutex error_mutex_;  // guards the two below
  std::optional<Error> error_;
  Lsn error_lsn_;
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
