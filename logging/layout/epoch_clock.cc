#include "logging/layout/epoch_clock.h"

namespace mneme {

EpochClock::EpochClock(Lsn begin, std::chrono::microseconds interval)
    : interval_(interval), counter_(begin), seen_(begin), thread_([this] { run(); }) {}

void EpochClock::hurry() {
  const std::lock_guard guard(mutex_);
  hurried_ = true;
  changed_.notify_one();
}

void EpochClock::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
  end_epoch();
}

void EpochClock::run() {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    changed_.wait_for(guard, interval_, [this] { return hurried_ || stopping_; });
    hurried_ = false;
    guard.unlock();
    end_epoch();
    guard.lock();
  }
}

void EpochClock::end_epoch() {
  if (counter_.drawn() == seen_) return;
  seen_ = counter_.begin_next_epoch();
  ticks_.notify_all();
}

}  // namespace mneme
