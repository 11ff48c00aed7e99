#include "server/listener/durability_watch.h"

#include <algorithm>
#include <chrono>

namespace mneme {
namespace {

// A log that nobody waits for may fail as well: its engine was deposed (log_beat.h).
constexpr std::chrono::milliseconds kFailureInterval{250};

}  // namespace

void DurabilityWatch::run(const std::stop_token& stop) {
  for (;;) {
    if (replay_has_failed_()) return failed_();
    Lsn lowest;
    {
      std::unique_lock lock(mutex_);
      const auto is_wanted = [](const std::optional<Lsn>& wanted) { return wanted.has_value(); };
      while (!changed_.wait_for(lock, stop, kFailureInterval,
                                [&] { return std::ranges::any_of(wanted_, is_wanted); })) {
        if (stop.stop_requested()) return;
        if (log_.failure() || replay_has_failed_()) return failed_();
      }
      lowest = std::ranges::find_if(wanted_, is_wanted)->value();
      for (const std::optional<Lsn>& wanted : wanted_) {
        if (wanted) lowest = std::min(lowest, *wanted);
      }
    }
    if (!log_.wait_durable(lowest)) return failed_();
    const Lsn durable = log_.durable();
    std::vector<size_t> ready;
    {
      const std::lock_guard lock(mutex_);
      for (size_t loop = 0; loop < wanted_.size(); ++loop) {
        if (!wanted_[loop] || *wanted_[loop] >= durable) continue;
        wanted_[loop].reset();
        ready.push_back(loop);
      }
    }
    for (const size_t loop : ready) wake_(loop);
  }
}

}  // namespace mneme
