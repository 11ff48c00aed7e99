// Checkpoint schedule: takes checkpoints of a database at work, one after the other, whenever one is due.
//
// Due         never before recovery has ended. Then whenever the log runs out of room, or `seconds` after the
//             last try began. With `of_replay`, `seconds` limits instead the time that replaying the log
//             behind the last checkpoint is predicted to take.
// Prediction  the transactions behind the last checkpoint, divided by the speed at which this machine replays
//             them. The recovery that opened the database measured that speed. If it replayed too few
//             transactions, the speed at which transactions run is used, which is usually lower (PACMAN,
//             figure 11).
// Threads     one of its own, and those of the checkpointer. The owner calls finish().
// Errors      the schedule calls `failed` with the error of a failed checkpoint, and tries again when one is
//             due. It waits at least a second first, then two, up to thirty: each try takes a record's
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
  bool of_replay = false;  // `seconds` limits the predicted replay time
  // The transactions that recovery replayed and, if there were any, their rate, as it reported them.
  uint64_t replayed_transactions = 0;
  double replay_tps = 0;
  OnlineCheckpointOptions checkpoint;
  std::function<void(const Error&)> failed;  // on the schedule's thread
};

class CheckpointSchedule {
 public:
  // `working` was opened with a helper (DurableLogOptions), and outlives this. A schema change waits for the
  // checkpoint that is being taken. The next checkpoint then has the changed schema.
  CheckpointSchedule(WorkingDatabase& working, CheckpointScheduleOptions options);
  // Gives up the checkpoint that is being taken.
  ~CheckpointSchedule();
  CheckpointSchedule(const CheckpointSchedule&) = delete;
  CheckpointSchedule& operator=(const CheckpointSchedule&) = delete;

  // Ends the schedule: hurries the checkpoint that is being taken and waits for it. Returns all checkpoints
  // that were taken.
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
  std::vector<TakenCheckpoint> taken_;  // used by the thread alone until it has ended

  // Used by the thread alone. last_ns_: when the last try began. last_records_: how many records the log had
  // when the last successful checkpoint began.
  const uint64_t start_ns_;
  uint64_t last_ns_;
  BackOff retry_{std::chrono::seconds(1), std::chrono::seconds(30)};
  uint64_t not_before_ns_ = 0;
  uint64_t last_records_ = 0;
  uint64_t records_before_;  // replayed when the database was opened; 0 once a checkpoint was taken

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool closing_ = false;
  OnlineCheckpointer* taking_ = nullptr;  // while one is taken
  std::thread thread_;
};

}  // namespace mneme
