// BulkReplay: replays a log of calls by CLR-P, batch after batch, until it is told to leave the rest.
//
// Flow        the constructor analyses and compiles -> run()
// Invariants  what it has replayed when run() returns is the log's begin: so many records, and nothing of the
//             others.
// Threads     one owner; run() uses the setting's threads.
// Errors      as replay.h says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "recovery/log/replayer.h"

namespace mneme {

class BulkReplay {
 public:
  // What the setting refers to outlives this, but for its report and folders, which are used in here alone.
  // `records`: all of a stretch that the log ends with; they outlive this.
  BulkReplay(const ReplayerSetting& setting, std::span<const RecordView> records);
  BulkReplay(const BulkReplay&) = delete;
  BulkReplay& operator=(const BulkReplay&) = delete;

  // Asked between batches, by one thread at a time, with the number of records that have been replayed. Once
  // it has returned true, no further batch is begun.
  using IsEnough = std::function<bool(uint64_t done)>;
  // Called once. The statistics' transactions are the records that have been replayed.
  Result<ReplayStatistics> run(IsEnough is_enough);

  // Its analysis, machine code and notices.
  const RecoveryReport& report() const { return report_; }

 private:
  const std::span<const RecordView> records_;
  const NativeFolders folders_;
  RecoveryReport report_;
  IsEnough is_enough_;
  std::atomic<uint64_t> done_{0};  // written by the thread that retires a batch, read by the one that loads
                                   // the next: relaxed, a count to decide by
  bool is_ended_ = false;          // of the threads that load, one at a time
  std::unique_ptr<Replayer> replayer_;
};

}  // namespace mneme
