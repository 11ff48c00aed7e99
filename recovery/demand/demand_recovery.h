// DemandRecovery: the rest of a recovery that has opened its database: transactions run already, and each
// waits, and works, for what the log has yet to do to the rows that it touches.
//
// Flow        recover() with RecoverOptions::on_demand -> start(): a few threads replay the rest ->
//             Transaction asks the gate -> rows settled, by the worker itself -> all is settled: the gate is
//             taken away
// Work        what a row waits for is replayed by the worker that needs it, if that is little. Lane by lane
//             takes several times what bulk takes. So a worker that finds it to be much wishes for the row's
//             block (DemandSchedule::wish), holds no lane, and sleeps until the row is settled. Now and then
//             it tries again: a ninth of the time at most. Replay does not wait for workers, so a wait ends
//             when all is settled at the latest.
// Invariants  transactions see, and leave, what they would after all of the recovery. New commits stand
//             behind the log's end, so a crash meanwhile loses nothing: the log is replayed again, old and
//             new.
// Memory      demand_replay.h; all is given back when the rest is settled and no transaction looks at it.
// Threads     start(), finish() and the destructor: the owner's. The gate: any worker, by its number. Ended
//             early, by the destructor, it leaves the database in no state to be used.
// Errors      error(): the log and the rows do not fit each other. Transactions fail from then on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/cache_line.h"
#include "base/clock.h"
#include "engine/table/access_gate.h"
#include "logging/reading/log_reader.h"
#include "procedures/native/compiled_units.h"
#include "recovery/calls/slice_units.h"
#include "recovery/demand/demand_replay.h"

namespace mneme {

// How far it was at some time.
struct SettledShare {
  double seconds = 0;  // since start()
  double share = 0;    // of the pieces that have run
};

struct DemandReport {
  double opening_seconds = 0;  // to decode the log's calls, and find their lanes
  double seconds = 0;          // from start() until all was settled
  uint64_t lanes = 0;
  uint64_t pieces = 0;
  uint64_t waits = 0;  // of transactions for rows that were not settled
  double longest_wait_seconds = 0;
  std::vector<SettledShare> settled;  // in time's order
  ReplayStatistics statistics;
};

class DemandRecovery final : public AccessGate {
 public:
  // A millisecond's work or two.
  static constexpr uint64_t kMostPiecesOfWorker = 4096;

  // What the replay refers to; it has been opened. `threads`: that start() may have.
  struct Parts {
    std::unique_ptr<DependencyGraph> graph;
    std::unique_ptr<SliceUnits> units;
    CompiledUnits code;
    std::unique_ptr<DemandReplay> replay;
    double opening_seconds = 0;
    // More than that, about, a worker does not replay for a row at a time.
    uint64_t most_pieces_of_worker = kMostPiecesOfWorker;
  };
  DemandRecovery(Database& database, Parts parts, uint32_t workers, uint32_t threads);
  ~DemandRecovery() override;
  DemandRecovery(const DemandRecovery&) = delete;
  DemandRecovery& operator=(const DemandRecovery&) = delete;

  // The log's records must outlive the replay.
  void keep(LogContents log) { log_ = std::move(log); }

  // Puts the gate before the database's rows, and replays the rest.
  void start();
  // Whether all is settled. Once true, it stays so.
  bool is_settled() const { return is_settled_.load(std::memory_order_acquire); }
  // The share of the pieces that have run, as thread 0 saw it last; 1 once all have.
  double settled_share() const { return is_settled() ? 1 : share_.load(std::memory_order_relaxed); }
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  // Waits for the end. An error says why replay could not go on.
  Result<void> finish();
  // After the end.
  const DemandReport& report() const { return report_; }

  bool before_read(WorkerId worker, IndexId index, const KeyRange& range) override;
  bool before_insert(WorkerId worker, TableId table, const std::byte* image) override;
  bool before_change(WorkerId worker, TableId table, ImageParts parts,
                     std::span<const ColumnId> changes) override;
  bool before_move(WorkerId worker, TableId table) override;
  bool before_erase(WorkerId worker, TableId table) override;

 private:
  // A worker's own.
  struct Visitor {
    // Set while the worker is in here, and so may use the replay. Its store and the load of is_settled_ that
    // follows, and in end() the store of is_settled_ and the loads of these, are sequentially consistent: so
    // one of the two sees the other.
    std::atomic<bool> is_inside{false};
    std::vector<SettlingRules::Need> needs;
    KeyValues values;
    uint64_t waits = 0;
    uint64_t longest_wait_ns = 0;
  };
  class Visit;

  bool settle(Visitor& visitor, WorkerId worker);
  bool settle(const SettlingRules::Need& need, WorkerId worker);
  void go_on(uint32_t thread);
  void note_share();
  void end();

  Database& database_;
  LogContents log_;
  Parts parts_;
  const uint32_t workers_;
  const uint32_t thread_count_;
  std::vector<std::unique_ptr<CachePadded<Visitor>>> visitors_;  // by worker
  uint64_t start_ns_ = 0;
  uint64_t next_share_ns_ = 0;  // of thread 0, as is report_.settled until the end
  uint64_t share_interval_ns_;
  std::atomic<uint32_t> running_{
      0};  // threads of go_on(); the last one to end sees what the others did (acq_rel)
  std::atomic<bool> is_stopped_{false};  // by the destructor; relaxed: it carries nothing
  std::atomic<double> share_{0};         // written by thread 0, for people to read: relaxed
  std::atomic<bool> is_settled_{false};  // written by end(), as the next one is
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;  // guards the two below
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::optional<Error> error_;
  DemandReport report_;
  std::vector<std::thread> threads_;
};

}  // namespace mneme
