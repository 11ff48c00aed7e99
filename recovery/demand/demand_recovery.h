// DemandRecovery: the recovery of a database that is open already: transactions run, and each waits, and
// works, for what the log has yet to do to the rows that it touches.
//
// Flow        recover() with RecoverOptions::on_demand -> start(): the rest of the checkpoint is loaded, and
//             the log is replayed in bulk, until somebody asks for a row -> what is left is opened
//             (DemandOpener), and replayed on demand by a few threads -> Transaction asks the gate -> rows
//             settled, by the worker itself -> all is settled: the gate is taken away
// Bulk        takes half of what replay on demand takes, and lets nobody touch a table that the log changes.
//             It is left only where that pays: where it would take longer than Setting::most_bulk_seconds,
//             and kLeastGain times what opening the rest takes, by the time that a record has taken in bulk,
//             and by a try of what it takes to open one. Else those who ask wait for its end, which is near
//             then.
// Base        The checkpoint may not be loaded when this starts (unloaded_base.h). All threads load it before
//             bulk. They leave the rest for transactions that ask, as bulk is left, if it would take longer
//             than most_bulk_seconds. Then nothing is replayed in bulk: transactions and pieces load what
//             they look for, and the threads load the rest before they replay on demand. Bulk finds all rows
//             loaded, as some of its look-ups do not go through UnloggedWriter.
// Damage      Once a thread finds the base damaged, the gate refuses every access. A piece that looked for a
//             row in vain sees the failure before its lane is settled, and the gate asks for the failure
//             after it has seen the lane settled. So no transaction goes on that saw what came of it.
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
// Errors      finish(): the log and the rows do not fit each other. Transactions fail from then on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/cache_line.h"
#include "base/clock.h"
#include "engine/table/access_gate.h"
#include "logging/reading/log_reader.h"
#include "recovery/demand/bulk_replay.h"
#include "recovery/demand/demand_opener.h"
#include "recovery/demand/unloaded_base.h"

namespace mneme {

// How far it was at some time.
struct SettledShare {
  double seconds = 0;  // since start()
  double share = 0;    // of the log: of its records, and of the pieces of those that were opened
};

struct DemandReport {
  uint64_t bulk_transactions = 0;  // that were replayed before the rest was opened
  double bulk_seconds = 0;
  double opening_seconds = 0;  // to decode the rest's calls, and find their lanes; 0: nothing was opened
  double seconds = 0;          // from start() until all was settled
  double base_seconds = 0;     // from start() until all of the base was loaded; 0: it was before
  uint64_t base_chunks = 0;    // that were not loaded before
  uint64_t base_wanted = 0;    // of them, those that a transaction or a piece wanted
  uint64_t lanes = 0;
  uint64_t pieces = 0;
  uint64_t waits = 0;  // of transactions for rows that were not settled
  double longest_wait_seconds = 0;
  std::vector<SettledShare> settled;  // in time's order
  ReplayStatistics statistics;
  std::vector<std::string> notices;  // sentences for the user
};

class DemandRecovery final : public AccessGate {
 public:
  // A millisecond's work or two.
  static constexpr uint64_t kMostPiecesOfWorker = 4096;
  // So much more it replays while the base is being loaded, as nobody else does.
  static constexpr uint64_t kTimesMoreBeforeLoaded = 16;
  // To open a record takes so much less than to replay it in bulk, or bulk is not left for it.
  static constexpr double kLeastGain = 3;

  struct Setting {
    uint32_t workers = 1;
    uint32_t threads = 1;  // that start() may have
    // More than that, about, a worker does not replay for a row at a time.
    uint64_t most_pieces_of_worker = kMostPiecesOfWorker;
    double most_bulk_seconds = 0;  // 0: bulk is left as soon as somebody asks
  };
  // `bulk` and `opener`: of the same records. No `bulk`: all of the log is opened at once. No `base`: all
  // rows are loaded. With one the log holds calls alone.
  DemandRecovery(Database& database, std::unique_ptr<BulkReplay> bulk, std::unique_ptr<DemandOpener> opener,
                 Setting setting, std::unique_ptr<UnloadedBase> base = nullptr);
  ~DemandRecovery() override;
  DemandRecovery(const DemandRecovery&) = delete;
  DemandRecovery& operator=(const DemandRecovery&) = delete;

  // The log's records must outlive the replay.
  void keep(LogContents log) { log_ = std::move(log); }

  // Puts the gate before the database's rows, and begins to replay.
  void start();
  // Opens what bulk has left, from this record on. start() does so once somebody has asked; a test may do it
  // alone.
  Result<void> open(uint64_t first);
  // Whether all is settled. Once true, it stays so.
  bool is_settled() const { return is_settled_.load(std::memory_order_acquire); }
  // SettledShare::share, as a thread that replays saw it last; 1 at the end.
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
  // What a transaction is to do that stands at the gate.
  enum class Pass : uint8_t { kGo, kSettle, kGiveUp };

  Pass enter(Visit& visit, TableId table, bool reads);
  static void note_wait(Visitor& visitor, uint64_t begin_ns);
  void replay();
  bool load_base();
  bool is_base_enough();
  bool finish_base();
  void load_rest_of_base();
  bool is_base_sound() const { return base_ == nullptr || !base_->has_failed(); }
  bool load(IndexId index, const KeyRange& range) { return base_ == nullptr || base_->load(index, range); }
  uint64_t most_pieces() const;
  bool load_equals(TableId table, const std::byte* image);
  Result<uint64_t> replay_in_bulk();
  bool is_bulk_enough(uint64_t done);
  bool settle(Visitor& visitor, WorkerId worker);
  bool settle(const SettlingRules::Need& need, WorkerId worker);
  void go_on(uint32_t thread);
  void note_share(double share);
  double share_of_pieces() const;
  void fail(Error error);
  void end();

  Database& database_;
  const Setting setting_;
  LogContents log_;
  std::unique_ptr<UnloadedBase> base_;
  std::unique_ptr<BulkReplay> bulk_;
  std::unique_ptr<DemandOpener> opener_;
  OpenedDemand opened_;                                          // written before is_open_
  std::vector<std::unique_ptr<CachePadded<Visitor>>> visitors_;  // by worker
  uint64_t start_ns_ = 0;
  // The thread that loads bulk's batches uses it, and then thread 0; so does it report_, until the end.
  uint64_t next_share_ns_ = 0;
  uint64_t share_interval_ns_;
  uint64_t rate_from_ns_ = 0;  // used likewise: bulk's rate counts from there on
  uint64_t rate_from_records_ = 0;
  bool is_decided_ = false;  // whether bulk is to be left for those who ask
  std::once_flag is_prepared_;
  std::atomic<bool> is_asked_{false};  // by a worker, once the opener is prepared (release, acquire)
  std::atomic<bool> is_open_{false};   // by the thread that has opened the rest (release, acquire)
  std::atomic<uint32_t> running_{
      0};  // threads of go_on(); the last one to end sees what the others did (acq_rel)
  std::atomic<bool> is_stopped_{false};  // by the destructor; relaxed: it carries nothing
  std::atomic<double> share_{0};         // written by who notes it, for people to read: relaxed
  std::atomic<bool> is_settled_{false};  // written by end(), as the next one is
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;  // guards the two below
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::optional<Error> error_;
  DemandReport report_;
  std::thread first_;                 // replays in bulk, opens the rest, and is thread 0 of go_on()
  std::vector<std::thread> threads_;  // the others of go_on(); first_'s until it ends
};

}  // namespace mneme
