// PepochKeeper: the pepoch thread of an epoch log (epoch_log.h): it finds the slowest logger's progress,
// makes it durable in pepoch.log, and raises the horizon.
//
// Invariants  durable() rises only after the file holds the epoch, so that a reader finds all that was
//             acknowledged.
// Threads     one of its own.
// Errors      a failed write ends the log.
// Source      PACMAN, appendix A.1; SiloR.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "logging/layout/epoch_horizon.h"
#include "logging/layout/epoch_logger.h"
#include "logging/layout/pepoch_file.h"

namespace mneme {

class PepochKeeper {
 public:
  // `file`: null of a log that keeps nothing.
  PepochKeeper(EpochClock& clock, EpochHorizon& horizon, Lsn begin, std::unique_ptr<PepochFile> file,
               const std::vector<std::unique_ptr<EpochLogger>>& loggers);
  // The loggers have finished.
  ~PepochKeeper();

  // How often the file was written.
  uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }

 private:
  void run();
  LogEpoch slowest() const;
  Result<void> persist(LogEpoch until);

  EpochClock& clock_;
  EpochHorizon& horizon_;
  const Lsn begin_;
  const std::unique_ptr<PepochFile> file_;
  const std::vector<std::unique_ptr<EpochLogger>>& loggers_;
  std::atomic<uint64_t> writes_{0};   // written by the thread; relaxed: it orders nothing
  std::atomic<bool> closing_{false};  // written by the destructor (release), read by the thread (acquire)
  std::thread thread_;
};

}  // namespace mneme
