// Follower: a standby at work: a data directory of its own that receives another engine's replicated log, a
// database in memory that replays it, and the step by which the two become the database.
//
// Flow        open(): lock -> adopt_base() -> recover -> LogReceiver, Standby -> run(): take -> advance,
//             round after round, a checkpoint now and then -> end, or promote()
// Readers     sessions on standby().working(): a round is short then, and where it has kept some out they
//             have their turn before the next one.
// Promotion   the receiver stops -> a term above all that came is fenced, so no other engine can append any
//             more -> what they appended until then is received and replayed -> the directory's log is read,
//             as recovery reads it, and must end where replay ended -> its end and a new incarnation with the
//             term's number are noted: it is a database like any other, to be opened for work
//             (become_database()). A crash before the last step leaves a standby; the fence stays, so that
//             promote() may be tried again. In place it goes on from there in this process: sessions
//             that were reading may write.
// Checkpoint  once so many bytes have been replayed since the last one; meanwhile nothing is replayed. That
//             bounds what the directory holds of the log, and what a restart replays.
// Threads     one owner, and the receiver's; lag(): any.
// Errors      as ReceivedLog, LogReceiver and Standby say. After one the directory can be followed with
//             again.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "logging/directory/directory_lock.h"
#include "logging/directory/manifest.h"
#include "logging/replicated/log_receiver.h"
#include "logging/replicated/received_log.h"
#include "logging/replicated/replicated_log.h"
#include "recovery/standby/standby.h"

namespace mneme {

struct FollowOptions {
  StandbyOptions standby;
  bool has_readers = false;
  uint64_t checkpoint_log_bytes = uint64_t{1} << 30;      // 0: no checkpoints
  std::chrono::milliseconds ask_interval{200};            // how often the log's end is asked for
  std::function<void(const RecoveryProgress&)> progress;  // of the recovery that comes first
  std::function<void(const StandbyCheckpoint&)> checkpointed;
};

// Whether sessions can read a standby of this database: its indexes are kept while it follows.
Result<void> check_can_be_read(const Manifest& manifest);

// How far the standby is behind. What is behind has been received and not replayed, unless it says otherwise.
struct FollowLag {
  Lsn replayed;                     // all records below it have been
  Lsn log_end;                      // of what was received
  uint64_t bytes = 0;               // between the two
  uint64_t transactions = 0;        // in them
  uint64_t unread = 0;              // messages of the log, at most, that have not been received
  double seconds = 0;               // as ReceivedLag says
  uint64_t total_transactions = 0;  // replayed since open()
  std::string trouble;
};

struct Promotion {
  uint32_t term = 0;
  Lsn end;                    // of the log
  uint64_t transactions = 0;  // that were replayed for it
  double seconds = 0;
};

class Follower {
 public:
  // The directory holds a base (standby_base.h), or a standby that has been here before.
  static Result<std::unique_ptr<Follower>> open(const std::string& directory,
                                                std::unique_ptr<ReplicatedReader> reader,
                                                const FollowOptions& options);

  // Until `ends` says so, which is asked at least each tenth of a second, but not while a round is replayed.
  Result<void> run(const std::function<bool()>& ends);
  // Receives no more, and makes what has come durable: the directory can be followed with again. The last
  // call, apart from those that only read.
  Result<void> end();
  // Whether nothing has come of the primary for so long, though the log's servers answer and it was heard
  // before. One that lives beats (log_beat.h).
  bool is_primary_gone(std::chrono::milliseconds limit) const { return receiver_->is_silent(limit); }
  struct How {
    // standby().working() becomes the directory's database, with the log of StandbyOptions.
    bool in_place = false;
    // Only where no other engine has taken the log over.
    bool if_first = false;
  };
  // Also the last call, apart from those that only read. Returns nothing where another engine came first,
  // which can be followed.
  Result<std::optional<Promotion>> promote(How how);

  FollowLag lag() const;
  // Returns the end of the received log that is durable here.
  Lsn durable() const { return log_ != nullptr ? log_->durable() : standby_->end(); }
  const Standby& standby() const { return *standby_; }
  const RecoveryReport& recovered() const { return recovered_; }
  // All rounds so far, and their time.
  uint64_t rounds() const { return rounds_; }
  double replay_seconds() const { return replay_seconds_; }
  uint64_t checkpoints() const { return checkpoints_; }

 private:
  explicit Follower(DirectoryLock lock, const FollowOptions& options)
      : options_(options), lock_(std::move(lock)) {}
  Result<void> replay(const std::vector<ReceivedBatch>& batches);
  Result<ReplayStatistics> advance(std::span<const RecordView> records, Lsn end,
                                   const Replayer::Progress& progress);
  // Replays all that has come, and all that other engines have appended before the fence.
  Result<std::optional<Promotion>> take_over(bool if_first);
  Result<void> replay_waiting();
  Result<void> take_checkpoint_if_due();

  const FollowOptions options_;
  DirectoryLock lock_;  // moved from once the standby is a primary, as manifest_ is
  std::unique_ptr<ManifestFile> manifest_;
  RecoveryReport recovered_;
  std::unique_ptr<ReplicatedReader> reader_;
  std::unique_ptr<ReceivedLog> log_;
  std::unique_ptr<Standby> standby_;
  uint64_t replayed_position_ = 0;
  size_t round_records_ = 256;  // where there are readers
  uint64_t rounds_ = 0;
  double replay_seconds_ = 0;
  uint64_t checkpoints_ = 0;
  Lsn checkpointed_;

  // Written by the owner, and its replay's threads, read by lag(). Relaxed: numbers to look at.
  std::atomic<uint64_t> replayed_lsn_{0};
  std::atomic<uint64_t> replayed_records_{0};  // those that were replayed, of the receiver's count
  std::atomic<uint64_t> transactions_{0};

  // Last: it ends first.
  std::unique_ptr<LogReceiver> receiver_;
};

}  // namespace mneme
