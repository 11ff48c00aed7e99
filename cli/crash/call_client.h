// CallClient: sends one stream of a workload's calls through a channel, many at once, and journals all that
// happens.
//
// Flow        generator -> journal -> channel -> (the server) -> channel -> journal
// Invariants  at most `window` calls are unanswered. run() returns when the server is gone, or when it was
//             told to stop and every call is answered.
// Threads     run(): one. stop(), answered(): any.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "cli/crash/call_channel.h"
#include "cli/crash/client_journal.h"
#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

class CallClient {
 public:
  struct Options {
    size_t window = 64;
    uint64_t call_limit = std::numeric_limits<uint64_t>::max();
  };

  CallClient(const Program& program, std::unique_ptr<CallGenerator> generator, CallChannel channel,
             Options options);

  void run();
  // No new calls are sent; run() ends once the old ones are answered.
  void stop() { stopping_.store(true, std::memory_order_relaxed); }
  uint64_t answered() const { return answered_.load(std::memory_order_relaxed); }

  // After run() has returned.
  ClientJournal& journal() { return journal_; }

 private:
  void send_calls();
  // The stream's next call, with its time where its procedure asks for that: the journal must have what the
  // log will.
  const Call& next_call(uint64_t sequence);
  bool take_replies();
  void take_reply(ByteSpan message);

  const Program& program_;
  const std::unique_ptr<CallGenerator> generator_;
  CallChannel channel_;
  const Options options_;
  ClientJournal journal_;
  ByteBuffer payload_;
  Call timed_call_;
  uint64_t unanswered_ = 0;

  // Written by the thread that ends the test, read by run(). Relaxed: nothing else is handed over with it.
  std::atomic<bool> stopping_{false};
  // Written by run(), read by the thread that shows progress. Relaxed: a number to look at.
  std::atomic<uint64_t> answered_{0};
};

}  // namespace mneme
