// PieceRunner: runs pieces of decoded batches on the tables: what every replayer of pieces does, whatever
// order it chooses.
//
// Flow        decode() -> fill(), block by block -> prepare() a group of pieces -> run() each of them
// Groups      a group's rows are looked up at once, so that their cache misses overlap. Until the last of a
//             group has run, its thread runs nothing else, and nothing else touches the lanes of its pieces.
// Invariants  pieces that conflict are run in commit order, and what a piece recalls has been recorded
//             before: the caller sees to it (dependency_graph.h).
// Threads     each call names the thread that makes it; a thread makes one call at a time.
// Errors      a call returns false, and failure() has the error of the earliest record: later ones may be its
//             consequence. The tables are then in no state to be used.
// Source      PACMAN (SIGMOD 2017), sections 4 and 4.5.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "engine/transaction/replay_access.h"
#include "procedures/interpreter/native_runner.h"
#include "recovery/calls/batch_recording.h"
#include "recovery/calls/piece.h"
#include "recovery/calls/piece_dispatch.h"
#include "recovery/log/log_batch.h"
#include "recovery/log/replay.h"
#include "recovery/rows/change_replayer.h"

namespace mneme {

// The transactions of a batch, and what their pieces hand to each other.
struct ReplayBatch {
  ReplayBatch(const RecordedOperations& operations, uint32_t threads) : recording(operations, threads) {}

  LogBatch log;
  BatchRecording recording;
};

struct PlacedPiece {
  ReplayBatch* batch = nullptr;
  Piece piece;

  bool operator==(const PlacedPiece&) const = default;
};

// What a share had to do.
struct ShareWork {
  double operations = 0;  // LanePlanner::work
  uint64_t pieces = 0;
};

class PieceRunner {
 public:
  // As ParallelReplayer's.
  PieceRunner(Database& database, const Program& program, const DependencyGraph& graph,
              const ReplayOptions& options);

  const PieceDispatch& dispatch() const { return dispatch_; }
  // Before pieces run: `records` of them will, and `has_rows` says whether some are changed rows. What no
  // record changes is then found faster, where finding that out costs less than it saves.
  void begin(uint64_t records, bool has_rows);
  std::unique_ptr<ReplayBatch> make_batch() const {
    return std::make_unique<ReplayBatch>(recorded_, static_cast<uint32_t>(threads_.size()));
  }

  bool decode(ReplayBatch& batch, std::span<const RecordView> records);
  // The same, but calls are left to decode_call(), once each, before anything else is asked of them. Several
  // threads may decode different ones.
  bool decode_changes(ReplayBatch& batch, std::span<const RecordView> records);
  bool decode_call(ReplayBatch& batch, const RecordView& record, uint32_t transaction, ReplayThreadId thread);
  // The batch's one transaction is ad hoc, and nothing else runs.
  bool install_alone(const LogBatch& batch);
  // Appends the batch's pieces in the block to `lanes`. Afterwards samples() is what was observed of them.
  bool fill(uint32_t block, const LanePlacement& placement, ReplayBatch& batch, ReplayThreadId thread,
            LaneFill& lanes);
  // Makes room for what the iterations of one call's slice in the block record, where they are pieces: as
  // fill() does for the calls of a batch.
  bool reserve(uint32_t block, const LanePlacement& placement, ReplayBatch& batch, uint32_t transaction,
               ReplayThreadId thread);
  std::span<const LaneSample> samples(ReplayThreadId thread) { return thread_of(thread).locator.samples(); }

  // Makes the first of these pieces ready, at least one, and returns how many; none is a share.
  uint32_t prepare(uint32_t block, std::span<const PlacedPiece> pieces, ReplayThreadId thread);
  uint32_t prepare(uint32_t block, ReplayBatch& batch, std::span<const Piece> pieces, ReplayThreadId thread);
  // Runs a piece that is ready, in the order in which they were made so.
  bool run(uint32_t block, ReplayBatch& batch, Piece piece, ReplayThreadId thread);
  // Runs the slices of all the batch's calls in a block of one lane, in commit order: as prepare() and run()
  // have it, but with nothing done piece by piece that can be done once.
  bool run_share(uint32_t block, ReplayBatch& batch, ReplayThreadId thread, ShareWork& work);

  // Since the last call: adds how many pieces have run, and cache lines of rows were asked for.
  void add_to(ReplayStatistics& statistics);

  // Keeps the earliest of several errors.
  void keep_error(Lsn lsn, Error error);
  Error failure();

 private:
  // Pieces whose calls and recordings have been asked for, but that are not ready yet: the next group begins
  // with them, if nothing comes between.
  struct AskedPieces {
    uint32_t block = 0;
    size_t count = 0;
    PlacedPiece first;
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
          locator(database.schema(), dispatch, &rows) {}

    ReplayAccess rows;
    ChangeReplayer changes;
    TransactionRecording recording;
    Interpreter interpreter;
    NativeRunner native;
    PieceLocator locator;
    HintCheck hint;
    AskedPieces asked;
    // The look-ups of the pieces that are ready, and where each piece's look-ups begin.
    std::array<RowLookup, Prefetcher::kMaxLookups> lookups;
    std::vector<size_t> lookups_begin;
    size_t next_prepared = 0;
    uint64_t pieces = 0;
    uint64_t lines_told = 0;  // of those asked for
  };

  template <typename Pieces>
  uint32_t prepare_group(uint32_t block, const Pieces& pieces, ReplayThreadId thread);
  template <typename Pieces>
  void prefetch(uint32_t block, const Pieces& pieces, size_t first) const;
  bool run_slice(uint32_t block, ReplayBatch& batch, uint32_t transaction, CallPart part,
                 ReplayThreadId thread);
  bool run_native(NativeRunFunction unit, const SliceReplay& slice, const LogBatch& batch,
                  uint32_t transaction, std::optional<uint32_t> only_iteration, Thread& thread);
  size_t name_lookups(ReplayBatch& batch, std::span<SharePiece> pieces, Thread& thread,
                      ReplayThreadId thread_id);
  bool run_share_piece(uint32_t block, ReplayBatch& batch, const SharePiece& piece, Thread& thread,
                       ReplayThreadId thread_id);
  bool install(uint32_t block, const LogBatch& batch, uint32_t transaction, const LoggedChange& change,
               Thread& thread);
  bool check_installed(const LogBatch& batch, uint32_t transaction, const LoggedChange& change,
                       InstallOutcome outcome);
  // Returns what holds the call's pieces to its hint, or nullptr if it has none.
  static KeySink* check_of(const Call& call, Thread& thread) {
    if (call.hints.empty()) return nullptr;
    thread.hint.use(call.hints);
    return &thread.hint;
  }
  bool fail(const LogBatch& batch, uint32_t transaction, const Outcome& outcome);
  Thread& thread_of(ReplayThreadId id) { return **threads_[id.value]; }

  Database& database_;
  const Program& program_;
  const DependencyGraph& graph_;
  const Schema& schema_;
  const RecordedOperations recorded_;
  const PieceDispatch dispatch_;
  std::vector<std::unique_ptr<CachePadded<Thread>>> threads_;
  ChangeReplayer alone_;
  std::vector<ConstantRows> constant_rows_;
  std::vector<const ConstantRows*> constant_by_index_;

  std::mutex error_mutex_;  // guards the two below
  std::optional<Error> error_;
  Lsn error_lsn_;
};

}  // namespace mneme
