#include "engine/transaction/conflict_pause.h"

#include <algorithm>
#include <thread>

#include "base/lock_wait_mark.h"
#include "base/spin.h"

namespace mneme {

namespace {

// A shorter pause is not worth a system call.
constexpr std::chrono::microseconds kSpinLimit{16};

}  // namespace

ConflictPause::Duration ConflictPause::limit(uint32_t conflicts, uint32_t workers, Duration attempt) {
  const Duration doubled = std::chrono::microseconds(int64_t{1} << std::min(conflicts, 30u));
  const Duration shared = std::min(attempt, kLastLimit) * (kShare * workers);
  return std::min(doubled, std::clamp(shared, kFirstLimit, kLastLimit));
}

void ConflictPause::after_conflict() {
  const Clock::time_point from = Clock::now();
  if (conflicts_ == 0) {
    attempt_ = Duration{};
    first_conflict_ = from;
  } else {
    attempt_ += (from - resumed_ - attempt_) / 4;
  }
  ++conflicts_;
  // xorshift64
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const Duration longest = limit(conflicts_, workers_, attempt_);
  const Duration pause(random_ % static_cast<uint64_t>(longest.count() + 1));
  if (pause > kSpinLimit) {
    const LockWaitMark::Waiting waiting;
    std::this_thread::sleep_for(pause);
  } else {
    while (Clock::now() - from < pause) spin_pause(0);
  }
  resumed_ = Clock::now();
}

}  // namespace mneme
