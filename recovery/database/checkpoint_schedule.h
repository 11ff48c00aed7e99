// Checkpoint schedule: takes checkpoints of a database at work, one after the other, whenever one is due.
//
// Due         so many seconds after the last one began; or once replaying the log behind it would take so
//             many seconds, as predicted: its transactions, divided by the speed at which this machine
//             replays them. That is what the recovery that opened the database measured, where it replayed
//             enough; else the speed at which they ran, which is the slower one as a rule (PACMAN, figure
//             11). And whenever the log runs out of room.
// Threads     one of its own, and those of the checkpointer. failures and finish: the owner.
// Errors      `failed` is called with the error of a checkpoint that failed. The next is tried when it is
//             due, but not before a second has passed, then two, up to thirty: each try takes a record's
//             room, and the log may have little left.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/back_off.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "recovery/database/data_directory.h"

namespace mneme {

struct CheckpointScheduleOptions {
  double seconds = 0;      // above 0
  bool of_replay = false;  // predicted, instead of passed
  // As recovery reported of the log that it replayed: its transactions and, if there were any, its speed.
  uint64_t replayed_transactions = 0;
  double replay_tps = 0;
  OnlineCheckpointOptions checkpoint;
  std::function<void(const Error&)> failed;  // on the schedule's thread
};

class CheckpointSchedule {
 public:
  // `working` was opened with a helper (DurableLogOptions), and outlives this. A change of its schema waits
  // for a checkpoint that is being taken, and the next one is of what it has made.
  CheckpointSchedule(WorkingDatabase& working, CheckpointScheduleOptions options);
  // Gives up the checkpoint that is being taken.
  ~CheckpointSchedule();
  CheckpointSchedule(const CheckpointSchedule&) = delete;
  CheckpointSchedule& operator=(const CheckpointSchedule&) = delete;

  // Begins no more, and waits for the one that is being taken, which hurries. Returns all that were taken.
  std::vector<TakenCheckpoint> finish();

 private:
  void end(bool gives_up);
  void run();
  // Inside the schema's latch. Returns nullopt if the schedule ends.
  std::optional<Result<TakenCheckpoint>> take();
  // Returns false if the schedule ends.
  bool set_taking(OnlineCheckpointer* checkpointer);
  bool is_due(uint64_t now_ns);
  // Predicts how long the log behind the last checkpoint would take.
  double predicted_replay_seconds(uint64_t now_ns) const;

  const CheckpointScheduleOptions options_;
  WorkingDatabase& working_;
  DirectoryLog& log_;
  const WorkerId helper_;
  std::vector<TakenCheckpoint> taken_;  // the thread's, until it has ended

  // The thread's: when, and behind how many records, the last checkpoint began.
  const uint64_t start_ns_;
  uint64_t last_ns_;
  BackOff retry_{std::chrono::seconds(1), std::chrono::seconds(30)};
  uint64_t not_before_ns_ = 0;
  uint64_t last_records_ = 0;
  uint64_t records_before_;  // in the log behind the checkpoint that was there at the start

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool closing_ = false;
  OnlineCheckpointer* taking_ = nullptr;  // while one is taken
  std::thread thread_;
};

}  // namespace mneme
