// Replay: the options and statistics that all replayers have in common, and how they fail.
//
// Flow        calls: RecordStream -> SerialReplayer (CLR) or ParallelReplayer (CLR-P) -> tables; rows:
//             RecordViews -> ShuffleReplayer (LLR-P), UnorderedReplayer (LLR) or LocationReplayer (PLR) ->
//             tables
// Invariants  the tables hold the checkpoint when replay begins, and no other thread touches them until it
//             ends.
// Errors      a call that raises, or finds memory exhausted, ends replay: the error names the LSN. The tables
//             are then in no state to be used; the directory has not been touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "base/result.h"
#include "engine/transaction/database.h"
#include "logging/reading/log_reader.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/interpreter.h"
#include "recovery/log/thread_time.h"

namespace mneme {

class LaneThreads;
class ScheduleRecorder;

// The paper's three levels of parallelism (sections 4.2, 4.3.1, 4.3.2).
enum class ReplayLevel : uint8_t {
  kStatic,       // one lane a block, one batch at a time
  kSynchronous,  // many lanes a block, one batch at a time
  kPipelined,    // many lanes a block, several batches at a time
};

// The order in which logged rows are replayed. Reverse: the newest image of a row comes first, and older ones
// are skipped (appendix A.2).
enum class ReplayOrder : uint8_t { kForward, kReverse };

struct ReplayOptions {
  uint32_t threads = 1;
  uint32_t batch_transactions = 1000;
  ReplayLevel level = ReplayLevel::kPipelined;
  ReplayOrder order = ReplayOrder::kReverse;
  // CLR-P: into how many lanes a block is cut that has keys to cut it by. 0: into as many as its work demands
  // (lane_planner.h).
  uint32_t lanes_per_block = 0;
  // CLR-P: as if so many threads replayed there are lanes and batches in flight; 0: as for `threads`.
  uint32_t planned_threads = 0;
  // Machine code to run: of the program's procedures, by id (CLR); of the graph's SliceUnits (CLR-P). Empty:
  // the interpreter runs all.
  std::span<const NativeFunctions> native;
  // CLR-P: records where the threads' time goes (schedule_recorder.h); nullptr: no thread reads the clock for
  // it.
  ScheduleRecorder* recorder = nullptr;
  // CLR-P: run the tasks in place of oneTBB (lane_threads.h). `lanes_per_block` is given, so that lanes do
  // not depend on the time that pieces take.
  LaneThreads* lane_threads = nullptr;
  // Called from time to time, by any one thread: how many transactions have been replayed and, where calls
  // are replayed, the last of them.
  std::function<void(uint64_t done, std::optional<Lsn> last)> progress;
  // Asked between batches, by any of the threads. Once it returns true, which it does from then on, replay
  // begins no further batch and ends: ReplayStatistics::is_partial. Empty: replay goes on to the end.
  std::function<bool()> is_interrupted;

  bool interrupted() const { return is_interrupted && is_interrupted(); }
};

// A call as it was run again, and the INOUT parameters' values that it ended with. Valid during the callback.
struct ReplayedCall {
  Lsn lsn;
  const Call& call;
  std::span<const Argument> results;
};
using ReplayedCallVisitor = std::function<void(const ReplayedCall&)>;

struct ReplayStatistics {
  uint64_t transactions = 0;
  uint64_t ad_hoc = 0;    // of them, where calls are replayed: those of which there are rows alone
  uint64_t barriers = 0;  // of these, those that nothing could run beside (CLR-P)
  uint64_t pieces = 0;    // of a serial replay: transactions; of rows: changes
  // Replay was interrupted before its end. `transactions` counts those that were replayed; LLR-P goes through
  // each transaction twice, and counts it by half each time. The tables are in no state to be used.
  bool is_partial = false;
  // Where calls are replayed: all transactions up to this one have been.
  std::optional<Lsn> replayed_to;
  // Summed over threads.
  double decode_seconds = 0;
  double dispatch_seconds = 0;
  // CLR-P: cache lines of rows that were asked for ahead of their use.
  uint64_t row_lines = 0;
  // By block, of calls that are replayed in parallel: how long it ran in its one lane.
  std::vector<double> lane_seconds;
  std::vector<uint64_t> lane_pieces;  // likewise: how many slices of calls those were
  // Where the threads' time went, of the schemes that the recorder does not follow; empty where it is not
  // measured.
  std::vector<ThreadTime> threads;

  void add(const ReplayStatistics& other) {
    transactions += other.transactions;
    ad_hoc += other.ad_hoc;
    barriers += other.barriers;
    pieces += other.pieces;
    is_partial |= other.is_partial;
    if (other.replayed_to) replayed_to = other.replayed_to;
    row_lines += other.row_lines;
    decode_seconds += other.decode_seconds;
    dispatch_seconds += other.dispatch_seconds;
    lane_seconds.resize(std::max(lane_seconds.size(), other.lane_seconds.size()));
    for (size_t b = 0; b < other.lane_seconds.size(); ++b) lane_seconds[b] += other.lane_seconds[b];
    lane_pieces.resize(std::max(lane_pieces.size(), other.lane_pieces.size()));
    for (size_t b = 0; b < other.lane_pieces.size(); ++b) lane_pieces[b] += other.lane_pieces[b];
    threads.resize(std::max(threads.size(), other.threads.size()));
    for (size_t t = 0; t < other.threads.size(); ++t) threads[t].add(other.threads[t]);
  }
};

}  // namespace mneme
