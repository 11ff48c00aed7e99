// LogBeat: an engine that has nothing to log says so now and then, by an empty record.
//
// Flow        thread: each interval, where nothing was logged in it: reserve() -> fill(), a skip record ->
//             wait until it is durable
// Why         who follows a replicated log knows by it that the engine is there; and an engine without work
//             hears that another one has taken its log over.
// Threads     one of its own, in the place of one of the log's helpers (DurableLogOptions). Construction and
//             destruction: one.
// Errors      once the log has failed the thread ends. Who uses the log hears of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "logging/commit/commit_log.h"

namespace mneme {

// No shorter silence says anything of an engine.
inline constexpr std::chrono::milliseconds kBeatInterval{500};

class LogBeat {
 public:
  // The log outlives it.
  LogBeat(CommitLog& log, WorkerId helper, std::chrono::milliseconds interval = kBeatInterval)
      : thread_([this, &log, helper, interval](const std::stop_token& stop) {
          run(log, helper, interval, stop);
        }) {}
  LogBeat(const LogBeat&) = delete;
  LogBeat& operator=(const LogBeat&) = delete;

 private:
  void run(CommitLog& log, WorkerId helper, std::chrono::milliseconds interval, const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // the last member: its destructor ends it first
};

}  // namespace mneme
