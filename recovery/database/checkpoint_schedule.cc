#include "recovery/database/checkpoint_schedule.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"

namespace mneme {

namespace {

constexpr std::chrono::milliseconds kLookInterval{10};
// Fewer replayed transactions tell little of the speed.
constexpr uint64_t kTellingTransactions = 10'000;

// Schema records behind the former checkpoint may have changed what its catalog says.
OnlineCheckpointOptions with_catalog(OnlineCheckpointOptions options, WorkingDatabase& working) {
  options.keep_catalog = [&working](Manifest& manifest) {
    return write_catalog(working.manifest().directory(), working.program(), manifest);
  };
  return options;
}

}  // namespace

CheckpointSchedule::CheckpointSchedule(WorkingDatabase& working, CheckpointScheduleOptions options)
    : options_(std::move(options)),
      working_(working),
      log_(working.log()),
      helper_{working.database().worker_count()},
      start_ns_(monotonic_ns()),
      last_ns_(start_ns_),
      records_before_(options_.replayed_transactions),
      thread_([this] { run(); }) {
  CHECK(options_.seconds > 0);
}

CheckpointSchedule::~CheckpointSchedule() {
  end(/*gives_up=*/true);
}

std::vector<TakenCheckpoint> CheckpointSchedule::finish() {
  end(/*gives_up=*/false);
  return std::exchange(taken_, {});
}

void CheckpointSchedule::end(bool gives_up) {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (taking_ != nullptr) gives_up ? taking_->give_up() : taking_->hurry();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void CheckpointSchedule::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLookInterval, [this] { return closing_; })) {
    const uint64_t now = monotonic_ns();
    if (!is_due(now)) continue;
    lock.unlock();
    const uint64_t records = log_.counters().log_records;
    // The thread has no other slot.
    CHECK(working_.schema_latch().enter(helper_) == SchemaLatch::Entered::kInside);
    const auto taken = take();
    working_.schema_latch().leave(helper_);
    if (!taken) return;
    last_ns_ = now;
    if (*taken) {
      taken_.push_back(**taken);
      last_records_ = records;
      records_before_ = 0;
      retry_.reset();
    } else {
      not_before_ns_ =
          monotonic_ns() + static_cast<uint64_t>(std::chrono::nanoseconds(retry_.next()).count());
      if (options_.failed) options_.failed(taken->error());
    }
    lock.lock();
  }
}

std::optional<Result<TakenCheckpoint>> CheckpointSchedule::take() {
  OnlineCheckpointer checkpointer(working_.database(), working_.log(), working_.manifest(), helper_,
                                  with_catalog(options_.checkpoint, working_));
  // Transactions are about to wait for it.
  if (log_.wants_checkpoint()) checkpointer.hurry();
  if (!set_taking(&checkpointer)) return std::nullopt;
  Result<TakenCheckpoint> taken = checkpointer.take();
  set_taking(nullptr);
  return taken;
}

bool CheckpointSchedule::set_taking(OnlineCheckpointer* checkpointer) {
  const std::lock_guard lock(mutex_);
  if (checkpointer != nullptr && closing_) return false;
  taking_ = checkpointer;
  return true;
}

bool CheckpointSchedule::is_due(uint64_t now_ns) {
  if (now_ns < not_before_ns_ || !working_.is_recovered()) return false;
  if (log_.wants_checkpoint()) return true;
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
