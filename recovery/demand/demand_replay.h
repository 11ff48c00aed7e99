// DemandReplay: replays a log of calls so that what somebody waits for comes first: the rows that a new
// transaction needs are settled before it touches them, and the rest when there is time.
//
// Flow        open(): find each piece's lanes, on all threads -> settle() what a transaction needs
//             (settling_rules.h), go_on() with the rest -> is_settled()
// Lanes       so many that each has some ten pieces, so that a lane is little to wait for. They follow from
//             the calls' arguments alone (AnalysisOptions::lanes_from_arguments), so all are known before
//             anything is replayed. A block whose pieces are often wide has fewer.
// Calls       are decoded twice: to find their lanes, and when the first of their pieces is to run. What they
//             decode to, and what their pieces record, would take more room and time to keep than that.
// Memory      some 20 bytes a piece until this ends; the calls of the batches of which pieces have run, and
//             others have not.
// Invariants  the tables end as a serial replay leaves them. A row that is settled is as it is then, so a
//             transaction that touches settled rows alone, by the rules, sees what it would see after all of
//             the replay, and changes nothing that the replay sees.
// Threads     open(): one. Then as DemandSchedule.
// Waiting     a thread that needs a call which another thread is decoding yields until it is decoded.
// Errors      as PieceRunner's; then nothing more is settled, and the tables are in no state to be used.
// Source      ours, on the pieces and blocks of PACMAN (SIGMOD 2017).
#pragma once

#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "recovery/calls/piece_runner.h"
#include "recovery/demand/demand_schedule.h"
#include "recovery/demand/settling_rules.h"

namespace mneme {

class DemandReplay final : private DemandExecutor {
 public:
  static constexpr uint32_t kLeastLanes = 64;
  static constexpr uint32_t kMostLanes = uint32_t{1} << 21;
  static constexpr uint32_t kBatchTransactions = 1024;

  // `graph`: of an analysis with lanes_from_arguments. `options`: `threads` are all that will call settle()
  // and go_on(), `native` is the machine code of the graph's SliceUnits, `batch_transactions` and
  // `lanes_per_block` are taken where they are given. All arguments outlive this.
  DemandReplay(Database& database, const Program& program, const DependencyGraph& graph,
               ReplayOptions options);
  ~DemandReplay();
  DemandReplay(const DemandReplay&) = delete;
  DemandReplay& operator=(const DemandReplay&) = delete;

  // `records`: of a log that holds calls, in commit order, without skips; they must outlive this. `threads`:
  // to use now, and about as many as will call go_on(). Called once.
  Result<void> open(std::span<const RecordView> records, uint32_t threads);

  // Once open:
  DemandSchedule& schedule() { return *schedule_; }
  const SettlingRules& rules() const { return *rules_; }
  bool is_settled(const SettlingRules::Need& need) const;
  // False: replay has failed, and error() says why.
  bool settle(const SettlingRules::Need& need, ReplayThreadId thread) {
    return try_settle(need, thread, DemandSchedule::kNoLimit) == Settling::kSettled;
  }
  // The same, if it takes no more than `pieces`, about (DemandSchedule::try_settle).
  Settling try_settle(const SettlingRules::Need& need, ReplayThreadId thread, uint64_t pieces);
  bool go_on(ReplayThreadId thread) { return schedule_->go_on(thread); }
  Error error() { return runner_.failure(); }
  ReplayStatistics statistics();

 private:
  // A batch, and its calls while some of its pieces have run and others have not.
  struct Batch {
    std::span<const RecordView> records;
    bool stands_alone = false;
    std::vector<uint32_t> procedures;  // by transaction: the call's, or kNoCall
    // Written with mutex_ held (release), read by any (acquire).
    std::atomic<ReplayBatch*> replay{nullptr};
    // By transaction. Whoever finds its call encoded, and says so (acquire), decodes it (release).
    enum class Stage : uint8_t { kEncoded, kIsDecoded, kDecoded };
    std::unique_ptr<std::atomic<Stage>[]> stages;
  };
  static constexpr uint32_t kNoCall = std::numeric_limits<uint32_t>::max();

  void cut(std::span<const RecordView> records, uint32_t threads);
  void place_lanes(std::span<const RecordView> records);
  // Fills the lists of these blocks.
  bool fill(std::vector<DemandBatch>& lists, uint32_t first_block, uint32_t end_block, uint32_t threads);
  bool fill(DemandBatch& lists, uint32_t block, ReplayBatch& replay, ReplayThreadId thread);
  void note_calls(Batch& batch, const LogBatch& log);
  std::vector<DemandSchedule::Block> shape() const;
  ReplayBatch& loaded(Batch& batch);
  void decode(Batch& batch, ReplayBatch& replay, uint32_t transaction, ReplayThreadId thread);

  uint32_t prepare(uint32_t block, std::span<const BatchPiece> pieces, ReplayThreadId thread) override;
  bool run(uint32_t block, const BatchPiece& piece, ReplayThreadId thread) override;
  bool run_alone(uint32_t batch) override;
  void retire(uint32_t batch) override;
  std::optional<uint32_t> procedure_of(uint32_t batch, uint32_t transaction) const override;

  Database& database_;
  const DependencyGraph& graph_;
  const bool chooses_lanes_;
  const ReplayOptions options_;
  PieceRunner runner_;
  std::vector<LanePlacement> placements_;                                    // by block
  std::vector<bool> is_recalled_;                                            // by block
  std::vector<std::vector<std::vector<DemandSchedule::Recalled>>> recalls_;  // by block and procedure
  std::vector<std::vector<uint32_t>> reserving_;  // by procedure: blocks with slices that record by iteration
  std::deque<Batch> batches_;
  std::atomic<uint64_t> ad_hoc_{0};  // transactions; relaxed: joining open()'s threads orders it
  std::mutex mutex_;                 // guards free_, and Batch::replay where it is written
  std::vector<std::unique_ptr<ReplayBatch>> made_;
  std::vector<ReplayBatch*> free_;                // of these
  std::vector<std::vector<PlacedPiece>> groups_;  // by thread
  std::unique_ptr<SettlingRules> rules_;
  std::unique_ptr<DemandSchedule> schedule_;
};

}  // namespace mneme
