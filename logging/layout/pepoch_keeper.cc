#include "logging/layout/pepoch_keeper.h"

#include <algorithm>

namespace mneme {

PepochKeeper::PepochKeeper(EpochClock& clock, EpochHorizon& horizon, Lsn begin,
                           std::unique_ptr<PepochFile> file,
                           const std::vector<std::unique_ptr<EpochLogger>>& loggers)
    : clock_(clock),
      horizon_(horizon),
      begin_(begin),
      file_(std::move(file)),
      loggers_(loggers),
      thread_([this] { run(); }) {}

PepochKeeper::~PepochKeeper() {
  closing_.store(true, std::memory_order_release);
  horizon_.logger_came_on();
  thread_.join();
}

LogEpoch PepochKeeper::slowest() const {
  LogEpoch slowest = loggers_.front()->persisted_until();
  for (const auto& logger : loggers_) slowest = std::min(slowest, logger->persisted_until());
  return slowest;
}

void PepochKeeper::run() {
  LogEpoch done = epoch_of(begin_);
  while (!horizon_.has_failed()) {
    // Before the loggers: what they had persisted when the destructor began must be in it.
    const bool closing = closing_.load(std::memory_order_acquire);
    const LogEpoch until = slowest();
    if (until > done) {
      if (const Result<void> persisted = persist(until); !persisted.ok()) {
        horizon_.fail(persisted.error());
        clock_.wake();
      }
      done = until;
    } else if (closing) {
      return;
    } else {
      horizon_.await_loggers([&] { return slowest() > done || closing_.load(std::memory_order_acquire); });
    }
  }
}

Result<void> PepochKeeper::persist(LogEpoch until) {
  uint64_t records = 0;
  std::vector<StreamPosition> stream_ends;
  for (const auto& logger : loggers_) {
    const EpochLogger::Extent extent = logger->take_persisted(until);
    records += extent.records;
    stream_ends.push_back(extent.end);
  }
  const Lsn end = first_of(until, begin_, records);
  if (file_ != nullptr) {
    RETURN_IF_ERROR(file_->write(LogEpoch{until.value - 1}, end, std::move(stream_ends)));
  }
  writes_.fetch_add(1, std::memory_order_relaxed);
  horizon_.rise(end);
  return {};
}

}  // namespace mneme
