// DurabilityWatch: wakes event loops once what they wait for is durable, so that they needn't wait for the
// log.
//
// Flow        a loop: wait_for(its number, the LSN) -> the watch's thread waits for the lowest LSN of all ->
//             wake(loop)
// Invariants  a loop that was woken looks at the log's durable LSN itself, and asks again if that isn't
//             enough.
// Threads     one of its own. wait_for: the loop's. Construction and destruction: one.
// Errors      the log has failed, or replay beside it has: failed() is called once, on the watch's thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "logging/commit/commit_log.h"

namespace mneme {

class DurabilityWatch {
 public:
  // All functions are called on the watch's thread. `replay_has_failed`: of a log that is being replayed.
  DurabilityWatch(CommitLog& log, size_t loops, std::function<void(size_t loop)> wake,
                  std::function<bool()> replay_has_failed, std::function<void()> failed)
      : log_(log),
        wanted_(loops),
        wake_(std::move(wake)),
        replay_has_failed_(std::move(replay_has_failed)),
        failed_(std::move(failed)),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  DurabilityWatch(const DurabilityWatch&) = delete;
  DurabilityWatch& operator=(const DurabilityWatch&) = delete;

  void wait_for(size_t loop, Lsn lsn) {
    {
      const std::lock_guard lock(mutex_);
      if (wanted_[loop] && *wanted_[loop] <= lsn) return;
      wanted_[loop] = lsn;
    }
    changed_.notify_one();
  }

 private:
  void run(const std::stop_token& stop);

  CommitLog& log_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::optional<Lsn>> wanted_;  // by loop; guarded by mutex_
  const std::function<void(size_t)> wake_;
  const std::function<bool()> replay_has_failed_;
  const std::function<void()> failed_;
  std::jthread thread_;  // the last member: its destructor ends it first
};

}  // namespace mneme
