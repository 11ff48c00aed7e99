#include "recovery/checkpoint_schedule.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"

namespace mneme {

namespace {

constexpr std::chrono::milliseconds kLookInterval{10};
// Fewer replayed transactions tell little of the speed.
constexpr uint64_t kTellingTransactions = 10'000;

OnlineCheckpointOptions with_catalog(OnlineCheckpointOptions options, WorkingDatabase& working) {
  options.write_catalog = [&working](Manifest& manifest) {
    return write_catalog(working.manifest().directory(), working.program(), manifest);
  };
  return options;
}

}  // namespace

CheckpointSchedule::CheckpointSchedule(WorkingDatabase& working, CheckpointScheduleOptions options)
    : options_(std::move(options)),
      log_(working.log()),
      checkpointer_(working.database(), working.log(), working.manifest(),
                    WorkerId{working.database().worker_count()}, with_catalog(options_.checkpoint, working)),
      start_ns_(monotonic_ns()),
      last_ns_(start_ns_),
      records_before_(options_.replayed_transactions),
      thread_([this] { run(); }) {
  CHECK(options_.seconds > 0);
}

CheckpointSchedule::~CheckpointSchedule() {
  checkpointer_.give_up();
  finish();
}

std::vector<TakenCheckpoint> CheckpointSchedule::finish() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  checkpointer_.hurry();
  if (thread_.joinable()) thread_.join();
  return std::exchange(taken_, {});
}

void CheckpointSchedule::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLookInterval, [this] { return closing_; })) {
    const uint64_t now = monotonic_ns();
    if (!is_due(now)) continue;
    lock.unlock();
    const uint64_t records = log_.counters().log_records;
    Result<TakenCheckpoint> taken = checkpointer_.take();
    last_ns_ = now;
    if (taken) {
      taken_.push_back(*taken);
      last_records_ = records;
      records_before_ = 0;
    } else if (options_.failed) {
      options_.failed(taken.error());
    }
    lock.lock();
  }
}

bool CheckpointSchedule::is_due(uint64_t now_ns) const {
  const double passed = static_cast<double>(now_ns - last_ns_) / 1e9;
  return (options_.of_replay ? predicted_replay_seconds(now_ns) : passed) >= options_.seconds;
}

double CheckpointSchedule::predicted_replay_seconds(uint64_t now_ns) const {
  const uint64_t records = log_.counters().log_records;
  const double run_tps = static_cast<double>(records) / (static_cast<double>(now_ns - start_ns_) / 1e9);
  const bool is_telling = options_.replayed_transactions >= kTellingTransactions && options_.replay_tps > 0;
  const double tps = is_telling ? options_.replay_tps : run_tps;
  return tps > 0 ? static_cast<double>(records_before_ + records - last_records_) / tps : 0;
}

}  // namespace mneme
