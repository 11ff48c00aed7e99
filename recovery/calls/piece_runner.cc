#include "recovery/calls/piece_runner.h"

#include <algorithm>
#include <utility>

#include "recovery/log/replayed_indexes.h"

namespace mneme {

namespace {

// Calls of a share that are asked for at once.
constexpr size_t kMostAtOnce = 32;

// To list a row of a constant table takes less than an eighth of the time that a call takes.
constexpr uint64_t kMostRowsPerRecord = 8;

struct PiecesOfBatch {
  ReplayBatch& batch;
  std::span<const Piece> pieces;

  size_t size() const { return pieces.size(); }
  PlacedPiece operator[](size_t at) const { return {&batch, pieces[at]}; }
};

const LoggedChange& change_of(const PlacedPiece& placed, uint32_t number) {
  return placed.batch->log.changes(placed.piece.transaction)[number];
}

}  // namespace

PieceRunner::PieceRunner(Database& database, const Program& program, const DependencyGraph& graph,
                         const ReplayOptions& options)
    : database_(database),
      program_(program),
      graph_(graph),
      schema_(database.schema()),
      recorded_(graph),
      dispatch_(graph, database.schema(), options),
      alone_(database) {
  for (uint32_t t = 0; t < options.threads; ++t)
    threads_.push_back(std::make_unique<CachePadded<Thread>>(database, dispatch_));
}

void PieceRunner::begin(uint64_t records, bool has_rows) {
  constant_by_index_.clear();
  constant_rows_.clear();
  const std::vector<IndexId> indexes =
      has_rows ? std::vector<IndexId>() : constant_indexes(graph_, database_.catalog());
  constant_rows_.reserve(indexes.size());  // they are pointed to
  for (const IndexId id : indexes) {
    const IndexedTable& table = database_.table_of(id);
    if (table.rows().slot_end() / kMostRowsPerRecord >= records) continue;
    std::optional<ConstantRows> rows = ConstantRows::make(table, database_.index(id));
    if (!rows) continue;
    constant_by_index_.resize(database_.catalog().indexes().size());
    constant_by_index_[id.value] = &constant_rows_.emplace_back(*std::move(rows));
  }
  for (const auto& thread : threads_) (**thread).rows.use(constant_by_index_);
}

bool PieceRunner::decode(ReplayBatch& batch, std::span<const RecordView> records) {
  const Result<void> loaded = batch.log.load(program_, database_.change_codec(), records);
  if (!loaded) {
    keep_error(records.front().lsn, loaded.error());
    return false;
  }
  batch.recording.reset();
  for (uint32_t t = 0; t < batch.log.size(); ++t) {
    if (batch.log.is_ad_hoc(t))
      batch.recording.add_nothing();
    else
      batch.recording.add(batch.log.procedure(t));
  }
  return true;
}

bool PieceRunner::decode_changes(ReplayBatch& batch, std::span<const RecordView> records) {
  const Result<void> loaded = batch.log.load_changes(database_.change_codec(), records);
  if (!loaded) {
    keep_error(records.front().lsn, loaded.error());
    return false;
  }
  batch.recording.reset();
  for (uint32_t t = 0; t < batch.log.size(); ++t) batch.recording.add_nothing();
  return true;
}

bool PieceRunner::decode_call(ReplayBatch& batch, const RecordView& record, uint32_t transaction,
                              ReplayThreadId thread) {
  const Result<void> loaded =
      batch.log.load_call(program_, record, transaction, batch.recording.arena(thread));
  if (!loaded) {
    keep_error(record.lsn, loaded.error());
    return false;
  }
  batch.recording.add_late(transaction, batch.log.call(transaction).procedure, thread);
  return true;
}

bool PieceRunner::install_alone(const LogBatch& batch) {
  for (const LoggedChange& change : batch.changes(0)) {
    if (!check_installed(batch, 0, change, alone_.replay(change.row))) return false;
  }
  return true;
}

bool PieceRunner::fill(uint32_t block, const LanePlacement& placement, ReplayBatch& batch,
                       ReplayThreadId thread, LaneFill& lanes) {
  uint32_t failed = 0;
  const Outcome outcome = dispatch_.fill(block, placement, batch.log, batch.recording,
                                         thread_of(thread).locator, thread, lanes, failed);
  return outcome.completed() || fail(batch.log, failed, outcome);
}

bool PieceRunner::reserve(uint32_t block, const LanePlacement& placement, ReplayBatch& batch,
                          uint32_t transaction, ReplayThreadId thread) {
  struct NoLanes final : LaneFill {
    void place(uint32_t, uint32_t) override {}
    void append(Piece, std::span<const uint32_t>) override {}
    void append_free(Piece) override {}
    void append_to_all(Piece) override {}
  } no_lanes;
  const Call& call = batch.log.call(transaction);
  PieceLocator& locator = thread_of(thread).locator;
  locator.begin(block, placement);
  const Outcome outcome = locator.dispatch(*dispatch_.find(block, call.procedure), call, transaction,
                                           batch.recording, thread, no_lanes);
  return outcome.completed() || fail(batch.log, transaction, outcome);
}

uint32_t PieceRunner::prepare(uint32_t block, std::span<const PlacedPiece> pieces, ReplayThreadId thread) {
  return prepare_group(block, pieces, thread);
}

uint32_t PieceRunner::prepare(uint32_t block, ReplayBatch& batch, std::span<const Piece> pieces,
                              ReplayThreadId thread) {
  return prepare_group(block, PiecesOfBatch{batch, pieces}, thread);
}

template <typename Pieces>
uint32_t PieceRunner::prepare_group(uint32_t block, const Pieces& pieces, ReplayThreadId thread_id) {
  Thread& thread = thread_of(thread_id);
  if (pieces.size() > 1) {
    const bool begin_with_asked =
        thread.asked.count > 0 && thread.asked.block == block && thread.asked.first == pieces[0];
    prefetch(block, pieces, begin_with_asked ? std::min(thread.asked.count, pieces.size()) : 0);
  }
  thread.lookups_begin.clear();
  thread.next_prepared = 0;
  const std::span<RowLookup> room(thread.lookups);
  LookupRequest request{.schema = &schema_, .recording = &thread.recording};
  size_t count = 0;
  for (size_t at = 0; at < pieces.size(); ++at) {
    const PlacedPiece placed = pieces[at];
    const uint32_t transaction = placed.piece.transaction;
    const bool has_room = placed.piece.part.visit(
        [&](CallPart part) {
          const Call& call = placed.batch->log.call(transaction);
          const SliceReplay& slice = *dispatch_.find(block, call.procedure);
          size_t named = 0;
          if (const auto lookups = part.slice_part ? slice.parts[*part.slice_part].lookups : slice.lookups) {
            thread.recording.bind(placed.batch->recording, transaction, thread_id);
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
          if (thread.changes.name_lookup(change_of(placed, number).row, room[count])) ++count;
          return true;
        });
    if (!has_room) break;
  }
  thread.rows.expect(room.first(count));
  const size_t ready = thread.lookups_begin.size();
  thread.asked = {block, pieces.size() - ready, {}};
  if (ready < pieces.size()) thread.asked.first = pieces[ready];
  return static_cast<uint32_t>(ready);
}

// A batch's calls and recordings are more than the cache keeps of them: those of all these pieces are asked
// for at once, step by step, as each leads to the next. What leads to them lies in the order of the
// transactions, as the pieces do.
template <typename Pieces>
void PieceRunner::prefetch(uint32_t block, const Pieces& pieces, size_t first) const {
  for (size_t at = first; at < pieces.size(); ++at) {
    const PlacedPiece placed = pieces[at];
    placed.piece.part.visit(
        [&](CallPart) {
          placed.batch->log.prefetch_arguments(placed.piece.transaction);
          placed.batch->recording.prefetch_operations(placed.piece.transaction);
        },
        [&](uint32_t number) {
          const ByteSpan columns = change_of(placed, number).row.columns;
          prefetch_lines(columns.data(), columns.size());
        });
  }
  for (size_t at = first; at < pieces.size(); ++at) {
    const PlacedPiece placed = pieces[at];
    const uint32_t transaction = placed.piece.transaction;
    if (placed.batch->log.is_ad_hoc(transaction)) continue;
    for (const OperationId operation :
         dispatch_.find(block, placed.batch->log.call(transaction).procedure)->recalled)
      placed.batch->recording.prefetch_recorded(transaction, operation);
  }
}

bool PieceRunner::run(uint32_t block, ReplayBatch& batch, Piece piece, ReplayThreadId thread_id) {
  Thread& thread = thread_of(thread_id);
  thread.rows.go_on_at(thread.lookups_begin[thread.next_prepared++]);
  ++thread.pieces;
  return piece.part.visit(
      [&](CallPart part) { return run_slice(block, batch, piece.transaction, part, thread_id); },
      [&](uint32_t number) {
        return install(block, batch.log, piece.transaction, batch.log.changes(piece.transaction)[number],
                       thread);
      });
}

bool PieceRunner::run_slice(uint32_t block, ReplayBatch& batch, uint32_t transaction, CallPart part,
                            ReplayThreadId thread_id) {
  Thread& thread = thread_of(thread_id);
  const Call& call = batch.log.call(transaction);
  const SliceReplay& slice = *dispatch_.find(block, call.procedure);
  thread.recording.bind(batch.recording, transaction, thread_id);
  const NativeRunFunction native =
      part.slice_part ? slice.parts[*part.slice_part].run_native : slice.run_native;
  if (native != nullptr) return run_native(native, slice, batch.log, transaction, part.iteration, thread);

  RunRequest request;
  request.procedure = &slice.local->replay;
  request.body = part.slice_part ? slice.parts[*part.slice_part].body : ir::BodyView(slice.slice->body);
  request.arguments = call.arguments;
  request.rows = &thread.rows;
  request.recording = &thread.recording;
  request.keys = check_of(call, thread);
  request.only_iteration = part.iteration;
  Outcome outcome = thread.interpreter.run(request);
  if (outcome.completed()) outcome = end_of_run(thread.rows.end_run());
  return outcome.completed() || fail(batch.log, transaction, outcome);
}

bool PieceRunner::run_native(NativeRunFunction unit, const SliceReplay& slice, const LogBatch& batch,
                             uint32_t transaction, std::optional<uint32_t> only_iteration, Thread& thread) {
  const Call& call = batch.call(transaction);
  if (!thread.native.run(unit, slice.local->replay, call.arguments, only_iteration, check_of(call, thread)))
    return fail(batch, transaction, thread.native.outcome());
  const AccessStatus inserted = thread.rows.end_run();
  return inserted == AccessStatus::kOk || fail(batch, transaction, end_of_run(inserted));
}

bool PieceRunner::run_share(uint32_t block, ReplayBatch& batch, ReplayThreadId thread_id, ShareWork& work) {
  Thread& thread = thread_of(thread_id);
  thread.asked = {};
  const LogBatch& log = batch.log;
  const std::span<const std::optional<SliceReplay>> slices = dispatch_.slices(block);
  std::array<SharePiece, kMostAtOnce> group;
  for (uint32_t next = 0; next < log.size();) {
    size_t count = 0;
    for (; next < log.size() && count < group.size(); ++next) {
      const std::optional<SliceReplay>& slice = slices[log.procedure(next).value];
      if (!slice) continue;
      group[count++] = {&*slice, next};
      work.operations += slice->work;
      log.prefetch_arguments(next);
      if (!slice->recalled.empty()) batch.recording.prefetch_operations(next);
    }
    for (const SharePiece& piece : std::span(group).first(count)) {
      for (const OperationId operation : piece.slice->recalled)
        batch.recording.prefetch_recorded(piece.transaction, operation);
    }
    for (std::span<SharePiece> left = std::span(group).first(count); !left.empty();) {
      const size_t ready = name_lookups(batch, left, thread, thread_id);
      for (const SharePiece& piece : left.first(ready)) {
        thread.rows.go_on_at(piece.first_lookup);
        if (!run_share_piece(block, batch, piece, thread, thread_id)) return false;
      }
      thread.pieces += ready;
      work.pieces += ready;
      left = left.subspan(ready);
    }
  }
  return true;
}

// Looks up what the first of these pieces will ask for, and returns how many they are: at least one.
size_t PieceRunner::name_lookups(ReplayBatch& batch, std::span<SharePiece> pieces, Thread& thread,
                                 ReplayThreadId thread_id) {
  const std::span<RowLookup> room(thread.lookups);
  LookupRequest request{.schema = &schema_, .recording = &thread.recording};
  size_t count = 0;
  size_t ready = 0;
  for (; ready < pieces.size(); ++ready) {
    SharePiece& piece = pieces[ready];
    piece.first_lookup = count;
    if (piece.slice->lookups == nullptr) continue;
    if (!piece.slice->recalled.empty()) thread.recording.bind(batch.recording, piece.transaction, thread_id);
    request.arguments = batch.log.call(piece.transaction).arguments;
    const size_t named = piece.slice->lookups(request, room.subspan(count));
    // Perhaps it would have named more: it begins the next group.
    if (count > 0 && count + named == room.size()) break;
    count += named;
  }
  thread.rows.expect(room.first(count));
  return ready;
}

bool PieceRunner::run_share_piece(uint32_t block, ReplayBatch& batch, const SharePiece& piece, Thread& thread,
                                  ReplayThreadId thread_id) {
  const SliceReplay& slice = *piece.slice;
  if (slice.run_native == nullptr) return run_slice(block, batch, piece.transaction, {}, thread_id);
  if (slice.uses_recording()) thread.recording.bind(batch.recording, piece.transaction, thread_id);
  return run_native(slice.run_native, slice, batch.log, piece.transaction, std::nullopt, thread);
}

bool PieceRunner::install(uint32_t block, const LogBatch& batch, uint32_t transaction,
                          const LoggedChange& change, Thread& thread) {
  const std::optional<ColumnBits> among = dispatch_.changes().find(block, change.row.table)->among();
  if (thread.changes.takes_out_entries(change.row)) thread.rows.forget_expected();
  return check_installed(batch, transaction, change,
                         thread.changes.replay(change.row, among ? &*among : nullptr));
}

bool PieceRunner::check_installed(const LogBatch& batch, uint32_t transaction, const LoggedChange& change,
                                  InstallOutcome outcome) {
  if (outcome == InstallOutcome::kInstalled) return true;
  const Lsn lsn = batch.lsn(transaction);
  keep_error(lsn, install_error(database_.catalog(), change.row.table, lsn, outcome));
  return false;
}

void PieceRunner::add_to(ReplayStatistics& statistics) {
  for (const auto& padded : threads_) {
    Thread& thread = **padded;
    statistics.pieces += std::exchange(thread.pieces, 0);
    statistics.row_lines +=
        thread.rows.lines_asked_for() - std::exchange(thread.lines_told, thread.rows.lines_asked_for());
    thread.asked = {};
  }
}

bool PieceRunner::fail(const LogBatch& batch, uint32_t transaction, const Outcome& outcome) {
  const Lsn lsn = batch.lsn(transaction);
  keep_error(lsn, replay_error(program_.procedure(batch.call(transaction).procedure), lsn, outcome));
  return false;
}

void PieceRunner::keep_error(Lsn lsn, Error error) {
  const std::lock_guard lock(error_mutex_);
  if (error_ && error_lsn_ <= lsn) return;
  error_ = std::move(error);
  error_lsn_ = lsn;
}

Error PieceRunner::failure() {
  const std::lock_guard lock(error_mutex_);
  return *error_;
}

}  // namespace mneme
